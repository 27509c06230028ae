"""A request as the conversation takes it: converted here, once, and nowhere else."""

from dataclasses import asdict, replace

from github.client.errors import Gone, NotFound
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.threads import reviews
from github.webhooks.commands import Approve, Retry, Run
from github.webhooks.identity import Me
from github.webhooks.mention_options import MentionOptions
from github.webhooks.mentions import read
from github.webhooks.outcomes import Actor, Repo, Request, Subject
from github.webhooks.sources import InlineComment, ReviewBody
from loops.conversations.finding import Topic
from loops.sessions.ask import Ask, Asker, Remark, ReviewText, ThreadText, TurnOptions
from loops.store.states import SubjectKind, Trigger


async def whole_subject(repo: RepositoryHandle, subject: Subject) -> Subject:
    """The subject with its head, which events about comments do not say."""
    if not subject.is_pull or subject.head_ref:
        return subject
    pull = await queries.pull(repo, subject.number)
    return Subject(
        number=subject.number,
        is_pull=True,
        title=subject.title,
        body=subject.body,  # as delivered, also where it was empty: what stands there now may be newer
        author=Actor(pull.author_id, pull.author),
        head_ref=pull.head_ref,
        head_sha=pull.head_sha,
        head_repository_id=pull.head_repository_id,
        base_ref=pull.base_ref,
    )


def topic_of(repo: Repo, subject: Subject) -> Topic:
    """What the conversation is about."""
    same = subject.is_pull and subject.head_repository_id == repo.id
    return Topic(
        installation_id=repo.installation_id,
        repository_id=repo.id,
        kind=SubjectKind.PULL if subject.is_pull else SubjectKind.ISSUE,
        number=subject.number,
        title=subject.title,
        base_branch=subject.base_ref or None,
        branch=subject.head_ref if same else None,
        head_sha=subject.head_sha if same else None,
        pull_number=subject.number if same else None,
        own_branch=not same,
        approved_sha=(subject.head_sha or None) if subject.is_pull and not same else None,
    )


async def ask_of_request(
    repo: RepositoryHandle, me: Me, guid: str, request: Request, subject: Subject, command: Run | Retry | Approve
) -> Ask:
    """What is asked for. Of a review, its remarks are fetched now: what is edited later is not what was asked."""
    ask = Ask(
        trigger=Trigger(request.why.value),
        asker=Asker(request.actor.id, request.actor.login),
        about=ThreadText(
            number=subject.number,
            title=subject.title,
            body=subject.body,
            author=subject.author.login if subject.author else "",
            is_pull=subject.is_pull,
        ),
        instruction=_words(command),
        source=request.source,
        options=TurnOptions() if isinstance(command, Approve) else _turn_options(command.options),
        delivery=guid,
    )
    if not isinstance(command, Run):
        return ask
    match request.source:
        case ReviewBody() | InlineComment():
            return await _review(repo, me, ask, request, subject, command)
        case _:
            return ask


def _words(command: Run | Retry | Approve) -> str:
    match command:
        case Run(instruction):
            return instruction
        case Retry(hint):
            return hint
        case Approve():
            return ""


async def _review(repo: RepositoryHandle, me: Me, ask: Ask, request: Request, subject: Subject, command: Run) -> Ask:
    """The whole review as one task, whichever of its texts was delivered first; an inline comment that is in no review
    as it was submitted asks alone."""
    source = request.source
    if isinstance(source, InlineComment):
        if source.review_id and not source.edited and (whole := await _found(repo, subject.number, source.review_id)):
            body, at, changes_requested = whole
            remarks = await _remarks(repo, me, subject.number, source.review_id, at)
            if any(each.id == source.id for each in remarks):
                asked = read(body, me.names)
                first = asked if isinstance(asked, Run) else None
                if asked is None and changes_requested and me.is_me(subject.author):
                    first, ask = Run(body.strip()), replace(ask, trigger=Trigger.CHANGES_REQUESTED)
                told = _asking(ask, me, subject, source.review_id, body, first, remarks)
                alone = first is None and sum(each.asks for each in remarks) == 1
                # deleting one of several texts that ask does not withdraw the others
                return told if alone else replace(told, source=ReviewBody(source.review_id, text=body, at=at))
        remark = Remark(
            source.id, source.thread_id, source.path, source.line, source.text, source.diff_hunk, ask.asker.login, True
        )
        return replace(ask, about=ReviewText(0, subject.number, subject.title, "", (remark,)))
    remarks = await _remarks(repo, me, subject.number, source.id, source.at)
    return _asking(ask, me, subject, source.id, source.text, command, remarks)


def _asking(
    ask: Ask, me: Me, subject: Subject, review_id: int, body: str, first: Run | None, remarks: tuple[Remark, ...]
) -> Ask:
    """The words of the review's body, then those of each remark that addresses us; the options of the first."""
    asked = [(each, command) for each in remarks if isinstance(command := read(each.body, me.names), Run)]
    said = [first.instruction] if first is not None else []
    alone = not said and len(asked) == 1
    said += [
        command.instruction if alone else f"{each.path}:{each.line or 'file'}: {command.instruction}"
        for each, command in asked
    ]
    given = [command.options for command in (first, *(command for _, command in asked)) if command is not None]
    options = next((each for each in given if each != MentionOptions()), MentionOptions())
    about = ReviewText(review_id, subject.number, subject.title, body, remarks)
    return replace(ask, about=about, instruction="\n\n".join(filter(None, said)), options=_turn_options(options))


async def _found(repo: RepositoryHandle, number: int, review_id: int) -> tuple[str, str, bool] | None:
    """The body of a review, when it was submitted and whether it requests changes; None where GitHub has it not."""
    try:
        found = await repo.get(f"pulls/{number}/reviews/{review_id}")
    except (NotFound, Gone):
        return None
    state = str(found.get("state") or "").upper()
    return str(found.get("body") or ""), str(found.get("submitted_at") or ""), state == "CHANGES_REQUESTED"


async def _remarks(
    repo: RepositoryHandle, me: Me, number: int, review_id: int, submitted_at: str
) -> tuple[Remark, ...]:
    """The review's remarks in the order of the files."""
    found = [each async for each in reviews.remarks(repo, number, review_id, submitted_at)]
    found.sort(key=lambda each: (each.path, each.line, each.id))
    return tuple(
        Remark(
            each.id,
            each.thread_id,
            each.path,
            each.line,
            each.body,
            each.diff_hunk,
            each.author,
            read(each.body, me.names) is not None,
        )
        for each in found
    )


def _turn_options(options: MentionOptions) -> TurnOptions:
    return TurnOptions(**asdict(options))
