"""What takes more than one request: quotas, versions, owners, namespaces; at the double and at a real API server."""

import asyncio
from typing import Any

import pytest

from tests.k8s.apiserver.bodies import body
from tests.k8s.apiserver.clients import Client, create, path
from tests.k8s.apiserver.original import program
from tests.k8s.cluster_double.objects.resources import BY_KIND

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.cluster]

Object = dict[str, Any]
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


def config(name: str = "x", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def limit(api: Client, namespace: str, **hard: str) -> None:
    """A quota, once it counts. Without a controller nobody else writes what it counts from."""
    made = await create(api, "ResourceQuota", namespace, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    assert made.status_code == 201, made.text
    where = path("ResourceQuota", namespace, "q")
    used = dict.fromkeys(hard, "0")
    status = {**made.json(), "status": {"hard": hard, "used": used}}
    await api.put(f"{where}/status", json=status)
    async with asyncio.timeout(60):
        while not ((await api.get(where)).json().get("status") or {}).get("hard"):
            await asyncio.sleep(0.1)


def pod(name: str, **resources: Any) -> Object:
    made = body("Pod", "v1", name=name)
    made["spec"]["containers"][0]["resources"] = resources
    return made


async def test_a_quota_names_what_was_asked_for_what_is_used_and_what_there_is(api: Client, namespace: str) -> None:
    await limit(api, namespace, **{"pods": "1", "limits.memory": "100Mi"})
    assert (await create(api, "Pod", namespace, pod("one", limits={"memory": "60Mi"}))).status_code == 201
    refused = await create(api, "Pod", namespace, pod("two", limits={"memory": "60Mi"}))
    words = 'pods "two" is forbidden: exceeded quota: q, requested: limits.memory=60Mi,pods=1, '
    words += "used: limits.memory=60Mi,pods=1, limited: limits.memory=100Mi,pods=1"
    assert (refused.status_code, refused.json()["message"]) == (403, words)


async def test_a_quota_wants_to_be_told_what_it_counts(api: Client, namespace: str) -> None:
    await limit(api, namespace, **{"limits.memory": "100Mi"})
    refused = await create(api, "Pod", namespace, pod("one"))
    words = 'pods "one" is forbidden: failed quota: q: must specify limits.memory for: main'
    assert (refused.status_code, refused.json()["message"]) == (403, words)


async def test_a_change_of_an_old_version_is_refused(api: Client, namespace: str) -> None:
    made = (await create(api, "ConfigMap", namespace, config(a="1"))).json()
    where = path("ConfigMap", namespace, "x")
    assert (await api.put(where, json={**made, "data": {"a": "2"}})).status_code == 200
    stale = await api.put(where, json={**made, "data": {"a": "3"}})
    words = 'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes '
    assert (stale.status_code, stale.json()["reason"]) == (409, "Conflict")
    assert stale.json()["message"] == words + "to the latest version and try again"
    again = await create(api, "ConfigMap", namespace, config())
    assert (again.status_code, again.json()["message"]) == (409, 'configmaps "x" already exists')


async def test_only_the_very_object_is_deleted_that_was_meant(api: Client, namespace: str) -> None:
    made = (await create(api, "ConfigMap", namespace, config())).json()
    where = path("ConfigMap", namespace, "x")
    ends = {"uid": "deleted and then recreated", "resourceVersion": "modified"}
    for field, what in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        refused = await api.request("DELETE", where, json={"preconditions": {field: "7"}})
        assert (refused.status_code, refused.json()["reason"]) == (409, "Conflict"), field
        words = (
            f'Operation cannot be fulfilled on ConfigMap "x": the {what} in the precondition (7) does not match the '
        )
        words += f"{what} in record ({made['metadata'][field]}). The object might have been {ends[field]}"
        assert refused.json()["message"] == words
    right = {"uid": made["metadata"]["uid"], "resourceVersion": made["metadata"]["resourceVersion"]}
    assert (await api.request("DELETE", where, json={"preconditions": right})).status_code == 200


async def test_who_applies_takes_no_field_of_somebody_else_unless_forced(api: Client, namespace: str) -> None:
    where = path("ConfigMap", namespace, "x")

    async def apply(manager: str, force: bool = False, **data: str) -> tuple[int, Object]:
        query = {"fieldManager": manager, **({"force": "true"} if force else {})}
        answer = await api.patch(where, params=query, headers=APPLY, json=config(**data))
        return answer.status_code, answer.json()

    assert (await apply("one", a="1", b="1"))[0] == 201
    assert (await apply("two", b="1", c="1"))[0] == 200, "the same value is no conflict"
    code, refused = await apply("two", b="2", c="1")
    assert (code, refused["reason"]) == (409, "Conflict")
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.b'
    code, forced = await apply("two", force=True, b="2", c="1")
    assert (code, forced["data"]) == (200, {"a": "1", "b": "2", "c": "1"})
    code, left = await apply("one", a="1")
    assert (code, left["data"]) == (200, {"a": "1", "b": "2", "c": "1"}), "it lost b to the other"
    code, dropped = await apply("two", c="1")
    assert (code, dropped["data"]) == (200, {"a": "1", "c": "1"}), "what nobody wants any more goes"
    nameless = await api.patch(where, headers=APPLY, json=config())
    assert nameless.status_code == 422
    assert nameless.json()["message"].endswith("fieldManager: Required value: is required for apply patch")


async def test_what_an_object_owned_goes_with_it(request: pytest.FixtureRequest, api: Client, namespace: str) -> None:
    if "original" in request.node.name and program("kube-controller-manager") is None:
        pytest.skip("the garbage collector is part of kube-controller-manager, which is not here")
    owner = (await create(api, "ConfigMap", namespace, config("owner"))).json()["metadata"]
    other = (await create(api, "ConfigMap", namespace, config("other"))).json()["metadata"]

    async def make(name: str, *owners: Object) -> None:
        made = {"metadata": {"name": name, "ownerReferences": [reference(each) for each in owners]}}
        assert (await create(api, "Secret", namespace, made)).status_code == 201

    def reference(each: Object) -> Object:
        return {"apiVersion": "v1", "kind": "ConfigMap", "name": each["name"], "uid": each["uid"]}

    await make("alone", owner)
    await make("shared", owner, other)
    await make("orphan", {"name": "owner", "uid": "3b8f0c5e-0000-4000-8000-000000000000"})
    await api.delete(path("ConfigMap", namespace, "owner"))
    async with asyncio.timeout(120):
        while (found := await names(api, namespace)) & {"alone", "orphan"}:
            await asyncio.sleep(0.2)
    assert "shared" in found


async def names(api: Client, namespace: str) -> set[str]:
    return {item["metadata"]["name"] for item in (await api.get(path("Secret", namespace))).json()["items"]}


async def test_nothing_new_comes_into_a_namespace_that_goes(api: Client, namespace: str) -> None:
    held = config("held")
    held["metadata"]["finalizers"] = ["example.com/wait"]
    assert (await create(api, "ConfigMap", namespace, held)).status_code == 201
    assert (await api.delete(path("Namespace", "", namespace))).status_code in (200, 202)
    refused = await create(api, "ConfigMap", namespace, config())
    words = f'configmaps "x" is forbidden: unable to create new content in namespace {namespace} because it is being '
    assert (refused.status_code, refused.json()["message"]) == (403, words + "terminated")
    free = {"metadata": {"finalizers": None}}
    await api.patch(path("ConfigMap", namespace, "held"), headers=MERGE, json=free)


@pytest.mark.parametrize("kind", ["Pod", "Secret", "NetworkPolicy"])
async def test_a_trial_run_leaves_nothing_behind_and_refuses_the_same(api: Client, namespace: str, kind: str) -> None:
    version = BY_KIND[kind].api_version
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    good = await api.post(path(kind, namespace), params=query, json=body(kind, version))
    assert good.status_code == 201, good.text
    assert (await api.get(path(kind, namespace, "x"))).status_code == 404
    bad = await api.post(path(kind, namespace), params=query, json=body(kind, version, name="No_Name"))
    assert bad.status_code == 422
