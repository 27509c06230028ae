"""The whole loop with its boxes on Kubernetes: our own cluster, or unchanged a real one (`make test-cluster`)."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import select

from app.process import worker
from k8s.identity import SPARE
from loops.store.tables import Box
from tests.e2e.cluster import HELD, RIGHT, cluster_house
from tests.e2e.house import REPOSITORY

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


async def test_a_mention_becomes_green_in_a_pod_of_the_persons_own(tmp_path: Path) -> None:
    async with cluster_house(tmp_path) as home:
        home.agent(RIGHT)
        await home.ask()
        session = await home.ended()
        assert session.outcome == "green"
        (pod,) = await home.found()
        ids = {"person": str(home.local.user("alice").id), "repository": str(session.repository_id)}
        assert pod["metadata"]["name"].endswith("-{person}-r{repository}".format_map(ids))
        labels = {f"greenloop/{key}": value for key, value in {**ids, "login": "alice"}.items()}
        assert pod["metadata"]["labels"].items() >= labels.items()


async def test_who_asks_on_somebody_elses_issue_gets_a_pod_a_home_and_a_token_of_their_own(tmp_path: Path) -> None:
    async with cluster_house(tmp_path) as home:
        home.local.add_user("carol")
        home.local.set_permission(REPOSITORY, "carol", "write")
        home.agent(RIGHT)
        number = await home.ask()
        await home.ended()
        await home.comment(number, "@greenloop and again", login="carol")
        await home.turn_ended(2)
        assert len(await home.sessions()) == 1
        boxes = [turn.box for turn in await home.turns()]
        for kind, suffix in [("Pod", ""), ("PersistentVolumeClaim", "-home"), ("Secret", "-token")]:
            owners = {each["metadata"]["name"]: each["metadata"]["labels"] for each in await home.found(kind)}
            assert [owners[f"{box}{suffix}"]["greenloop/login"] for box in boxes] == ["alice", "carol"], kind
            assert len(owners) == 2


async def test_a_pod_deleted_by_hand_costs_one_more_try(tmp_path: Path) -> None:
    async with cluster_house(tmp_path) as home:
        home.agent(HELD)
        await home.ask()
        await home.runs()
        (pod,) = await home.found()
        async with home.client() as client:
            await client.delete("Pod", pod["metadata"]["name"])
        await home.lost()
        session = await home.ended()
        assert (session.outcome, [each.lost for each in await home.turns()]) == ("green", [1])
        assert (await home.found())[0]["metadata"]["uid"] != pod["metadata"]["uid"]
        assert any("was deleted" in text for text in await home.told())


async def test_a_box_that_eats_its_memory_is_tried_twice_and_then_said_in_words(tmp_path: Path) -> None:
    async with cluster_house(tmp_path, pod={"resources": {"requests": {}, "limits": {"memory": "200Mi"}}}) as home:
        home.agent("print('begun', flush=True)\nhold = bytearray(400 << 20); time.sleep(50)")
        number = await home.ask()
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "box_lost")
        assert [each.lost for each in await home.turns()] == [1]
        assert "ran out of memory (its limit is 200Mi)" in (await home.bot_comments(number))[0]


async def test_an_image_that_can_never_be_had_ends_the_turn_at_once_in_words(tmp_path: Path) -> None:
    async with cluster_house(tmp_path, pod={"image": "Not A Valid Image"}) as home:
        number = await home.ask()
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "box_failed")
        (comment,) = await home.bot_comments(number)
        assert "image name is not valid (image Not A Valid Image)" in comment
        assert "does not come up" in comment
        assert [each.lost for each in await home.turns()] == [0]


async def test_what_the_cluster_refuses_is_said_in_the_comment(tmp_path: Path) -> None:
    async with cluster_house(tmp_path, pod={"extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}]}) as home:
        number = await home.ask()
        assert (await home.ended()).reason == "box_failed"
        assert "Pod Security refuses the box" in (await home.bot_comments(number))[0]


async def test_a_box_for_each_session_ends_with_it_and_so_does_its_home(tmp_path: Path) -> None:
    async with cluster_house(tmp_path, box_isolation="session") as home:
        home.agent(RIGHT)
        await asyncio.gather(home.ask(), home.ask())
        await home.ended(sessions=2)
        assert len({turn.box for turn in await home.turns()}) == 2

        async def gone() -> bool:
            left = [await home.found(kind) for kind in ("Pod", "PersistentVolumeClaim", "Secret")]
            return not any(left)

        await home.until(gone)


async def test_a_first_turn_takes_a_warm_spare_and_another_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "REAPER_SECONDS", 0.5)
    async with cluster_house(tmp_path, box_warm=1) as home:
        home.agent(RIGHT)

        async def warm() -> list[str]:
            spares = [pod for pod in await home.found() if pod["metadata"]["labels"].get(SPARE)]
            return [pod["metadata"]["uid"] for pod in spares if pod["status"]["phase"] == "Running"]

        (spare,) = await home.until(warm)
        await home.ask()
        assert (await home.ended()).outcome == "green"
        (taken,) = [pod for pod in await home.found() if pod["metadata"]["uid"] == spare]
        assert taken["metadata"]["labels"]["greenloop/login"] == "alice"
        assert (await home.turns())[0].box == taken["metadata"]["name"]
        assert len(await home.until(warm)) == 1
        assert len(await home.found()) == 2


@pytest.mark.parametrize("limit", ["ours", "the namespace's"])
async def test_when_all_boxes_are_at_work_the_next_waits_and_gets_the_place_of_an_idle_one(
    tmp_path: Path, limit: str
) -> None:
    ours = limit == "ours"
    quota = None if ours else {"pods": "1"}
    async with cluster_house(tmp_path, quota=quota, box_limit=1 if ours else 50) as home:
        home.local.add_user("carol")
        home.local.set_permission(REPOSITORY, "carol", "write")
        home.agent("print('begun', flush=True); wait()\n" + RIGHT)
        await home.ask()
        first = await home.runs()
        number = await home.ask("carol")
        said = await home.waits("All 1 boxes are at work" if ours else "quota", number)
        assert ("place 1" in said) == ours
        home.let_go()
        await home.ended(sessions=2)
        assert [session.outcome for session in await home.sessions()] == ["green", "green"]
        (pod,) = await home.found()
        assert pod["metadata"]["labels"]["greenloop/login"] == "carol"
        assert pod["metadata"]["name"] != first.box


async def test_an_idle_box_stops_and_its_downloads_are_there_for_the_next_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "REAPER_SECONDS", 0.5)
    async with cluster_house(tmp_path, box_idle_minutes=0.02) as home:
        kept = "pathlib.Path(os.environ['HOME'], '.cache/pip/kept')"
        home.agent(f"{kept}.write_text('mine')\n{RIGHT}")
        await home.ask()
        assert (await home.ended()).outcome == "green"

        async def gone() -> bool:
            return not await home.found()

        await home.until(gone)
        assert len(await home.found("PersistentVolumeClaim")) == 1
        home.agent(f"{RIGHT}\nassert {kept}.exists()")
        await home.ask()
        assert (await home.ended(sessions=2)).outcome == "green"
        first, second = await home.turns()
        assert (first.box, second.lost) == (second.box, 0)


async def test_a_box_that_stays_up_gets_a_new_token_with_each_turn_and_loses_nothing(tmp_path: Path) -> None:
    async with cluster_house(tmp_path, box_token_hours=1e-9) as home:
        home.agent("for n in range(20):\n    print(n, flush=True); time.sleep(0.05)\n" + RIGHT)
        for number in range(1, 4):
            await home.ask()
            assert (await home.ended(sessions=number)).outcome == "green"
        assert len({turn.box for turn in await home.turns()}) == 1
        assert [turn.lost for turn in await home.turns()] == [0, 0, 0]
        async with home.database.read() as tx:
            (box,) = (await tx.execute(select(Box))).scalars()
        assert box.generation - int(box.created_at) >= 3
