import json
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from kubernetes_validate.utils import validate

from app.settings import Settings
from k8s.options import PodOptions
from k8s.pod import box_pod
from tests.charts.matrix import MATRIX, PRODUCTION
from tests.charts.render import CHART, HELMS, NEEDED, helm, merged, one, pod_specs, render
from tests.k8s.cluster_double.admission.podsecurity import violations
from tests.k8s.objects import spec

Object = dict[str, Any]


@pytest.mark.parametrize("program", HELMS)
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"replicas": 2}, "replicas"),
        ({"web": {"replicsa": 2}}, "replicsa"),
        ({"web": {"service": {"prot": 80}}}, "prot"),
        ({"boxes": {"pod": {"memory": "4Gi"}}}, "memory"),
        ({"boxes": {"pod": {"user": 0}}}, "user"),
        ({"boxes": {"network": {"egress": "everything"}}}, "egress"),
        ({"boxes": {"network": {"allow": [{"cidr": "example.com"}]}}}, "cidr"),
        ({"boxes": {"pod": {"tmpSize": "lots"}}}, "tmpSize"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
        ({"settings": {"cap": 3}}, "cap"),
        ({"secrets": {"privateKey": {"value": "-----BEGIN"}}}, "value"),
        ({"extraEnv": [{"name": "A", "vaule": "b"}]}, "vaule"),
        ({"gateway": {"enabled": True}}, "parentRefs"),
        ({"web": {"terminationGracePeriodSeconds": 5}}, "terminationGracePeriodSeconds"),
        ({"worker": {"terminationGracePeriodSeconds": 20}}, "terminationGracePeriodSeconds"),
        ({"publicUrl": "greenloop.example.com"}, "publicUrl"),
        ({"fullnameOverride": "Green_Loop"}, "fullnameOverride"),
        ({"commonLabels": {"app.kubernetes.io/name": "mine"}}, "commonLabels"),
        ({"worker": {"podLabels": {"team": "no label value"}}}, "podLabels"),
    ],
)
def test_wrong_values_are_refused_by_name(program: str, values: Object, words: str) -> None:
    done = helm(program, "template", "x", str(CHART), values=merged(NEEDED, values))
    assert done.returncode != 0
    assert words in done.stderr


def test_sign_in_needs_the_client_id_too() -> None:
    values = merged(NEEDED, {"secrets": {"signinSecret": {"enabled": True}}})
    done = helm("helm", "template", "x", str(CHART), values=values)
    assert done.returncode != 0
    assert "github.clientId is required" in done.stderr


@pytest.mark.parametrize(("missing", "words"), [("github", "github.appId is required"), ("publicUrl", "publicUrl is")])
def test_what_is_required_is_asked_for_by_name(missing: str, words: str) -> None:
    done = helm("helm", "template", "x", str(CHART), values={key: NEEDED[key] for key in NEEDED if key != missing})
    assert done.returncode != 0
    assert words in done.stderr


def test_the_schema_is_closed_and_knows_every_value() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = _values()

    def check(path: str, part: Object, value: Any) -> None:
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]]
        if "properties" in part and part.get("type") == "object":
            assert part["additionalProperties"] is False, path
            assert set(value) == set(part["properties"]) - {"global", "enabled", "requests", "limits"} | (
                set(value) & {"enabled", "requests", "limits"}
            ), path
            for key, inner in part["properties"].items():
                if key in value:
                    check(f"{path}.{key}", inner, value[key])

    check("", schema, values)


def test_the_box_options_of_the_values_are_those_that_the_service_reads() -> None:
    for values in MATRIX.values():
        data = one(render(values), "ConfigMap", "greenloop")["data"]
        options = PodOptions.model_validate_json(data["GREENLOOP_BOX_POD"])
        made = box_pod("greenloop", spec(), options.model_copy(update={"image": data["GREENLOOP_BOX_IMAGE"]}))
        validate(made, "1.36", strict=True)
        assert violations(made["spec"], "restricted") == []
    assert PodOptions.model_validate(_values()["boxes"]["pod"]) == PodOptions(), "chart and service differ in a default"


def test_every_setting_of_the_chart_is_one_that_the_service_knows() -> None:
    items = render(merged(PRODUCTION, {"settings": {}}))
    web = pod_specs(items)["Deployment/greenloop-web"]["containers"][0]
    names = {item["name"] for item in web["env"]} | set(one(items, "ConfigMap", "greenloop")["data"])
    ours = {name.removeprefix("GREENLOOP_").lower() for name in names if name.startswith("GREENLOOP_")}
    assert ours - set(Settings.model_fields) == set()


def test_the_values_of_boxes_reach_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "isolation": "session",
        "limit": 7,
        "limitPerInstallation": 2,
        "warm": 3,
        "warmNight": 0,
        "night": [22, 5],
        "idleMinutes": 9,
        "homeDays": 5,
        "pod": {"runtimeClass": "gvisor", "nodeSelector": {"pool": "boxes"}},
    }
    for name, value in one(render(merged(NEEDED, {"boxes": values})), "ConfigMap", "greenloop")["data"].items():
        monkeypatch.setenv(name, value)
    found = Settings()
    assert (found.box_isolation, found.box_limit, found.box_limit_installation, found.box_warm) == ("session", 7, 2, 3)
    assert (found.box_warm_night, found.box_night) == (0, (22, 5))
    assert (found.box_idle_minutes, found.box_home_days) == (9, 5)
    assert (found.box_pod.runtime_class, found.box_pod.node_selector) == ("gvisor", {"pool": "boxes"})


def test_the_defaults_of_the_chart_are_those_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Settings()
    for name, value in one(render(NEEDED), "ConfigMap", "greenloop")["data"].items():
        monkeypatch.setenv(name, value)
    found = Settings()
    same = [
        *("box_isolation", "box_limit", "box_limit_installation", "box_warm", "box_warm_night", "box_night"),
        *("box_idle_minutes", "box_home_days"),
    ]
    assert [getattr(found, name) for name in same] == [getattr(plain, name) for name in same]
    assert found.box_pod == plain.box_pod


def test_the_readme_is_made_from_the_values() -> None:
    script = CHART.parent.parent / ".ci" / "chart-readme"
    made = subprocess.run([sys.executable, script, "--print"], capture_output=True, text=True, check=True).stdout
    assert (CHART / "README.md").read_text() == made, "run .ci/chart-readme"


def test_every_value_is_described() -> None:
    text = (CHART / "values.yaml").read_text().splitlines()
    for number, line in enumerate(text):
        leaf = re.match(r"^ *[\w.-]+: *(\S.*)$", line)
        if leaf and not line.lstrip().startswith(("#", "-", "requests:", "limits:")):
            before = text[number - 1].lstrip()
            inside_a_map = re.match(
                r"^ *(pods|persistentvolumeclaims|requests\.|limits\.|cluster-autoscaler|karpenter)", line
            )
            assert before.startswith("# --") or inside_a_map, f"line {number + 1}: {line}"


def _values() -> Object:
    loaded: Object = yaml.safe_load((CHART / "values.yaml").read_text())
    return loaded


def test_nothing_is_said_twice_in_the_values_the_schema_or_an_object() -> None:
    """YAML and JSON readers take the last of two equal keys, and say nothing."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        assert len(set(keys)) == len(keys), [key for key in keys if keys.count(key) > 1]
        return dict(pairs)

    json.loads((CHART / "values.schema.json").read_text(), object_pairs_hook=once)
    rendered = helm("helm", "template", "x", str(CHART), values=merged(NEEDED, PRODUCTION)).stdout
    for text in ((CHART / "values.yaml").read_text(), rendered):
        for document in yaml.compose_all(text, Loader=yaml.SafeLoader):
            waiting = [document]
            while waiting:
                node = waiting.pop()
                if isinstance(node, yaml.MappingNode):
                    once([(key.value, None) for key, _ in node.value])
                    waiting += [value for _, value in node.value]
                elif isinstance(node, yaml.SequenceNode):
                    waiting += node.value
