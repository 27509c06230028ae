"""What Kubernetes refuses, in its words: a row for each rule, which holds for the double and for a real API server.

A row is a change of a valid object (`bodies`), sent as a creation, or with `update` after the valid one was created.
The words are those behind `… is invalid: ` or `… is forbidden: `; a row whose words end in "…" gives their beginning.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.k8s.apiserver.bodies import CONTAINER, GONE

Object = dict[str, Any]

ENDS = "must start and end with an alphanumeric character"
LABEL = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {ENDS} (e.g. 'my-name',  "
    "or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {ENDS} (e.g. "
    r"'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY = (
    f"name part must consist of alphanumeric characters, '-', '_' or '.', and {ENDS} (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {ENDS} (e.g. "
    "'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
SUBSET = "must be a strict subset of `cidr`"
PORT = "must be between 1 and 65535, inclusive"
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
POD_FIELDS = "pod updates may not change fields other than `spec.containers[*].image`,…"
SET_FIELDS = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
FIRST = "spec/containers/0"
PEER = "spec/egress/0/to/0"
BLOCK = f"{PEER.replace('/', '.').replace('.0', '[0]')}.ipBlock"


@dataclass(frozen=True)
class Rule:
    """One rule. `code` is 422 or 403 for words that follow the object's name, 400 for a whole message."""

    about: str
    kind: str
    changes: Object = field(hash=False)
    words: str
    code: int = 422
    update: bool = False


def _block(about: str, cidr: str, *except_: str, words: str) -> Rule:
    """A range of addresses in a network policy."""
    block = {"ipBlock": {"cidr": cidr, **({"except": list(except_)} if except_ else {})}}
    return Rule(about, "NetworkPolicy", {PEER: block}, words)


NAMES = (
    Rule("a name is a subdomain", "Pod", {"metadata/name": "Not_A_Name"},
         f'metadata.name: Invalid value: "Not_A_Name": {SUBDOMAIN}'),
    Rule("a name ends with a letter or digit", "ConfigMap", {"metadata/name": "x-"},
         f'metadata.name: Invalid value: "x-": {SUBDOMAIN}'),
    Rule("a name is not too long", "ConfigMap", {"metadata/name": "x" * 254},
         f'metadata.name: Invalid value: "{"x" * 254}": must be no more than 253 characters'),
    Rule("an object has a name", "ConfigMap", {"metadata/name": GONE},
         "metadata.name: Required value: name or generateName is required"),
    Rule("a namespace has no dots", "Namespace", {"metadata/name": "a.b"},
         'metadata.name: Invalid value: "a.b": must not contain dots'),
    Rule("the name of a role fits into a URL", "Role", {"metadata/name": "a%b"},
         'metadata.name: Invalid value: "a%b": may not contain \'%\''),
    Rule("a label's key", "ConfigMap", {"metadata/labels": {"a b": "c"}},
         f'metadata.labels: Invalid value: "a b": {KEY}'),
    Rule("a label's prefix", "ConfigMap", {"metadata/labels": {"A_b/c": "d"}},
         f'metadata.labels: Invalid value: "A_b/c": prefix part {SUBDOMAIN}'),
    Rule("an empty prefix", "ConfigMap", {"metadata/labels": {"/c": "d"}},
         'metadata.labels: Invalid value: "/c": prefix part must be non-empty'),
    Rule("a label's value", "ConfigMap", {"metadata/labels": {"a": "b c"}},
         f'metadata.labels: Invalid value: "b c": {VALUE}'),
    Rule("a label's length", "ConfigMap", {"metadata/labels": {"a": "b" * 64}},
         f'metadata.labels: Invalid value: "{"b" * 64}": must be no more than 63 bytes'),
    Rule("an annotation's key", "ConfigMap", {"metadata/annotations": {"a b": "c"}},
         f'metadata.annotations: Invalid value: "a b": {KEY}'),
    Rule("the size of annotations", "ConfigMap", {"metadata/annotations": {"a": "b" * 262144}},
         "metadata.annotations: Too long: may not be more than 262144 bytes"),
    Rule("an owner is named whole", "ConfigMap",
         {"metadata/ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": ""}]},
         'metadata.ownerReferences.uid: Invalid value: "": must not be empty'),
)  # fmt: skip

PODS = (
    Rule("a pod has containers", "Pod", {"spec/containers": []}, "spec.containers: Required value"),
    Rule("a container's name", "Pod", {f"{FIRST}/name": "Main"},
         f'spec.containers[0].name: Invalid value: "Main": {LABEL}'),
    Rule("names of containers differ", "Pod", {"spec/containers/1": CONTAINER},
         'spec.containers[1].name: Duplicate value: "main"'),
    Rule("a container has an image", "Pod", {f"{FIRST}/image": ""}, "spec.containers[0].image: Required value"),
    Rule("the restart policy", "Pod", {"spec/restartPolicy": "Sometimes"},
         'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'),
    Rule("the pull policy", "Pod", {f"{FIRST}/imagePullPolicy": "Often"},
         'spec.containers[0].imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", '
         '"Never"'),
    Rule("a request is no more than its limit", "Pod",
         {f"{FIRST}/resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
         'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'),
    Rule("an amount is not negative", "Pod", {f"{FIRST}/resources": {"limits": {"memory": "-1Mi"}}},
         f'[spec.containers[0].resources.limits[memory]: Invalid value: "-1Mi": {NEGATIVE}, '
         f'spec.containers[0].resources.requests[memory]: Invalid value: "-1Mi": {NEGATIVE}]'),
    Rule("an amount that is none", "Pod", {f"{FIRST}/resources": {"limits": {"memory": "much"}}},
         f'Pod in version "v1" cannot be handled as a Pod: {QUANTITY}', code=400),
    Rule("a mount names a volume", "Pod", {f"{FIRST}/volumeMounts": [{"name": "nowhere", "mountPath": "/x"}]},
         'spec.containers[0].volumeMounts[0].name: Not found: "nowhere"'),
    Rule("two mounts at one place", "Pod",
         {"spec/volumes": [{"name": "v", "emptyDir": {}}],
          f"{FIRST}/volumeMounts": [{"name": "v", "mountPath": "/x"}, {"name": "v", "mountPath": "/x"}]},
         'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'),
    Rule("a part of a volume lies within it", "Pod",
         {"spec/volumes": [{"name": "v", "emptyDir": {}}],
          f"{FIRST}/volumeMounts": [{"name": "v", "mountPath": "/x", "subPath": "../y"}]},
         'spec.containers[0].volumeMounts.subPath: Invalid value: "../y": must not contain \'..\''),
    Rule("a volume has one kind", "Pod", {"spec/volumes": [{"name": "v", "emptyDir": {}, "secret": {"secretName": "s"}}]},
         "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"),
    Rule("a volume of a secret names it", "Pod", {"spec/volumes": [{"name": "v", "secret": {}}]},
         "spec.volumes[0].secret.secretName: Required value"),
    Rule("the mode of a secret's files", "Pod",
         {"spec/volumes": [{"name": "v", "secret": {"secretName": "s", "defaultMode": 512}}]},
         "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both "
         "inclusive"),
    Rule("names of volumes differ", "Pod", {"spec/volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]},
         'spec.volumes[1].name: Duplicate value: "v"'),
    Rule("the name of a variable", "Pod", {f"{FIRST}/env": [{"name": "A=B", "value": "c"}]},
         'spec.containers[0].env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of '
         "printable ASCII characters other than '='"),
    Rule("a variable has one source", "Pod",
         {f"{FIRST}/env": [{"name": "A", "value": "b", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
         'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'),
    Rule("the number of a port", "Pod", {f"{FIRST}/ports": [{"containerPort": 70000}]},
         f"spec.containers[0].ports[0].containerPort: Invalid value: 70000: {PORT}"),
    Rule("the name of a port", "Pod", {f"{FIRST}/ports": [{"containerPort": 80, "name": "a-name-that-is-too-long"}]},
         'spec.containers[0].ports[0].name: Invalid value: "a-name-that-is-too-long": must be no more than 15 characters'),
    Rule("a probe does something", "Pod", {f"{FIRST}/readinessProbe": {"periodSeconds": 1}},
         "spec.containers[0].readinessProbe: Required value: must specify a handler type"),
    Rule("a deadline is in the future", "Pod", {"spec/activeDeadlineSeconds": 0},
         "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"),
    Rule("a toleration without a key", "Pod", {"spec/tolerations": [{"effect": "NoSchedule", "operator": "Equal"}]},
         'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means '
         '"match all values and all keys"'),
    Rule("a toleration's operator", "Pod", {"spec/tolerations": [{"key": "a", "operator": "Like"}]},
         'spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"'),
    Rule("the DNS policy", "Pod", {"spec/dnsPolicy": "Mine"},
         'spec.dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", '
         '"Default", "None"'),
    Rule("a node selector is labels", "Pod", {"spec/nodeSelector": {"a": "b c"}},
         f'spec.nodeSelector: Invalid value: "b c": {VALUE}'),
    Rule("a field that is not there", "Pod", {f"{FIRST}/imagePullPolicies": "Always"},
         'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].imagePullPolicies"', code=400),
    Rule("a text where a number is wanted", "Pod", {"spec/terminationGracePeriodSeconds": "soon"},
         'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal…', code=400),
    Rule("a pod stays what it is", "Pod", {"spec/hostname": "other"}, f"spec: Forbidden: {POD_FIELDS}", update=True),
    Rule("a pod keeps its containers", "Pod", {"spec/containers/1": {**CONTAINER, "name": "second"}},
         "spec.containers: Forbidden: pod updates may not add or remove containers", update=True),
    Rule("an account that is not there", "Pod", {"spec/serviceAccountName": "nobody"},
         'error looking up service account {namespace}/nobody: serviceaccount "nobody" not found', code=403),
    Rule("a priority that is not there", "Pod", {"spec/priorityClassName": "none"},
         "no PriorityClass with name none was found", code=403),
    Rule("a runtime class that is not there", "Pod", {"spec/runtimeClassName": "none"},
         'pod rejected: RuntimeClass "none" not found', code=403),
)  # fmt: skip

SECURITY = (
    Rule("no escalation", "Pod", {f"{FIRST}/securityContext/allowPrivilegeEscalation": GONE},
         'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set '
         "securityContext.allowPrivilegeEscalation=false)", code=403),
    Rule("no capabilities", "Pod", {f"{FIRST}/securityContext/capabilities": GONE},
         'violates PodSecurity "restricted:latest": unrestricted capabilities (container "main" must set '
         'securityContext.capabilities.drop=["ALL"])', code=403),
    Rule("a capability that is added", "Pod", {f"{FIRST}/securityContext/capabilities/add": ["NET_ADMIN"]},
         'violates PodSecurity "restricted:latest": unrestricted capabilities (container "main" must not include '
         '"NET_ADMIN" in securityContext.capabilities.add)', code=403),
    Rule("not as root", "Pod", {f"{FIRST}/securityContext/runAsNonRoot": GONE},
         'violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "main" must set '
         "securityContext.runAsNonRoot=true)", code=403),
    Rule("not as user 0", "Pod", {f"{FIRST}/securityContext/runAsUser": 0},
         'violates PodSecurity "restricted:latest": runAsUser=0 (container "main" must not set runAsUser=0)', code=403),
    Rule("a profile of system calls", "Pod", {f"{FIRST}/securityContext/seccompProfile": GONE},
         'violates PodSecurity "restricted:latest": seccompProfile (pod or container "main" must set '
         'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")', code=403),
    Rule("nothing of the host's", "Pod", {"spec/hostNetwork": True},
         'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)', code=403),
    Rule("no folder of the host", "Pod", {"spec/volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
         'violates PodSecurity "restricted:latest": restricted volume types (volume "v" uses restricted volume type '
         '"hostPath")', code=403),
)  # fmt: skip

NETWORK = (
    _block("an IPv4-mapped exception", "::/0", "::ffff:0:0/96",
           words=f'[{BLOCK}.except[0]: Invalid value: "::ffff:0:0/96": must not have an IPv4-mapped IPv6 address, '
                 f'{BLOCK}.except[0]: Invalid value: "::ffff:0:0/96": {SUBSET}]'),
    _block("an exception of the other family", "0.0.0.0/0", "fc00::/7",
           words=f'{BLOCK}.except[0]: Invalid value: "fc00::/7": {SUBSET}'),
    _block("an exception outside", "10.0.0.0/8", "11.0.0.0/16",
           words=f'{BLOCK}.except[0]: Invalid value: "11.0.0.0/16": {SUBSET}'),
    _block("an exception that is everything", "10.0.0.0/8", "10.0.0.0/8",
           words=f'{BLOCK}.except[0]: Invalid value: "10.0.0.0/8": {SUBSET}'),
    _block("no range", "example.com", words=f'{BLOCK}.cidr: Invalid value: "example.com": {CIDR}'),
    _block("an address without its range", "10.0.0.1", words=f'{BLOCK}.cidr: Invalid value: "10.0.0.1": {CIDR}'),
    _block("too long a prefix", "10.0.0.0/33", words=f'{BLOCK}.cidr: Invalid value: "10.0.0.0/33": {CIDR}'),
    _block("bits behind the prefix", "10.0.0.1/8",
           words=f'{BLOCK}.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length'),
    _block("leading zeros", "010.0.0.0/8",
           words=f'{BLOCK}.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length'),
    _block("an IPv4-mapped range", "::ffff:10.0.0.0/104",
           words=f'{BLOCK}.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address'),
    Rule("a peer is a range or pods", "NetworkPolicy", {PEER: {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}},
         "spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"),
    Rule("a peer is something", "NetworkPolicy", {PEER: {}}, "spec.egress[0].to[0]: Required value: must specify a peer"),
    Rule("a policy's protocol", "NetworkPolicy", {"spec/egress/0/ports": [{"protocol": "ICMP", "port": 1}]},
         'spec.egress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"'),
    Rule("a policy's port", "NetworkPolicy", {"spec/egress/0/ports": [{"port": 0}]},
         f"spec.egress[0].ports[0].port: Invalid value: 0: {PORT}"),
    Rule("a policy's type", "NetworkPolicy", {"spec/policyTypes": ["Both"]},
         'spec.policyTypes[0]: Unsupported value: "Both": supported values: "Ingress", "Egress"'),
    Rule("a selector's operator", "NetworkPolicy",
         {"spec/podSelector": {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}},
         'spec.podSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'),
    Rule("a selector without values", "NetworkPolicy",
         {"spec/podSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
         "spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
         "'NotIn'"),
    Rule("a service has ports", "Service", {"spec/ports": []}, "spec.ports: Required value"),
    Rule("a service's port", "Service", {"spec/ports/0/port": 0}, f"spec.ports[0].port: Invalid value: 0: {PORT}"),
    Rule("names of a service's ports differ", "Service", {"spec/ports/1": {"name": "http", "port": 81}},
         'spec.ports[1].name: Duplicate value: "http"'),
    Rule("a service's type", "Service", {"spec/type": "Public"},
         'spec.type: Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", '
         '"NodePort"'),
    Rule("an ingress has rules", "Ingress", {"spec/rules": []},
         "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified"),
    Rule("the type of a path", "Ingress", {"spec/rules/0/http/paths/0/pathType": "Regex"},
         'spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", '
         '"ImplementationSpecific", "Prefix"'),
    Rule("a path begins at the root", "Ingress", {"spec/rules/0/http/paths/0/path": "x"},
         'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path'),
    Rule("a backend has a port", "Ingress", {"spec/rules/0/http/paths/0/backend/service/port": {}},
         "spec.rules[0].http.paths[0].backend: Required value: port name or number is required"),
)  # fmt: skip

WORKLOADS = (
    Rule("a selector selects the template", "Deployment", {"spec/template/metadata/labels": {"app": "y"}},
         'spec.template.metadata.labels: Invalid value: {"app":"y"}: `selector` does not match template `labels`'),
    Rule("a deployment restarts its pods", "Deployment", {"spec/template/spec/restartPolicy": "Never"},
         'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'),
    Rule("a number of replicas", "Deployment", {"spec/replicas": -1}, f"spec.replicas: Invalid value: -1: {NEGATIVE}"),
    Rule("a deployment keeps its selector", "Deployment",
         {"spec/selector/matchLabels": {"app": "y"}, "spec/template/metadata/labels": {"app": "y"}},
         f'spec.selector: Invalid value: {{"matchLabels":{{"app":"y"}}}}: {IMMUTABLE}', update=True),
    Rule("a stateful set keeps its claims", "StatefulSet", {"spec/serviceName": "y"}, f"spec: Forbidden: {SET_FIELDS}",
         update=True),
    Rule("a job does not restart for ever", "Job", {"spec/template/spec/restartPolicy": "Always"},
         'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'),
    Rule("how often a job is tried", "Job", {"spec/backoffLimit": -1},
         f"spec.backoffLimit: Invalid value: -1: {NEGATIVE}"),
    Rule("an autoscaler has a most", "HorizontalPodAutoscaler", {"spec/maxReplicas": 0},
         "[spec.maxReplicas: Required value: must be set and greater than 0, spec.maxReplicas: Invalid value: 0: must be "
         "greater than or equal to `minReplicas`]"),
    Rule("an autoscaler's least", "HorizontalPodAutoscaler", {"spec/minReplicas": 3},
         "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"),
    Rule("a budget's percentage", "PodDisruptionBudget", {"spec/maxUnavailable": "many"},
         "spec.maxUnavailable: Invalid value: \"many\": a valid percent string must be a numeric string followed by an "
         "ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"),
)  # fmt: skip

STORED = (
    Rule("a claim has a mode", "PersistentVolumeClaim", {"spec/accessModes": []},
         "spec.accessModes: Required value: at least 1 access mode is required"),
    Rule("a claim's mode", "PersistentVolumeClaim", {"spec/accessModes": ["Mine"]},
         'spec.accessModes: Unsupported value: "Mine": supported values: "ReadOnlyMany", "ReadWriteMany", '
         '"ReadWriteOnce", "ReadWriteOncePod"'),
    Rule("a claim has a size", "PersistentVolumeClaim", {"spec/resources": {}},
         "spec.resources[storage]: Required value"),
    Rule("a claim is not of nothing", "PersistentVolumeClaim", {"spec/resources": {"requests": {"storage": "0"}}},
         'spec.resources[storage]: Invalid value: "0": must be greater than zero'),
    Rule("a claim's class", "PersistentVolumeClaim", {"spec/storageClassName": "Fast_One"},
         f'spec.storageClassName: Invalid value: "Fast_One": {SUBDOMAIN}'),
    Rule("a claim stays what it is", "PersistentVolumeClaim", {"spec/accessModes": ["ReadWriteMany"]},
         "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for "
         "bound claims…", update=True),
    Rule("a key of a secret", "Secret", {"data": {"a b": "YQ=="}},
         'data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, \'-\', \'_\' or '
         "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"),
    Rule("the size of a secret", "Secret", {"stringData": {"a": "x" * 1048577}},
         "data: Too long: may not be more than 1048576 bytes"),
    Rule("a secret's data is base64", "Secret", {"data": {"a": "?"}},
         'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte…', code=400),
    Rule("a secret keeps its type", "Secret", {"type": "example.com/other"},
         f'type: Invalid value: "example.com/other": {IMMUTABLE}', update=True),
    Rule("a quota counts what there is", "ResourceQuota", {"spec/hard": {"boxes": "1"}},
         '[spec.hard[boxes]: Invalid value: "boxes": must be a standard resource type or fully qualified, '
         'spec.hard[boxes]: Invalid value: "boxes": must be a standard resource for quota]'),
    Rule("a default request within its limit", "LimitRange",
         {"spec/limits/0": {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}}},
         'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit '
         "value 1"),
    Rule("a role's verbs", "Role", {"rules/0/verbs": []},
         "rules[0].verbs: Required value: verbs must contain at least one value"),
    Rule("a role's groups", "Role", {"rules/0/apiGroups": []},
         "rules[0].apiGroups: Required value: resource rules must supply at least one api group"),
    Rule("what a binding binds", "RoleBinding", {"roleRef/kind": "Rule"},
         'roleRef.kind: Unsupported value: "Rule": supported values: "Role", "ClusterRole"'),
    Rule("whom a binding binds", "RoleBinding", {"subjects/0/kind": "Robot"},
         'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'),
    Rule("a binding keeps its role", "RoleBinding", {"roleRef/name": "y"},
         'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: cannot change '
         "roleRef", update=True),
)  # fmt: skip

RULES = (*NAMES, *PODS, *SECURITY, *NETWORK, *WORKLOADS, *STORED)
