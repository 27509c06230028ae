"""The shape of an object, by the models of the official client, which are made from Kubernetes' OpenAPI document."""

from typing import Any

import pydantic

from tests.k8s.cluster_double.objects.errors import bad_request, invalid
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import required

Object = dict[str, Any]


def check_shape(resource: Resource, item: Object, *, strict: bool) -> list[str]:
    """Refuse wrong types (400) and missing fields (422). Unknown fields: refused (400) if strict, else returned."""
    from kubernetes.aio.client import models

    prefix = {"autoscaling": "V2"}.get(resource.group, "V1")
    model = getattr(models, prefix + resource.kind, None)
    if model is None:
        return []
    try:
        model.model_validate(item)
    except pydantic.ValidationError as error:
        unknown, missing = [], []
        for problem in error.errors():
            path = _path(problem["loc"])
            if problem["type"] == "extra_forbidden":
                unknown.append(f'unknown field "{path}"')
            elif problem["type"] == "missing":
                missing.append(required(path))
            elif problem.get("input") is not None:
                words = _unreadable(resource)
                raise bad_request(f"{words}: json: cannot unmarshal at {path}: {problem['msg']}") from error
        if unknown and strict:
            raise bad_request(f"{_unreadable(resource)}: strict decoding error: {', '.join(unknown)}") from error
        if missing:
            raise invalid(resource, str(item.get("metadata", {}).get("name", "")), missing) from error
        return unknown
    return []


def _unreadable(resource: Resource) -> str:
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")
