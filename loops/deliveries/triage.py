"""Which of many deliveries concern nobody, which wake a session, and which have to be handled each on its own. Pure.

Nearly all hints are of commits and branches that no session waits for: of those nothing is asked, and nothing written
but that they are done. Of red commits one look is enough, since it asks GitHub for all that is known by then.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from github.webhooks.events import BadPayload
from github.webhooks.outcomes import Change, Declined, Hint, Ignored, LifecycleEvent, Outcome, Request
from loops.requests.decision import Decision
from loops.store.states import Lane

Head = tuple[int, str]
"""A repository's id, and a commit."""
Branch = tuple[int, str]

NOT_OURS = Decision("ignored", "it names no installation: it is no webhook of the App")


@dataclass(frozen=True)
class ReadDelivery:
    """A delivery and what it says; None where it has to be read on its own."""

    guid: str
    lane: Lane
    outcome: Outcome | BadPayload | None


@dataclass(frozen=True)
class Known:
    """What the database knows of the commits and branches in question: by commit the open sessions that wait for its
    checks; commits whose session ended before its checks came; branches of open sessions; looks that wait already."""

    watching: Mapping[Head, Sequence[int]] = field(default_factory=dict)
    unsettled: AbstractSet[Head] = frozenset()
    branches: AbstractSet[Branch] = frozenset()
    looks: AbstractSet[str] = frozenset()


@dataclass
class Triage:
    """What to do: decisions to record, sessions to wake, deliveries to handle on their own (a LOOK with what it is
    about), and accounts that were heard of."""

    decided: dict[str, Decision] = field(default_factory=dict)
    woken: set[int] = field(default_factory=set)
    alone: dict[str, tuple[Lane, str | None]] = field(default_factory=dict)
    heard_of: list[LifecycleEvent] = field(default_factory=list)


def heads(read: Iterable[ReadDelivery]) -> set[Head]:
    """The commits that have to be looked up."""
    return {(each.outcome.repo.id, each.outcome.sha) for each in read if isinstance(each.outcome, Hint)}


def branches(read: Iterable[ReadDelivery]) -> set[Branch]:
    """The branches that have to be looked up."""
    moved = (each.outcome for each in read if isinstance(each.outcome, LifecycleEvent))
    return {(one.repo.id, one.branch) for one in moved if _is_push(one) and one.repo is not None and one.branch}


def looks(read: Iterable[ReadDelivery]) -> set[str]:
    """What looks that may be asked for would be about."""
    return {about(each.outcome) for each in read if isinstance(each.outcome, Hint) and each.outcome.failed}


def about(hint: Hint) -> str:
    """The same for hints of which one look is enough: what it says to do hangs on no more than this."""
    parts = (str(hint.repo.id), hint.sha, hint.branch, str(hint.queued_pull), str(hint.failed))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def triage(read: Iterable[ReadDelivery], known: Known) -> Triage:
    """What to do with each of them."""
    done = Triage()
    asked_for = set(known.looks)
    for each in read:
        match each.outcome:
            case BadPayload() as error:
                done.decided[each.guid] = Decision("unreadable", str(error))
            case Ignored(reason):
                done.decided[each.guid] = Decision("ignored", reason)
            case Hint() as hint if hint.repo.installation_id:
                _hint(done, each.guid, hint, known, asked_for)
            case LifecycleEvent() as news if news.installation_id:
                _news(done, each.guid, news, known)
            case Request() | Declined() as asked if asked.repo.installation_id:
                done.alone[each.guid] = Lane.REQUEST, None
            case None:
                done.alone[each.guid] = Lane.REQUEST if each.lane is Lane.PEOPLE else Lane.CHANGE, None
            case _:
                done.decided[each.guid] = NOT_OURS
    return done


def _hint(done: Triage, guid: str, hint: Hint, known: Known, asked_for: set[str]) -> None:
    head = (hint.repo.id, hint.sha)
    if watching := known.watching.get(head):
        done.woken.update(watching)
        done.decided[guid] = Decision("hint", hint.source, watching[0])
    elif not hint.failed and not hint.queued_pull and head not in known.unsettled:
        done.decided[guid] = nobody_waits(hint.sha)
    elif (one := about(hint)) in asked_for:
        done.decided[guid] = Decision("ignored", f"a look at {hint.sha[:12]} is due already")
    else:
        asked_for.add(one)
        done.alone[guid] = Lane.LOOK, one


def nobody_waits(sha: str) -> Decision:
    """The answer to a hint that concerns nobody."""
    return Decision("ignored", f"nobody waits for the checks of {sha[:12]}")


def _news(done: Triage, guid: str, news: LifecycleEvent, known: Known) -> None:
    if _is_push(news) and news.repo is not None and (news.repo.id, news.branch) not in known.branches:
        done.heard_of.append(news)
        done.decided[guid] = Decision("noted", news.change.value)
    else:
        done.alone[guid] = Lane.CHANGE, None


def _is_push(news: LifecycleEvent) -> bool:
    return news.change in (Change.BRANCH_MOVED, Change.BRANCH_DELETED)
