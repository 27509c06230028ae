"""Where a request stands: the text that asks, as it was delivered, or the button that was pressed."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Where(StrEnum):
    """Which text a request stands in; its reactions and replies have different addresses."""

    ISSUE = "issue"
    PULL = "pull"
    COMMENT = "comment"
    REVIEW = "review"
    INLINE = "inline"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class OwnText:
    """The title and body of the issue or pull request itself: events about it ask for one and the same thing.

    `changed_at` is when the issue or pull request was changed last at the event, by GitHub's clock: labelled, say.
    """

    where: Where
    node_id: str = ""
    url: str = ""
    text: str = ""
    changed_at: str = ""
    id: ClassVar[int] = 0
    at: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class ThreadComment:
    """A comment on an issue or pull request. `at` is when it was written or edited last, by GitHub's clock."""

    where: ClassVar[Where] = Where.COMMENT
    id: int
    node_id: str = ""
    url: str = ""
    text: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A comment on a line of a diff. `thread_id` is the first comment of its thread, `review_id` the review that it was
    made with: GitHub makes one for every inline comment."""

    where: ClassVar[Where] = Where.INLINE
    id: int
    node_id: str = ""
    url: str = ""
    text: str = ""
    at: str = ""
    path: str = ""
    line: int = 0
    diff_hunk: str = ""
    review_id: int = 0
    thread_id: int = 0
    edited: bool = False


@dataclass(frozen=True, slots=True)
class ReviewBody:
    """The text of a review itself; its inline comments are fetched."""

    where: ClassVar[Where] = Where.REVIEW
    id: int
    node_id: str = ""
    url: str = ""
    text: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class CheckButton:
    """A button of our check run, or GitHub's "Re-run". `external_id` is what we wrote into it; "": find it by `sha`."""

    where: ClassVar[Where] = Where.CHECK
    node_id: ClassVar[str] = ""
    id: int
    sha: str = ""
    external_id: str = ""
    url: ClassVar[str] = ""
    text: ClassVar[str] = ""
    at: ClassVar[str] = ""


Source = OwnText | ThreadComment | InlineComment | ReviewBody | CheckButton
