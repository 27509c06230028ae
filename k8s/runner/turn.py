"""One turn from beginning to end, in a process of its own: fetch, put in place, keep, pass output on, report.

Every step may be cut off by a `kill -9`. What is on disk (`state`) says how far it came: a turn whose agent may have
started goes on to its report, one that had not is forgotten and handed out again by the service.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import changes, files, keeper, processes, protocol
from .checkout import Checkout, CheckoutFailed, agent_head
from .files import Places
from .git import Git, GitError, make_private
from .link import Gone, Link, Rejected, Unreachable
from .protocol import Change, ProtocolError, Result, Turn, Usage
from .shipping import Shipping
from .state import Home, TurnState, held, lock, sign, signed
from .store import FetchFailed, Store

LITTLE_SPACE = 1024 * 1024


class Cancelled(Exception):
    """The service asked for the end before the agent had started; `str()` is why."""


class Failed(Exception):
    """The turn cannot be run: (reason, message)."""


class Supervisor:
    """Runs one turn, or takes up one that another process left behind. `log` takes one short line."""

    def __init__(self, home: Home, link: Link, turn_id: str, log: Callable[[str], None], beat_seconds: float) -> None:
        self._home = home
        self._link = link
        self._state = TurnState(home, turn_id)
        self._log = log
        self._keeper: int | None = None
        self._stopped = False
        self._shipping = Shipping(link, self._state, beat_seconds)

    def stop(self, *_: object) -> None:
        """The box is being stopped: end the agent, then report as usual. A signal handler."""
        self._stopped = True
        self._end_agent()

    def run(self, turn: Turn | None, strays: Callable[[], tuple[set[int], set[int]]]) -> None:
        """Run `turn`, or take up what is on disk. `strays`: (where lost processes went, whom to spare).

        Raises `Refused` when the service does not want us any more.
        """
        self._state.path.mkdir(mode=0o700, exist_ok=True)
        descriptor = lock(self._state.path / "lock", wait=True)
        sign(descriptor)
        began = self._state.keeper.exists()
        known = self._state.turn() if began else turn or self._state.turn()
        if known is None or (turn is None and not began):
            self._log("left before its agent started, forgotten")
            self._forget(known)
            return
        places: Places | None = None
        try:
            places = Places(self._home, self._state, known)
            result = self._finish(places, known, strays) if began else self._begin(places, known)
            self._send(known, places, result)
        except Gone as gone:
            self._log(f"dropped, the service says: {gone}")
            self._end_agent()
            self._wait_for_keeper()
        except ProtocolError as error:
            self._send(known, None, Result(protocol.START_FAILED, message=str(error)))
        self._forget(known)
        os.close(descriptor)

    def _forget(self, turn: Turn | None) -> None:
        if turn is not None:
            with contextlib.suppress(ProtocolError):
                files.take_away(Places(self._home, self._state, turn), turn, all_of_them=True)
        self._state.remove()

    # before the agent

    def _beat(self) -> None:
        """While something else takes long: say that we live, hear whether to go on."""
        if self._stopped:
            raise Cancelled("the box was stopped")
        with contextlib.suppress(Unreachable, Rejected):
            reason = self._shipping.beat(protocol.FETCHING)
            if reason is not None:
                self._state.note_cancel(reason)
                raise Cancelled(reason)

    def _begin(self, places: Places, turn: Turn) -> Result:
        try:
            self._state.make(turn)
            self._log("begins")
            said = self._check_out(places, turn)
            files.make_folders(places.home, places.workdir)
            self._collect_evidence(turn)
            files.put(places, self._state, turn)
            task = keeper.Task(
                argv=[places.fill(argument) for argument in turn.argv],
                env=files.environment(places, turn, os.environ),
                folder=places.workdir,
                stdin=places.fill(turn.stdin).encode(),
                marker=turn.marker,
                seconds=turn.limits.seconds,
                output_bytes=turn.limits.output_bytes,
            )
        except Cancelled as cancelled:
            reason = protocol.RUNNER_RESTARTED if self._stopped else protocol.CANCELLED
            return Result(reason, message=f"Ended before the agent started: {cancelled}.")
        except Failed as failed:
            return Result(failed.args[0], message=failed.args[1])
        except (FetchFailed, CheckoutFailed) as error:
            return Result(protocol.FETCH_FAILED, message=str(error))
        except GitError as error:
            if error.disk_full:
                return Result(protocol.DISK_FULL, message=self._disk_in_words())
            return Result(protocol.FETCH_FAILED, message=f"The checkout could not be made: {error}")
        except OSError as error:
            if self._disk_is_full():
                return Result(protocol.DISK_FULL, message=self._disk_in_words())
            return Result(protocol.START_FAILED, message=f"The turn could not be prepared: {error}")
        self._link.close()
        self._keeper = keeper.start(self._state, task)
        if self._stopped:
            self._end_agent()
        return self._finish(places, turn, lambda: ({os.getpid()}, set()), said)

    def _check_out(self, places: Places, turn: Turn) -> str:
        repository = turn.repository
        if repository is None:
            return ""
        self._shipping.beat(protocol.FETCHING)
        store = Store(self._home, repository, self._beat)
        checkout = Checkout(self._home, places.workdir, repository, store)
        with store.using():
            for last in (False, True):
                if not store.has_all():
                    if not repository.fetch:
                        raise FetchFailed(
                            f"The commit {repository.sha[:12]} is not here, and the turn says not to fetch."
                        )
                    self._fetch(turn, store)
                try:
                    return checkout.prepare(self._beat)
                except GitError as error:
                    if last or error.disk_full or not repository.fetch:
                        raise
                    self._log(f"the store of repository {repository.id} is broken, made anew: {error}")
                    store.forget()
                    store.restore()
        raise AssertionError("the last try returns or raises")

    def _fetch(self, turn: Turn, store: Store) -> None:
        path = f"/turns/{turn.turn}/token"
        while True:
            self._beat()
            try:
                token = protocol.token_from_json(self._link.call("POST", path, {}, patience=3.0))
                break
            except Unreachable as error:
                self._log(f"no token yet: {error}")
            except Rejected as rejected:
                raise FetchFailed(f"The service gave no token for the repository: {rejected}") from None
        try:
            store.fetch(token)
        finally:
            # for as long as it takes: the agent does not start before the token is worthless
            with contextlib.suppress(Rejected, Gone):
                self._link.call("DELETE", path, {"token": token.token})

    def _collect_evidence(self, turn: Turn) -> None:
        for evidence in turn.evidence:
            spot = files.inside(self._state.files, evidence.path, "evidence")
            spot.parent.mkdir(parents=True, exist_ok=True)
            with spot.open("wb") as file:

                def again(file: Any = file) -> None:
                    file.seek(0)
                    file.truncate()

                try:
                    self._link.call("GET", evidence.url, into=file.write, restart=again)
                except Rejected as rejected:
                    raise Failed(protocol.START_FAILED, f"{evidence.url} could not be had: {rejected}") from None

    # while the agent runs

    def _end_agent(self) -> None:
        if held(self._state.keeper):
            pid = signed(self._state.keeper) or self._keeper
            if pid:
                processes.send(pid, signal.SIGTERM)

    def _wait_for_keeper(self) -> None:
        while held(self._state.keeper):
            time.sleep(0.05)
            processes.reap()

    def _follow(self) -> None:
        """Pass the output on until the agent has ended and all of it is acknowledged."""

        def cancelled(reason: str) -> None:
            if self._state.cancel() is None and held(self._state.keeper):
                self._log(f"cancelled: {reason}")
                self._state.note_cancel(reason)
                self._end_agent()

        self._shipping.follow(lambda: not held(self._state.keeper), cancelled)
        processes.reap()

    # after the agent

    def _finish(
        self, places: Places, turn: Turn, strays: Callable[[], tuple[set[int], set[int]]], said: str = ""
    ) -> Result:
        self._follow()
        end = self._state.end()
        if end is None:
            end = self._sweep_up(places, turn, strays)
        files.take_away(places, turn, all_of_them=False)
        reason, message = self._explain(end, turn)
        about: dict[str, Any] = {
            "exit_code": end.get("exit_code"),
            "files": files.read_back(places, self._state, turn),
            "stderr_tail": _tail(self._state.stderr, protocol.STDERR_BYTES),
            "output_bytes": self._shipping.size(),
            "usage": Usage(end.get("cpu_seconds", 0.0), end.get("max_rss", 0)),
            "swept": end.get("swept", 0),
        }
        if turn.repository is None or end["how"] == keeper.NOT_STARTED:
            return Result(reason, message=message, **about)
        return self._with_changes(places, turn, reason, [message, said], about)

    def _sweep_up(self, places: Places, turn: Turn, strays: Callable[[], tuple[set[int], set[int]]]) -> dict[str, Any]:
        """The keeper was killed: nobody saw the agent end, and its processes went to whoever is above us."""
        roots, spare = strays()
        agent = self._state.agent()
        since = agent[1] if agent else 0

        def lost(process: processes.Process) -> bool:
            if agent and (process.pid, process.start) == agent:
                return True
            return process.start >= since > 0 and processes.works_in(process.pid, (places.workdir, self._state.files))

        killed, left = processes.sweep(roots=roots, marker=turn.marker, spare=spare, also=lost)
        return {"how": "lost", "exit_code": None, "swept": len(killed), "left": sorted(left)}

    def _explain(self, end: dict[str, Any], turn: Turn) -> tuple[str, str]:
        how, code, cancel = end["how"], end.get("exit_code"), self._state.cancel()
        left = f" {len(end['left'])} of its processes could not be killed." if end.get("left") else ""
        if how == keeper.NOT_STARTED:
            return protocol.START_FAILED, str(end.get("message", ""))
        if how == keeper.DEADLINE:
            return protocol.TIMEOUT, f"The agent was ended after {turn.limits.seconds:g} seconds, its limit.{left}"
        if how == keeper.ASKED and cancel is not None:
            return protocol.CANCELLED, f"The agent was ended: {cancel}.{left}"
        if how == keeper.ASKED:
            return protocol.RUNNER_RESTARTED, f"The box was stopped while the agent worked.{left}"
        if how != keeper.EXITED:
            return (
                protocol.RUNNER_RESTARTED,
                f"The runner was killed while the agent worked; how that ended is not known.{left}",
            )
        if end.get("disk_full") or (code != 0 and self._disk_is_full()):
            return protocol.DISK_FULL, self._disk_in_words() + left
        if code == -signal.SIGKILL:
            return protocol.EXITED, f"The agent was killed (SIGKILL), most likely because memory ran out.{left}"
        if code is not None and code < 0:
            return protocol.EXITED, f"The agent was ended by {signal.Signals(-code).name}.{left}"
        return protocol.EXITED, left.strip()

    def _with_changes(self, places: Places, turn: Turn, reason: str, said: list[str], about: dict[str, Any]) -> Result:
        repository = turn.repository
        assert repository is not None  # noqa: S101 - looked at by the caller
        head = agent_head(places.workdir)
        about["base"] = repository.sha
        about["head"] = head if head != repository.sha else None
        self._shipping.beat(protocol.REPORTING)
        found: list[Change] = []
        try:
            report, git = self._compare(places, turn)
            self._store_objects(turn, git, report.changes)
            found = report.changes
            about.update(tree=report.tree, diff=report.diff)
            if report.left_out:
                said.append("Left out: " + ", ".join(report.left_out[:20]) + ("…" if len(report.left_out) > 20 else ""))
        except (changes.TooMany, changes.TooLarge) as excess:
            many = isinstance(excess, changes.TooMany)
            if reason == protocol.EXITED:
                reason = protocol.TOO_MANY_CHANGES if many else protocol.TOO_LARGE
            said.append(f"Nothing was taken over: {excess}.")
        except (GitError, OSError) as error:
            full = (isinstance(error, GitError) and error.disk_full) or self._disk_is_full()
            if reason == protocol.EXITED:
                reason = protocol.DISK_FULL if full else protocol.REPORT_FAILED
            said.append(self._disk_in_words() if full else f"The changes could not be read: {error}")
        except Rejected as rejected:
            reason = protocol.REPORT_FAILED
            about.update(tree=None, diff="")
            said.append(f"The service refused a changed file: {rejected}")
        return Result(reason, message=" ".join(part for part in said if part), changes=found, **about)

    def _compare(self, places: Places, turn: Turn) -> tuple[changes.Report, Git]:
        repository = turn.repository
        assert repository is not None  # noqa: S101 - looked at by the caller
        store = Store(self._home, repository)
        checkout = Checkout(self._home, places.workdir, repository, store)
        shutil.rmtree(self._state.git, ignore_errors=True)
        make_private(self._state.git, alternates=store.objects, shallow=store.shallow)
        index = self._state.git / "index"
        shutil.copy2(checkout.index, index)
        if not places.workdir.is_dir():
            # an agent that deleted its whole checkout has deleted every file
            files.make_folders(places.home, places.workdir)
        git = Git(self._state.git, work_tree=places.workdir, index=index, tick=self._still_reporting)
        merged = repository.merge.sha if repository.merge else None
        return changes.find(git, repository.sha, turn.limits, merged), git

    def _still_reporting(self) -> None:
        with contextlib.suppress(Unreachable, Rejected):
            self._shipping.beat(protocol.REPORTING)

    def _store_objects(self, turn: Turn, git: Git, found: list[Change]) -> None:
        for sha, content in changes.blobs(git, found):
            self._link.call("PUT", f"/turns/{turn.turn}/objects/{sha}", content)

    def _send(self, turn: Turn, places: Places | None, result: Result) -> None:
        try:
            self._link.call("PUT", f"/turns/{turn.turn}/result", protocol.to_json(result))
        except Rejected as rejected:
            self._log(f"the service refused the result: {rejected}")
        self._log(f"ended: {result.reason}, exit code {result.exit_code}, {len(result.changes)} changes")

    def _disk_is_full(self) -> bool:
        about = os.statvfs(self._home.path)
        return about.f_bavail * about.f_frsize < LITTLE_SPACE or about.f_files > 0 == about.f_favail

    def _disk_in_words(self) -> str:
        about = os.statvfs(self._home.path)
        free, size = about.f_bavail * about.f_frsize // 10**6, about.f_blocks * about.f_frsize // 10**6
        return f"The disk of the box is full ({free} MB free of {size} MB). Delete files in its home or make it larger."


def _tail(path: Path, size: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read(size).decode("utf-8", "replace")
    except OSError:
        return ""
