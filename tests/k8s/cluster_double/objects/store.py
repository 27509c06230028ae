"""Objects, versions and the history of changes that watches read. In memory; for one event loop."""

import asyncio
import copy
import secrets
import uuid
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.k8s.cluster_double.objects.errors import Refused, already_exists, expired, modified, not_found
from tests.k8s.cluster_double.objects.resources import Resource

Object = dict[str, Any]
Key = tuple[Resource, str, str]

# A fresh etcd is never at version 1 either; starting higher keeps "watch from 1" expired, as on every real cluster.
FIRST_VERSION = 1000
HISTORY = 2000
PRECONDITIONS = {
    "uid": ("UID", "The object might have been deleted and then recreated"),
    "resourceVersion": ("ResourceVersion", "The object might have been modified"),
}


@dataclass(frozen=True)
class Change:
    """One change: `before` is None for a creation, `after` for a deletion (then `item` is the last state)."""

    version: int
    resource: Resource
    before: Object | None
    after: Object | None

    @property
    def item(self) -> Object:
        found = self.after or self.before
        assert found is not None
        return found


def now(later: float = 0) -> str:
    """The time `later` seconds from now, as the API writes times."""
    return (datetime.now(UTC) + timedelta(seconds=later)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """Every object by resource type, namespace and name. What goes in and out is a copy."""

    def __init__(self, history: int = HISTORY) -> None:
        self.version = FIRST_VERSION
        self._objects: dict[Key, Object] = {}
        self._history: deque[Change] = deque(maxlen=history)
        self._oldest = FIRST_VERSION
        self._changed = asyncio.Event()
        self._followers: set[asyncio.Queue[Change]] = set()

    def get(self, resource: Resource, namespace: str, name: str) -> Object:
        found = self.find(resource, namespace, name)
        if found is None:
            raise not_found(resource, name)
        return found

    def find(self, resource: Resource, namespace: str, name: str) -> Object | None:
        return copy.deepcopy(self._objects.get((resource, namespace, name)))

    def list(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        """All objects of a type, in one namespace or (None) in all, ordered by namespace and name."""
        found = [
            item
            for (kind, space, _), item in sorted(self._objects.items(), key=lambda pair: pair[0][1:])
            if kind == resource and namespace in (None, space)
        ]
        return copy.deepcopy(found)

    def create(self, resource: Resource, item: Object) -> Object:
        item = copy.deepcopy(item)
        metadata = item.setdefault("metadata", {})
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
        key = (resource, metadata.get("namespace", ""), metadata["name"])
        if key in self._objects:
            raise already_exists(resource, metadata["name"])
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": now(), "generation": 1}
        for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"):
            metadata.pop(field, None)
        return self._write(key, None, item)

    def update(self, resource: Resource, item: Object) -> Object:
        """Replace an object. With a resourceVersion in it, only that version (409 otherwise)."""
        metadata = item["metadata"]
        key = (resource, metadata.get("namespace", ""), metadata["name"])
        before = self._objects.get(key)
        if before is None:
            raise not_found(resource, metadata["name"])
        wanted = metadata.get("resourceVersion")
        if wanted not in (None, "", before["metadata"]["resourceVersion"]):
            raise modified(resource, metadata["name"])
        after = copy.deepcopy(item)
        kept = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
        for field in kept:
            after["metadata"].pop(field, None)
            if field in before["metadata"]:
                after["metadata"][field] = before["metadata"][field]
        if after.get("spec") != before.get("spec"):
            after["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
        after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
        if after == before:
            return copy.deepcopy(before)
        ended = after["metadata"].get("deletionTimestamp") and not after["metadata"].get("finalizers")
        if ended and resource.kind not in ("Pod", "Namespace"):
            return self._remove(key)
        return self._write(key, before, after)

    def change(self, resource: Resource, namespace: str, name: str, **fields: Any) -> Object | None:
        """Set top-level fields of an object, as a controller does; None if it is gone."""
        found = self.find(resource, namespace, name)
        return None if found is None else self.update(resource, found | fields)

    def mark_deleted(self, resource: Resource, item: Object, grace: int) -> Object:
        """Begin a graceful deletion, due `grace` seconds from now; a second call can only shorten the grace."""
        key = (resource, item["metadata"].get("namespace", ""), item["metadata"]["name"])
        before = self._objects[key]
        after = copy.deepcopy(before)
        old = after["metadata"].get("deletionGracePeriodSeconds")
        if old is not None and old <= grace:
            return copy.deepcopy(before)
        after["metadata"]["deletionGracePeriodSeconds"] = grace
        after["metadata"]["deletionTimestamp"] = now(grace)
        return self._write(key, before, after)

    def remove(self, resource: Resource, namespace: str, name: str) -> Object:
        key = (resource, namespace, name)
        if key not in self._objects:
            raise not_found(resource, name)
        return self._remove(key)

    def check(self, resource: Resource, item: Object, preconditions: Object) -> None:
        """Raise 409 unless the object is the very one that the preconditions name."""
        metadata = item["metadata"]
        for field in ("uid", "resourceVersion"):
            wanted = preconditions.get(field)
            if wanted is not None and wanted != metadata[field]:
                what, end = PRECONDITIONS[field]
                why = (
                    f"the {what} in the precondition ({wanted}) does not match the {what} in record ({metadata[field]})"
                )
                message = f'Operation cannot be fulfilled on {resource.kind} "{metadata["name"]}": {why}. {end}'
                raise Refused(409, "Conflict", message, {"name": metadata["name"], "kind": resource.plural})

    def compact(self) -> None:
        """Forget the history, as etcd does every five minutes: watches from older versions are expired now."""
        self._history.clear()
        self._oldest = self.version

    def since(self, version: int) -> Sequence[Change]:
        """Changes after `version`. Raises 410 when they are no longer known, 504 for a version of the future."""
        if version < self._oldest:
            raise expired(f"too old resource version: {version} ({self._oldest})")
        if version > self.version:
            message = f"Too large resource version: {version}, current: {self.version}"
            raise Refused(504, "Timeout", message, {"causes": [{"reason": "ResourceVersionTooLarge"}]})
        return [change for change in self._history if change.version > version]

    def next_change(self) -> asyncio.Event:
        """An event that is set by the next change."""
        return self._changed

    async def changes(self, version: int) -> AsyncIterator[Change]:
        """Every change after `version`, without end; whatever is forgotten of the history meanwhile."""
        follower: asyncio.Queue[Change] = asyncio.Queue()
        for change in self.since(version):
            follower.put_nowait(change)
        self._followers.add(follower)
        try:
            while True:
                yield await follower.get()
        finally:
            self._followers.discard(follower)

    def _write(self, key: Key, before: Object | None, after: Object) -> Object:
        self.version += 1
        after["metadata"]["resourceVersion"] = str(self.version)
        self._objects[key] = after
        self._record(Change(self.version, key[0], before, after))
        return copy.deepcopy(after)

    def _remove(self, key: Key) -> Object:
        before = self._objects.pop(key)
        self.version += 1
        last = copy.deepcopy(before)
        last["metadata"]["resourceVersion"] = str(self.version)
        self._record(Change(self.version, key[0], last, None))
        return copy.deepcopy(last)

    def _record(self, change: Change) -> None:
        if len(self._history) == self._history.maxlen:
            self._oldest = self._history[0].version
        self._history.append(change)
        for follower in self._followers:
            follower.put_nowait(change)
        self._changed.set()
        self._changed = asyncio.Event()
