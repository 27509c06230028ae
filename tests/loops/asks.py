"""Requests as the tests of rows make them."""

from github.webhooks.sources import Source, ThreadComment
from loops.conversations.finding import Topic
from loops.sessions.ask import Ask, Asker, ThreadText
from loops.store.states import SubjectKind, Trigger


def topic(number: int = 5, title: str = "Fix the login") -> Topic:
    """An issue of repository 7, installation 3."""
    return Topic(3, 7, SubjectKind.ISSUE, number, title)


def mention(
    words: str = "please", *, by: int = 1, delivery: str | None = None, source: Source | None = None, number: int = 5
) -> Ask:
    """A mention by Ann, in a comment unless `source` says otherwise."""
    about = ThreadText(number, "Fix the login")
    return Ask(Trigger.MENTION, Asker(by, "ann"), about, words, source or ThreadComment(11), delivery=delivery)
