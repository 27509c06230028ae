"""Every rule of the table, at the double and at a real API server."""

import pytest

from tests.k8s.apiserver.bodies import BODIES, body
from tests.k8s.apiserver.clients import Client, create, path
from tests.k8s.apiserver.rules import RULES, Rule
from tests.k8s.cluster_double.objects.resources import BY_KIND

pytestmark = pytest.mark.asyncio(loop_scope="module")

REASONS = {400: "BadRequest", 403: "Forbidden", 422: "Invalid"}


@pytest.mark.parametrize("kind", BODIES)
async def test_what_the_rows_change_is_taken_as_it_is(api: Client, namespace: str, kind: str) -> None:
    name = namespace + "-x" if kind == "Namespace" else "x"
    made = await create(api, kind, namespace, body(kind, BY_KIND[kind].api_version, name=name))
    assert made.status_code == 201, made.text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind}: {rule.about}")
async def test_what_kubernetes_refuses_is_refused_in_its_words(api: Client, namespace: str, rule: Rule) -> None:
    resource = BY_KIND[rule.kind]
    changed = body(rule.kind, resource.api_version, rule.changes)
    name = changed["metadata"].get("name", "")
    if rule.update:
        made = await create(api, rule.kind, namespace, body(rule.kind, resource.api_version))
        assert made.status_code == 201, made.text
        answer = await api.put(path(rule.kind, namespace, name), params={"fieldValidation": "Strict"}, json=changed)
    else:
        answer = await create(api, rule.kind, namespace, changed)
    told = answer.json()
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    opening = {422: f'{kind} "{name}" is invalid: ', 403: f'{resource.qualified} "{name}" is forbidden: ', 400: ""}
    words = opening[rule.code] + rule.words.replace("{namespace}", namespace)
    assert (answer.status_code, told.get("reason")) == (rule.code, REASONS[rule.code]), told
    if words.endswith("…"):
        assert told["message"].startswith(words[:-1]), told["message"]
    else:
        assert told["message"] == words
