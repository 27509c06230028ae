"""What has to hold whatever went wrong. Pure: facts in, what is violated out, in words."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DeliveryFacts:
    """A webhook that was acknowledged, and its row; `status` "" where there is none."""

    guid: str
    event: str
    status: str = ""
    decision: str = ""
    reason: str = ""
    session: bool = False


@dataclass(frozen=True)
class TurnFacts:
    """`lines`: the numbers that its agent printed, as they stand in the journal. `tries` of it there may have been."""

    id: str
    commit: bool
    lines: Sequence[int]
    tries: int = 1


@dataclass(frozen=True)
class SessionFacts:
    """A session, and what GitHub has of it. `trailers` are the turns that the commits of its pull requests name."""

    id: str
    issue: int
    status: str
    outcome: str
    reason: str
    attempts: int
    cap: int
    seqs: Sequence[int]
    last_seq: int
    turns: Sequence[TurnFacts]
    pulls: Sequence[int] = ()
    trailers: Sequence[str] = ()
    comments: int = 0


@dataclass(frozen=True)
class Facts:
    """Everything after the last round, once all has come to rest."""

    asked: Mapping[int, bool]
    """Issues on which somebody asked for work, and whether it was taken back."""
    deliveries: Sequence[DeliveryFacts]
    sessions: Sequence[SessionFacts]
    printed: int
    """Lines that an agent prints in one try."""
    excused: Collection[str] = ()
    """Reasons for an end without success that what was done explains."""
    put_aside: Collection[int] = ()
    """Issues whose request ended processes and was put aside in an answer there."""
    default_branch_moved: bool = False
    strangers: Sequence[str] = ()
    """Branches with commits that no session has made."""
    left_over: Sequence[str] = field(default=())


def _answered(facts: Facts) -> Iterable[str]:
    for each in facts.deliveries:
        if each.status != "done" or not each.decision or not (each.session or each.reason):
            yield f"delivery {each.guid} ({each.event}) was acknowledged and is {each.status or 'nowhere'}, undecided"
    of_issue = Counter(session.issue for session in facts.sessions)
    for issue, taken_back in facts.asked.items():
        if of_issue[issue] != 1 and not (issue in facts.put_aside and not of_issue[issue]):
            yield f"issue #{issue}: {of_issue[issue]} sessions of one request"
        for session in facts.sessions:
            if session.issue == issue and not _well_ended(session, taken_back, facts.excused):
                told = f"{session.status} {session.outcome} {session.reason}".strip()
                yield f"session {session.id} of issue #{issue} ended otherwise than it could: {told}"


def _well_ended(session: SessionFacts, taken_back: bool, excused: Collection[str]) -> bool:
    if session.status == "completed":
        return session.outcome == "green"
    if session.status == "cancelled":
        return taken_back and bool(session.reason)
    return session.status == "failed" and session.reason.partition(":")[0] in excused


def _commits(facts: Facts) -> Iterable[str]:
    for session in facts.sessions:
        made = sorted(turn.id for turn in session.turns if turn.commit)
        if sorted(session.trailers) != made:
            yield f"session {session.id}: commits of the turns {sorted(session.trailers)}, where {made} have made one"


def _pulls(facts: Facts) -> Iterable[str]:
    for session in facts.sessions:
        if len(session.pulls) > 1:
            yield f"session {session.id}: the pull requests {list(session.pulls)}"


def _comments(facts: Facts) -> Iterable[str]:
    for session in facts.sessions:
        if session.comments != 1:
            yield f"session {session.id}: {session.comments} comments that show its state"


def _events(facts: Facts) -> Iterable[str]:
    for session in facts.sessions:
        if list(session.seqs) != list(range(1, session.last_seq + 1)):
            yield f"session {session.id}: its journal of {session.last_seq} has gaps: {list(session.seqs)}"
        for turn in session.turns:
            most = max(Counter(turn.lines).values(), default=0)
            if most > turn.tries:
                yield f"turn {turn.id}: a line stands {most} times in the journal, of {turn.tries} tries"
            if turn.commit and set(turn.lines) != set(range(facts.printed)):
                yield f"turn {turn.id}: of {facts.printed} lines {sorted(set(turn.lines))} are told"
            if turn.tries == 1 and list(turn.lines) != sorted(turn.lines):
                yield f"turn {turn.id}: its lines are told in another order: {list(turn.lines)}"


def _attempts(facts: Facts) -> Iterable[str]:
    for session in facts.sessions:
        if session.attempts > session.cap:
            yield f"session {session.id}: {session.attempts} attempts, and a cap of {session.cap}"


def _branches(facts: Facts) -> Iterable[str]:
    if facts.default_branch_moved:
        yield "the default branch has moved"
    yield from (f"branch {name} belongs to no session" for name in facts.strangers)


INVARIANTS: Mapping[str, Callable[[Facts], Iterable[str]]] = {
    "accepted = answered or reasoned": _answered,
    "no doubled or lost commit": _commits,
    "no doubled pull request": _pulls,
    "no doubled or lost comment": _comments,
    "no doubled or lost event": _events,
    "attempts <= cap": _attempts,
    "default branch untouched": _branches,
    "nothing left over": lambda facts: facts.left_over,
}


def violations(facts: Facts) -> Mapping[str, Sequence[str]]:
    """Each invariant, with what violates it."""
    return {name: list(invariant(facts)) for name, invariant in INVARIANTS.items()}
