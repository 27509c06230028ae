"""The three ways to merge a pull request: a merge commit, one commit of all its changes, or its commits one by one.

https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges
"""

from dataclasses import dataclass, replace

from github.emulator.forge import Forge
from github.emulator.git import commits
from github.emulator.git.commits import Commit, Person
from github.emulator.git.repository import GitRepository
from github.emulator.rules.rulesets import rules_for
from github.emulator.store.issues import Pull
from github.emulator.store.users import User

NAMES = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}


class MergeRefused(Exception):
    """The branch does not take this way; the text is GitHub's."""


@dataclass(frozen=True)
class Way:
    """One of `NAMES`, and what the caller wants its commit to say; None is GitHub's own words."""

    method: str = "merge"
    title: str | None = None
    message: str | None = None


def check(pull: Pull, way: Way) -> None:
    """Raise MergeRefused where a rule of the base branch forbids this way."""
    for _, rule in rules_for(pull.repository, pull.base_ref):
        allowed = (rule.get("parameters") or {}).get("allowed_merge_methods")
        if rule["type"] == "pull_request" and allowed and way.method not in allowed:
            raise MergeRefused(f"{NAMES[way.method]} are not allowed on this repository.")
        if rule["type"] == "required_linear_history" and way.method == "merge":
            raise MergeRefused("Repository rule violations found\n\nThis branch must not contain merge commits.\n\n")


def merged_onto(forge: Forge, pull: Pull, base: str, way: Way, by: User) -> str | None:
    """The commit that has the pull request on `base`; None where that conflicts. No branch is moved."""
    git, me = pull.repository.git, _person(forge, by)
    if way.method == "rebase":
        return _rebased(git, base, pull.head_sha, me)
    tree = git.merge_tree(base, pull.head_sha)
    if tree is None:
        return None
    web = Person("GitHub", "noreply@github.com", me.date)
    if way.method == "squash":
        author = _person(forge, pull.issue.user or by)
        commit = Commit("", tree, (base,), author, web, _squash_message(git, pull, base, way))
    else:
        title = way.title or f"Merge pull request #{pull.number} from {pull.head_label.replace(':', '/')}"
        message = pull.issue.title if way.message is None else way.message
        commit = Commit("", tree, (base, pull.head_sha), me, web, f"{title}\n\n{message}".rstrip())
    return commits.write(git, commit, forge.store.signer.sign).sha


def _person(forge: Forge, user: User) -> Person:
    return Person(user.name or user.login, user.email or user.noreply, forge.now().replace(microsecond=0))


def _squash_message(git: GitRepository, pull: Pull, base: str, way: Way) -> str:
    """With one commit that commit's words, else the pull request's title and a list of its commits."""
    found = commits.read_many(git, git.shas(f"{base}..{pull.head_sha}"))
    if len(found) == 1:
        title, _, rest = found[0].message.partition("\n")
        body = rest.strip()
    else:
        title, body = pull.issue.title, "\n\n".join(f"* {each.message.strip()}" for each in found)
    shown = f"{title} (#{pull.number})" if way.title is None else way.title
    return f"{shown}\n\n{body if way.message is None else way.message}".rstrip()


def _rebased(git: GitRepository, base: str, head: str, committer: Person) -> str | None:
    """Its commits, unsigned, without merges and without those that change nothing any more."""
    tip = commits.read(git, base)
    for sha in git.text("rev-list", "--topo-order", "--reverse", "--no-merges", f"{base}..{head}").split():
        commit = commits.read(git, sha)
        # a commit beside the tip whose parent is the commit's own: so that is what the two are compared with
        beside = commits.write(git, replace(tip, parents=commit.parents))
        tree = git.merge_tree(beside.sha, sha)
        if tree is None:
            return None
        if tree != tip.tree:
            tip = commits.write(git, replace(commit, tree=tree, parents=(tip.sha,), committer=committer))
    return tip.sha
