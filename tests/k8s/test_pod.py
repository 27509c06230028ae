import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate.utils import validate

import k8s
from k8s.boxes import BoxSpec
from k8s.options import PodOptions
from k8s.pod import SOCKET_DIR, box_pod, home_claim, is_outdated, secret_token, token_secret
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
    "runnerResources": {"requests": {"cpu": "1"}, "limits": {"memory": "2Gi"}},
    "user": 2000,
    "agentUser": 2345,
    "fsGroup": 3000,
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


def of(name: str, wanted: BoxSpec | None = None, **values: Any) -> dict[str, Any]:
    """One of the two containers of a box."""
    made = box_pod("greenloop", wanted or spec(), options(**values))["spec"]["containers"]
    found: dict[str, Any] = next(each for each in made if each["name"] == name)
    return found


def mounts(container: dict[str, Any]) -> dict[str, tuple[str, str, bool]]:
    """Volume, part of it, and whether to read only, by where it is mounted."""
    return {
        each["mountPath"]: (each["name"], each.get("subPath", ""), each.get("readOnly", False))
        for each in container["volumeMounts"]
    }


@pytest.mark.parametrize("values", [{}, EVERYTHING, {"home": {"size": ""}}, {"home": {"ephemeral": True}}])
def test_every_object_of_a_box_is_valid_to_the_last_field(values: dict[str, Any]) -> None:
    chosen = options(**values)
    claim = home_claim("greenloop", spec(), chosen)
    for item in (box_pod("greenloop", spec(), chosen), token_secret("greenloop", spec()), *([claim] if claim else [])):
        validate(item, "1.36", strict=True)


@pytest.mark.parametrize("values", [{}, EVERYTHING])
def test_the_pod_runs_without_privileges(values: dict[str, Any]) -> None:
    made = box_pod("greenloop", spec(), options(**values))["spec"]
    assert made["securityContext"]["runAsNonRoot"] is True
    assert made["securityContext"]["runAsUser"] != 0
    assert made["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (each["securityContext"] for each in made["containers"]):
        assert container["allowPrivilegeEscalation"] is False
        assert container["capabilities"] == {"drop": ["ALL"]}
        assert container["readOnlyRootFilesystem"] is True
    assert made["automountServiceAccountToken"] is False
    assert not made.keys() & {"shareProcessNamespace", "hostPID", "hostIPC", "hostNetwork"}
    assert not any(each.keys() & {"livenessProbe", "readinessProbe", "lifecycle"} for each in made["containers"])


def test_runner_and_agent_are_two_users_of_which_the_agent_sees_only_its_own_part() -> None:
    home = PodOptions().home.path
    assert (of("runner")["securityContext"].get("runAsUser"), of("agent")["securityContext"]["runAsUser"]) == (
        None,
        1001,
    )
    assert mounts(of("agent")) == {
        f"{home}/agent": ("home", "agent", False),
        f"{home}/given": ("home", "given", True),
        "/tmp": ("tmp", "agent", False),
        SOCKET_DIR: ("socket", "", True),
    }
    assert mounts(of("runner")) == {
        home: ("home", "", False),
        "/tmp": ("tmp", "runner", False),
        SOCKET_DIR: ("socket", "", False),
        "/var/run/greenloop": ("token", "", True),
    }
    assert "env" not in of("agent")


def test_the_supervisor_is_the_first_process_of_the_agents_container() -> None:
    command = of("agent")["command"]
    assert Path(command[0]).name == "python3"
    assert {"-I", "-S", "-B"} <= set(command)
    home = PodOptions().home.path
    assert command[command.index("supervise") :] == [
        "supervise", "--agent", f"{home}/agent", "--given", f"{home}/given", "--socket", f"{SOCKET_DIR}/agent",
    ]  # fmt: skip


def test_an_agent_of_the_runners_user_is_refused() -> None:
    with pytest.raises(ValueError, match="agentUser 1000"):
        options(agentUser=1000)
    with pytest.raises(ValueError, match="agentUser"):
        options(user=None, agentUser=1001)


def test_the_runner_starts_under_an_init_and_finds_its_home_and_token() -> None:
    container = of("runner")
    env = {item["name"]: item["value"] for item in container["env"]}
    mounts = {item["mountPath"] for item in container["volumeMounts"]}
    assert container["command"][0] == "tini"
    assert env["GREENLOOP_SERVICE"] == "http://greenloop.svc:8080"
    assert env["GREENLOOP_BOX"] == spec().name
    assert env["GREENLOOP_HOME"] in mounts
    assert env["GREENLOOP_BOX_TOKEN_FILE"].rsplit("/", 1)[0] in mounts


def test_agents_get_what_an_operator_gives_them() -> None:
    given = [{"name": "NPM_CONFIG_REGISTRY", "value": "https://npm.example.com"}, {"name": "B", "value": ""}]
    container = of("runner", extraEnv=given)
    assert {"name": ALSO_PASSED_ON, "value": "NPM_CONFIG_REGISTRY,B"} in container["env"]
    assert given[0] in container["env"]


def test_on_a_platform_that_gives_user_ids_a_box_asks_for_none() -> None:
    made = box_pod("greenloop", spec(), options(user=None))["spec"]
    for context in (made["securityContext"], *(each["securityContext"] for each in made["containers"])):
        assert not context.keys() & {"runAsUser", "runAsGroup", "fsGroup"}
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
    runner, agent = PodOptions().users or (0, 0)
    assert f"useradd --uid {agent} " in dockerfile
    assert runner != agent


def test_a_spec_overrides_image_and_environment() -> None:
    wanted = replace(spec(), image="other:2", env={"LANG": "C.UTF-8"})
    container = of("runner", wanted)
    assert container["image"] == of("agent", wanted)["image"] == "other:2"
    assert {"name": "LANG", "value": "C.UTF-8"} in container["env"]


def test_every_option_reaches_its_field() -> None:
    made = box_pod("greenloop", spec(), options(**EVERYTHING))["spec"]
    runner, agent = made["containers"]
    assert made["imagePullSecrets"] == [{"name": "registry"}]
    assert made["terminationGracePeriodSeconds"] == 45
    assert made["activeDeadlineSeconds"] == 86400
    assert [made["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")] == [2000, 2000, 3000]
    assert [agent["securityContext"][key] for key in ("runAsUser", "runAsGroup")] == [2345, 2345]
    assert (made["hostUsers"], made["runtimeClassName"], made["priorityClassName"]) == (False, "gvisor", "low")
    assert (made["serviceAccountName"], made["automountServiceAccountToken"]) == ("boxes", False)
    for key in ("nodeSelector", "tolerations", "affinity"):
        assert made[key] == EVERYTHING[key], key
    assert (agent["resources"], runner["resources"]) == (EVERYTHING["resources"], EVERYTHING["runnerResources"])
    assert EVERYTHING["extraEnv"][0] in runner["env"]
    assert EVERYTHING["extraVolumes"][0] in made["volumes"]
    for container in (runner, agent):
        assert (container["image"], container["imagePullPolicy"]) == (IMAGE, "Always")
        assert EVERYTHING["extraVolumeMounts"][0] in container["volumeMounts"]
    claim = home_claim("greenloop", spec(), options(**EVERYTHING)) or {}
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOncePod"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "fast",
    }
    assert {"name": "home", "mountPath": "/home/dev"} in runner["volumeMounts"]
    assert {"name": "home", "mountPath": "/home/dev/agent", "subPath": "agent"} in agent["volumeMounts"]


def test_a_box_is_limited_by_default() -> None:
    made = box_pod("greenloop", spec(), options())["spec"]
    for resources in (each["resources"] for each in made["containers"]):
        assert {"memory", "ephemeral-storage"} <= resources["limits"].keys()
        assert {"cpu", "memory", "ephemeral-storage"} <= resources["requests"].keys()
    assert made["terminationGracePeriodSeconds"] == 30
    assert next(volume for volume in made["volumes"] if volume["name"] == "tmp")["emptyDir"]["sizeLimit"] == "4Gi"
    absent = {"runtimeClassName", "hostUsers", "nodeSelector", "tolerations", "affinity", "imagePullSecrets"}
    assert not absent & made.keys()


@pytest.mark.parametrize("values", [{}, EVERYTHING, {"home": {"size": ""}}, {"home": {"ephemeral": True}}])
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


def test_a_home_may_be_a_volume_that_is_made_for_the_pod() -> None:
    chosen = options(home={"size": "20Gi", "storageClass": "local", "ephemeral": True})
    assert home_claim("greenloop", spec(), chosen) is None
    made = box_pod("greenloop", spec(), chosen)
    check_shape(BY_KIND["Pod"], made, strict=True)
    check_values(BY_KIND["Pod"], made)
    assert violations(made["spec"], "restricted") == []
    [home] = [volume for volume in made["spec"]["volumes"] if volume["name"] == "home"]
    template = home["ephemeral"]["volumeClaimTemplate"]
    assert "metadata" not in template, "with our labels it would count as a home that stays"
    assert template["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "local",
    }


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
