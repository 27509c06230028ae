"""Secrets that a kept conversation holds are covered."""

import sqlite3
from pathlib import Path

from k8s.runner.scrub import scrub
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.test_turn import encoded

SECRET, SPELLED = "planted-secret-value", "cGxhbnRlZC1zZWNyZXQtdmFsdWU"
AGENTS = ".greenloop/agents/s_1"


def put(home: Path, name: str, text: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_spelling_is_covered_in_place(tmp_path: Path) -> None:
    kept, other = put(tmp_path, "a.jsonl", f'{{"output": "{SECRET} {SPELLED}"}}\n'), put(tmp_path, "b", "nothing")
    kept.chmod(0o600)
    assert scrub([kept, other], [SPELLED, SECRET]) == 1
    assert kept.read_text() == f'{{"output": "{"*" * 20} {"*" * 27}"}}\n'
    assert other.read_text() == "nothing"
    assert scrub([kept, other], [SPELLED, SECRET]) == 0
    assert scrub([kept], []) == 0


def test_a_database_keeps_none_of_it_wherever_in_a_page_it_stood_or_was_deleted(tmp_path: Path) -> None:
    path = put(tmp_path, ".local/share/opencode/opencode.db", "")
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute('CREATE TABLE "part of" (id TEXT PRIMARY KEY, data TEXT, raw BLOB)')
    rows = [(str(n), "x" * n * 7 + SECRET + "é" * 900, SECRET.encode() * 3) for n in range(700)]
    database.executemany('INSERT INTO "part of" VALUES (?, ?, ?)', rows)
    database.commit()
    database.execute('DELETE FROM "part of" WHERE id = "699"')
    database.commit()
    # the writer was killed: its log stays beside the file
    assert path.with_name("opencode.db-wal").stat().st_size > 0
    assert scrub(path.parent.iterdir(), [SECRET]) == 1
    database.close()
    left = b"".join(each.read_bytes() for each in path.parent.iterdir())
    assert SECRET.encode() not in left
    with sqlite3.connect(path) as again:
        found = again.execute('SELECT data, raw FROM "part of" WHERE id = "9"').fetchone()
    assert found == ("x" * 63 + "*" * 20 + "é" * 900, b"*" * 60)


def test_what_cannot_be_read_goes(tmp_path: Path) -> None:
    broken = put(tmp_path, ".local/share/opencode/opencode.db", "")
    broken.write_bytes(b"SQLite format 3\0" + SECRET.encode())
    assert scrub([broken], [SECRET]) == 1
    assert not broken.exists()


def test_of_a_home_only_the_conversation_comes_back_without_secrets_and_to_its_own_session(started: Box) -> None:
    auth = {"path": f"{AGENTS}/auth.json", "content": encoded(b"old"), "read_back": True}
    script = (
        f"cd {AGENTS}; mkdir -p ~/bin x/deep; echo said {SECRET} > x/deep/a.jsonl; echo new {SECRET} > auth.json;"
        " echo hook > settings.json; echo evil > ~/.bashrc; ln -s auth.json x/l.jsonl; mkfifo x/f.jsonl"
        " || echo failed"
    )
    wanted = [f"{AGENTS}/x/**"]
    told = started.give(f"mkdir -p ~/{AGENTS}; {{ cd; {script}; }}", None, files=[auth], conversation=wanted)
    told.secrets = [SECRET]
    result = started.service.result(told)
    assert [file.content for file in result.files] == [encoded(f"new {SECRET}\n".encode())]
    listing = "cd; find . -type f -o -type p; find . -name '*.jsonl' -exec cat {} +"
    told = started.give(listing, None, conversation=wanted)
    started.service.result(told)
    assert told.output.decode().split("\n")[:-1] == [f"./{AGENTS}/x/deep/a.jsonl", f"said {'*' * 20}"]
    other = started.give("cd; find . -type f", None, conversation=[".greenloop/agents/s_2/x/**"])
    started.service.result(other)
    assert other.output == b""
