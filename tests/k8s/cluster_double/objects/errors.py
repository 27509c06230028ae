"""Refusals, in the words and codes of the Kubernetes API."""

from typing import Any

from tests.k8s.cluster_double.objects.resources import Resource

Object = dict[str, Any]


class Refused(Exception):
    """A request that is answered with a `Status` object."""

    def __init__(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}

    def body(self) -> Object:
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def not_found(resource: Resource, name: str) -> Refused:
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return Refused(404, "NotFound", f'{resource.qualified} "{name}" not found', details)


def already_exists(resource: Resource, name: str) -> Refused:
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return Refused(409, "AlreadyExists", f'{resource.qualified} "{name}" already exists', details)


def conflict(resource: Resource, name: str, why: str) -> Refused:
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return Refused(409, "Conflict", message, {"name": name, "kind": resource.plural})


def modified(resource: Resource, name: str) -> Refused:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, why)


def forbidden(resource: Resource, name: str, why: str) -> Refused:
    return Refused(403, "Forbidden", f'{resource.qualified} "{name}" is forbidden: {why}', {"name": name})


def invalid(resource: Resource, name: str, causes: list[str]) -> Refused:
    text = causes[0] if len(causes) == 1 else "[" + ", ".join(causes) + "]"
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {"name": name, "group": resource.group, "kind": resource.kind}
    return Refused(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details)


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


def expired(message: str) -> Refused:
    return Refused(410, "Expired", message)
