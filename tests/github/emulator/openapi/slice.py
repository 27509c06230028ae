"""Cuts our part out of GitHub's OpenAPI, so that tests need no network and no 18 MB of JSON.

    npm pack @octokit/openapi@23.0.2 @octokit/openapi-webhooks@12.1.0     (unpack both)
    python -m tests.github.emulator.openapi.slice OPENAPI_FOLDER WEBHOOKS_FOLDER

Kept are the operations that the local GitHub has routes for and the webhooks it may send, with all they refer to;
prose and examples are dropped, and OpenAPI 3.0's `nullable` becomes JSON Schema's null.
"""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

from github.emulator.rest.table import table

HERE = Path(__file__).parent
API, WEBHOOKS = HERE / "api.json.gz", HERE / "webhooks.json.gz"
EVENTS = [
    "check-run",
    "check-suite",
    "create",
    "delete",
    "installation",
    "installation-repositories",
    "issue-comment",
    "issues",
    "merge-group",
    "ping",
    "pull-request",
    "pull-request-review",
    "pull-request-review-comment",
    "pull-request-review-thread",
    "push",
    "repository",
    "status",
    "workflow-job",
    "workflow-run",
]
_PROSE = {"description", "summary", "example", "examples", "externalDocs", "title", "x-github-breaking-changes"}
Json = dict[str, Any]


def shape(template: str) -> str:
    """A path template without the names of its parameters, which differ between us and GitHub."""
    return re.sub(r"\{\w+\}", "{}", template)


def schema(raw: Any, named: bool = False) -> Any:
    """A schema without prose, as JSON Schema. `named`: the keys are names of properties, not keywords."""
    if isinstance(raw, list):
        return [schema(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    out = {
        key: schema(value, named=key in ("properties", "schemas"))
        for key, value in raw.items()
        if named or key not in _PROSE
    }
    if not named and out.pop("nullable", False) is True:
        return {"anyOf": [{"type": "null"}, out]}
    return out


def closure(start: Any, schemas: Json) -> Json:
    """The named schemas that `start` needs."""
    found: Json = {}
    waiting = [start]
    while waiting:
        for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(waiting.pop())):
            if name not in found:
                found[name] = schemas[name]
                waiting.append(schemas[name])
    return found


def api(source: Json) -> Json:
    """`operations`: "GET /repos/{}/{}" to status to schema (null without a JSON body)."""
    paths = {shape(path): item for path, item in source["paths"].items()}
    responses = source["components"]["responses"]
    operations: Json = {}
    for route in table().routes:
        operation = paths.get(shape(route.template), {}).get(route.method.lower())
        if operation is None:
            continue
        statuses: Json = {}
        for status, answer in operation["responses"].items():
            body = responses[answer["$ref"].rsplit("/", 1)[1]] if "$ref" in answer else answer
            content = body.get("content", {}).get("application/json", {})
            statuses[status] = schema(content["schema"]) if "schema" in content else None
        operations[f"{route.method} {shape(route.template)}"] = statuses
    schemas = source["components"]["schemas"]
    kept = closure([operations, {"$ref": "#/components/schemas/basic-error"}], schemas)
    return {"operations": operations, "schemas": {name: schema(kept[name]) for name in sorted(kept)}}


def webhooks(source: Json) -> Json:
    """`events`: "issues-opened" to schema."""
    events = {}
    for name, item in source["webhooks"].items():
        if any(name == event or re.fullmatch(rf"{event}-[a-z-]+", name) for event in EVENTS):
            content = item["post"]["requestBody"]["content"]["application/json"]
            events[name] = schema(content["schema"])
    kept = closure(events, source["components"]["schemas"])
    return {"events": events, "schemas": {name: schema(kept[name]) for name in sorted(kept)}}


def write(path: Path, body: Json) -> None:
    data = json.dumps(body, separators=(",", ":"), sort_keys=True).encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0))


def main() -> None:
    openapi, hooks = (json.loads((Path(p) / "generated/api.github.com.json").read_text()) for p in sys.argv[1:3])
    write(API, api(openapi))
    write(WEBHOOKS, webhooks(hooks))


if __name__ == "__main__":
    main()
