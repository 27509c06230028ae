"""Holds answers against the description that the service gives of its own API."""

import re
from typing import Any

import httpx
import jsonschema_rs


class Described:
    """The OpenAPI document, as a client reads it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    async def check(self, response: httpx.Response) -> None:
        """Fails where the description does not have this answer, its media type, or its shape."""
        path, operation = self._operation(response.request)
        if operation is None:
            return
        await response.aread()
        status, media = str(response.status_code), response.headers["content-type"].partition(";")[0]
        assert status in operation["responses"], f"{path}: {status} is not described"
        content = operation["responses"][status]["content"]
        assert media in content, f"{path}: {media} is not described for {status}"
        if media.endswith("json"):
            self.validate(content[media]["schema"], response.json())

    def validate(self, schema: dict[str, Any], value: Any) -> None:
        whole = {**schema, "components": self._document["components"]}
        found = [each.message for each in jsonschema_rs.Draft202012Validator(whole).iter_errors(value)]
        assert not found, found

    def _operation(self, request: httpx.Request) -> tuple[str, dict[str, Any] | None]:
        for path, operations in self._document["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.path):
                return path, operations.get(request.method.lower())
        return request.url.path, None
