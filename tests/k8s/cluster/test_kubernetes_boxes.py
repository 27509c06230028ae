"""What must hold of boxes on any cluster: our own API server, or a real one (`make test-cluster`)."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from k8s.boxes import BoxState, BoxStatus, Known, Reconciled
from k8s.identity import SPARE, home_name, secret_name, selector
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.pod import box_pod, home_claim, secret_token, token_secret
from tests.k8s.cluster.conftest import Place, settled

pytestmark = pytest.mark.cluster

CLAIM = "PersistentVolumeClaim"


async def test_a_box_comes_to_run_and_stops_without_its_home(place: Place) -> None:
    boxes, cluster = await place.boxes(), await place.client()
    box = place.spec()
    assert (await boxes.ensure(box)).state in (BoxState.STARTING, BoxState.RUNNING)
    running = await settled(boxes, box.name, place.patience)
    assert running.state is BoxState.RUNNING, running
    assert running.labels["person"] == "42"
    assert running.started_at is not None

    await boxes.stop(box.name)
    await gone(boxes, box.name, place.patience)
    assert await cluster.get("Secret", secret_name(box.name)) is None
    assert await cluster.get("PersistentVolumeClaim", home_name(box.name)) is not None
    assert [(found.name, found.state) for found in await boxes.list()] == [(box.name, BoxState.ABSENT)]

    await boxes.delete_home(box.name)
    async with asyncio.timeout(place.patience):
        while await cluster.get("PersistentVolumeClaim", home_name(box.name)) is not None:
            await asyncio.sleep(0.1)
    await cluster.close()


async def test_fifty_acquirers_at_once_make_one_box(place: Place) -> None:
    workers = [await place.boxes() for _ in range(5)]
    cluster = await place.client()
    box = place.spec()
    found = await asyncio.gather(*(workers[number % 5].ensure(box) for number in range(50)))
    assert {status.state for status in found} <= {BoxState.STARTING, BoxState.RUNNING}
    for kind in ("Pod", "Secret", "PersistentVolumeClaim"):
        items, _ = await cluster.list(kind, selector("greenloop"))
        assert len(items) == 1, kind
    uid = (await cluster.get("Pod", box.name) or {})["metadata"]["uid"]
    await asyncio.gather(*(workers[number % 5].ensure(box) for number in range(50)))
    assert (await cluster.get("Pod", box.name) or {})["metadata"]["uid"] == uid
    await cluster.close()


async def test_stopping_fifty_times_at_once_is_stopping_once(place: Place) -> None:
    boxes = await place.boxes()
    box = place.spec()
    await boxes.ensure(box)
    await asyncio.gather(*(boxes.stop(box.name) for _ in range(50)))
    await gone(boxes, box.name, place.patience)
    await boxes.stop(box.name)


async def test_ensure_while_the_old_pod_is_ending_makes_a_fresh_one_on_the_same_home(place: Place) -> None:
    boxes, cluster = await place.boxes(), await place.client()
    box = place.spec()
    await boxes.ensure(box)
    await settled(boxes, box.name, place.patience)
    before = await cluster.get("Pod", box.name) or {}
    home = await cluster.get("PersistentVolumeClaim", home_name(box.name)) or {}
    await asyncio.gather(boxes.stop(box.name), *(boxes.ensure(box) for _ in range(5)))
    await boxes.ensure(box)
    after = await cluster.get("Pod", box.name) or {}
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    kept = await cluster.get("PersistentVolumeClaim", home_name(box.name)) or {}
    assert kept["metadata"]["uid"] == home["metadata"]["uid"]
    await cluster.close()


async def test_a_home_may_be_a_volume_of_the_pods_own_that_goes_with_it(place: Place) -> None:
    kept, cluster = await place.boxes(), await place.client()
    own = await place.boxes(home={"size": "1Gi", "ephemeral": True})
    box = place.spec()
    await kept.ensure(box)
    await settled(kept, box.name, place.patience)
    await kept.stop(box.name)
    await gone(kept, box.name, place.patience)
    # the home that was kept until now has the name of the claim that the cluster makes for the pod
    await own.ensure(box)
    assert (await settled(own, box.name, place.patience)).state is BoxState.RUNNING
    pod = await cluster.get("Pod", box.name) or {}
    claim = await cluster.get(CLAIM, home_name(box.name)) or {}
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == [pod["metadata"]["uid"]]
    await own.stop(box.name)
    async with asyncio.timeout(place.patience):
        while await cluster.get(CLAIM, home_name(box.name)):
            await asyncio.sleep(0.1)
    assert await own.list() == []
    await cluster.close()


async def test_two_instances_in_one_namespace_do_not_see_or_touch_each_other(place: Place) -> None:
    ours, theirs = await place.boxes("team-a"), await place.boxes("team-b")
    box = place.spec("gl-same-name")
    await ours.ensure(box)
    await settled(ours, box.name, place.patience)

    refused = await theirs.ensure(box)
    assert refused.state is BoxState.FAILED
    assert refused.permanent
    assert "not ours" in refused.message
    assert await theirs.list() == []
    await theirs.stop(box.name)
    await theirs.delete_home(box.name)
    assert await theirs.reconcile({}, confirm=agreed, now=time.time() + 1e7) == Reconciled()
    assert (await ours.fresh(box.name)).state is BoxState.RUNNING
    assert [found.name for found in await ours.list()] == [box.name]


async def test_a_renewed_token_reaches_the_secret(place: Place) -> None:
    boxes, cluster = await place.boxes(), await place.client()
    box = place.spec()
    await boxes.ensure(box)
    await boxes.ensure(replace(box, token="rotated"))
    secret = await cluster.get("Secret", secret_name(box.name))
    assert secret is not None
    assert secret_token(secret) == "rotated"
    await cluster.close()


async def test_a_pod_outside_pod_security_is_refused_for_good_with_the_clusters_reason(place: Place) -> None:
    boxes = await place.boxes(extraVolumes=[{"name": "host", "hostPath": {"path": "/"}}])
    refused = await boxes.ensure(place.spec())
    assert refused.state is BoxState.FAILED
    assert refused.permanent
    assert "hostPath" in refused.message


@pytest.mark.parametrize("field", ["priorityClass", "runtimeClass"])
async def test_a_class_that_the_cluster_does_not_have_is_a_refusal_for_good(place: Place, field: str) -> None:
    boxes = await place.boxes(**{field: "greenloop-test-none"})
    refused = await boxes.ensure(place.spec())
    assert (refused.state, refused.permanent) == (BoxState.FAILED, True)
    assert ' class "greenloop-test-none": ' in refused.message, "it names what there is none of"


async def test_an_invalid_value_is_refused_for_good(place: Place) -> None:
    boxes = await place.boxes(resources={"requests": {"cpu": "much"}, "limits": {}})
    refused = await boxes.ensure(place.spec())
    assert (refused.state, refused.permanent) == (BoxState.FAILED, True)


async def test_an_unknown_field_is_refused_rather_than_dropped(place: Place) -> None:
    boxes = await place.boxes(extraVolumes=[{"name": "x", "emptyDir": {"sizelimit": "1Gi"}}])
    refused = await boxes.ensure(place.spec())
    assert (refused.state, refused.permanent) == (BoxState.FAILED, True)
    assert "sizelimit" in refused.message


async def test_a_box_that_no_node_takes_is_unschedulable_and_may_still_come(place: Place) -> None:
    boxes = await place.boxes(nodeSelector={"greenloop-test": "no-such-node"})
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.UNSCHEDULABLE, place.patience)
    assert not seen.permanent
    assert "No node takes the box" in seen.message


async def test_an_image_name_that_is_not_valid_fails_for_good_at_once(place: Place) -> None:
    boxes = await place.boxes(image="Not A Valid Image")
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.IMAGE_ERROR, place.patience)
    assert seen.permanent


async def test_an_image_that_may_not_be_pulled_fails_for_good_at_once(place: Place) -> None:
    boxes = await place.boxes(image="greenloop.invalid/not-on-the-node:1", imagePullPolicy="Never")
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.IMAGE_ERROR, place.patience)
    assert seen.permanent
    assert "Never" in seen.message


@pytest.mark.parametrize(("command", "who"), [("agentCommand", "The agent's part"), ("command", "The box's runner")])
async def test_a_box_that_eats_its_memory_says_so(place: Place, command: str, who: str) -> None:
    program = "import time\nhold = []\nwhile True:\n    hold.append(bytearray(16 << 20))\n    time.sleep(0.02)"
    values: dict[str, Any] = {command: ["tini", "--", "python3", "-c", program]}
    boxes = await place.boxes(**values)
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.OOM_KILLED, place.patience)
    assert seen.message.startswith(who)
    assert "256Mi" in seen.message


async def test_a_pod_of_the_former_release_keeps_its_turn_and_is_replaced_once_it_is_idle(place: Place) -> None:
    boxes, box = await place.boxes(), place.spec()
    old = box_pod("greenloop", box, place.options())
    [runner, _] = old["spec"]["containers"]
    old["spec"]["containers"] = [{**runner, "name": "box"}]
    client = await place.client()
    place.stack.push_async_callback(client.close)
    for item in (token_secret("greenloop", box), home_claim("greenloop", box, place.options()), old):
        assert item is not None
        await client.create(item)
    assert (await settled(boxes, box.name, place.patience)).state is BoxState.RUNNING
    made = (await client.get("Pod", box.name) or {})["metadata"]["uid"]
    assert (await boxes.ensure(box)).state is BoxState.RUNNING
    assert (await client.get("Pod", box.name) or {})["metadata"]["uid"] == made
    await boxes.ensure(replace(box, idle=True))
    found = await client.get("Pod", box.name) or {}
    assert found["metadata"]["uid"] != made
    assert [each["name"] for each in found["spec"]["containers"]] == ["runner", "agent"]


async def test_a_box_that_ends_with_an_error_tells_its_last_words(place: Place) -> None:
    program = "import sys\nsys.exit('the service refused the token')"
    boxes = await place.boxes(command=["tini", "--", "python3", "-c", program])
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.FAILED, place.patience)
    assert "exit code 1" in seen.message
    assert "the service refused the token" in seen.message


async def test_a_box_that_reached_its_deadline_says_so(place: Place) -> None:
    boxes = await place.boxes(deadlineSeconds=1)
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.FAILED, place.patience)
    assert "time limit" in seen.message


async def test_a_box_that_fills_its_disk_is_evicted(place: Place) -> None:
    fill = "import tempfile, time\nopen(tempfile.gettempdir() + '/fill', 'wb').write(bytes(8 << 20))\ntime.sleep(600)"
    boxes = await place.boxes(tmpSize="4Mi", command=["tini", "--", "python3", "-c", fill])
    box = place.spec()
    await boxes.ensure(box)
    seen = await becomes(boxes, box.name, BoxState.EVICTED, max(place.patience, 180))
    assert "more disk" in seen.message


async def test_a_pod_deleted_by_hand_is_told_as_trouble_and_comes_back_fresh(place: Place) -> None:
    boxes, cluster = await place.boxes(), await place.client()
    box = place.spec()
    await boxes.ensure(box)
    await settled(boxes, box.name, place.patience)
    troubles = boxes.troubles()
    told = asyncio.ensure_future(anext(troubles))
    await asyncio.sleep(0.05)
    await cluster.delete("Pod", box.name)
    seen = await asyncio.wait_for(told, place.patience)
    assert (seen.name, seen.state) == (box.name, BoxState.LOST)
    assert "deleted" in seen.message
    assert (await boxes.ensure(box)).usable
    await troubles.aclose()
    await cluster.close()


async def test_a_permanent_failure_is_replaced_once_the_options_are_mended(place: Place) -> None:
    broken, mended = await place.boxes(image="Not A Valid Image"), await place.boxes()
    box = place.spec()
    await broken.ensure(box)
    await becomes(broken, box.name, BoxState.IMAGE_ERROR, place.patience)
    assert not (await broken.ensure(box)).usable
    await mended.ensure(box)
    assert (await settled(mended, box.name, place.patience)).state is BoxState.RUNNING


async def test_a_full_quota_is_no_failure_but_waiting(place: Place) -> None:
    boxes = await place.boxes()
    await place.quota(**{"pods": "1", "persistentvolumeclaims": "2"})
    await boxes.ensure(place.spec("gl-first"))
    full = await boxes.ensure(place.spec("gl-second"))
    assert full.state is BoxState.FULL
    assert full.crowded
    assert not full.permanent
    assert "quota" in full.message
    assert (await boxes.ensure(place.spec("gl-first"))).usable
    await boxes.stop("gl-first")
    # a cluster takes a moment to count again
    async with asyncio.timeout(place.patience):
        while not (await boxes.ensure(place.spec("gl-second"))).usable:
            await asyncio.sleep(0.1)


async def test_a_spare_becomes_somebodys_without_starting_anew(place: Place) -> None:
    boxes, cluster = await place.boxes(), await place.client()
    spare = replace(place.spec("gl-spare-1"), labels={"instance": "greenloop"})
    await boxes.ensure(spare)
    before = await settled(boxes, spare.name, place.patience)
    assert before.labels["spare"] == "true"
    theirs = replace(spare, labels={"instance": "greenloop", "installation": "7", "person": "42", "login": "ann"})
    await boxes.ensure(theirs)
    # a worker that has not heard of it yet and still keeps the spare up takes nothing back
    await boxes.ensure(spare)
    after = await boxes.fresh(spare.name)
    assert after.started_at == before.started_at
    for kind, name in (("Pod", spare.name), ("Secret", secret_name(spare.name)), (CLAIM, home_name(spare.name))):
        labels = (await cluster.get(kind, name) or {})["metadata"]["labels"]
        assert (labels["greenloop/person"], labels["greenloop/login"], labels.get(SPARE)) == ("42", "ann", None)
    await cluster.close()


async def test_a_box_keeps_its_name_when_its_person_is_renamed(place: Place) -> None:
    boxes = await place.boxes()
    box = place.spec(login="ann")
    await boxes.ensure(box)
    before = await settled(boxes, box.name, place.patience)
    await boxes.ensure(place.spec(login="Ann-Ünïcode_von_und_zu" * 4))
    after = await boxes.fresh(box.name)
    assert after.started_at == before.started_at
    assert after.labels["login"].startswith("Ann-")
    assert len(await boxes.list()) == 1


async def test_reconcile_deletes_orphans_that_are_old_and_leaves_the_rest(place: Place) -> None:
    boxes = await place.boxes()
    for name in ("gl-orphan", "gl-busy", "gl-idle"):
        await boxes.ensure(place.spec(name))
    now = time.time() + 3600
    known = {"gl-busy": Known(busy=True, used_at=0), "gl-idle": Known(busy=False, used_at=now - 60)}
    assert (await boxes.reconcile(known, confirm=agreed, now=time.time())).deleted == ()
    known["gl-gone"] = Known(busy=True, used_at=0)
    assert await boxes.reconcile(known, confirm=agreed, now=now) == Reconciled(("gl-orphan",), ("gl-gone",))
    async with asyncio.timeout(place.patience):
        while "gl-orphan" in {box.name for box in await boxes.list()}:
            await asyncio.sleep(0.1)
    assert {box.name for box in await boxes.list()} == {"gl-busy", "gl-idle"}


async def test_reconcile_asks_once_more_before_it_deletes(place: Place) -> None:
    boxes = await place.boxes()
    await boxes.ensure(place.spec())
    asked = []

    async def busy_again(name: str) -> bool:
        asked.append(name)
        return False

    assert (await boxes.reconcile({}, confirm=busy_again, now=time.time() + 3600)).deleted == ()
    assert set(asked) == {place.spec().name}
    assert (await boxes.fresh(place.spec().name)).usable


async def agreed(name: str) -> bool:
    return True


async def gone(boxes: KubernetesBoxes, name: str, seconds: float) -> None:
    await becomes(boxes, name, BoxState.ABSENT, seconds)


async def becomes(boxes: KubernetesBoxes, name: str, state: BoxState, seconds: float) -> BoxStatus:
    seen = None
    deadline = time.monotonic() + seconds
    while seen is None or seen.state is not state:
        assert time.monotonic() < deadline, f"{name} did not become {state}: {seen}"
        await asyncio.sleep(0.05)
        seen = await boxes.status(name)
    return seen
