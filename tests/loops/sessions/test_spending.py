"""What counts against a session's caps: nobody uses up what others may."""

from github.webhooks.outcomes import Repo
from loops.conversations.asking import add_turn, begin
from loops.sessions.caps import Spent
from loops.sessions.known_accounts import remember_repository
from loops.sessions.spending import spent_before
from loops.store.database import Database
from loops.store.states import TurnStatus
from loops.store.tables import Turn
from tests.databases import on_sqlite
from tests.loops.asks import mention, topic

NOW = 1_000_000.0
ANN, BEN = 1, 2


@on_sqlite
async def test_steps_tokens_and_cost_count_for_whose_turns_used_them_and_files_for_all(database: Database) -> None:
    async with database.write() as tx:
        await remember_repository(tx, Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="m"), NOW)
        session = await begin(tx, topic(), mention(by=ANN), owner=ANN, cap=3, now=NOW)
        turns = [await tx.get_one(Turn, 1)]
        for owner in (BEN, ANN, None, BEN, None):
            turns.append(await add_turn(tx, session, mention(by=owner or ANN), owner=owner, now=NOW))
        for at, turn in enumerate(turns):
            turn.status, turn.steps, turn.input_tokens, turn.cost = TurnStatus.DONE, 10**at, 10**at, 10.0**at
            turn.changed_files = [f"{at}.txt"]
        everything = {f"{at}.txt" for at in range(6)}
        for at, used in ((2, 1), (4, 10), (5, 1000)):
            files = frozenset(everything - {f"{at}.txt"})
            assert await spent_before(tx, turns[at]) == Spent(used, 0.0, files, used, float(used))
