"""Secrets at rest."""

from pathlib import Path

import pytest

from loops.vault import FILE_VARIABLE, VARIABLE, Vault, VaultError, keys_of, new_key


def test_what_is_encrypted_is_read_back_and_never_stands_in_the_token() -> None:
    vault = Vault([new_key()])
    token = vault.encrypt("sk-planted ünïcode\n")
    assert vault.decrypt(token) == "sk-planted ünïcode\n"
    assert b"planted" not in token
    assert vault.encrypt("x") != vault.encrypt("x")


def test_rotating_moves_a_secret_to_the_newest_key_and_twice_is_once() -> None:
    old, new = new_key(), new_key()
    token = Vault([old]).encrypt("secret")
    both = Vault([new, old])
    assert both.decrypt(token) == "secret"
    rotated = both.rotate(token)
    assert Vault([new]).decrypt(rotated) == "secret"
    assert both.rotate(rotated) == rotated


def test_a_token_of_another_key_or_a_changed_one_is_refused_with_the_way_out() -> None:
    vault = Vault([new_key()])
    token = bytearray(vault.encrypt("secret"))
    token[30] ^= 1
    for broken in (bytes(token), Vault([new_key()]).encrypt("secret"), b"", b"no token"):
        with pytest.raises(VaultError, match="bring back the key"):
            vault.decrypt(broken)


def test_keys_come_from_a_file_or_the_environment_newest_first(tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    path = tmp_path / "keys"
    path.write_text(f"# since March\n{new}\n\n{old}  # until March\n")
    from_file = Vault.load({FILE_VARIABLE: str(path), VARIABLE: new_key()})
    assert from_file.decrypt(Vault([old]).encrypt("a")) == "a"
    assert Vault([new]).decrypt(from_file.encrypt("b")) == "b"
    assert Vault.load({VARIABLE: f"{new},{old}"}).decrypt(Vault([old]).encrypt("c")) == "c"
    assert keys_of(" a , b\nc#d") == ["a", "b", "c"]


def test_a_missing_or_broken_key_is_named_without_being_shown(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match=f"{VARIABLE} or {FILE_VARIABLE}"):
        Vault.load({})
    with pytest.raises(VaultError, match="cannot be read: No such file"):
        Vault.load({FILE_VARIABLE: str(tmp_path / "none")})
    with pytest.raises(VaultError, match="number 2 of 2") as caught:
        Vault([new_key(), "not-a-key-but-secret"])
    assert "not-a-key" not in str(caught.value)


def test_one_machine_makes_its_key_once_and_keeps_it_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "vault.key"
    token = Vault.at(path).encrypt("x")
    assert path.stat().st_mode & 0o777 == 0o600
    assert Vault.at(path).decrypt(token) == "x"
    assert path.read_text().strip() not in repr(Vault.at(path))
    with pytest.raises(VaultError, match="cannot be made"):
        Vault.at(tmp_path / "missing" / "vault.key")
