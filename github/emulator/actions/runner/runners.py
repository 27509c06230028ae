"""Which runner a job asks for with `runs-on:`, and whether the local GitHub has it."""

from typing import Any

from github.workflows.expressions import BadExpression, as_text

# GitHub's own Linux machines (x64), each with this one label; those of arm have labels of their own
SERVED = ("ubuntu-latest", "ubuntu-26.04", "ubuntu-24.04", "ubuntu-22.04", "ubuntu-slim")


def labels_of(runs_on: Any) -> list[str]:
    """The labels of an evaluated `runs-on:`: one, a list, or those beside a `group:`. Raises `BadExpression`."""
    asked = runs_on.get("labels", []) if isinstance(runs_on, dict) else runs_on
    labels = [as_text(each) for each in (asked if isinstance(asked, list) else [asked])]
    if not all(labels) or not (labels or _group(runs_on)):
        raise BadExpression("runs-on: Unexpected value ''")
    return labels


def refusal(runs_on: Any) -> str:
    """Why no runner here takes a job with that evaluated `runs-on:`; empty where one does."""
    here = f"it runs jobs on this machine, as {', '.join(SERVED)}"
    if group := _group(runs_on):
        return f"The local GitHub has no runner group {group}: {here}"
    labels = labels_of(runs_on)
    if len({label.lower() for label in labels}) == 1 and labels[0].lower() in SERVED:
        return ""
    return f"The local GitHub has no runner labelled {', '.join(labels)}: {here}"


def _group(runs_on: Any) -> str:
    return as_text(runs_on.get("group", "")) if isinstance(runs_on, dict) else ""
