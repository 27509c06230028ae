"""Claude Code's check list: tasks that it makes and changes one by one, or a list that it writes whole. As observed
with 2.1; the whole list is that of former versions. Pure.
"""

import re
from typing import Final

from loops.runtimes.base import JSON
from loops.runtimes.plan import LONGEST, MOST, items_of, step

TOOLS: Final = ("TaskCreate", "TaskUpdate", "TodoWrite")
_MADE = re.compile(r"Task #(\w{1,20}) created")


def asked(name: str, given: JSON) -> JSON:
    """What has to be known of a call when its result comes; small."""
    if name == "TodoWrite":
        return {"items": items_of(given.get("todos"), "content")}
    return {field: str(given[field])[:LONGEST] for field in ("subject", "taskId", "status") if given.get(field)}


def changed(listed: list[JSON], name: str, call: JSON, output: str) -> list[JSON]:
    """The list after a call that went well. The items of tasks carry their `id` beside the rest."""
    if name == "TodoWrite":
        return [dict(each) for each in call.get("items") or []]
    if name == "TaskCreate":
        made = _MADE.search(output)
        new = {**step(call.get("subject", ""), "pending"), "id": made.group(1) if made else str(len(listed) + 1)}
        return [*listed, new][:MOST]
    kept = []
    for each in listed:
        if each.get("id") == call.get("taskId"):
            text, state = call.get("subject", each["text"]), call.get("status", each["state"])
            each = {**step(text, state), "id": each["id"]}
        kept.append(each)
    return kept
