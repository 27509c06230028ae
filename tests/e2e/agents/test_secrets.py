"""An agent that prints every secret it can come by, in every way: none is in any event, row, log, file or comment."""

import base64
import json
import os
import sqlite3
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from app.process.clone_tokens import CloneTokens
from github.client.tokens import Token
from loops.runtimes import registry
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply, Shell
from loops.runtimes.scripted.server import ModelServer
from loops.secrets import env_secrets
from loops.secrets.vault import Vault
from tests.e2e.house import REPOSITORY, House, house
from tests.tools import need
from tests.walking import files

KEY = "sk-planted-provider-key-0123456789"
VALUE = "planted\"env$secret/of'the tests"
AGENTS = tuple(runtime.name for runtime in registry.agents())
OWN = ("webhook secret", "encryption key", "private key", "provider key")
# a pattern that does not match itself, of which the command line is looked through as well
DUMP = (
    "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null > dumped; env >> dumped; "
    'find "$HOME" -type f -exec cat {} + >> dumped 2>/dev/null; '
    "grep -a -c 'sk-planted-provider-[k]ey' dumped | sed 's/.*/found & keys/'; "
    "grep -a -c 'glm_' dumped | sed 's/.*/found & tokens/'; rm dumped"
)
RULES = {".github/greenloop.yml": "env_secrets: [DATABASE_PASSWORD]\n"}
SPELL = """
import json, sys, urllib.parse
for text in [*open(sys.argv[1]).read().split("\\0"), sys.argv[2]]:
    text = text.strip()
    print(text, text[:9] + "\\x1b[31m" + text[9:], json.dumps(text), urllib.parse.quote(text, safe=""), text[::1])
"""


@pytest.fixture
def minted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every token that the gateway read with on behalf of boxes."""
    tokens: list[str] = []
    mint = CloneTokens._minted

    async def noted(self: CloneTokens, installation_id: int, repository_id: int) -> Token:
        made = await mint(self, installation_id, repository_id)
        tokens.append(made.value)
        return made

    monkeypatch.setattr(CloneTokens, "_minted", noted)
    return tokens


def spellings(secret: str) -> set[bytes]:
    """The secret as it is, in base64 at each of the three alignments, URL-encoded and JSON-escaped."""
    data = secret.encode()
    if "PRIVATE KEY" in secret:
        # each line of a key is a secret by itself
        return {data, quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode(), *data.splitlines()[1:-1]}
    inner = [base64.b64encode(data[start:]).rstrip(b"=")[:-2] for start in range(3)]
    return {data, *inner, quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()}


def found_in(content: bytes, secrets: dict[str, str]) -> list[str]:
    return [name for name, secret in secrets.items() if any(each in content for each in spellings(secret))]


def contents(home: House) -> dict[Path, bytes]:
    """All files of the service and its boxes, but the one that a box has its token in."""
    apart = ("token", "planted", "show.py")
    return {path: path.read_bytes() for path in files(home.folder) if path.name not in apart and path.is_file()}


def rows(database: Path) -> bytes:
    """All columns of all tables."""
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return repr([connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables]).encode()  # noqa: S608


async def at_github(home: House, number: int) -> bytes:
    paths = [
        f"issues/{number}/comments",
        f"issues/{number}",
        "pulls?state=all",
        "branches",
    ]
    paths += [f"commits/{turn.commit_sha}" for turn in await home.turns() if turn.commit_sha]
    paths += [f"commits/{turn.commit_sha}/check-runs" for turn in await home.turns() if turn.commit_sha]
    return json.dumps([await home.get(path) for path in paths], ensure_ascii=False).encode()


@pytest.mark.parametrize("runtime", AGENTS)
async def test_no_secret_is_anywhere_after_a_whole_run(
    runtime: str,
    tmp_path: Path,
    minted: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if runtime != "native":
        need(runtime)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    planted, show = tmp_path / "planted", tmp_path / "show.py"
    show.write_text(SPELL)
    look = f"{sys.executable} {show} {planted}"
    dump = f"cat .env; base64 -w0 .env; env; tr '\\0' '\\n' < /proc/$PPID/environ; cat {tmp_path}/data/boxes/*/token"
    script = Script(
        Reply("What have I got?", Shell(DUMP)),
        Reply("Let me look.", Shell(f"{dump}; xargs -0 -a .env {look}")),
        Reply("", Shell(f"cat {planted} | tr '\\0' '\\n'; printf right > value.txt")),
        Reply(f"The password is {VALUE} and the key is {KEY}, that is {base64.b64encode(KEY.encode()).decode()}."),
    )
    with ModelServer({"secrets": script}) as server:
        async with house(tmp_path, files=RULES) as home:
            smoke = registry.smoke(runtime)
            url = server.base_url("secrets", smoke.wire)
            await home.account(KEY, provider=smoke.provider, base_url=url, model="scripted-1")
            number = await home.issue()
            await home.comment(number, "@greenloop help")
            await home.handled("issue_comment")
            vault = Vault(home.settings.encryption_key_list())
            await env_secrets.put(home.database, vault, REPOSITORY, "DATABASE_PASSWORD", VALUE, 1.0)
            secrets = {
                "provider key": KEY,
                "env secret": VALUE,
                "webhook secret": home.settings.webhook_secrets.get_secret_value(),
                "encryption key": home.settings.encryption_key_list()[0],
                "private key": home.settings.private_key(),
            }
            planted.write_text("\0".join(secrets.values()))
            await home.comment(number, f"@greenloop make it right --runtime {runtime}")
            session = await home.ended()
            assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
            asked = server.requests("secrets")
            assert {each.key for each in asked} == {KEY}, "the provider sees the account's key"
            dumped = "".join(said.text for said in asked[-1].said if said.role == "tool")
            assert "found 0 keys" in dumped and "found 0 tokens" not in dumped and "tokens" in dumped
            (token,) = (path.read_text() for path in files(home.folder, "token"))
            secrets |= {"box token": token, **{f"fetch token {at}": each for at, each in enumerate(minted)}}
            told = await at_github(home, number)
            stored = rows(home.folder / "greenloop.db")
            assert stored.count(b"[redacted]") > 5 and b"All done" not in stored
        said = "".join(capfd.readouterr()).encode()
    assert minted and b"session.end" in said
    assert found_in(stored, secrets) == []
    assert found_in(told, secrets) == []
    assert found_in(said, secrets) == []
    # what belongs to the service is never told to a box, also not for cleaning up: only where it printed it, it stays
    given = {name: secret for name, secret in secrets.items() if name not in OWN}
    left = contents(home)
    assert {str(path): found for path, content in left.items() if (found := found_in(content, given))} == {}
    outside = {path: content for path, content in left.items() if "home" not in path.relative_to(tmp_path).parts}
    assert {str(path): found for path, content in outside.items() if (found := found_in(content, secrets))} == {}
