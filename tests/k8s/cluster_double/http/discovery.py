"""What kubectl and Helm ask first: versions, groups, resources, and which parameters the server understands. Pure."""

from typing import Any

from tests.k8s.cluster_double.objects.resources import RESOURCES, Resource, groups

Object = dict[str, Any]

VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
MAJOR, MINOR = "1", "36"


def version() -> Object:
    return {
        "major": MAJOR,
        "minor": MINOR,
        "gitVersion": f"v{MAJOR}.{MINOR}.0+greenloop",
        "platform": "linux/amd64",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "",
        "goVersion": "",
        "compiler": "",
    }


def core_versions() -> Object:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list() -> Object:
    found = []
    for group, versions in groups().items():
        entries = [{"groupVersion": f"{group}/{name}", "version": name} for name in versions]
        found.append({"name": group, "versions": entries, "preferredVersion": entries[0]})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def resource_list(group: str, name: str) -> Object | None:
    """The resources of one group and version; None if there is no such group."""
    found = [_entry(item) for item in RESOURCES if (item.group, item.version) == (group, name)]
    if (group, name) == ("authorization.k8s.io", "v1"):
        found = [
            {
                "name": "selfsubjectaccessreviews",
                "singularName": "selfsubjectaccessreview",
                "namespaced": False,
                "kind": "SelfSubjectAccessReview",
                "verbs": ["create"],
            }
        ]
    if not found:
        return None
    if (group, name) == ("", "v1"):
        found.append({"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]})
    title = f"{group}/{name}" if group else name
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": title, "resources": found}


def openapi_index() -> Object:
    """Index of the OpenAPI v3 documents, one a group and version."""
    paths = {_openapi_path(item): {"serverRelativeURL": f"/openapi/v3/{_openapi_path(item)}"} for item in RESOURCES}
    return {"paths": paths}


def openapi_document(path: str) -> Object | None:
    """A document that says only that each resource takes `fieldValidation` and `dryRun`, and may be applied.

    That is what Helm and kubectl look for; the checks themselves are the server's.
    """
    known = [item for item in RESOURCES if _openapi_path(item) == path]
    if not known:
        return None
    paths: Object = {}
    for item in known:
        space = "namespaces/{namespace}/" if item.namespaced else ""
        kind = {"group": item.group, "version": item.version, "kind": item.kind}
        parameters = [
            {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
            for name in ("dryRun", "fieldManager", "fieldValidation")
        ]
        operation = {"x-kubernetes-group-version-kind": kind, "parameters": parameters, "responses": {}}
        paths[f"/{path}/{space}{item.plural}/{{name}}"] = {"patch": operation}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": version()["gitVersion"]}, "paths": paths}


def _openapi_path(item: Resource) -> str:
    return f"apis/{item.group}/{item.version}" if item.group else f"api/{item.version}"


def _entry(item: Resource) -> Object:
    return {
        "name": item.plural,
        "singularName": item.kind.lower(),
        "namespaced": item.namespaced,
        "kind": item.kind,
        "verbs": VERBS,
        "shortNames": list(item.short),
    }
