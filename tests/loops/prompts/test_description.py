"""What an agent says of its work in its small file: believed as far as it has the shape that it was asked for."""

import json

import pytest

from loops.prompts.description import MOST_BYTES, BadDescription, read, schema

GOOD = {"subject": "Round half up", "what": "Floats were off."}


def test_a_description_of_the_asked_shape_is_read() -> None:
    told = read(json.dumps({**GOOD, "left": "VAT", "more": ["what nobody asked for"]}).encode())
    assert (told.subject, told.what, told.checked, told.left) == ("Round half up", "Floats were off.", "", "VAT")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"subject": "x"}',
        json.dumps({**GOOD, "subject": 7}).encode(),
        json.dumps({**GOOD, "subject": " "}).encode(),
        json.dumps({**GOOD, "subject": "x" * 201}).encode(),
        json.dumps({**GOOD, "what": "x" * 6_001}).encode(),
        json.dumps({**GOOD, "checked": ["pytest"]}).encode(),
        json.dumps(GOOD).encode() + b" " * MOST_BYTES,
    ],
)
def test_anything_else_is_refused_without_repeating_it(content: bytes) -> None:
    with pytest.raises(BadDescription) as refused:
        read(content)
    assert len(str(refused.value)) < 100 and "xxx" not in str(refused.value)


def test_the_schema_names_every_field_with_its_meaning() -> None:
    found = json.loads(schema())
    assert set(found["properties"]) == {"subject", "what", "checked", "left"}
    assert found["required"] == ["subject", "what"]
    assert all(each["description"] and each["maxLength"] for each in found["properties"].values())
