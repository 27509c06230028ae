"""One turn from beginning to end, in a process of its own: fetch, put in place, keep, pass output on, report.

Every step may be cut off by a `kill -9`. What is on disk (`state`) says how far it came: a turn whose agent may have
started goes on to its report, one that had not is forgotten and handed out again by the service.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from . import agent_files, disk, files, protocol
from .files import Places
from .git.checkout import CheckoutFailed
from .git.command import GitError
from .git.object_store import FetchFailed
from .git.pruning import make_space, prune_old
from .preparing import Preparation, unprepared
from .processes import agent_keeper, process_tree
from .processes.agent_box import AgentBox, BoxLost
from .processes.agent_place import AgentPlace
from .protocol import AssignedTurn, ProtocolError, Result
from .reporting import Reporter
from .scrub import scrub
from .service.link import Gone, Link, Rejected, Unreachable
from .service.shipping import Shipping
from .state import Home, TurnState, held, lock, sign, signed
from .trials import BoxTrials, overlay_of, to_put
from .verification import NOT_RUN, Trial, Trials
from .work_so_far import WorkSoFar, tell


class Unwanted(Exception):
    """The turn is not wanted any more; `str()` is why."""


class TurnRun:
    """Runs one turn, or takes up one that another process left behind. `log` takes one short line."""

    def __init__(
        self,
        home: Home,
        link: Link,
        turn_id: str,
        place: AgentPlace,
        log: Callable[[str], None],
        beat_seconds: float,
        keep_seconds: float,
    ) -> None:
        self._home = home
        self._link = link
        self._state = TurnState(home, turn_id)
        self._place = place
        self._log = log
        self._keep_seconds = keep_seconds
        self._supervisor: int | None = None
        self._stopped = False
        self._shipping = Shipping(link, self._state, beat_seconds)
        self._preparation = Preparation(home, link, self._state, self._shipping, place, log)

    def stop(self, *_: object) -> None:
        """The box is being stopped: end the agent, then report as usual. A signal handler."""
        self._stopped = True
        self._preparation.stop()
        self._end_agent()

    def run(self, turn: AssignedTurn | None, strays: Callable[[], tuple[set[int], set[int]]]) -> None:
        """Run `turn`, or take up what is on disk. `strays`: (where lost processes went, whom to spare).

        Raises `Refused` when the service does not want us any more.
        """
        if turn is not None and disk.is_low(self._home.path):
            self._log(f"the disk is nearly full: {make_space(self._home)} old stores deleted")
        try:
            self._state.path.mkdir(mode=0o700, exist_ok=True)
            descriptor = lock(self._state.path / "lock", wait=True)
            sign(descriptor)
        except FileNotFoundError:
            # somebody else has reported and forgotten it while we waited for the lock
            return
        except OSError as error:
            if turn is None:
                raise
            self._send(turn, unprepared(self._home, error))
            self._state.remove()
            return
        began = self._state.supervisor.exists()
        known = self._state.turn() if began else turn or self._state.turn()
        if known is None or (turn is None and not began):
            self._log("left before its agent started, forgotten")
            self.forget(self._home, self._state, self._place)
            return
        result: Result | None
        try:
            places = Places(self._home, known)
            result = self._finish(places, known, strays) if began else self._begin(places, known)
        except ProtocolError as error:
            result = Result(protocol.START_FAILED, message=str(error))
        except Gone as gone:
            self._log(f"dropped, the service says: {gone}")
            self._drop_agent()
            result = None
        except (OSError, ValueError, Rejected) as error:
            # nothing that was foreseen; whoever waits for the turn has to hear of it all the same
            self._drop_agent()
            told = f"The runner failed with this turn: {type(error).__name__}: {error}"
            result = Result(protocol.REPORT_FAILED, message=told, output_bytes=self._shipping.size())
        if self._place.lost:
            self._log("is not reported: the agent's container ended, or does not answer")
        self._scrub(known)
        if result is not None:
            self._send(known, result)
        self.forget(self._home, self._state, self._place)
        os.close(descriptor)
        with contextlib.suppress(OSError):
            if pruned := prune_old(self._home, self._keep_seconds):
                self._log(f"{pruned} stores deleted that were not used for long")

    @staticmethod
    def forget(home: Home, state: TurnState, place: AgentPlace) -> None:
        """Take away all that a turn was given and left, its state last."""
        with contextlib.suppress(OSError):
            files.forget_given(home)
            place.clear()
        state.remove()

    # before the agent

    def _begin(self, places: Places, turn: AssignedTurn) -> Result | None:
        self._log("begins")
        prepared = self._preparation.prepare(places, turn)
        if isinstance(prepared, Result):
            return None if self._place.lost else prepared
        task, box, said = prepared
        # from here on the service gives no token for a fetch: whatever an agent finds out, it cannot have one
        self._shipping.begin()
        ended = self._try_before(places, turn, box)
        if ended is not None:
            box.close()
            return None if self._place.lost else ended
        # a fork must share no connection
        self._link.close()
        self._supervisor = agent_keeper.start(self._state, task, box)
        # its end of the line is with whoever keeps the agent: gone with that, and the box with it
        box.close()
        if self._stopped:
            self._end_agent()
        return self._finish(places, turn, lambda: ({os.getpid()}, set()), said)

    def _try_before(self, places: Places, turn: AssignedTurn, box: AgentBox) -> Result | None:
        """Set the box up and try the check, where the turn has one; the turn's end, where that ended it."""
        if turn.verification is None:
            return None
        try:
            stood = Reporter.standing(self._home, places)
            trial = BoxTrials(places, turn, turn.verification, self._tick(protocol.RUNNING)).before(box)
            self._log(f"before the agent its check {trial.how}")
            self._state.note("trial", asdict(trial))
            self._state.note("made", Reporter.standing(self._home, places, stood))
        except Unwanted as why:
            reason = protocol.RUNNER_RESTARTED if self._stopped else protocol.CANCELLED
            return Result(reason, message=f"Ended before the agent started: {why}.")
        except BoxLost as lost:
            self._place.give_up()
            return Result(protocol.START_FAILED, message=f"The box was lost while it was set up: {lost}")
        except OSError as error:
            # the turn goes on without: what its work comes to is seen when it is done, and by the checks
            self._log(f"the check could not be tried: {error}")
        return None

    def _tick(self, state: str) -> Callable[[], None]:
        """While something takes long: say that we live, hear whether to go on."""

        def tick() -> None:
            if self._stopped:
                raise Unwanted("the box was stopped")
            with contextlib.suppress(Unreachable, Rejected):
                reason = self._shipping.beat(state)
                if reason is not None:
                    self._state.note_cancel(reason)
                    raise Unwanted(reason)

        return tick

    # while the agent runs

    def _end_agent(self) -> None:
        if held(self._state.supervisor):
            pid = signed(self._state.supervisor) or self._supervisor
            if pid:
                process_tree.send(pid, signal.SIGTERM)

    def _drop_agent(self) -> None:
        """End the agent, if there is one, and wait until nothing of it is left."""
        self._end_agent()
        while held(self._state.supervisor):
            time.sleep(0.05)
            process_tree.reap()

    def _follow(self, work: WorkSoFar) -> None:
        """Pass the output on until the agent has ended and all of it is acknowledged; tell its work meanwhile."""

        def cancelled(reason: str) -> None:
            if self._state.cancel() is None and held(self._state.supervisor):
                self._log(f"cancelled: {reason}")
                self._state.note_cancel(reason)
                self._end_agent()

        def ended() -> bool:
            work.look()
            return not held(self._state.supervisor)

        try:
            self._shipping.follow(ended, cancelled)
        finally:
            work.end()
        process_tree.reap()

    # after the agent

    def _finish(
        self, places: Places, turn: AssignedTurn, strays: Callable[[], tuple[set[int], set[int]]], said: str = ""
    ) -> Result | None:
        """The result; None where the agent's container ended with its agent: why, the cluster knows and tells."""
        kept = self._state.noted("result")
        if kept is not None:
            # its verification was cut off: the work is reported as it is, unverified
            return protocol.result_from_json(kept)
        work = WorkSoFar(self._home, self._link, self._state, places, turn, self._log)
        self._follow(work)
        end = self._state.end()
        if end is None:
            end = self._sweep_up(places, turn, strays)
        if self._place.lost:
            work.last()
            return None
        with contextlib.suppress(OSError):
            files.keep_conversation(self._home, turn)
        reporter = Reporter(self._home, self._link, self._state, self._shipping)
        result = reporter.result(places, turn, end, said)
        return self._verified(places, turn, result, reporter.contents)

    def _verified(self, places: Places, turn: AssignedTurn, result: Result, contents: dict[str, bytes]) -> Result:
        """The result with what came of the turn's check, before the agent and on just what would be published."""
        wanted, before = turn.verification, self._state.noted("trial")
        if wanted is None:
            return result
        result = replace(result, trials=Trials(Trial(**before) if before else None))
        if result.reason != protocol.EXITED or not result.changes:
            return result
        # from here on nothing of the agent's home is left: whoever takes this up has the work from here
        self._state.note("result", protocol.to_json(result))
        if turn.work_seconds > 0:
            with contextlib.suppress(Rejected, OSError):
                tell(self._link, self._state, result)
        wanted = replace(wanted, overlay=overlay_of(result.changes))
        box: AgentBox | None = None
        try:
            box = self._preparation.once_more(places, turn, to_put(places, wanted, contents.__getitem__))
            after = BoxTrials(places, turn, wanted, self._tick(protocol.REPORTING)).after(box)
            box.ask("end")
        except (Unwanted, FetchFailed, CheckoutFailed, GitError, OSError) as error:
            after = Trial(NOT_RUN, output=str(error))
            if isinstance(error, BoxLost):
                self._place.give_up()
        finally:
            if box is not None:
                box.close()
        self._log(f"on what it would publish its check {after.how}")
        return replace(result, trials=replace(result.trials, after=after))

    def _sweep_up(
        self, places: Places, turn: AssignedTurn, strays: Callable[[], tuple[set[int], set[int]]]
    ) -> dict[str, Any]:
        """The supervisor was killed: nobody saw the agent end, and its processes went to whoever is above us."""
        roots, spare = strays()
        agent = self._state.agent()
        since = agent[1] if agent else 0

        def lost(process: process_tree.Process) -> bool:
            if agent and (process.pid, process.start) == agent:
                return True
            return process.start >= since > 0 and process_tree.works_in(process.pid, (places.home,))

        self._place.end(self._state)
        killed, left = process_tree.sweep(roots=roots, marker=turn.marker, spare=spare, also=lost)
        return {"how": agent_keeper.LOST, "exit_code": None, "swept": len(killed), "left": sorted(left)}

    def _scrub(self, turn: AssignedTurn) -> None:
        """Take the turn's secrets out of what its agent keeps. The service knows them; nobody here remembers them."""
        with contextlib.suppress(Rejected, Gone, ProtocolError):
            answer = self._link.call("GET", f"/turns/{turn.turn}/secrets")
            values = protocol.secrets_from_json(answer)
            kept = agent_files.matching(self._home.conversations, turn.conversation)
            count = scrub([self._home.conversations / path for path in kept], values)
            if count:
                self._log(f"secrets were covered in {count} files of its conversation")

    def _send(self, turn: AssignedTurn, result: Result) -> None:
        try:
            self._link.call("PUT", f"/turns/{turn.turn}/result", protocol.to_json(result))
        except (Rejected, Gone) as refusal:
            self._log(f"the service refused the result: {refusal}")
        self._log(f"ended: {result.reason}, exit code {result.exit_code}, {len(result.changes)} changes")
