"""Commits of turns: their messages, making them, and finding them again.

A commit without an author, a committer or a signature of its own is signed by GitHub as the App.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from github.client.defuse import defused_plain, visible
from github.client.errors import EmptyRepository, NotFound
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.repositories.queries import TREE, UNCHANGING

TRAILER = "Greenloop-Turn"
ATTEMPT = "Greenloop-Attempt"
MAX_SUBJECT = 72
MAX_BODY = 4000
SEARCHED = 100  # commits of a branch, from its tip

# https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs, and what other CIs honour.
_SKIP = re.compile(
    r"\[\s*(?:(?:ci|build|actions|tests?|workflows?|pipeline|travis|azp|appveyor|circleci|buildkite)[ -]*(?:skip|off)"
    r"|(?:skip|no)[ -]*(?:ci|build|actions|tests?|workflows?|pipeline|travis|azp|appveyor|circleci|buildkite|checks?))"
    r"\s*\]|\*{3}\s*no[_ ]?ci\s*\*{3}",
    re.IGNORECASE,
)
_TRAILERS = re.compile(
    rf"^[ \t]*(?:skip-checks|request-checks|{TRAILER}|{ATTEMPT}|on-behalf-of|release-as|change-id"
    r"|(?:co-authored|signed-off|reviewed|acked|approved|tested|verified)-by)[ \t]*:.*$",
    re.IGNORECASE | re.M,
)


@dataclass(frozen=True, slots=True)
class CoAuthor:
    """Who is named as co-author: a login and its numeric id."""

    id: int
    login: str

    @property
    def email(self) -> str:
        """The address by which GitHub knows them without telling their own."""
        return f"{self.id}+{self.login}@users.noreply.github.com"


def commit_message(
    subject: str, body: str, *, turn: str, attempt: int | None = None, co_authors: Sequence[CoAuthor] = ()
) -> str:
    """The message of a turn's commit, whatever an agent wrote. `attempt`: which repair of red checks it is.

    What would stop checks from running (`[skip ci]` and its kin, `skip-checks:`) is taken out, and so are trailers that
    only we may write; issues are not closed by it, and nobody is mentioned.
    """
    title = one_line(subject) or "Apply the requested change"
    if len(title) > MAX_SUBJECT:
        title = title[: MAX_SUBJECT - 1].rstrip() + "…"
    trailers = [f"{TRAILER}: {turn}"]
    trailers += [f"{ATTEMPT}: {attempt}"] if attempt is not None else []
    trailers += [f"Co-authored-by: {each.login} <{each.email}>" for each in dict.fromkeys(co_authors)]
    text = defused_plain(without_orders(body)[:MAX_BODY]).strip()
    return "\n\n".join(part for part in (title, text, "\n".join(trailers)) if part) + "\n"


def turn_of(message: str) -> str | None:
    """The turn named in the trailer of a commit message."""
    found = re.findall(rf"^{TRAILER}: (\S+)$", message, re.MULTILINE)
    return found[-1] if found else None


async def create_commit(repository: RepositoryHandle, *, message: str, tree: str, parents: list[str]) -> str:
    """The SHA of a new commit that GitHub signs. No branch points to it yet."""
    answer = await repository.request(
        "POST",
        "git/commits",
        scope=Scope.PUBLISH,
        json={"message": message, "tree": tree, "parents": parents},
    )
    return str(answer.json()["sha"])


async def tree_of(repository: RepositoryHandle, commit: str) -> str:
    """The SHA of a commit's tree."""
    if (told := repository.app.told.get(repository.id, TREE, commit, UNCHANGING)) is not None:
        return str(told[0])
    return str((await repository.get(f"git/commits/{commit}", max_age=UNCHANGING))["tree"]["sha"])


async def find_turn(repository: RepositoryHandle, branch: str, turn: str) -> str | None:
    """The commit that `turn` put on `branch`, if it is among the newest hundred: then it was published already."""
    try:
        async for found in repository.pages("commits", params={"sha": branch}, limit=SEARCHED):
            if turn_of(str((found.get("commit") or {}).get("message") or "")) == turn:
                return str(found["sha"])
    except (NotFound, EmptyRepository):
        return None
    return None


def one_line(text: str) -> str:
    """A title that does nothing: also a pull request's becomes a commit's, where it is squashed."""
    return defused_plain(" ".join(without_orders(text).split()))


def without_orders(text: str) -> str:
    """`text`, which is or may become the message of a commit, without what CI obeys there and trailers of ours."""
    previous, text = None, visible(text)
    while text != previous:  # taking one out may join the halves of another
        previous, text = text, _TRAILERS.sub("", _SKIP.sub("", text))
    return text
