"""Specs, pods and other objects for the tests of this room."""

from typing import Any

from k8s.boxes import BoxSpec
from k8s.options import PodOptions
from k8s.pod import box_pod

Object = dict[str, Any]

IMAGE = "registry.example/greenloop-box:1"


def spec(name: str = "gl-greenloop-7-42", *, token: str = "box-token-1", **labels: str) -> BoxSpec:  # noqa: S107
    return BoxSpec(
        name=name,
        owner_key="7/42",
        labels={"instance": "greenloop", "installation": "7", "person": "42", **labels},
        token=token,
        service_url="http://greenloop.svc:8080",
    )


def pod(phase: str = "Running", **status: Any) -> Object:
    made = box_pod("greenloop", spec(), PodOptions(image=IMAGE))
    made["metadata"] |= {"uid": "u1", "resourceVersion": "10", "creationTimestamp": "2026-11-29T10:00:00Z"}
    return made | {"status": {"phase": phase, **status}}


def container(name: str = "agent", **state: Any) -> Object:
    """The status of one of a box's containers."""
    return {"name": name, "image": IMAGE, "state": state}
