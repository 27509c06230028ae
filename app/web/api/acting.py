"""What a caller may do to sessions. A person may do what their mention could: GitHub is asked each time."""

from dataclasses import asdict

from app.web.api.answers import Began, Ending
from app.web.api.callers import Caller
from app.web.api.idempotency import Once
from app.web.api.problems import Problem
from app.web.api.reading import Spot, repository_of, spot_of
from app.web.api.rights import Who
from app.web.state import AppState
from github.client.errors import GitHubError
from github.webhooks.outcomes import Repo, Subject
from loops import operations
from loops.conversations.finding import Topic
from loops.operations import RetryRequest, StartRequest
from loops.requests.conversion import topic_of, whole_subject
from loops.sessions.ask import Asker
from loops.store.bus import WORK
from loops.store.states import SubjectKind
from loops.store.tables import Session


async def start(
    here: AppState, caller: Caller, installation: int | None, wish: StartRequest, surface: str, key: str | None = None
) -> tuple[Began, bool]:
    """Begin a session; whether the same call had begun it before. Raises Invalid, Unknown and Problem."""
    once = Once.of(caller.key, key, ["start", installation, asdict(wish)])
    asker = None
    if caller.person is not None:
        asker = Asker(caller.person.id, caller.person.login)
        named = (wish.person or "").strip().removeprefix("@").lower()
        if named not in ("", asker.login.lower()):
            raise Problem(403, f"this token acts for {asker.login} and for nobody else", field="person")
    at = await repository_of(here, caller, installation, wish.repository)
    async with here.database.write() as tx:
        now = here.clock()
        if (before := await once.before(tx, now)) is not None:
            return Began(**before), True
        done = await operations.start(
            tx, at.installation_id, wish, surface=surface, cap=here.settings.cap, now=now, asker=asker
        )
        began = Began(done.session, done.status)
        await once.done(tx, asdict(began))
    here.bus.notify(WORK)
    return began, False


async def retry(
    here: AppState,
    caller: Caller,
    installation: int | None,
    session: str,
    instruction: str,
    surface: str,
    key: str | None = None,
) -> tuple[Began, bool]:
    """One more turn with the same task; whether the same call had asked for it before. Raises Invalid, Unknown,
    NotAgain and Problem."""
    once = Once.of(caller.key, key, ["retry", session, instruction])
    spot = await spot_of(here, caller, installation, session)
    wish = RetryRequest(session, instruction, await _topic(here, caller, spot))
    asker = Asker(caller.person.id, caller.person.login) if caller.person else Asker(None, surface)
    async with here.database.write() as tx:
        now = here.clock()
        if (before := await once.before(tx, now)) is not None:
            return Began(**before), True
        done = await operations.retry(
            tx, spot.place.installation_id, wish, asker=asker, surface=surface, options=here.settings, now=now
        )
        began = Began(done.session, done.status)
        await once.done(tx, asdict(began))
    here.bus.notify(WORK)
    return began, False


async def cancel(here: AppState, caller: Caller, installation: int | None, session: str, surface: str) -> Ending:
    """Ask for a session's end. Raises Invalid, Unknown and Problem."""
    spot = await spot_of(here, caller, installation, session)
    by = caller.person.login if caller.person else surface
    async with here.database.write() as tx:
        done = await operations.cancel(
            tx, spot.place.installation_id, session, by=by, surface=surface, now=here.clock()
        )
    if done.was_open:
        here.bus.notify(WORK)
    return Ending(done.session, done.status, done.was_open)


async def _topic(here: AppState, caller: Caller, spot: Spot) -> Topic | None:
    """What the session's thread is about as GitHub has it now, of a fork its head of this moment; None without one."""
    async with here.database.read() as tx:
        row = await tx.get_one(Session, spot.key)
    number = row.pull_number or row.subject_number
    if number is None:
        return None
    is_pull = row.pull_number is not None or row.subject_kind is SubjectKind.PULL
    subject = Subject(number, is_pull=is_pull, title=row.title)
    place = spot.place
    if is_pull:
        repository = here.rights.repository(caller.person or Who(0, ""), place)
        try:
            subject = await whole_subject(repository, subject)
        except GitHubError as error:
            raise Problem(503, f"GitHub does not tell about pull request {number}: {error.message}") from None
    return topic_of(Repo(place.repository_id, place.full_name, place.installation_id, row.base_branch or ""), subject)
