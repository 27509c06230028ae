import json
import re
from typing import Any

import pytest
from kubernetes_validate.utils import validate
from prometheus_client.metrics import MetricWrapperBase

from k8s.rights import OWNER_RIGHTS, RIGHTS, rules
from tests.charts.matrix import MATRIX, PRODUCTION
from tests.charts.render import CHART, HELMS, NEEDED, helm, kinds, merged, one, pod_specs, render
from tests.k8s.cluster_double.admission.podsecurity import violations
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.validation.values import check_values

Object = dict[str, Any]

CUSTOM = {"HTTPRoute", "ServiceMonitor", "PrometheusRule"}


@pytest.mark.parametrize("program", HELMS)
@pytest.mark.parametrize("values", MATRIX.values(), ids=MATRIX.keys())
def test_every_object_of_every_variant_is_valid_to_the_last_field(program: str, values: Object) -> None:
    items = render(values, program=program)
    for item in items:
        if item["kind"] not in CUSTOM:
            validate(item, "1.36", strict=True)
            check_values(BY_KIND[item["kind"]], item)
    names = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in items]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("values", MATRIX.values(), ids=MATRIX.keys())
def test_every_pod_of_the_chart_passes_pod_security_restricted(values: Object) -> None:
    for name, found in pod_specs(render(values)).items():
        assert violations(found, "restricted") == [], name
        for container in found["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
            assert container["resources"]["limits"]["memory"], name
            assert "cpu" in container["resources"]["requests"], name


@pytest.mark.parametrize("program", HELMS)
def test_lint_finds_nothing(program: str) -> None:
    done = helm(program, "lint", "--strict", str(CHART), values=NEEDED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[WARNING]" not in done.stdout


def test_web_can_do_nothing_in_the_cluster_and_the_worker_little() -> None:
    items = render()
    assert not kinds(items) & {"ClusterRole", "ClusterRoleBinding"}
    specs = pod_specs(items)
    assert one(items, "ServiceAccount", "greenloop-web")["automountServiceAccountToken"] is False
    for name, found in specs.items():
        if name not in ("Deployment/greenloop-worker", "Job/greenloop-remove-boxes"):
            assert found["automountServiceAccountToken"] is False, name
    [role] = [item for item in items if item["kind"] == "Role"]
    [binding] = [item for item in items if item["kind"] == "RoleBinding"]
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "team-boxes"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "greenloop-worker", "namespace": "team"}]
    granted = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {
        (*thing, verb) for rights in (RIGHTS, OWNER_RIGHTS) for thing, verbs in rights.items() for verb in verbs
    }
    config = one(items, "ConfigMap", "greenloop")["data"]
    assert role["rules"] == [*role["rules"][:-1], *rules(config["GREENLOOP_BOX_OWNER"])[-1:]]


def test_the_box_namespace_enforces_restricted_and_survives_the_release() -> None:
    namespace = one(render(), "Namespace", "team-boxes")["metadata"]
    assert namespace["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert namespace["annotations"]["helm.sh/resource-policy"] == "keep"


def test_secrets_are_mounted_as_files_and_never_rendered() -> None:
    items = render(PRODUCTION)
    assert not [item for item in items if item["kind"] == "Secret"]
    web = pod_specs(items)["Deployment/greenloop-web"]
    sources = next(volume for volume in web["volumes"] if volume["name"] == "secrets")["projected"]["sources"]
    assert [source["secret"]["items"][0]["path"] for source in sources] == [
        "private-key",
        "webhook-secrets",
        "encryption-keys",
        "signin-secret",
        "api-token",
        "hooks",
    ]
    env = {item["name"]: item for item in web["containers"][0]["env"]}
    assert env["GREENLOOP_DATABASE_URL"]["valueFrom"]["secretKeyRef"] == {"name": "database", "key": "url"}
    assert env["GREENLOOP_REDIS_URL"]["valueFrom"]["secretKeyRef"] == {"name": "redis", "key": "url"}
    mount = next(item for item in web["containers"][0]["volumeMounts"] if item["name"] == "secrets")["mountPath"]
    for name in ("APP_PRIVATE_KEY", "WEBHOOK_SECRETS", "ENCRYPTION_KEYS", "SIGN_IN_SECRET", "API_TOKEN", "HOOKS"):
        assert env[f"GREENLOOP_{name}_FILE"]["value"].startswith(mount + "/")


def test_the_migration_has_the_volumes_that_the_databases_certificates_come_from() -> None:
    job = pod_specs(render(PRODUCTION))["Job/greenloop-migrate"]
    assert "ca" in {volume["name"] for volume in job["volumes"]}
    assert {"name": "ca", "mountPath": "/etc/ca"} in job["containers"][0]["volumeMounts"]


def test_the_migration_runs_before_the_pods_of_a_new_version() -> None:
    job = one(render(PRODUCTION), "Job", "greenloop-migrate")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    first = one(render(), "Job", "greenloop-migrate-first")["metadata"]
    assert "helm.sh/hook" not in first["annotations"], "the trial database only comes with the install"
    later = one(render(upgrade=True), "Job", "greenloop-migrate")["metadata"]
    assert later["annotations"]["helm.sh/hook"] == "pre-upgrade"


def test_every_process_of_ours_has_a_data_folder_that_it_may_write_to() -> None:
    for name, found in pod_specs(render(PRODUCTION)).items():
        [container] = found["containers"]
        if container["command"][0] == "greenloop":
            env = {item["name"]: item.get("value", "") for item in container["env"]}
            mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            assert env["GREENLOOP_DATA"].startswith(mounts["tmp"] + "/"), name


def test_a_web_pod_has_more_time_than_draining_takes() -> None:
    from app.web.app import DRAIN_SECONDS

    web = pod_specs(render())["Deployment/greenloop-web"]
    before = web["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert web["terminationGracePeriodSeconds"] > before + DRAIN_SECONDS
    short = {"web": {"preStopSeconds": 20, "terminationGracePeriodSeconds": 20 + DRAIN_SECONDS}}
    done = helm("helm", "template", "x", str(CHART), values=merged(NEEDED, short))
    assert "web.terminationGracePeriodSeconds must be longer" in done.stderr
    none = pod_specs(render({"web": {"preStopSeconds": 0}}))["Deployment/greenloop-web"]["containers"][0]
    assert "lifecycle" not in none, "Kubernetes before 1.33 takes no sleep of 0 seconds"


def test_a_worker_pod_has_more_time_than_draining_takes() -> None:
    from app.process.worker import DRAIN_SECONDS

    assert pod_specs(render())["Deployment/greenloop-worker"]["terminationGracePeriodSeconds"] > DRAIN_SECONDS


def test_web_and_worker_are_probed_at_ports_that_they_serve() -> None:
    from app.commands.serve import web, worker

    assert "ops_port" in web.__annotations__ and "ops_port" in worker.__annotations__
    for name in ("web", "worker"):
        [container] = pod_specs(render())[f"Deployment/greenloop-{name}"]["containers"]
        ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
        assert ports["ops"] == container["command"][container["command"].index("--ops-port") + 1]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] in ports, (name, probe)
        assert container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"] >= 60


def test_a_busy_node_is_no_reason_to_end_what_is_probed() -> None:
    for name, found in pod_specs(render()).items():
        for container in found["containers"]:
            for probe in ("livenessProbe", "readinessProbe"):
                assert container.get(probe, {"timeoutSeconds": 5})["timeoutSeconds"] >= 5, (name, probe)


def test_webhooks_and_pages_have_routes_of_their_own() -> None:
    items = render(PRODUCTION)
    pages, webhook = one(items, "Ingress", "greenloop")["spec"], one(items, "Ingress", "greenloop-webhook")["spec"]
    assert (pages["ingressClassName"], webhook["ingressClassName"]) == ("internal", "public")
    assert pages["rules"][0]["host"] == "greenloop.example.com"
    assert webhook["rules"][0]["host"] == "hooks.example.com"
    assert [path["path"] for path in webhook["rules"][0]["http"]["paths"]] == ["/webhooks/github"]
    assert webhook["rules"][0]["http"]["paths"][0]["pathType"] == "Exact"
    routes = render(MATRIX["gateway"])
    route = one(routes, "HTTPRoute", "greenloop-webhook")["spec"]
    assert route["rules"][0]["matches"] == [{"path": {"type": "Exact", "value": "/webhooks/github"}}]
    assert route["parentRefs"] == [{"name": "public"}]


def test_what_costs_or_needs_an_operator_is_off_by_default() -> None:
    assert not kinds(render()) & {*CUSTOM, "Ingress", "HorizontalPodAutoscaler", "PodDisruptionBudget", "DaemonSet"}


def test_autoscaling_leaves_replicas_to_the_autoscaler() -> None:
    items = render(PRODUCTION)
    for name in ("greenloop-web", "greenloop-worker"):
        assert "replicas" not in one(items, "Deployment", name)["spec"]
    [metric] = one(items, "HorizontalPodAutoscaler", "greenloop-worker")["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == "greenloop_queue_age_seconds"
    assert metric["external"]["target"] == {"type": "Value", "value": "20"}


def test_alerts_and_dashboard_speak_of_figures_that_exist() -> None:
    from app.web.metrics import Metrics, WorkerMetrics

    items = render(PRODUCTION)
    figures = [each for made in (Metrics(), WorkerMetrics()) for each in vars(made).values()]
    known = {each._name: set(each._labelnames) for each in figures if isinstance(each, MetricWrapperBase)}
    [group] = one(items, "PrometheusRule", "greenloop")["spec"]["groups"]
    dashboard = json.loads(one(items, "ConfigMap", "greenloop-dashboard")["data"]["greenloop.json"])
    targets = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    used = set()
    for expression in [*(rule["expr"] for rule in group["rules"]), *targets]:
        found = re.findall(r"\b(greenloop_[a-z_]+)\{([^}]*)\}", expression)
        assert found, expression
        grouped = re.findall(r"\bby \(([a-z]+)\) \(", expression)
        for name, labels in found:
            name = re.sub(r"_(total|bucket)$", "", name)
            assert name in known, expression
            named = set(re.findall(r"([a-z_]+)=", labels)) | set(grouped)
            assert named <= known[name] | {"namespace", "service", "le"}, expression
            used.add(name)
    assert len(used) > 5


def test_an_alert_tells_of_workers_that_are_all_down() -> None:
    [group] = one(render(PRODUCTION), "PrometheusRule", "greenloop")["spec"]["groups"]
    [stuck] = [rule for rule in group["rules"] if rule["alert"] == "GreenloopWorkerStuck"]
    assert "or vector(0)" in stuck["expr"], "a sum over no series is nothing, which is not 0"


def test_selectors_match_the_pods_they_are_for() -> None:
    items = render(PRODUCTION)
    for component in ("web", "worker"):
        name = f"greenloop-{component}"
        labels = one(items, "Deployment", name)["spec"]["template"]["metadata"]["labels"]
        for kind in ("Deployment", "PodDisruptionBudget"):
            assert one(items, kind, name)["spec"]["selector"]["matchLabels"].items() <= labels.items()
    labels = one(items, "Deployment", "greenloop-web")["spec"]["template"]["metadata"]["labels"]
    assert one(items, "Service", "greenloop-web")["spec"]["selector"].items() <= labels.items()
    worker = one(items, "Deployment", "greenloop-worker")["spec"]["template"]["metadata"]["labels"]
    scraped = one(items, "Service", "greenloop-metrics")
    assert (
        scraped["spec"]["selector"].items() <= labels.items() and scraped["spec"]["selector"].items() <= worker.items()
    )
    monitor = one(items, "ServiceMonitor", "greenloop")["spec"]
    found = [item for item in items if item["kind"] == "Service"]
    matching = [
        item for item in found if monitor["selector"]["matchLabels"].items() <= item["metadata"]["labels"].items()
    ]
    assert [item["metadata"]["name"] for item in matching] == ["greenloop-metrics"]
    assert monitor["endpoints"][0]["port"] in {port["name"] for port in scraped["spec"]["ports"]}


def test_a_change_of_configuration_rolls_the_pods() -> None:
    before, after = (
        one(render(values), "Deployment", "greenloop-web")["spec"]["template"]["metadata"]["annotations"]
        for values in ({}, {"settings": {"CAP": 5}})
    )
    assert before["checksum/config"] != after["checksum/config"]


def test_extra_objects_are_templates() -> None:
    items = render(MATRIX["extra objects"])
    assert one(items, "ConfigMap", "greenloop-map")["data"] == {"a": "b"}
    assert one(items, "ConfigMap", "text")["data"] == {"c": "d"}
