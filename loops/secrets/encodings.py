"""How one known secret may be written: the values to look for in it, and each value's spellings."""

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from loops.secrets.ordinary import PUBLIC_FIELDS, is_ordinary

SHORTEST = 6
"""Shorter known values are not looked for: they would black out ordinary text."""
_SHORTEST_PART = 16
"""Of a document, or of a text of several lines, only parts of this length are looked for by themselves."""

# What a shell escapes: within double quotes, and outside of quotes (`printf %q`, with and without the comma).
_SPECIAL = tuple(
    map(re.compile, (r'[\\"$`]', r"""[ \t!"#$&'()*;<>?\[\\\]^`{|}~]""", r"""[ \t!"#$&'()*,;<>?\[\\\]^`{|}~]"""))
)
_LOGIN = re.compile(r"://[^\s:/@]{0,200}:([^\s/@]{1,500})@")
_FIELD = re.compile(r"\s{0,40}[\"']?([A-Za-z_][\w.-]{0,80})[\"']?\s{0,8}[:=]\s{0,8}[\"']?(.*?)[\"']?,?\s*\Z")


def parts_of(secret: str) -> set[str]:
    """The values to look for in one secret: itself and, of a document (a credentials file), the values in it.

    The password in an address is one of its own. What stands in ordinary text as well (`localhost`, an address of a
    provider) is none. No value has space around it: a file's last line end, read backwards, would make the end of every
    line the beginning of a secret.
    """
    parts = set() if is_ordinary(secret) else {secret}
    parts |= {found[1] for found in _LOGIN.finditer(secret) if not is_ordinary(found[1])}
    try:
        document = json.loads(secret)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict | list):
        inside = [text for text in _strings(document) if len(text) >= _SHORTEST_PART]
        parts.update(inside)
    else:
        inside = [secret]
    for text in inside:
        parts |= _lines(text)
    return {bare for part in parts if len(bare := part.strip()) >= SHORTEST}


def _strings(document: object) -> Iterable[str]:
    pending: list[tuple[str, object]] = [("", document)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            pending += [(str(key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pending += [(name, item) for item in value]
        elif isinstance(value, str) and name not in PUBLIC_FIELDS and not is_ordinary(value):
            yield value


def _lines(text: str) -> set[str]:
    """The lines of a text of several lines, and the values in them (an ini file, a cluster's configuration)."""
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) < 2:
        return set()
    found: set[str] = set()
    for line in lines:
        field = _FIELD.match(line)
        if field is None:
            found.add(line)
        elif field[1] not in PUBLIC_FIELDS and not is_ordinary(field[2]):
            found |= {line, field[2]}
    return {each for each in found if len(each) >= _SHORTEST_PART and not is_ordinary(each)}


def spellings_of(value: str) -> set[str]:
    """`value` as it is and as programs write it: escaped for JSON, HTML, URLs and shells, and backwards."""
    once = json.dumps(value)[1:-1]
    literal = json.dumps(value, ensure_ascii=False)[1:-1]
    found = {value, value[::-1], once, literal, json.dumps(once)[1:-1], literal.replace("/", "\\/"), repr(value)[1:-1]}
    # as some languages write JSON, so that it may stand in HTML
    found |= {_escaped(text, chars) for text in (once, literal) for chars in ("<>&", "<>&'")}
    found |= {html.escape(value), html.escape(value).replace("&#x27;", "&#39;"), html.escape(value, quote=False)}
    found |= {value.replace("'", "'\"'\"'"), value.replace("'", "'\\''")}
    found |= {special.sub(r"\\\g<0>", value) for special in _SPECIAL}
    for quoted in (quote(value, safe=""), quote(value), quote_plus(value)):
        found |= {quoted, re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quoted)}
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def encodings_of(value: str) -> set[str]:
    """`value` in the alphabets that programs wrap into lines: base64, base32 and hex, of UTF-8 and of UTF-16."""
    found: set[str] = set()
    for data in (value.encode("utf-8", "surrogatepass"), value.encode("utf-16-le", "surrogatepass")):
        found |= _base64(data) | _base32(data) | {data.hex(), data.hex().upper()}
    return {spelling for spelling in found if len(spelling) >= SHORTEST}


def _escaped(text: str, chars: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if char in chars else char for char in text)


def _base64(data: bytes) -> set[str]:
    """Inside a longer encoded text (`user:secret`) the secret may begin at any of three places of a base64 group; the
    characters at both ends that also depend on the neighbours are left out.
    """
    found = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).rstrip(b"=")
        core = encoded[(0, 2, 3)[shift] : (len(data) + shift) * 8 // 6].decode()
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return found


def _base32(data: bytes) -> set[str]:
    """As with base64, with five places of a group."""
    found = set()
    for shift in range(5):
        encoded = base64.b32encode(b"\0" * shift + data).rstrip(b"=")
        core = encoded[-(-shift * 8 // 5) : (len(data) + shift) * 8 // 5].decode()
        found |= {core, core.lower()}
    return found
