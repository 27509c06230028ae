"""Every rule of the table, at the double and at a real API server: any difference fails, and all of a kind are told."""

import itertools

import httpx
import pytest

from tests.k8s.apiserver.bodies import BODIES, Object, body, changed
from tests.k8s.apiserver.clients import Client, create, path
from tests.k8s.apiserver.conftest import KUBECONFIG
from tests.k8s.apiserver.rules import Rule, rules
from tests.k8s.cluster_double.objects.resources import BY_KIND

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.cluster]

REASONS = {400: "BadRequest", 403: "Forbidden", 422: "Invalid"}
STRICT = {"fieldValidation": "Strict"}
TRIES = 20
# What a cluster is set up with: on one of somebody's it may be anything.
SET_UP = {"spec/clusterIP", "spec/ipFamilies", "spec/ipFamilyPolicy"}
NUMBERS = itertools.count()


@pytest.mark.parametrize("kind", BODIES)
async def test_what_the_rows_change_is_taken_as_it_is(api: Client, namespace: str, kind: str) -> None:
    name = namespace + "-x" if not BY_KIND[kind].namespaced else "x"
    made = await create(api, kind, namespace, body(kind, BY_KIND[kind].api_version, name=name))
    assert made.status_code == 201, made.text
    await remove(api, kind, namespace, name)


@pytest.mark.parametrize(("kind", "rows"), rules().items(), ids=rules())
async def test_kubernetes_takes_and_refuses_in_its_words_what_the_table_says(
    api: Client, namespace: str, kind: str, rows: list[Rule]
) -> None:
    if KUBECONFIG:
        rows = [row for row in rows if not SET_UP & row.changes.keys()]
    wrong = [f"{row.changes}: {why}" for row in rows if (why := await difference(api, namespace, row))]
    assert not wrong, "\n".join(wrong)


async def difference(api: Client, namespace: str, rule: Rule) -> str:
    """What is answered in place of what the row says; empty where it is that."""
    answer, name = await (update if rule.update else try_creation)(api, namespace, rule)
    if rule.code is None:
        return "" if answer.is_success else answer.text
    resource = BY_KIND[rule.kind]
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    opening = {422: f'{kind} "{name}" is invalid: ', 403: f'{resource.qualified} "{name}" is forbidden: ', 400: ""}
    words = opening[rule.code] + rule.words.replace("{namespace}", namespace).replace("{name}", name)
    if answer.status_code != rule.code or answer.json().get("reason") != REASONS[rule.code]:
        return answer.text
    said = str(answer.json()["message"])
    same = said.startswith(words[:-1]) if words.endswith("…") else said == words
    return "" if same else f"{said}\n    and not {words}"


async def try_creation(api: Client, namespace: str, rule: Rule) -> tuple[httpx.Response, str]:
    sent = body(rule.kind, BY_KIND[rule.kind].api_version, rule.changes)
    answer = await api.post(path(rule.kind, namespace), params={"dryRun": "All", **STRICT}, json=sent)
    return answer, sent["metadata"].get("name", "")


async def update(api: Client, namespace: str, rule: Rule) -> tuple[httpx.Response, str]:
    """Change what is there, once more where a controller was in between."""
    name = f"{namespace}-{next(NUMBERS)}"
    made = await create(api, rule.kind, namespace, body(rule.kind, BY_KIND[rule.kind].api_version, name=name))
    assert made.status_code == 201, made.text
    where = path(rule.kind, namespace, name)
    for _ in range(TRIES):
        live: Object = (await api.get(where)).json()
        answer = await api.put(where, params=STRICT, json=changed(live, rule.changes))
        if answer.status_code != 409:
            break
    await remove(api, rule.kind, namespace, name)
    return answer, name


async def remove(api: Client, kind: str, namespace: str, name: str) -> None:
    """What does not go with the namespace."""
    if not BY_KIND[kind].namespaced:
        await api.delete(path(kind, namespace, name))
