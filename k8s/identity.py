"""Whose object is whose: the labels and names of everything Greenloop makes in a cluster.

A box's name comes from numeric ids (`k8s.boxes.box_name`), never from a login: people rename themselves, and two
workers that know a person by two logins must still meet at one name. The login is a label, for who looks with kubectl.
"""

import re
from collections.abc import Mapping

# Label keys without a domain of ours: "greenloop" alone is a valid prefix and claims nobody's name.
PREFIX = "greenloop/"
INSTANCE = PREFIX + "instance"
BOX = PREFIX + "box"
SPARE = PREFIX + "spare"
PORT = PREFIX + "port"
"""Which port of the service the box asks at; boxes of a release that had one port for everybody have no such label."""
RUNNER, AGENT = "runner", "agent"
"""The containers of a box's pod."""
MANAGED_BY = "app.kubernetes.io/managed-by"
COMPONENT = "app.kubernetes.io/component"
OURS = {MANAGED_BY: "greenloop", COMPONENT: "box"}

_LABEL_VALUE_LIMIT = 63
_OUR_OWN_KEYS = {"box", "spare", "instance", "port"}


def home_name(box: str) -> str:
    """The volume claim of a box's home."""
    return f"{box}-home"


def secret_name(box: str) -> str:
    """The Secret that holds a box's token."""
    return f"{box}-token"


def label_value(text: str) -> str:
    """`text` as a valid label value: at most 63 of [A-Za-z0-9_.-], beginning and ending with a letter or digit."""
    cleaned = re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:_LABEL_VALUE_LIMIT]
    return cleaned.strip("-_.")


def instance_labels(instance: str) -> dict[str, str]:
    """Labels of every object of this Greenloop; what lacks them is not ours to touch.

    Raises ValueError for an instance name that is not a label value as it stands: two names must never become one.
    """
    if not instance or label_value(instance) != instance:
        raise ValueError(
            f"instance name {instance!r} is not a Kubernetes label value: use up to 63 letters, digits, "
            "'-', '_' and '.', beginning and ending with a letter or digit"
        )
    return {**OURS, INSTANCE: instance}


def owner_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a `BoxSpec` (`installation`, `person`, `session`, `login`, …) as Kubernetes labels."""
    owned = {PREFIX + key: label_value(value) for key, value in labels.items() if key not in _OUR_OWN_KEYS}
    return {key: value for key, value in owned.items() if value}


def box_labels(instance: str, name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of one box's pod, home and secret. A box without an installation is a warm spare: nobody's yet."""
    spare = {} if labels.get("installation") else {SPARE: "true"}
    return {**owner_labels(labels), **instance_labels(instance), BOX: name, PORT: "boxes", **spare}


def spec_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The way back: the labels of a `BoxSpec` from those of a Kubernetes object."""
    return {key.removeprefix(PREFIX): value for key, value in labels.items() if key.startswith(PREFIX)}


def selector(instance: str) -> str:
    """The label selector of all objects of this Greenloop."""
    return ",".join(f"{key}={value}" for key, value in sorted(instance_labels(instance).items()))


def is_ours(item: Mapping[str, object], instance: str) -> bool:
    """Whether this Greenloop made the object."""
    metadata = item.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return isinstance(labels, dict) and labels.items() >= instance_labels(instance).items()
