"""Everything before the agent starts: objects, evidence, a box with home and checkout, and the task for its agent."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from . import disk, files, protocol, trials
from .files import Places
from .git import pruning
from .git.checkout import CheckoutFailed
from .git.command import GitError
from .git.object_store import FetchFailed, Store
from .processes.agent_box import AgentBox, BoxLost
from .processes.agent_keeper import Task
from .processes.agent_place import AgentPlace
from .protocol import AssignedTurn, Result, TurnRepository
from .service.link import Gone, Link, Rejected, Unreachable
from .service.shipping import Shipping
from .state import Home, TurnState


class _Cancelled(Exception):
    """The turn is not wanted any more; `str()` is why."""


class _NoEvidence(Exception):
    """The service has no such evidence; `str()` says it in words."""


PREPARE_SECONDS = 1800.0


class Preparation:
    """Puts one turn in place. `stop()` ends it early."""

    def __init__(
        self,
        home: Home,
        link: Link,
        state: TurnState,
        shipping: Shipping,
        place: AgentPlace,
        log: Callable[[str], None],
    ) -> None:
        self._home = home
        self._link = link
        self._state = state
        self._shipping = shipping
        self._place = place
        self._log = log
        self._stopped = False

    def stop(self) -> None:
        """The box is being stopped."""
        self._stopped = True

    def prepare(self, places: Places, turn: AssignedTurn) -> tuple[Task, AgentBox, str] | Result:
        """What to run and where, and what a merge left to be said; or how the turn ended before it had begun.

        Raises `ProtocolError`, `Gone`, `Refused`.
        """
        box: AgentBox | None = None
        try:
            self._state.make(turn)
            files.forget_given(self._home)
            asked: dict[str, Any] = {
                "files": files.to_put(places, self._state, turn),
                "workdir": str(places.workdir.relative_to(places.home)),
            }
            if turn.verification is not None:
                asked["files"] += trials.to_put(places, turn.verification, self._object_of(turn))
            self._collect_evidence(turn)
            files.give_conversation(self._home, turn)
            box = self._place.open(self._state, turn.argv)
            said = self._check_out_with_space(turn, box, asked)
            files.forget_given(self._home)
        except _Cancelled as cancelled:
            reason = protocol.RUNNER_RESTARTED if self._stopped else protocol.CANCELLED
            result = Result(reason, message=f"Ended before the agent started: {cancelled}.")
        except _NoEvidence as missing:
            result = Result(protocol.START_FAILED, message=str(missing))
        except (FetchFailed, CheckoutFailed) as error:
            result = Result(protocol.FETCH_FAILED, message=str(error))
        except GitError as error:
            result = Result(protocol.FETCH_FAILED, message=f"The checkout could not be made: {error}")
            if error.disk_full:
                result = Result(protocol.DISK_FULL, message=disk.in_words(self._home.path))
        except BoxLost as lost:
            self._place.give_up()
            result = Result(protocol.START_FAILED, message=f"The turn could not be prepared: {lost}")
        except OSError as error:
            result = unprepared(self._home, error)
        else:
            task = Task(
                argv=[places.fill(argument) for argument in turn.argv],
                env=trials.with_program(places, turn, files.environment(places, turn, os.environ)),
                folder=places.workdir,
                stdin=places.fill_prompt(turn.stdin, turn.marker).encode(),
                marker=turn.marker,
                seconds=turn.limits.seconds,
                output_bytes=turn.limits.output_bytes,
            )
            return task, box, said
        if box is not None:
            box.close()
        return result

    def once_more(self, places: Places, turn: AssignedTurn, put: list[dict[str, Any]]) -> AgentBox:
        """A box of its own for the turn's commit, with the files `put` and nothing that an agent left.

        Raises `GitError`, `FetchFailed`, `CheckoutFailed`, `BoxLost`, `Gone`, OSError.
        """
        files.forget_given(self._home)
        box = self._place.open(self._state, turn.argv)
        try:
            self._check_out(turn, box, {"files": put, "workdir": str(places.workdir.relative_to(places.home))})
        except BaseException:
            box.close()
            raise
        return box

    def _object_of(self, turn: AssignedTurn) -> Callable[[str], bytes]:
        def content(sha: str) -> bytes:
            pieces: list[bytes] = []
            try:
                self._link.call("GET", f"/turns/{turn.turn}/objects/{sha}", into=pieces.append, restart=pieces.clear)
            except Rejected as rejected:
                raise _NoEvidence(f"the earlier work {sha} could not be had: {rejected}") from None
            return b"".join(pieces)

        return content

    def _beat(self) -> None:
        """While something takes long: say that we live, hear whether to go on."""
        if self._stopped:
            raise _Cancelled("the box was stopped")
        with contextlib.suppress(Unreachable, Rejected):
            reason = self._shipping.beat(protocol.FETCHING)
            if reason is not None:
                self._state.note_cancel(reason)
                raise _Cancelled(reason)

    def _check_out_with_space(self, turn: AssignedTurn, box: AgentBox, asked: dict[str, Any]) -> str:
        """Old objects make room before a full disk ends the turn."""
        try:
            return self._check_out(turn, box, asked)
        except (GitError, OSError) as error:
            full = error.disk_full if isinstance(error, GitError) else disk.is_full(self._home.path)
            gone = pruning.make_space(self._home, self._beat) if full else 0
            if not gone:
                raise
            self._log(f"the disk is full: {gone} old stores deleted")
            return self._check_out(turn, box, asked)

    def _check_out(self, turn: AssignedTurn, box: AgentBox, asked: dict[str, Any]) -> str:
        repository = turn.repository
        if repository is None:
            return self._make_ready(box, {**asked, "checkout": None})
        self._beat()
        store = Store(self._home, repository, self._beat)
        with store.using():
            try:
                return self._fetch_and_check_out(turn, repository, store, box, asked)
            except (GitError, FetchFailed) as error:
                full = isinstance(error, GitError) and error.disk_full
                if full or not repository.fetch or (isinstance(error, FetchFailed) and store.is_sound()):
                    raise
                self._log(f"the store of repository {repository.id} is broken, made anew: {error}")
            store.begin_anew()
            return self._fetch_and_check_out(turn, repository, store, box, asked)

    def _fetch_and_check_out(
        self, turn: AssignedTurn, repository: TurnRepository, store: Store, box: AgentBox, asked: dict[str, Any]
    ) -> str:
        if not store.has_all():
            if not repository.fetch:
                raise FetchFailed(f"The commit {repository.sha[:12]} is not here, and the turn says not to fetch.")
            self._fetch(turn, store)
        merge = {"ref": repository.merge.ref, "sha": repository.merge.sha} if repository.merge else None
        checkout = {"store": store.path.name, "sha": repository.sha, "branch": repository.branch, "merge": merge}
        return self._make_ready(box, {**asked, "checkout": checkout})

    def _make_ready(self, box: AgentBox, asked: dict[str, Any]) -> str:
        """Have the supervisor make home and checkout: what a merge left to be said."""
        done = box.ask("prepare", tick=self._beat, seconds=PREPARE_SECONDS, **asked)
        if "error" not in done:
            return str(done["said"])
        if done["kind"] == "checkout":
            raise CheckoutFailed(done["error"])
        if done["kind"] == "git":
            raise GitError("checkout", 1, done["error"])
        raise OSError(done.get("errno") or 0, done["error"])

    def _fetch(self, turn: AssignedTurn, store: Store) -> None:
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

    def _collect_evidence(self, turn: AssignedTurn) -> None:
        for evidence in turn.evidence:
            spot = files.inside(self._home.turn_given / "evidence", evidence.path, "evidence")
            spot.parent.mkdir(parents=True, exist_ok=True)
            with spot.open("wb") as file:

                def again(file: Any = file) -> None:
                    file.seek(0)
                    file.truncate()

                try:
                    self._link.call("GET", evidence.url, into=file.write, restart=again)
                except Rejected as rejected:
                    raise _NoEvidence(f"{evidence.url} could not be had: {rejected}") from None


def unprepared(home: Home, error: OSError) -> Result:
    """The result of a turn that the file system did not let begin."""
    if disk.is_full(home.path):
        return Result(protocol.DISK_FULL, message=disk.in_words(home.path))
    return Result(protocol.START_FAILED, message=f"The turn could not be prepared: {error}")
