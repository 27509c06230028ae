"""The env file of a repository's tests."""

import subprocess

import pytest

from loops.envfile import env_file

VALUES = {"A": "plain", "B_2": 'quote " back\\slash $HOME `id` two\nlines', "C": ""}


def test_one_name_a_line_in_quotes_for_the_owner_only() -> None:
    file = env_file("Code/o/r/main/", VALUES)
    assert (file.path, file.mode, file.secret, file.keep) == ("Code/o/r/main/.env", 0o600, True, False)
    lines = file.content.decode().splitlines()
    assert len(lines) == len(VALUES) and lines[0] == 'A="plain"'
    assert all(line.endswith('"') for line in lines)


def test_a_shell_reads_back_what_was_meant() -> None:
    single = {name: value for name, value in VALUES.items() if "\n" not in value} | {"D": "a $X `y` \\ \" '"}
    script = env_file("", single).content.decode() + "".join(f'printf "%s\\0" "${name}"\n' for name in single)
    out = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.split("\0")[:-1] == list(single.values())


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A\nB", "A="])
def test_a_name_that_is_none_is_refused_without_its_value(name: str) -> None:
    with pytest.raises(ValueError, match="no names of environment variables") as caught:
        env_file("x", {name: "planted"})
    assert "planted" not in str(caught.value)
