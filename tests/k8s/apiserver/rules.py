"""What Kubernetes refuses, in its words, and what it takes: `table` has a row for each rule.

A row is a change of a valid object (`bodies`): values by their paths, `!gone` for a field that is left out. It is sent as
a creation or, with `update`, as a change of the object that is there. The answer is the words behind `… is invalid: `
(`invalid`) or `… is forbidden: ` (`forbidden`), the whole message of a body that cannot be read (`unreadable`), or `taken`.
Words that end in "…" are the beginning; `{name}` is that of what is there, `{namespace}` its; `<name>` stands for one of the sentences below, and `<x*64>` for so many of a
letter.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.k8s.apiserver.bodies import GONE

Object = dict[str, Any]

TABLE = Path(__file__).with_name("table")
ENDS = "must start and end with an alphanumeric character"
SENTENCES = {
    "label": "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    f"{ENDS} (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    "subdomain": "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    f"{ENDS} (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    "key": f"name part must consist of alphanumeric characters, '-', '_' or '.', and {ENDS} (e.g. 'MyName',  or 'my.name',  "
    "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    "value": "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
    f"{ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    "range": "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
    "port": "must be between 1 and 65535, inclusive",
    "quantity": "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
}
CODES = {"invalid": 422, "forbidden": 403, "unreadable": 400}


@dataclass(frozen=True)
class Rule:
    """A row. `code` is None for what is taken."""

    kind: str
    changes: Object
    update: bool
    code: int | None
    words: str


class _Loader(yaml.CSafeLoader):
    pass


_Loader.add_constructor("!gone", lambda *_: GONE)


def rules() -> dict[str, list[Rule]]:
    """The rows of each kind."""
    found: dict[str, list[Rule]] = {}
    files = sorted(TABLE.glob("*.yaml"))
    if not files:
        raise FileNotFoundError(f"no row in {TABLE}: nothing would be held against anything")
    for file in files:
        for kind, rows in yaml.load(file.read_text(), _Loader).items():  # noqa: S506  a safe one with one tag more
            found.setdefault(kind, []).extend(_rule(kind, row) for row in rows)
    return found


def _rule(kind: str, row: Object) -> Rule:
    [(answer, words)] = [(key, value) for key, value in row.items() if key not in ("change", "update")]
    said = "" if answer == "taken" else _whole(words)
    return Rule(kind, _whole(row["change"]), bool(row.get("update")), CODES.get(answer), said)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if not isinstance(value, str):
        return value
    whole = re.sub(r"<(\w)\*(\d+)>", lambda found: found[1] * int(found[2]), value)
    return re.sub(r"<(\w+)>", lambda found: SENTENCES.get(found[1], found[0]), whole)
