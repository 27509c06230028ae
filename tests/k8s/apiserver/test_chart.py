"""Every object of the chart, taken by the double and by a real API server, and what its worker may do there."""

import asyncio
import copy
import itertools
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.charts.matrix import MATRIX
from tests.charts.pairs import combinations
from tests.charts.render import HELMS, render
from tests.k8s.apiserver.bodies import body
from tests.k8s.apiserver.clients import Client, make_namespace, path
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.namespaces import fresh

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.cluster]

Object = dict[str, Any]

# Of definitions that others bring.
CUSTOM = {"HTTPRoute", "ServiceMonitor", "PrometheusRule"}
# The helms take turns: what they render is compared where the chart's values are tested.
VARIANTS = {**MATRIX, **combinations()}
TURNS = list(zip(VARIANTS.values(), itertools.cycle(HELMS), strict=False))
MERGE = {"Content-Type": "application/merge-patch+json"}
CREATE = {"dryRun": "All", "fieldValidation": "Strict"}


class Chart:
    """The API, and what stands there for each of the chart's namespaces."""

    def __init__(self, api: Client, spaces: dict[str, str]) -> None:
        self.api = api
        self.spaces = spaces

    async def take(self, item: Object, **query: str) -> httpx.Response:
        space = self.spaces[item["metadata"].get("namespace", "team")]
        moved = {**item, "metadata": {**item["metadata"], "namespace": space}}
        return await self.api.post(path(item["kind"], space), params=query, json=moved)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def chart(api: Client) -> AsyncIterator[Chart]:
    spaces = {name: fresh() for name in ("team", "team-boxes", "shared-boxes")}
    for name in spaces.values():
        await make_namespace(api, name, enforce="restricted")
    yield Chart(api, spaces)
    for name in spaces.values():
        await api.delete(path("Namespace", "", name))


@pytest.mark.parametrize(("values", "program"), TURNS, ids=VARIANTS.keys())
async def test_every_object_of_every_variant_is_taken(chart: Chart, values: Object, program: str) -> None:
    wrong = []
    for item in render(values, program=program):
        if item["kind"] not in CUSTOM and item["kind"] != "Namespace":
            answer = await chart.take(item, **CREATE)
            if answer.status_code != 201:
                wrong.append(f"{item['kind']} {item['metadata']['name']}: {answer.text}")
    assert not wrong, "\n".join(wrong)


async def test_the_range_that_the_chart_once_had_is_refused(chart: Chart) -> None:
    policy = copy.deepcopy(next(item for item in render() if item["metadata"]["name"].endswith("-egress")))
    for to in policy["spec"]["egress"][2]["to"]:
        if to["ipBlock"]["cidr"] == "::/0":
            to["ipBlock"]["except"].append("::ffff:0:0/96")
    refused = await chart.take(policy, **CREATE)
    assert refused.status_code == 422 and "must not have an IPv4-mapped IPv6 address" in refused.json()["message"]


OWNER = "the object of the release that owns the boxes"
# What the worker's account of the chart may do and what not, as (method, kind, namespace, name, answer).
DEEDS = (
    ("GET", "Pod", "team-boxes", "", 200),
    ("POST", "Pod", "team-boxes", "", 201),
    ("PATCH", "Pod", "team-boxes", "x", 404),
    ("DELETE", "Pod", "team-boxes", "x", 404),
    ("PUT", "Pod", "team-boxes", "x", 'cannot update resource "pods" in API group "" in the namespace'),
    ("GET", "Pod", "team-boxes", "x/log", 'cannot get resource "pods/log" in API group "" in the namespace'),
    ("GET", "Pod", "team", "", 'cannot list resource "pods" in API group "" in the namespace'),
    ("GET", "Secret", "team-boxes", "", 200),
    ("GET", "Secret", "team", "", 'cannot list resource "secrets" in API group "" in the namespace'),
    ("POST", "Secret", "team", "", 'cannot create resource "secrets" in API group "" in the namespace'),
    ("POST", "PersistentVolumeClaim", "team-boxes", "", 201),
    ("GET", "ConfigMap", "team-boxes", OWNER, 200),
    ("GET", "ConfigMap", "team-boxes", "another", 'cannot get resource "configmaps" in API group "" in the namespace'),
    ("GET", "ConfigMap", "team-boxes", "", 'cannot list resource "configmaps" in API group "" in the namespace'),
    ("DELETE", "ConfigMap", "team-boxes", "another", 'cannot delete resource "configmaps" in API group ""'),
    ("POST", "Role", "team-boxes", "", 'cannot create resource "roles" in API group "rbac.authorization.k8s.io"'),
    ("GET", "NetworkPolicy", "team-boxes", "", 'cannot list resource "networkpolicies" in API group "networking'),
    ("GET", "Deployment", "team", "", 'cannot list resource "deployments" in API group "apps" in the namespace'),
    ("GET", "Namespace", "", "", 'cannot list resource "namespaces" in API group "" at the cluster scope'),
    ("GET", "Node", "", "", 'cannot list resource "nodes" in API group "" at the cluster scope'),
)


async def test_the_worker_may_do_what_boxes_need_and_nothing_else(chart: Chart) -> None:
    api, spaces = chart.api, {"": "", **chart.spaces}
    for item in render():
        if item["kind"] in ("ServiceAccount", "Role", "RoleBinding", "ConfigMap"):
            for subject in item.get("subjects", []):
                subject = subject | {"namespace": spaces["team"]}
                item = {**item, "subjects": [subject]}
            assert (await chart.take(item)).status_code == 201
    [owner] = [
        item["metadata"]["name"]
        for item in render()
        if (item["kind"], item["metadata"].get("namespace")) == ("ConfigMap", "team-boxes")
    ]
    account = path("ServiceAccount", spaces["team"], "greenloop-worker")

    async def fresh_token() -> dict[str, str]:
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
        made = await api.post(f"{account}/token", json=asked)
        assert made.status_code == 201, made.text
        return {"Authorization": f"Bearer {made.json()['status']['token']}"}

    worker = await fresh_token()
    who = f'User "system:serviceaccount:{spaces["team"]}:greenloop-worker"'
    wrong = []
    for method, kind, space, name, answer in DEEDS:
        sent = body(kind, BY_KIND[kind].api_version) if method in ("POST", "PUT") else None
        headers = worker | (MERGE if method == "PATCH" else {})
        query = {"dryRun": "All"} if method == "POST" else {}
        where = path(kind, spaces[space], owner if name is OWNER else name)
        told = await api.request(method, where, headers=headers, params=query, json={} if method == "PATCH" else sent)
        said = told.text if told.status_code != 403 else str(told.json()["message"])
        right = told.status_code == answer if isinstance(answer, int) else f"{who} {answer}" in said
        if not right:
            wrong.append(f"{method} {kind} {space}/{name}: {told.status_code} {said}")
    assert not wrong, "\n".join(wrong)

    # an account that is made anew has another token
    assert (await api.delete(account)).status_code == 200
    again = {"metadata": {"name": "greenloop-worker"}}
    assert (await api.post(path("ServiceAccount", spaces["team"]), json=again)).status_code == 201
    async with asyncio.timeout(120):  # a server may remember for some seconds whose a token is
        while (await api.get(path("Pod", spaces["team-boxes"]), headers=worker)).status_code != 401:
            await asyncio.sleep(0.2)
    assert (await api.get(path("Pod", spaces["team-boxes"]), headers=await fresh_token())).status_code == 200
