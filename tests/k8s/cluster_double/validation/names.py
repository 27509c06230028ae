"""Names, label keys, label values and ports as Kubernetes wants them. Each says what is wrong, or nothing."""

import re
from collections.abc import Iterator

LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
ENDS = "must start and end with an alphanumeric character"
LABEL_WORDS = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {ENDS}"
SUBDOMAIN_WORDS = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {ENDS}"
)
KEY_WORDS = f"must consist of alphanumeric characters, '-', '_' or '.', and {ENDS}"
VALUE_WORDS = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {ENDS}"
)


def form(words: str, pattern: str, *examples: str) -> str:
    told = " or ".join(f"'{example}', " for example in examples)
    return f"{words} ({'e.g. ' if told else ''}{told}regex used for validation is '{pattern}')"


def dns_label(value: str) -> Iterator[str]:
    if len(value) > 63:
        yield "must be no more than 63 characters"
    if re.fullmatch(LABEL, value):
        return
    if re.fullmatch(SUBDOMAIN, value):
        yield "must not contain dots"
    else:
        yield form(LABEL_WORDS, LABEL, "my-name", "123-abc")


def dns_subdomain(value: str) -> Iterator[str]:
    if len(value) > 253:
        yield "must be no more than 253 characters"
    if not re.fullmatch(SUBDOMAIN, value):
        yield form(SUBDOMAIN_WORDS, SUBDOMAIN, "example.com")


def dns_subdomain_or_underscores(value: str) -> Iterator[str]:
    """Search paths of DNS may have underscores."""
    part = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
    if not re.fullmatch(rf"{part}(\.{part})*", value):
        yield form(SUBDOMAIN_WORDS.replace("'-' or", "'_', '-' or"), rf"{part}(\.{part})*", "example.com")


def wildcard_subdomain(value: str) -> Iterator[str]:
    if not re.fullmatch(rf"\*\.{SUBDOMAIN}", value):
        words = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist "
        )
        words += "of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
        yield form(words, rf"\*\.{SUBDOMAIN}", "*.example.com")


def http_header(value: str) -> Iterator[str]:
    if not re.fullmatch("[-A-Za-z0-9]+", value):
        yield form(
            "a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name"
        )


def local_path(value: str) -> Iterator[str]:
    """A path below the folder that something is put into."""
    if value.startswith("/"):
        yield "must be a relative path"
    if ".." in value.split("/"):
        yield "must not contain '..'"


def local_file(value: str) -> Iterator[str]:
    """The same, for a file whose folder has files of its own whose names begin with two dots."""
    yield from local_path(value)
    if value.startswith("..") and not value.startswith("../"):
        yield "must not start with '..'"


def path_segment(value: str) -> Iterator[str]:
    """Names of roles and bindings are anything that fits into a URL."""
    if value in (".", ".."):
        yield f"may not be '{value}'"
    for sign in "/%":
        if sign in value:
            yield f"may not contain '{sign}'"


def label_key(value: str) -> Iterator[str]:
    *prefixes, name = value.split("/")
    if len(prefixes) > 1:
        words = form(KEY_WORDS, KEY, "MyName", "my.name", "123-abc")
        yield f"a valid label key {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    for prefix in prefixes:
        if prefix:
            # here it is counted as bytes
            yield from (f"prefix part {words}".replace("53 characters", "53 bytes") for words in dns_subdomain(prefix))
        else:
            yield "prefix part must be non-empty"
    if not name:
        yield "name part must be non-empty"
    elif len(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not re.fullmatch(KEY, name):
        yield "name part " + form(KEY_WORDS, KEY, "MyName", "my.name", "123-abc")


def label_value(value: str) -> Iterator[str]:
    if len(value) > 63:
        yield "must be no more than 63 bytes"
    if not re.fullmatch(f"({KEY})?", value):
        yield form(VALUE_WORDS, f"({KEY})?", "MyValue", "my_value", "12345")


def variable(value: str) -> Iterator[str]:
    if not re.fullmatch(r"[ -<>-~]+", value):
        words = "a valid environment variable name must consist only of printable ASCII characters other than '='"
        yield words


def config_key(value: str) -> Iterator[str]:
    if len(value) > 253:
        yield "must be no more than 253 characters"
    if not re.fullmatch(r"[-._a-zA-Z0-9]+", value):
        words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        yield form(words, "[-._a-zA-Z0-9]+", "key.name", "KEY_NAME", "key-name")
    elif value == ".":
        yield "must not be '.'"
    elif value.startswith(".."):
        yield "must not be '..'" if value == ".." else "must not start with '..'"


def port_number(value: int) -> Iterator[str]:
    if not 1 <= value <= 65535:
        yield "must be between 1 and 65535, inclusive"


def port(value: int | str) -> Iterator[str]:
    """By number or by name."""
    yield from port_name(value) if isinstance(value, str) else port_number(value)


def id_number(value: int) -> Iterator[str]:
    """Of a user or a group."""
    if not 0 <= value < 2**31:
        yield "must be between 0 and 2147483647, inclusive"


def port_name(value: str) -> Iterator[str]:
    if len(value) > 15:
        yield "must be no more than 15 characters"
    if not re.fullmatch(r"[-a-z0-9]+", value):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search(r"[a-z]", value):
        yield "must contain at least one letter (a-z)"
    if "--" in value:
        yield "must not contain consecutive hyphens"
    if value and "-" in (value[0], value[-1]):
        yield "must not begin or end with a hyphen"
