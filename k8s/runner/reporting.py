"""Everything after the agent has ended: how it ended in words, what it changed, what goes back with the result."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Container
from pathlib import Path
from typing import Any

from . import disk, files, protocol
from .files import Places
from .git import changes, checkout
from .git.command import Git, GitError, make_private
from .git.object_store import Store
from .git.work_tree import MOST, WorkTree
from .processes import agent_keeper
from .protocol import AssignedTurn, Change, Result, TurnRepository, Usage
from .service.link import Link, Rejected, Unreachable
from .service.shipping import Shipping
from .state import Home, TurnState

LEFT_OUT = 200
"""Things left out that are told."""
HASHED = 2_000
"""Files that set-up may leave for their contents to be compared; of more it is mode and size."""


class Reporter:
    """Makes the result of one turn, and stores the blobs that it names."""

    def __init__(self, home: Home, link: Link, state: TurnState, shipping: Shipping) -> None:
        self._home = home
        self._link = link
        self._state = state
        self._shipping = shipping
        self.contents: dict[str, bytes] = {}
        """The blobs of a result whose turn is verified, by their names."""

    @staticmethod
    def standing(home: Home, places: Places, besides: Container[str] = ()) -> dict[str, str]:
        """The files in the checkout now, but for those, each with what tells whether it has changed since."""
        work_tree = WorkTree(home.agent, f"home/{places.workdir.relative_to(places.home)}")
        return _signatures(work_tree, [path for path in work_tree.look({}).entries if os.fsdecode(path) not in besides])

    def result(self, places: Places, turn: AssignedTurn, end: dict[str, Any], said: str) -> Result:
        """The result of a turn whose agent ended as `end` says; `said` is what there was to say before.

        Raises `Gone`, `Refused`.
        """
        reason, message = self._explain(end, turn)
        about: dict[str, Any] = {
            "exit_code": end.get("exit_code"),
            "files": files.read_back(self._home, places, self._state, turn),
            "stderr_tail": _tail(self._state.stderr, protocol.STDERR_BYTES),
            "output_bytes": self._shipping.size(),
            "usage": Usage(end.get("cpu_seconds", 0.0), end.get("max_rss", 0)),
            "swept": end.get("swept", 0),
        }
        if turn.repository is None or end["how"] == agent_keeper.NOT_STARTED:
            return Result(reason, message=message, **about)
        return self._with_changes(places, turn, turn.repository, reason, [message, said], about)

    def so_far(self, places: Places, turn: AssignedTurn, repository: TurnRepository, most: int) -> Result:
        """What the checkout has come to while its agent may be at work there, at most `most` files and folders of it.

        Raises `TooMany`, `ChangesTooLarge`, `GitError`, OSError, and what requests raise.
        """
        report, _ = self._compare(self._work_tree(places), places, turn, repository, most)
        left_out = report.left_out[:LEFT_OUT]
        return Result(
            protocol.WORKING, base=repository.sha, changes=report.changes, diff=report.diff, left_out=left_out
        )

    def _work_tree(self, places: Places) -> WorkTree:
        return WorkTree(self._home.agent, f"home/{places.workdir.relative_to(places.home)}")

    def _explain(self, end: dict[str, Any], turn: AssignedTurn) -> tuple[str, str]:
        how, code, cancel = end["how"], end.get("exit_code"), self._state.cancel()
        left = f" {len(end['left'])} of its processes could not be killed." if end.get("left") else ""
        if how == agent_keeper.NOT_STARTED:
            return protocol.START_FAILED, str(end.get("message", ""))
        if how == agent_keeper.DEADLINE:
            return protocol.TIMEOUT, f"The agent was ended after {turn.limits.seconds:g} seconds, its limit.{left}"
        if how in (agent_keeper.ASKED, agent_keeper.LOST) and cancel is not None:
            return protocol.CANCELLED, f"The agent was ended: {cancel}.{left}"
        if how == agent_keeper.ASKED:
            return protocol.RUNNER_RESTARTED, f"The box was stopped while the agent worked.{left}"
        if how != agent_keeper.EXITED:
            return (
                protocol.RUNNER_RESTARTED,
                f"The runner was killed while the agent worked; how that ended is not known.{left}",
            )
        if end.get("disk_full") or (code != 0 and disk.is_full(self._home.path)):
            return protocol.DISK_FULL, disk.in_words(self._home.path) + left
        if end.get("oom_kills"):
            killed = code in (-signal.SIGKILL, 128 + signal.SIGKILL)  # the latter is what a shell makes of it
            return (protocol.OUT_OF_MEMORY if killed else protocol.EXITED), _out_of_memory(end) + left
        if code == -signal.SIGKILL:
            return protocol.EXITED, f"The agent was killed (SIGKILL).{left}"
        if code is not None and code < 0:
            return protocol.EXITED, f"The agent was ended by {signal.Signals(-code).name}.{left}"
        return protocol.EXITED, left.strip()

    def _with_changes(
        self,
        places: Places,
        turn: AssignedTurn,
        repository: TurnRepository,
        reason: str,
        said: list[str],
        about: dict[str, Any],
    ) -> Result:
        work_tree = self._work_tree(places)
        head = checkout.head(work_tree.small_file)
        about["base"] = repository.sha
        about["head"] = head if head != repository.sha else None
        self._beat()
        found: list[Change] = []
        try:
            report, git = self._compare(work_tree, places, turn, repository)
            self._store_objects(turn, git, report.changes)
            found = report.changes
            about.update(tree=report.tree, diff=report.diff, left_out=report.left_out[:LEFT_OUT])
            if report.left_out:
                said.append("Left out: " + ", ".join(report.left_out[:20]) + ("…" if len(report.left_out) > 20 else ""))
        except (changes.TooMany, changes.ChangesTooLarge) as excess:
            many = isinstance(excess, changes.TooMany)
            if reason == protocol.EXITED:
                reason = protocol.TOO_MANY_CHANGES if many else protocol.TOO_LARGE
            said.append(f"Nothing was taken over: {excess}.")
        except (GitError, OSError) as error:
            full = (isinstance(error, GitError) and error.disk_full) or disk.is_full(self._home.path)
            if reason == protocol.EXITED:
                reason = protocol.DISK_FULL if full else protocol.REPORT_FAILED
            said.append(disk.in_words(self._home.path) if full else f"The changes could not be read: {error}")
        except Rejected as rejected:
            reason = protocol.REPORT_FAILED
            about.update(tree=None, diff="")
            said.append(f"The service refused a changed file: {rejected}")
        return Result(reason, message=" ".join(part for part in said if part), changes=found, **about)

    def _compare(
        self, work_tree: WorkTree, places: Places, turn: AssignedTurn, repository: TurnRepository, most: int = MOST
    ) -> tuple[changes.Report, Git]:
        store = Store(self._home, repository)
        # of this process only: a git that outlived a reporter before us must not meet ours
        git_dir = self._state.path / f"git.{os.getpid()}"
        make_private(git_dir, alternates=store.objects, shallow=store.shallow)
        git = Git(git_dir, work_tree=git_dir / "scratch", index=git_dir / "index", tick=self._beat)
        merged = repository.merge.sha if repository.merge else None
        edited, hidden = (
            lambda: self._edited(turn),
            places.hidden(turn) | self._made(turn, work_tree),
        )
        return changes.find(git, work_tree, repository.sha, turn.limits, merged, edited, hidden, most), git

    def _made(self, turn: AssignedTurn, work_tree: WorkTree) -> frozenset[bytes]:
        """What setting the box up left in the checkout, as it left it, unless the agent wrote it by its edit tools."""
        stood = self._state.noted("made")
        if not stood:
            return frozenset()
        laid = {each.path for each in turn.verification.overlay} if turn.verification else set()
        own = {*laid, *self._edited(turn)}
        made = [os.fsencode(path) for path in stood if path not in own]
        # as many as before, so that both are told in the same way
        now = _signatures(work_tree, made, len(stood))
        return frozenset(path for path in made if now.get(os.fsdecode(path)) == stood[os.fsdecode(path)])

    def _edited(self, turn: AssignedTurn) -> list[str]:
        return protocol.edited_from_json(self._link.call("GET", f"/turns/{turn.turn}/edited"))

    def _beat(self) -> None:
        with contextlib.suppress(Unreachable, Rejected):
            self._shipping.beat(protocol.REPORTING)

    def _store_objects(self, turn: AssignedTurn, git: Git, found: list[Change]) -> None:
        for sha, content in changes.blobs(git, found):
            self._link.call("PUT", f"/turns/{turn.turn}/objects/{sha}", content)
            if turn.verification is not None:
                self.contents[sha] = content


def _signatures(work_tree: WorkTree, paths: list[bytes], count: int | None = None) -> dict[str, str]:
    """Mode, size and, where they are few, content of files in the checkout."""
    few = (len(paths) if count is None else count) <= HASHED
    seen = work_tree.look(dict.fromkeys(paths, ("", "")) if few else {})
    found = ((path, seen.entries.get(path)) for path in paths)
    return {os.fsdecode(path): f"{each.mode} {each.size} {each.sha or ''}" for path, each in found if each is not None}


def _out_of_memory(end: dict[str, Any]) -> str:
    kills, limit = end["oom_kills"], end.get("memory_limit")
    what = "a process" if kills == 1 else f"{kills} processes"
    of = f" (its limit is {limit / 1024**2:.0f} MiB)" if limit else ""
    return f"The box ran out of memory{of}: {what} of the turn had to be killed."


def _tail(path: Path, size: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read(size).decode("utf-8", "replace")
    except OSError:
        return ""
