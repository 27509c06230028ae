import ipaddress
from typing import Any

import pytest

from k8s.identity import box_labels
from tests.charts.matrix import MATRIX, PRODUCTION
from tests.charts.render import kinds, one, render

Object = dict[str, Any]


def test_default_deny_and_what_boxes_may_reach() -> None:
    items = render()
    policies = [item for item in items if item["kind"] == "NetworkPolicy" and item["metadata"].get("namespace")]
    [deny] = [item for item in policies if item["metadata"]["name"].endswith("-deny")]
    [allow] = [item for item in policies if item["metadata"]["name"].endswith("-egress")]
    assert deny["metadata"]["namespace"] == "team-boxes"
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    labels = box_labels("greenloop", "gl-x", {"installation": "7"})
    assert allow["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    assert allow["spec"]["policyTypes"] == ["Egress"]
    dns, service, internet = allow["spec"]["egress"]
    assert {(port["protocol"], port["port"]) for port in dns["ports"]} == {("UDP", 53), ("TCP", 53)}
    assert service["to"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "team"}
    assert service["ports"] == [{"protocol": "TCP", "port": 8081}]
    web = one(items, "Deployment", "greenloop-web")["spec"]["template"]["metadata"]["labels"]
    assert service["to"][0]["podSelector"]["matchLabels"].items() <= web.items()
    assert [port["port"] for port in internet["ports"]] == [80, 443]


@pytest.mark.parametrize(
    ("address", "reachable"),
    [
        ("140.82.112.3", True),
        ("2606:50c0:8000::153", True),
        ("10.0.0.1", False),
        ("172.20.1.1", False),
        ("192.168.1.1", False),
        ("100.100.100.200", False),
        ("169.254.169.254", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("127.0.0.1", False),
        ("fd00:ec2::254", False),
        ("fe80::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
    ],
)
def test_the_public_internet_is_without_private_and_metadata_addresses(address: str, reachable: bool) -> None:
    items = render()
    allow = next(item for item in items if item["metadata"]["name"].endswith("-egress"))
    blocks = [to["ipBlock"] for to in allow["spec"]["egress"][2]["to"]]
    found = ipaddress.ip_address(address)
    # An IPv4-mapped address is one of a program only: the packet that leaves is IPv4's (RFC 4291, 2.5.5.2; ip(7)).
    found = getattr(found, "ipv4_mapped", None) or found
    inside = [
        block
        for block in blocks
        if found in ipaddress.ip_network(block["cidr"])
        and not any(found in ipaddress.ip_network(part) for part in block["except"])
    ]
    assert bool(inside) is reachable


def test_the_exceptions_lie_within_their_block_as_kubernetes_wants_it() -> None:
    allow = next(item for item in render() if item["metadata"]["name"].endswith("-egress"))
    for to in allow["spec"]["egress"][2]["to"]:
        block = ipaddress.ip_network(to["ipBlock"]["cidr"])
        for part in map(ipaddress.ip_network, to["ipBlock"]["except"]):
            assert part.version == block.version
            assert part.subnet_of(block) and part != block  # type: ignore[arg-type]


def test_an_allow_list_leaves_nothing_else_open() -> None:
    items = render(MATRIX["allow-list"])
    allow = next(item for item in items if item["metadata"]["name"].endswith("-egress"))
    blocks = [to["ipBlock"]["cidr"] for rule in allow["spec"]["egress"] for to in rule["to"] if "ipBlock" in to]
    assert blocks == ["169.254.20.10/32", "10.1.2.3/32", "10.9.0.0/16"]


def test_with_gateways_a_box_reaches_names_the_service_and_package_mirrors_and_nothing_else() -> None:
    mirror = {"cidr": "10.7.0.0/16", "ports": [443]}
    network = {"egress": "gateway", "mirrors": [mirror], "allow": [{"cidr": "10.9.0.0/16"}]}
    items = render({"boxes": {"network": network}})
    allow = next(item for item in items if item["metadata"]["name"].endswith("-egress"))
    _, service, mirrors = allow["spec"]["egress"]
    assert service["ports"] == [{"protocol": "TCP", "port": 8081}]
    assert mirrors == {"to": [{"ipBlock": {"cidr": mirror["cidr"]}}], "ports": [{"protocol": "TCP", "port": 443}]}
    assert one(items, "ConfigMap", "greenloop")["data"]["GREENLOOP_BOX_EGRESS"] == "gateway"


def test_names_are_found_at_pods_and_at_caches_of_nodes() -> None:
    def dns(values: Object) -> tuple[Any, ...]:
        allow = next(item for item in render(values) if item["metadata"]["name"].endswith("-egress"))
        rule = allow["spec"]["egress"][0]
        return rule["to"][0]["namespaceSelector"]["matchLabels"], rule["to"][1:], rule["ports"]

    _, others, _ = dns({})
    assert others == [{"ipBlock": {"cidr": "169.254.20.10/32"}}]
    space, others, ports = dns(MATRIX["what the platform gives"])
    assert (space, others) == ({"kubernetes.io/metadata.name": "openshift-dns"}, [])
    assert ports == [{"protocol": "UDP", "port": 5353}, {"protocol": "TCP", "port": 5353}]


def test_in_one_namespace_the_policies_leave_other_pods_alone() -> None:
    deny = next(item for item in render(MATRIX["one namespace"]) if item["metadata"]["name"].endswith("-deny"))
    assert deny["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "box"
    assert "Namespace" not in kinds(render(MATRIX["one namespace"]))


def test_figures_can_be_scraped_through_the_policies_and_by_nothing_else() -> None:
    def opened(values: Object, name: str) -> list[int]:
        spec = one(render(values), "NetworkPolicy", name)["spec"]
        return [port["port"] for rule in spec.get("ingress", []) for port in rule["ports"]]

    assert (opened({}, "greenloop-web"), opened({}, "greenloop-worker")) == ([8080, 8081], [])
    assert (opened(PRODUCTION, "greenloop-web"), opened(PRODUCTION, "greenloop-worker")) == ([8080, 8081, 9090], [9090])
    assert "greenloop-metrics" not in {item["metadata"]["name"] for item in render()}


def test_the_port_of_boxes_has_a_service_of_its_own_and_only_boxes_reach_it() -> None:
    items = render(PRODUCTION)
    service = one(items, "Service", "greenloop-boxes")["spec"]
    [container] = one(items, "Deployment", "greenloop-web")["spec"]["template"]["spec"]["containers"]
    assert {"name": "boxes", "containerPort": 8081} in container["ports"]
    assert (service["type"], [port["targetPort"] for port in service["ports"]]) == ("ClusterIP", ["boxes"])
    config = one(items, "ConfigMap", "greenloop")["data"]
    assert (config["GREENLOOP_BOX_PORT"], config["GREENLOOP_SERVICE_URL"]) == (
        "8081",
        "http://greenloop-boxes.team.svc:8081",
    )
    public = one(items, "Service", "greenloop-web")["spec"]
    assert [port["targetPort"] for port in public["ports"]] == ["http"], "what an ingress leads to"
    [rule] = [
        rule
        for rule in one(items, "NetworkPolicy", "greenloop-web")["spec"]["ingress"]
        if 8081 in [port["port"] for port in rule["ports"]]
    ]
    assert [port["port"] for port in rule["ports"]] == [8081]
    [peer] = rule["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "team-boxes"}
    labels = box_labels("greenloop", "gl-x", {"installation": "7"})
    assert peer["podSelector"]["matchLabels"].items() <= labels.items()
