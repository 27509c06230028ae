"""Checks every REST answer and every webhook of a local GitHub against GitHub's own OpenAPI.

    watch = Validation()
    watch.attach(local)
    ...
    watch.settle()      # AssertionError with all that did not fit

Any test that runs a whole local GitHub can attach one.
"""

import copy
import functools
import gzip
import json
import re
from typing import Any

import jsonschema_rs

from github.emulator import LocalGitHub
from tests.github.emulator.openapi.slice import API, WEBHOOKS, shape

Json = dict[str, Any]
# what API version 2026-03-10 left out: no longer required there, and no longer to be sent
_GONE = ("merge_commit_sha", "has_downloads", "rate")
# Gaps of the description itself: an account would have to be a user and an enterprise at once, and the list of
# events that an App inside an issue may have is older than workflow_job. A deleted fork is null. The 409 of a file's
# blob fits two of the kinds of error of which it should be one.
_WRONG = re.compile(
    r"GET /app/installations 200 at \d+/account$|.* at issue/performed_via_github_app/events/\d+$"
    r"|.* 200 at (?:\d+/)?head/repo$|PUT /repos/{}/{}/contents/{} 409 at $"
)
_ERROR = {"$ref": "#/components/schemas/basic-error"}


@functools.cache
def _slice(name: str) -> Json:
    path = {"api": API, "webhooks": WEBHOOKS}[name]
    loaded: Json = json.loads(gzip.decompress(path.read_bytes()))
    return loaded


def _without(schema: Any, names: tuple[str, ...]) -> Any:
    """The schema with these names required no more."""
    if isinstance(schema, list):
        return [_without(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _without(value, names) for key, value in schema.items()}
    if isinstance(out.get("required"), list):
        out["required"] = [name for name in out["required"] if name not in (*names, "assignee")]
    return out


@functools.cache
def _schemas(name: str, version: str) -> Json:
    schemas: Json = _slice(name)["schemas"]
    return schemas if version == "2022-11-28" else _without(copy.deepcopy(schemas), _GONE)


@functools.cache
def _validator(name: str, key: str, status: str, version: str) -> jsonschema_rs.Validator | None:
    """The validator of an answer or event; None where no body is due. Raises KeyError when GitHub has no such thing."""
    known = _slice(name)["events" if name == "webhooks" else "operations"]
    schema = known[key] if name == "webhooks" else known[key].get(status, _ERROR if status >= "4" else KeyError)
    if schema is KeyError:
        raise KeyError(f"{key} has no answer {status}")
    if schema is None:
        return None
    whole = {"components": {"schemas": _schemas(name, version)}, **schema}
    return jsonschema_rs.validator_for(whole, mask="value")


class Validation:
    """Gathers what did not fit; `answers` and `events` say what was seen at all."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.answers: set[str] = set()
        self.events: set[str] = set()

    def attach(self, local: LocalGitHub) -> None:
        """Watch from now on."""
        local.observe(self.answer, self.hook)

    def answer(self, template: str, method: str, status: int, body: Any, version: str) -> None:
        """One REST answer. Routes that GitHub's OpenAPI does not describe (GraphQL) and other media than JSON pass."""
        key = f"{method} {shape(template)}"
        if key not in _slice("api")["operations"] or status in (301, 302, 304, 307) or (status == 200 and body is None):
            return
        self.answers.add(f"{key} {status}")
        self._check("api", key, str(status), version, body)

    def hook(self, event: str, action: str | None, payload: Json) -> None:
        """One webhook."""
        key = "-".join(part.replace("_", "-") for part in (event, action) if part)
        self.events.add(key)
        self._check("webhooks", key, "", "2022-11-28", payload)

    def _check(self, name: str, key: str, status: str, version: str, body: Any) -> None:
        try:
            validator = _validator(name, key, status, version)
        except KeyError as error:
            self.problems.append(f"{key} {status}: GitHub has none ({error})")
            return
        if validator is None:
            return
        for flaw in list(validator.iter_errors(body))[:5]:
            place = "/".join(map(str, flaw.instance_path))
            where = f"{key} {status} at {place}"
            if not _WRONG.match(where):
                self.problems.append(f"{where}: {flaw.message[:300]}")

    def settle(self) -> None:
        """Raise AssertionError if anything did not fit."""
        assert not self.problems, "\n".join(sorted(set(self.problems)))
