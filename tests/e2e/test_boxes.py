"""The whole loop with its boxes on Kubernetes, and what may happen to a pod in the middle of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app import worker
from app.demo.places import NAMESPACE
from k8s import kubernetes_boxes
from k8s.apiserver.resources import BY_KIND
from k8s.identity import SPARE
from loops.journal import after
from loops.tables import Event
from tests.e2e.house import REPOSITORY, House, house

RIGHT = "pathlib.Path('value.txt').write_text('right')"
# Runs long the first time, does its work at once the second time; the home is what the two have in common.
ONCE = f"""
print('begun', flush=True)
home = pathlib.Path(os.environ['HOME'], 'tried')
if not home.exists():
    home.write_text('')
    time.sleep(50)
{RIGHT}
"""
COUNT = 60
BY_POD = BY_KIND["Pod"]

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, pod={}) as opened:
        yield opened


async def events(home: House) -> list[Event]:
    async with home.database.read() as tx:
        return await after(tx, (await home.sessions())[-1].id, 0, 10_000)


async def ask(home: House) -> int:
    number = await home.issue()
    await home.comment(number, "@greenloop fix it")
    return number


async def test_a_mention_becomes_green_in_a_pod_of_the_persons_own(home: House) -> None:
    home.agent(RIGHT)
    await ask(home)
    assert (await home.ended()).outcome == "green"
    (pod,) = home.pods()
    alice = home.local.user("alice").id
    assert pod["metadata"]["name"].endswith(f"-{alice}")
    assert pod["metadata"]["labels"]["greenloop/login"] == "alice"


async def test_a_pod_deleted_by_hand_costs_one_more_try(home: House) -> None:
    home.agent(ONCE)
    await ask(home)
    turn = await home.runs()
    pod = home.pods()[0]["metadata"]
    home.cluster.store.mark_deleted(BY_POD, home.pods()[0], 1)
    session = await home.ended()
    assert (session.outcome, [each.lost for each in await home.turns()]) == ("green", [1])
    assert home.pods()[0]["metadata"]["uid"] != pod["uid"]
    told = [str(event.payload.get("text")) for event in await events(home)]
    assert any("was deleted" in text for text in told), turn.box


async def test_an_evicted_box_costs_one_more_try(home: House) -> None:
    home.agent(ONCE)
    await ask(home)
    turn = await home.runs()
    home.cluster.kubelet.evict(NAMESPACE, turn.box or "", "The node was low on resource: memory.")
    assert (await home.ended()).outcome == "green"
    assert any("low on resource" in str(event.payload.get("text")) for event in await events(home))


async def test_a_lost_node_costs_one_more_try_on_another(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    home.agent(ONCE)
    await ask(home)
    await home.runs()
    home.cluster.kubelet.add_node("node-2")
    await home.cluster.kubelet.lose_node("node-1")
    # a node that is gone never confirms the deletion: once that is overdue, the pod is removed by force
    monkeypatch.setattr(kubernetes_boxes, "REPLACE_SECONDS", 0.5)
    await asyncio.sleep(2)
    assert [each.status for each in await home.turns()] == ["queued"]
    monkeypatch.setattr(kubernetes_boxes, "OVERDUE_SECONDS", -60.0)
    assert (await home.ended()).outcome == "green"
    assert home.pods()[0]["spec"]["nodeName"] == "node-2"


async def test_a_box_that_eats_its_memory_is_tried_twice_and_then_said_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, pod={"resources": {"requests": {}, "limits": {"memory": "200Mi"}}}) as home:
        home.agent("print('begun', flush=True)\nhold = bytearray(400 << 20); time.sleep(50)")
        number = await ask(home)
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "box_lost")
        assert [each.lost for each in await home.turns()] == [1]
        assert "ran out of memory (its limit is 200Mi)" in (await home.bot_comments(number))[0]


async def test_an_image_that_can_never_be_had_ends_the_turn_at_once_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, pod={"image": "Not A Valid Image"}) as home:
        number = await ask(home)
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "box_failed")
        (comment,) = await home.bot_comments(number)
        assert "image name is not valid (image Not A Valid Image)" in comment
        assert "does not come up" in comment
        assert [each.lost for each in await home.turns()] == [0]


async def test_a_registry_that_is_away_is_waited_for_and_the_comment_says_so(home: House) -> None:
    home.agent(RIGHT)
    home.cluster.kubelet.machine.images = set()
    number = await ask(home)
    assert "cannot be pulled" in await home.waits("image", number)
    home.cluster.kubelet.machine.images = None
    session = await home.ended()
    assert session.outcome == "green"
    assert "⏳" not in (await home.bot_comments(number))[0]


async def test_a_box_that_no_node_takes_is_waited_for_and_the_comment_says_so(home: House) -> None:
    home.agent(RIGHT)
    node = home.cluster.store.get(BY_KIND["Node"], "", "node-1")
    home.cluster.store.update(BY_KIND["Node"], node | {"spec": {"unschedulable": True}})
    number = await ask(home)
    assert "unschedulable" in await home.waits("No node has room", number)
    home.cluster.kubelet.add_node("node-2")
    assert (await home.ended()).outcome == "green"


async def test_an_api_server_that_restarts_in_the_middle_of_a_turn_loses_and_doubles_no_line(home: House) -> None:
    home.agent(f"for n in range({COUNT}):\n    print(f'line {{n}}', flush=True); time.sleep(0.1)\n" + RIGHT)
    await ask(home)
    await home.runs()
    await home.cluster.stop_api()
    second = await ask(home)
    await asyncio.sleep(3)
    assert {each.status for each in await home.turns()} <= {"running", "queued", "reported", "done"}
    await home.cluster.start_api()
    await home.ended(sessions=2)
    sessions = await home.sessions()
    assert [session.outcome for session in sessions] == ["green", "green"]
    assert [turn.lost for turn in await home.turns()] == [0, 0]
    for session in sessions:
        async with home.database.read() as tx:
            found = await after(tx, session.id, 0, 10_000)
        text = "".join(str(event.payload.get("text", "")) + "\n" for event in found)
        assert [line for line in text.splitlines() if line.startswith("line ")] == [f"line {n}" for n in range(COUNT)]
    assert second


async def test_a_box_for_each_session_ends_with_it_and_so_does_its_home(tmp_path: Path) -> None:
    async with house(tmp_path, pod={}, box_isolation="session") as home:
        home.agent(RIGHT)
        await asyncio.gather(ask(home), ask(home))
        await home.ended(sessions=2)
        turns = await home.turns()
        assert len({turn.box for turn in turns}) == 2

        async def gone() -> bool:
            claims = home.cluster.store.list(BY_KIND["PersistentVolumeClaim"], NAMESPACE)
            return not home.pods() and not claims and not home.cluster.store.list(BY_KIND["Secret"], NAMESPACE)

        await home.until(gone)


async def test_a_first_turn_takes_a_warm_spare_and_another_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "UPKEEP_SECONDS", 0.5)
    async with house(tmp_path, pod={}, box_warm=1) as home:
        home.agent(RIGHT)

        async def warm() -> list[str]:
            pods = [pod for pod in home.pods() if pod["metadata"]["labels"].get(SPARE)]
            return [pod["metadata"]["uid"] for pod in pods if pod["status"]["phase"] == "Running"]

        (spare,) = await home.until(warm)
        await ask(home)
        assert (await home.ended()).outcome == "green"
        (taken,) = [pod for pod in home.pods() if pod["metadata"]["uid"] == spare]
        assert taken["metadata"]["labels"]["greenloop/login"] == "alice"
        assert (await home.turns())[0].box == taken["metadata"]["name"]
        assert len(await home.until(warm)) == 1
        assert len(home.pods()) == 2


@pytest.mark.parametrize("limit", ["ours", "the namespace's"])
async def test_when_all_boxes_are_at_work_the_next_waits_and_gets_the_place_of_an_idle_one(
    tmp_path: Path, limit: str
) -> None:
    async with house(tmp_path, pod={}, **({"box_limit": 1} if limit == "ours" else {})) as home:
        home.local.add_user("carol")
        home.local.set_permission(REPOSITORY, "carol", "write")
        if limit != "ours":
            home.cluster.make(
                "ResourceQuota", NAMESPACE, {"metadata": {"name": "boxes"}, "spec": {"hard": {"pods": "1"}}}
            )
        home.agent("print('begun', flush=True); time.sleep(4)\n" + RIGHT)
        await ask(home)
        first = await home.runs()
        number = await home.issue(login="carol")
        await home.comment(number, "@greenloop fix it", login="carol")
        said = await home.waits("All 1 boxes are at work" if limit == "ours" else "quota", number)
        assert ("place 1" in said) == (limit == "ours")
        await home.ended(sessions=2)
        assert [session.outcome for session in await home.sessions()] == ["green", "green"]
        (pod,) = home.pods()
        assert pod["metadata"]["labels"]["greenloop/login"] == "carol"
        assert pod["metadata"]["name"] != first.box
