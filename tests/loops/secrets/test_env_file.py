"""The env file of a repository's tests."""

import io
import subprocess

import pytest
from dotenv import dotenv_values

from loops.secrets.env_file import env_file

VALUES = {
    "PLAIN": "plain",
    "EMPTY": "",
    "WORDS": "two words # and = more",
    "EXPANDS": "a $HOME `id` $(id) !!",
    "QUOTED": 'she said "hi"',
    "APOSTROPHE": "it's",
    "PATH_LIKE": "C:\\new\\temp",
    "LITERAL": "no\\nline end",
    "KEY": "-----BEGIN X KEY-----\nabc+/=\n-----END X KEY-----\n",
    "UNICODE": "pässwörd ☃",
    "TAB": "a\tb",
}
# The library that is tested here expands ${…} in any quotes.
SHELL_ONLY = {"BRACES": "${HOME}", "BOTH": "it's $5, \\ and \"", "DOUBLED": "a\\\\b $x", "AT_END": "$x ends with \\"}


def test_one_name_a_line_in_quotes_for_the_owner_only() -> None:
    file = env_file("Code/o/r/main/", {"A": "plain", "B_2": "", "C": "a b"})
    assert (file.path, file.mode, file.secret) == ("Code/o/r/main/.env", 0o600, True)
    assert file.content.decode() == 'A="plain"\nB_2=""\nC="a b"\n'


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_reads_back_what_was_meant(shell: str) -> None:
    values = VALUES | SHELL_ONLY
    script = env_file("", values).content.decode() + "".join(f'printf "%s\\0" "${name}"\n' for name in values)
    out = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True).stdout
    assert dict(zip(values, out.split("\0"), strict=False)) == values


def test_a_dotenv_library_reads_back_the_same() -> None:
    content = env_file("", VALUES).content.decode()
    assert dotenv_values(stream=io.StringIO(content)) == VALUES


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A\nB", "A="])
def test_a_name_that_is_none_is_refused_without_its_value(name: str) -> None:
    with pytest.raises(ValueError, match="no names of environment variables") as caught:
        env_file("x", {name: "planted"})
    assert "planted" not in str(caught.value)
