import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate.utils import validate

import k8s
from k8s.options import PodOptions
from k8s.pod import box_pod, home_claim, is_outdated, secret_token, token_secret
from k8s.runner.files import ALSO_PASSED_ON
from tests.k8s.cluster_double.admission.podsecurity import violations
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.validation.shape import check_shape
from tests.k8s.cluster_double.validation.values import check_values
from tests.k8s.objects import IMAGE, spec

EVERYTHING: dict[str, Any] = {
    "image": IMAGE,
    "imagePullPolicy": "Always",
    "imagePullSecrets": ["registry"],
    "home": {"size": "20Gi", "storageClass": "fast", "accessMode": "ReadWriteOncePod", "path": "/home/dev"},
    "resources": {"requests": {"cpu": "2"}, "limits": {"memory": "8Gi", "ephemeral-storage": "20Gi"}},
    "graceSeconds": 45,
    "deadlineSeconds": 86400,
    "user": 2000,
    "hostUsers": False,
    "runtimeClass": "gvisor",
    "priorityClass": "low",
    "serviceAccount": "boxes",
    "nodeSelector": {"pool": "boxes"},
    "tolerations": [{"key": "boxes", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {}},
    "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
    "labels": {"team": "platform", "greenloop/instance": "forged"},
    "annotations": {"example.com/a": "b"},
}


def options(**values: Any) -> PodOptions:
    return PodOptions.model_validate({"image": IMAGE, **values})


@pytest.mark.parametrize("values", [{}, EVERYTHING, {"home": {"size": ""}}])
def test_every_object_of_a_box_is_valid_to_the_last_field(values: dict[str, Any]) -> None:
    chosen = options(**values)
    claim = home_claim("greenloop", spec(), chosen)
    for item in (box_pod("greenloop", spec(), chosen), token_secret("greenloop", spec()), *([claim] if claim else [])):
        validate(item, "1.36", strict=True)


@pytest.mark.parametrize("values", [{}, EVERYTHING])
def test_the_pod_runs_without_privileges(values: dict[str, Any]) -> None:
    made = box_pod("greenloop", spec(), options(**values))["spec"]
    container = made["containers"][0]["securityContext"]
    assert made["securityContext"]["runAsNonRoot"] is True
    assert made["securityContext"]["runAsUser"] != 0
    assert made["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["allowPrivilegeEscalation"] is False
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert container["readOnlyRootFilesystem"] is True
    assert made["automountServiceAccountToken"] is False


def test_the_runner_starts_under_an_init_and_finds_its_home_and_token() -> None:
    container = box_pod("greenloop", spec(), options())["spec"]["containers"][0]
    env = {item["name"]: item["value"] for item in container["env"]}
    mounts = {item["mountPath"] for item in container["volumeMounts"]}
    assert container["command"][0] == "tini"
    assert env["GREENLOOP_SERVICE"] == "http://greenloop.svc:8080"
    assert env["GREENLOOP_BOX"] == spec().name
    assert env["GREENLOOP_HOME"] in mounts
    assert env["GREENLOOP_BOX_TOKEN_FILE"].rsplit("/", 1)[0] in mounts


def test_agents_get_what_an_operator_gives_them() -> None:
    given = [{"name": "NPM_CONFIG_REGISTRY", "value": "https://npm.example.com"}, {"name": "B", "value": ""}]
    container = box_pod("greenloop", spec(), options(extraEnv=given))["spec"]["containers"][0]
    assert {"name": ALSO_PASSED_ON, "value": "NPM_CONFIG_REGISTRY,B"} in container["env"]
    assert given[0] in container["env"]


def test_on_a_platform_that_gives_user_ids_a_box_asks_for_none() -> None:
    made = box_pod("greenloop", spec(), options(user=None))["spec"]
    assert not made["securityContext"].keys() & {"runAsUser", "runAsGroup", "fsGroup"}
    assert violations(made, "restricted") == []


def test_the_token_is_in_the_secret_and_nowhere_in_the_pod() -> None:
    wanted = spec(token="s3cr3t-of-this-box")
    assert "s3cr3t-of-this-box" not in str(box_pod("greenloop", wanted, options()))
    assert secret_token(token_secret("greenloop", wanted)) == "s3cr3t-of-this-box"


def test_the_entry_point_is_the_one_of_the_box_image() -> None:
    dockerfile = (Path(k8s.__file__).parent / "images" / "agent.Dockerfile").read_text()
    entry = next(line for line in dockerfile.splitlines() if line.startswith("ENTRYPOINT"))
    assert json.loads(entry.removeprefix("ENTRYPOINT")) == PodOptions().command
    assert f"WORKDIR {PodOptions().home.path}\n" in dockerfile
    assert f"USER {PodOptions().user}:{PodOptions().user}\n" in dockerfile


def test_a_spec_overrides_image_and_environment() -> None:
    wanted = replace(spec(), image="other:2", env={"LANG": "C.UTF-8"})
    container = box_pod("greenloop", wanted, options())["spec"]["containers"][0]
    assert container["image"] == "other:2"
    assert {"name": "LANG", "value": "C.UTF-8"} in container["env"]


def test_every_option_reaches_its_field() -> None:
    made = box_pod("greenloop", spec(), options(**EVERYTHING))["spec"]
    container = made["containers"][0]
    assert made["imagePullSecrets"] == [{"name": "registry"}]
    assert made["terminationGracePeriodSeconds"] == 45
    assert made["activeDeadlineSeconds"] == 86400
    assert {made["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")} == {2000}
    assert (made["hostUsers"], made["runtimeClassName"], made["priorityClassName"]) == (False, "gvisor", "low")
    assert (made["serviceAccountName"], made["automountServiceAccountToken"]) == ("boxes", False)
    for key in ("nodeSelector", "tolerations", "affinity"):
        assert made[key] == EVERYTHING[key], key
    assert (container["image"], container["imagePullPolicy"]) == (IMAGE, "Always")
    assert container["resources"] == EVERYTHING["resources"]
    assert EVERYTHING["extraEnv"][0] in container["env"]
    assert EVERYTHING["extraVolumes"][0] in made["volumes"]
    assert EVERYTHING["extraVolumeMounts"][0] in container["volumeMounts"]
    claim = home_claim("greenloop", spec(), options(**EVERYTHING)) or {}
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOncePod"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "fast",
    }
    assert {"name": "home", "mountPath": "/home/dev"} in container["volumeMounts"]


def test_a_box_is_limited_by_default() -> None:
    made = box_pod("greenloop", spec(), options())["spec"]
    resources = made["containers"][0]["resources"]
    assert {"memory", "ephemeral-storage"} <= resources["limits"].keys()
    assert {"cpu", "memory", "ephemeral-storage"} <= resources["requests"].keys()
    assert made["terminationGracePeriodSeconds"] == 30
    assert next(volume for volume in made["volumes"] if volume["name"] == "tmp")["emptyDir"]["sizeLimit"] == "4Gi"
    absent = {"runtimeClassName", "hostUsers", "nodeSelector", "tolerations", "affinity", "imagePullSecrets"}
    assert not absent & made.keys()


@pytest.mark.parametrize("values", [{}, EVERYTHING, {"home": {"size": ""}}])
def test_an_api_server_takes_every_object_of_a_box_in_a_restricted_namespace(values: dict[str, Any]) -> None:
    chosen = options(**values)
    pod = box_pod("greenloop", spec(), chosen)
    claim = home_claim("greenloop", spec(), chosen)
    for item in (pod, token_secret("greenloop", spec()), *([claim] if claim else [])):
        assert check_shape(BY_KIND[item["kind"]], item, strict=True) == []
        check_values(BY_KIND[item["kind"]], item)
    assert violations(pod["spec"], "restricted") == []


def test_options_cannot_forge_our_labels() -> None:
    labels = box_pod("greenloop", spec(), options(**EVERYTHING))["metadata"]["labels"]
    assert (labels["team"], labels["greenloop/instance"]) == ("platform", "greenloop")


def test_a_home_without_size_is_an_emptydir() -> None:
    chosen = options(home={"size": ""})
    assert home_claim("greenloop", spec(), chosen) is None
    home = box_pod("greenloop", spec(), chosen)["spec"]["volumes"][0]
    assert home == {"name": "home", "emptyDir": {}}


def test_a_pod_of_other_options_is_outdated_and_one_with_server_defaults_is_not() -> None:
    made = box_pod("greenloop", spec(), options())
    made["spec"]["dnsPolicy"] = "ClusterFirst"
    assert not is_outdated(made, box_pod("greenloop", spec(), options()))
    assert is_outdated(made, box_pod("greenloop", spec(), options(user=3000)))


def test_an_unknown_option_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="memoryLimit"):
        options(memoryLimit="4Gi")


def test_without_an_image_the_way_out_is_named() -> None:
    with pytest.raises(ValueError, match="GREENLOOP_BOX_IMAGE"):
        box_pod("greenloop", spec(), PodOptions())
