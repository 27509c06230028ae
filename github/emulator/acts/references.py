"""What GitHub does with text by itself: closing words close issues, mentions notify people.

Closing words count in the descriptions of pull requests merged into the default branch and in commits pushed there, not
in titles and not in code. https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from github.emulator.acts.issues import closed
from github.emulator.forge import Event, Forge
from github.emulator.store.issues import Issue
from github.emulator.store.notifications import Notification
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User

_PARSER = MarkdownIt("commonmark").enable("table")
_HTML = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s*"
    r"(?:(?P<name>[\w.-]+/[\w.-]+)?#|gh-|(?P<web>https?://\S+?)/(?P<path>[\w.-]+/[\w.-]+)/(?:issues|pull)/)(?P<number>\d+)\b",
    re.IGNORECASE,
)
_MENTION = re.compile(r"(?<![\w/.+-])@(?P<login>[a-z\d](?:[a-z\d-]*[a-z\d])?)(?![\w-]|/\w)", re.IGNORECASE)
_TEXTS = {
    "issues": ("issue",),
    "pull_request": ("pull_request",),
    "issue_comment": ("comment",),
    "pull_request_review": ("review",),
    "pull_request_review_comment": ("comment",),
}
_SAID = ("opened", "edited", "created", "submitted")


class References:
    """Follows what is said and merged."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge

    def follow(self, event: Event) -> None:
        payload, repository = event.payload, event.repository
        if event.name == "push" and payload["ref"] == f"refs/heads/{repository.default_branch}":
            for commit in payload["commits"]:
                self._close(str(commit["message"]), event)
        if event.name == "push":
            for commit in payload["commits"]:
                self._notify(str(commit["message"]), str(commit["url"]), event)
        elif event.action in _SAID:
            for key in _TEXTS.get(event.name, ()):
                said = payload[key]
                self._notify(running_text(str(said.get("body") or "")), str(said["html_url"]), event)
        elif (event.name, event.action) == ("pull_request", "closed"):
            pull = payload["pull_request"]
            if pull["merged"] and pull["base"]["ref"] == repository.default_branch:
                self._close(running_text(str(pull["body"] or "")), event)

    def _close(self, text: str, event: Event) -> None:
        for issue in self._closed_by(text, event.repository):
            if issue.pull is None and (issue.repository is event.repository or _may(issue.repository, event.sender)):
                closed(self._forge, issue, event.sender)

    def _closed_by(self, text: str, repository: Repository) -> Iterator[Issue]:
        store = self._forge.store
        for found in _CLOSING.finditer(text):
            if found["web"] not in (None, store.origins.web):
                continue
            name = found["name"] or found["path"]
            where = store.repository(name) if name else repository
            if where is not None and (issue := store.issue(where, int(found["number"]))) is not None:
                yield issue

    def _notify(self, text: str, url: str, event: Event) -> None:
        store = self._forge.store
        for login in dict.fromkeys(found["login"].lower() for found in _MENTION.finditer(text)):
            user = store.user(login)
            known = any(each.user is user and each.url == url for each in store.notifications)
            if user is not None and user is not event.sender and event.repository.allows(user, "read") and not known:
                row = Notification(store.notifications.new_id(), user, "mention", url, self._forge.now())
                store.notifications.add(row)


def running_text(body: str) -> str:
    """What stands outside code, as a reader sees it: entities, escapes and zero-width characters as what they are."""
    parts: list[str] = []
    for token in _PARSER.parse(body):
        if token.type == "html_block":
            parts.append(_HTML.sub("", token.content))
        for child in token.children or ():
            breaks = child.type in ("softbreak", "hardbreak")
            parts.append("\n" if breaks else child.content if child.type == "text" else "")
        parts.append("\n")
    return "".join(parts)


def _may(repository: Repository, user: User) -> bool:
    return repository.allows(user, "write")
