import pytest

from github.emulator.faults import Faults
from tests.chaos.schedule import DATABASE, FAULTS, ROUND_SECONDS, VICTIMS, What, schedule


def test_a_seed_is_a_schedule_and_another_seed_another_one() -> None:
    assert schedule(7, 5, database_dies=True) == schedule(7, 5, database_dies=True)
    assert schedule(7, 5, database_dies=True) != schedule(8, 5, database_dies=True)


@pytest.mark.parametrize("dies", [True, False])
def test_everybody_is_hit_sooner_or_later_within_the_rounds_and_somebody_asks_in_each(dies: bool) -> None:
    rounds = schedule(1, 200, database_dies=dies)
    acts = [act for each in rounds for act in each.acts]
    assert {act.whom for act in acts} == set(VICTIMS)
    assert all(0 <= act.at <= ROUND_SECONDS for act in acts)
    assert {act.what for act in acts if act.whom == DATABASE} == (set(What) if dies else {What.PAUSE})
    assert all(act.seconds for act in acts if act.what is What.PAUSE), "what is paused goes on"
    assert all(each.requests and each.requests[0].stopped_at is None for each in rounds)
    assert any(request.stopped_at for each in rounds for request in each.requests)


def test_each_fault_is_one_of_the_local_githubs() -> None:
    for rule in FAULTS:
        Faults().add_text(rule)
