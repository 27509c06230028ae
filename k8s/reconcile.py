"""What no longer belongs in the cluster, and what is missing. Pure: objects and database facts in, a plan out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from k8s.boxes import Known
from k8s.identity import BOX
from k8s.podstate import is_over

Object = dict[str, Any]

# Younger objects may belong to a box that another worker is just making and has not written down yet.
MIN_AGE_SECONDS = 300.0
IDLE_SECONDS = 30 * 60.0
HOME_SECONDS = 14 * 86400.0


@dataclass(frozen=True)
class Deletion:
    """One object of the box `box` to delete, as that very object (`uid`); `why` is for the log."""

    box: str
    kind: str
    name: str
    uid: str
    why: str


@dataclass(frozen=True)
class Plan:
    """`missing`: busy boxes without a living pod, by name; what follows for their turns is the loop's to decide."""

    deletions: tuple[Deletion, ...]
    missing: tuple[str, ...]


def plan(
    items: Iterable[Object],
    known: Mapping[str, Known],
    *,
    now: float,
    idle_seconds: float = IDLE_SECONDS,
    home_seconds: float = HOME_SECONDS,
    min_age_seconds: float = MIN_AGE_SECONDS,
) -> Plan:
    """The plan for all our pods, volume claims and secrets. Never touches a box that is busy.

    An idle box loses its pod and secret after `idle_seconds` and its home after `home_seconds`, both since its last
    use; a box that the database does not know loses everything once it is `min_age_seconds` old.
    """
    objects = list(items)
    living = {_box(item) for item in objects if item["kind"] == "Pod" and not is_over(item)}
    deletions = []
    for item in objects:
        if item["metadata"].get("deletionTimestamp"):
            continue
        why = _why(item, known.get(_box(item)), now, idle_seconds, home_seconds, min_age_seconds)
        if why:
            metadata = item["metadata"]
            deletions.append(Deletion(_box(item), item["kind"], metadata["name"], metadata["uid"], why))
    missing = sorted(name for name, box in known.items() if box.busy and name not in living)
    return Plan(tuple(deletions), tuple(missing))


def still_due(deletion: Deletion, item: Object) -> bool:
    """Whether a fresh look still shows the object the plan meant."""
    metadata = item["metadata"]
    return metadata["uid"] == deletion.uid and not metadata.get("deletionTimestamp")


def _why(
    item: Object, box: Known | None, now: float, idle_seconds: float, home_seconds: float, min_age_seconds: float
) -> str:
    if box is None:
        return "no such box in the database" if now - _created_at(item) >= min_age_seconds else ""
    if box.busy:
        return ""
    idle = now - box.used_at
    if item["kind"] == "PersistentVolumeClaim":
        return "home not used for too long" if not box.spare and idle >= home_seconds else ""
    if item["kind"] == "Pod" and is_over(item):
        return "ended"
    return "idle" if not box.spare and idle >= idle_seconds else ""


def _box(item: Object) -> str:
    return str((item["metadata"].get("labels") or {}).get(BOX, ""))


def _created_at(item: Object) -> float:
    return datetime.fromisoformat(item["metadata"]["creationTimestamp"]).timestamp()
