"""Jobs, and what makes them by the clock."""

import re
import zoneinfo
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    not_negative,
    one_of,
    required,
    unknown,
)
from tests.k8s.cluster_double.validation.workloads.workloads import pod_template

Object = dict[str, Any]

NUMBERS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
INDEXED_MOST = 100000
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
RESTARTS = ("OnFailure", "Never")
DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
# The fields of a schedule: least and most.
FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
NAMES = {
    3: ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    4: ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
}


def job(spec: Object, path: str = "spec") -> Iterator[str]:
    for field in NUMBERS:
        yield from not_negative(f"{path}.{field}", spec.get(field))
    mode = spec.get("completionMode") or "NonIndexed"
    if mode not in ("NonIndexed", "Indexed"):
        yield unknown(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if spec.get("backoffLimitPerIndex") is not None and mode != "Indexed":
        yield bad(f"{path}.backoffLimitPerIndex", spec["backoffLimitPerIndex"], "requires indexed completion mode")
    if mode == "Indexed" and (spec.get("parallelism") or 0) > INDEXED_MOST:
        words = f"must be less than or equal to {INDEXED_MOST} when completion mode is Indexed"
        yield bad(f"{path}.parallelism", spec["parallelism"], words)
    for at, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or []):
        here = f"{path}.podFailurePolicy.rules[{at}]"
        yield from one_of(f"{here}.action", rule.get("action"), ACTIONS)
        if not rule.get("onExitCodes") and not rule.get("onPodConditions"):
            yield f"{here}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"
    replaced = ("Failed", "TerminatingOrFailed")
    yield from one_of(f"{path}.podReplacementPolicy", spec.get("podReplacementPolicy"), replaced)
    template = spec.get("template") or {}
    yield from pod_template(template, f"{path}.template")
    restarts = (template.get("spec") or {}).get("restartPolicy") or "Always"
    if restarts == "Always":
        yield required(f"{path}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    elif restarts not in RESTARTS:
        yield unknown(f"{path}.template.spec.restartPolicy", restarts, RESTARTS)
    elif restarts != "Never" and spec.get("podFailurePolicy"):
        words = 'only "Never" is supported when podFailurePolicy is specified'
        yield bad(f"{path}.template.spec.restartPolicy", restarts, words)


def labelled(spec: Object) -> Iterator[str]:
    """A selector of one's own, which only who says so may have."""
    if spec.get("manualSelector"):
        if spec.get("selector") is None:
            yield required("spec.selector")
            words = "`selector` does not match template `labels`"
            given = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
            yield bad("spec.template.metadata.labels", given, words)
    elif spec.get("selector") is not None:
        yield bad("spec.selector", spec["selector"], "`selector` not auto-generated")


def cron_job(spec: Object) -> Iterator[str]:
    schedule = spec.get("schedule") or ""
    if not schedule:
        yield required("spec.schedule")
    elif "TZ" in schedule:
        yield bad("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    elif why := _unreadable(schedule):
        yield bad("spec.schedule", schedule, why)
    if spec.get("timeZone") is not None:
        yield from _zone(spec["timeZone"])
    yield from one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from not_negative(f"spec.{field}", spec.get(field))
    inner = (spec.get("jobTemplate") or {}).get("spec") or {}
    if inner.get("manualSelector"):
        yield denied("spec.jobTemplate.spec.manualSelector", "may not be set")
    yield from job(inner, "spec.jobTemplate.spec")


def _zone(zone: str) -> Iterator[str]:
    if not zone:
        yield bad("spec.timeZone", zone, "timeZone must be nil or non-empty string")
        return
    if zone.lower() == "local":
        words = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield bad("spec.timeZone", zone, words)
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        yield bad("spec.timeZone", zone, f"unknown time zone {zone}")


def _unreadable(schedule: str) -> str:
    """Why a schedule cannot be read; empty for one that can."""
    if schedule.startswith("@"):
        if schedule in DESCRIPTORS or re.fullmatch(r"@every \d+(\.\d+)?(ms|s|m|h)(\d+(ms|s|m|h))*", schedule):
            return ""
        return f"unrecognized descriptor: {schedule}"
    fields = schedule.split()
    if len(fields) != len(FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for at, field in enumerate(fields):
        for part in field.split(","):
            if why := _unreadable_part(part, at):
                return why
    return ""


def _unreadable_part(part: str, at: int) -> str:
    least, most = FIELDS[at]
    span, slash, step = part.partition("/")
    if span in ("*", "?"):
        first, last = least, most
    else:
        ends = [_number(text, at) for text in span.split("-")]
        if None in ends:
            return f"failed to parse int from {span.split('-')[ends.index(None)]}: strconv.Atoi: parsing " + (
                f'"{span.split("-")[ends.index(None)]}": invalid syntax'
            )
        if len(ends) > 2:
            return f"too many hyphens: {part}"
        first, last = int(ends[0] or 0), int(ends[-1] or 0)
    if slash and not step.isdigit():
        return f'failed to parse int from {step}: strconv.Atoi: parsing "{step}": invalid syntax'
    if slash and int(step) == 0:
        return f"step of range should be a positive number: {part}"
    if first < least:
        return f"beginning of range ({first}) below minimum ({least}): {part}"
    if last > most:
        return f"end of range ({last}) above maximum ({most}): {part}"
    if first > last:
        return f"beginning of range ({first}) beyond end of range ({last}): {part}"
    return ""


def _number(text: str, at: int) -> int | None:
    if text.lower() in NAMES.get(at, ()):
        return NAMES[at].index(text.lower()) + FIELDS[at][0]
    return int(text) if text.isdigit() else None
