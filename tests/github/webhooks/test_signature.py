import pytest

from github.webhooks.signature import sign, verify

SECRET = b"It's a Secret to Everybody"
BODY = b"Hello, World!"
SIGNED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_github_documented_example_is_reproduced() -> None:
    assert sign(SECRET, BODY) == SIGNED
    assert verify([SECRET], BODY, SIGNED)


def test_during_a_rotation_either_secret_is_good() -> None:
    assert verify([b"new", SECRET], BODY, SIGNED)
    assert verify([SECRET, b"old"], BODY, SIGNED)
    assert not verify([b"new", b"old"], BODY, SIGNED)


@pytest.mark.parametrize(
    "header",
    [None, "", "sha256=", SIGNED[:-1], SIGNED[7:], SIGNED.upper(), "sha1=" + SIGNED[7:], "sha256=é", "\udcff", b"\xff"],
)
def test_a_header_that_is_no_signature_is_refused_and_not_a_crash(header: str | bytes | None) -> None:
    assert not verify([SECRET], BODY, header)


def test_one_changed_byte_breaks_the_signature() -> None:
    assert not verify([SECRET], BODY + b" ", SIGNED)


@pytest.mark.parametrize("secrets", [[], [b""], [SECRET, b""]])
def test_without_a_secret_nothing_is_accepted(secrets: list[bytes]) -> None:
    with pytest.raises(ValueError, match="secret"):
        verify(secrets, BODY, SIGNED)
    with pytest.raises(ValueError, match="secret"):
        sign(b"", BODY)
