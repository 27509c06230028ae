"""Who may do what: roles and bindings as stored, evaluated as Kubernetes does (allow only, nothing denies)."""

from dataclasses import dataclass
from typing import Any

from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND, Resource
from tests.k8s.cluster_double.objects.store import Store

Object = dict[str, Any]


@dataclass(frozen=True)
class User:
    """Who a token stands for. The group `system:masters` may do everything.

    `account` is the uid of the service account with which the token ends, if it does.
    """

    name: str
    groups: tuple[str, ...] = ()
    account: str = ""

    @classmethod
    def service_account(cls, namespace: str, name: str, uid: str = "") -> "User":
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return cls(f"system:serviceaccount:{namespace}:{name}", groups, uid)


def allowed(store: Store, user: User, verb: str, group: str, resource: str, namespace: str, name: str = "") -> bool:
    """Whether `user` may. `resource` may carry a subresource (`pods/log`); `namespace` is empty for cluster scope."""
    if "system:masters" in user.groups:
        return True
    for rule in _rules(store, user, namespace):
        names = rule.get("resourceNames")
        if (
            _has(rule, "verbs", verb)
            and _has(rule, "apiGroups", group)
            and _has(rule, "resources", resource)
            and (not names or name in names)
        ):
            return True
    return False


def refuse(user: User, verb: str, resource: Resource, subresource: str, namespace: str, name: str) -> Refused:
    what = f"{resource.plural}/{subresource}" if subresource else resource.plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    subject = f'{resource.qualified} "{name}"' if name else resource.qualified
    action = f'cannot {verb} resource "{what}" in API group "{resource.group}" {where}'
    message = f'{subject} is forbidden: User "{user.name}" {action}'
    return Refused(403, "Forbidden", message, {"name": name, "group": resource.group, "kind": resource.plural})


def _has(rule: Object, field: str, value: str) -> bool:
    listed = rule.get(field) or []
    return value in listed or "*" in listed


def _rules(store: Store, user: User, namespace: str) -> list[Object]:
    bindings = store.list(BY_KIND["ClusterRoleBinding"])
    if namespace:
        bindings += store.list(BY_KIND["RoleBinding"], namespace)
    rules: list[Object] = []
    for binding in bindings:
        if any(_is(subject, user, namespace) for subject in binding.get("subjects") or []):
            reference = binding["roleRef"]
            space = namespace if reference["kind"] == "Role" else ""
            role = store.find(BY_KIND[reference["kind"]], space, reference["name"])
            rules += (role or {}).get("rules") or []
    return rules


def _is(subject: Object, user: User, namespace: str) -> bool:
    if subject["kind"] == "ServiceAccount":
        return user.name == f"system:serviceaccount:{subject.get('namespace', namespace)}:{subject['name']}"
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    return bool(subject["name"] == user.name)
