"""Secrets at rest."""

from pathlib import Path

import pytest

from loops.secrets.vault import Vault, VaultError, keys_of, make_key_file, new_key


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


def test_keys_are_read_newest_first_and_comments_are_passed_over() -> None:
    assert keys_of("# since March\nnew\n\nold  # until March\n") == ["new", "old"]
    assert keys_of(" a , b\nc#d") == ["a", "b", "c"]


def test_a_missing_or_broken_key_is_named_without_being_shown() -> None:
    with pytest.raises(VaultError, match="GREENLOOP_ENCRYPTION_KEYS_FILE"):
        Vault([])
    with pytest.raises(VaultError, match="number 2 of 2") as caught:
        Vault([new_key(), "not-a-key-but-secret"])
    assert "not-a-key" not in str(caught.value)


def test_one_machine_makes_its_key_once_and_keeps_it_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "vault.key"
    make_key_file(path)
    key = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    make_key_file(path)
    assert path.read_text() == key
    assert key.strip() not in repr(Vault(keys_of(key)))
    with pytest.raises(VaultError, match="cannot be made"):
        make_key_file(tmp_path / "missing" / "vault.key")
