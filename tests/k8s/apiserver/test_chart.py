"""Every object of the chart, taken by the double and by a real API server, in trial runs."""

import itertools
from typing import Any

import pytest
import pytest_asyncio

from tests.charts.matrix import MATRIX
from tests.charts.pairs import combinations
from tests.charts.render import HELMS, render
from tests.k8s.apiserver.clients import Client, create, make_namespace, path

pytestmark = pytest.mark.asyncio(loop_scope="module")

Object = dict[str, Any]

# Of definitions that others bring.
CUSTOM = {"HTTPRoute", "ServiceMonitor", "PrometheusRule"}
# The helms take turns: what they render is compared where the chart's values are tested.
VARIANTS = {**MATRIX, **combinations()}
TURNS = list(zip(VARIANTS.values(), itertools.cycle(HELMS), strict=False))
CREATE = {"dryRun": "All", "fieldValidation": "Strict"}


@pytest_asyncio.fixture(loop_scope="module")
async def chart(api: Client) -> Client:
    """The API with the namespaces of the chart in it."""
    for name in ("team", "team-boxes", "shared-boxes"):
        if (await api.get(path("Namespace", "", name))).status_code == 404:
            await make_namespace(api, name, enforce="restricted")
    return api


@pytest.mark.parametrize(("values", "program"), TURNS, ids=VARIANTS.keys())
async def test_every_object_of_every_variant_is_taken(chart: Client, values: Object, program: str) -> None:
    for item in render(values, program=program):
        if item["kind"] in CUSTOM or item["kind"] == "Namespace":
            continue
        where = path(item["kind"], item["metadata"].get("namespace", "team"))
        answer = await chart.post(where, params=CREATE, json=item)
        assert answer.status_code == 201, f"{item['kind']} {item['metadata']['name']}: {answer.text}"


async def test_the_range_that_the_chart_once_had_is_refused(chart: Client) -> None:
    policy = next(item for item in render() if item["metadata"]["name"].endswith("-egress"))
    for to in policy["spec"]["egress"][2]["to"]:
        if to["ipBlock"]["cidr"] == "::/0":
            to["ipBlock"]["except"].append("::ffff:0:0/96")
    refused = await create(chart, "NetworkPolicy", "team-boxes", policy)
    assert refused.status_code == 422 and "must not have an IPv4-mapped IPv6 address" in refused.json()["message"]
