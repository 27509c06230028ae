"""A pod of several containers, as a cluster runs it: what each has for itself, and what is said of each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from kubernetes.aio.client import ApiException

from k8s.cluster import Cluster
from tests.k8s.cluster.conftest import IMAGE, Place
from tests.k8s.cluster_double.kubelet.isolation import Isolation

pytestmark = pytest.mark.cluster

Object = dict[str, Any]
FIRST, SECOND = 1000, 1001


class Pod:
    """One pod in a place."""

    def __init__(self, place: Place, cluster: Cluster) -> None:
        self._place = place
        self._cluster = cluster

    async def make(self, policy: str, *, first: str, second: str) -> None:
        """Of two containers of two users, each a shell script, which share a part of a volume."""
        containers = [
            _container("first", first, FIRST, _mount("both", "/one"), _mount("both", "/both", "a")),
            _container("second", second, SECOND, _mount("both", "/both", "a", read_only=True), _mount("own", "/own")),
        ]
        spec = {
            "restartPolicy": policy,
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "fsGroup": FIRST, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": containers,
            "volumes": [{"name": "both", "emptyDir": {}}, {"name": "own", "emptyDir": {}}],
        }
        await self._cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}, "spec": spec})

    async def until(self, reached: Callable[[Object], bool]) -> dict[str, Object]:
        """The containers' statuses by name, once the pod's status is so."""
        async with asyncio.timeout(self._place.patience):
            while True:
                status = (await self._cluster.get("Pod", "two") or {}).get("status") or {}
                if reached(status):
                    return {each["name"]: each for each in status["containerStatuses"]}
                await asyncio.sleep(0.05)


def _mount(volume: str, path: str, below: str = "", *, read_only: bool = False) -> Object:
    return {"name": volume, "mountPath": path, "subPath": below, "readOnly": read_only}


def _container(name: str, script: str, user: int, *mounts: Object) -> Object:
    return {
        "name": name,
        "image": IMAGE,
        "command": ["sh", "-c", script],
        "volumeMounts": list(mounts),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": {
            "runAsUser": user,
            "runAsGroup": user,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


@pytest.fixture
async def pod(place: Place) -> AsyncIterator[Pod]:
    isolation = Isolation.of_this_machine()
    if place.small is not None and not isolation.works:
        pytest.skip(isolation.lacks)
    cluster = await place.client()
    yield Pod(place, cluster)
    await cluster.close()


def terminated(status: Object) -> Object:
    found: Object = status["state"].get("terminated") or {}
    return found


def messages(statuses: dict[str, Object]) -> tuple[list[str], list[str]]:
    first, second = (terminated(statuses[name])["message"].splitlines() for name in ("first", "second"))
    return first, second


async def test_each_has_processes_and_mounts_of_its_own(pod: Pod) -> None:
    look = "echo $$ /proc/[0-9]*; ls -d /one /both /own 2>/dev/null; touch /x 2>/dev/null || echo fixed"
    await pod.make("Never", first=f"{look}; exit 1", second=f"{look}; exit 1")
    first, second = messages(await pod.until(lambda status: status.get("phase") == "Failed"))
    assert first == ["1 /proc/1", "/both", "/one", "fixed"]
    assert second == ["1 /proc/1", "/both", "/own", "fixed"]


async def test_a_part_of_a_volume_is_shared_with_who_may_only_read_it(pod: Pod) -> None:
    wait = "until [ -e /both/made ]; do sleep 0.05; done"
    write = (
        f"{wait}; cat /both/made; ls /both; echo x > /both/made || echo fixed; rm -f /both/made || echo kept; exit 1"
    )
    await pod.make("Never", first="umask 022; echo hello > /one/a/made; cat /both/made; exit 1", second=write)
    first, second = messages(await pod.until(lambda status: status.get("phase") == "Failed"))
    assert first == ["hello"]
    assert [line for line in second if "Read-only" not in line] == ["hello", "made", "fixed", "kept"]


async def test_each_is_its_user_and_of_the_volumes_group(pod: Pod, place: Place) -> None:
    if place.small is not None and not Isolation.of_this_machine().users:
        pytest.skip(Isolation.of_this_machine().lacks)
    own = "id -u; id -G; touch /both/$(id -u) && stat -c '%u %g' /both/$(id -u); exit 1"
    await pod.make("Never", first=own, second="id -u; id -G; touch /own/x && stat -c '%u %g' /own/x; exit 1")
    first, second = messages(await pod.until(lambda status: status.get("phase") == "Failed"))
    assert (first[0], set(first[1].split())) == (str(FIRST), {str(FIRST)})
    assert (second[0], set(second[1].split())) == (str(SECOND), {str(FIRST), str(SECOND)})
    assert (first[2], second[2]) == (f"{FIRST} {FIRST}", f"{SECOND} {FIRST}")


async def test_a_pod_runs_on_while_one_of_its_containers_does_and_fails_if_any_did(pod: Pod, place: Place) -> None:
    await pod.make("Never", first="exit 3", second="until [ -e /both/go ]; do sleep 0.05; done")
    seen = await pod.until(lambda status: any(map(terminated, status.get("containerStatuses") or [])))
    assert terminated(seen["first"])["exitCode"] == 3
    assert seen["second"]["state"].keys() == {"running"}
    assert (seen["first"]["restartCount"], seen["first"]["ready"], seen["second"]["ready"]) == (0, False, True)
    await pod.until(lambda status: status["phase"] == "Running")
    cluster = await place.client()
    await cluster.delete("Pod", "two")
    async with asyncio.timeout(place.patience):
        while await cluster.get("Pod", "two") is not None:
            await asyncio.sleep(0.05)
    await cluster.close()


async def test_only_the_container_that_failed_is_started_again(pod: Pod) -> None:
    once = "if [ -e /one/begun ]; then sleep 600; fi; touch /one/begun; exit 3"
    await pod.make("OnFailure", first=once, second="exit 0")

    def again(status: Object) -> bool:
        found = {each["name"]: each for each in status.get("containerStatuses") or []}
        return bool(found) and bool(found["first"]["restartCount"]) and "running" in found["first"]["state"]

    seen = await pod.until(again)
    assert seen["first"]["restartCount"] == 1
    assert seen["first"]["lastState"]["terminated"]["exitCode"] == 3
    assert terminated(seen["second"])["exitCode"] == 0
    assert seen["second"]["restartCount"] == 0
    await pod.until(lambda status: status["phase"] == "Running")


async def test_whose_log_is_asked_for_has_to_be_said(pod: Pod, place: Place) -> None:
    await pod.make("Never", first="echo of the first; exit 1", second="echo of the second; exit 1")
    await pod.until(lambda status: status.get("phase") == "Failed")
    async with place.core() as core:
        for name in ("first", "second"):
            assert await core.read_namespaced_pod_log("two", place.namespace, container=name) == f"of the {name}\n"
        with pytest.raises(ApiException, match=r"container name must be specified for pod two, choose one of: .first "):
            await core.read_namespaced_pod_log("two", place.namespace)
