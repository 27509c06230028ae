"""Secrets that an agent's own files have kept are covered; nothing else is touched."""

import sqlite3
from pathlib import Path

from k8s.runner.scrub import scrub
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.test_turn import encoded

SECRET, SPELLED = "planted-secret-value", "cGxhbnRlZC1zZWNyZXQtdmFsdWU"
AGENTS = ".greenloop/agents/s_1"
FOLDERS = (".greenloop/agents", ".local/share/opencode", ".gemini")


def put(home: Path, name: str, text: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_spelling_is_covered_in_place_and_other_folders_stay_as_they_are(tmp_path: Path) -> None:
    kept = put(tmp_path, f"{AGENTS}/codex/sessions/a.jsonl", f'{{"output": "{SECRET} {SPELLED}"}}\n')
    kept.chmod(0o600)
    spared = put(tmp_path, f"{AGENTS}/codex/auth.json", SECRET)
    others = [put(tmp_path, name, SECRET) for name in ("Code/o/r/a.txt", ".cache/pip/x", ".greenloop/turns/t/stdout")]
    link = tmp_path / AGENTS / "link"
    link.symlink_to(others[0])
    assert scrub(tmp_path, FOLDERS, [SPELLED, SECRET], spare=[spared]) == 1
    assert kept.read_text() == f'{{"output": "{"*" * 20} {"*" * 27}"}}\n'
    assert [path.read_text() for path in (spared, *others)] == [SECRET] * 4
    assert scrub(tmp_path, FOLDERS, [SPELLED, SECRET], spare=[spared]) == 0
    assert scrub(tmp_path, FOLDERS, []) == 0


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
    assert scrub(tmp_path, FOLDERS, [SECRET]) == 1
    database.close()
    left = b"".join(each.read_bytes() for each in path.parent.iterdir())
    assert SECRET.encode() not in left
    with sqlite3.connect(path) as again:
        found = again.execute('SELECT data, raw FROM "part of" WHERE id = "9"').fetchone()
    assert found == ("x" * 63 + "*" * 20 + "é" * 900, b"*" * 60)


def test_what_cannot_be_read_goes(tmp_path: Path) -> None:
    broken = put(tmp_path, ".local/share/opencode/opencode.db", "")
    broken.write_bytes(b"SQLite format 3\0" + SECRET.encode())
    assert scrub(tmp_path, FOLDERS, [SECRET]) == 1
    assert not broken.exists()


def test_a_turn_leaves_no_secret_in_its_agents_folder_but_reads_a_refreshed_login_back(started: Box) -> None:
    files = [{"path": f"{AGENTS}/auth.json", "content": encoded(b"old"), "read_back": True}]
    script = (
        f"cd; echo said {SECRET} > {AGENTS}/log; echo new {SECRET} > {AGENTS}/auth.json; "
        f"for at in .gemini .other; do mkdir $at; echo {SECRET} > $at/log; done"
    )
    told = started.give(script, None, files=files, agent_homes=FOLDERS)
    told.secrets = [SECRET]
    result = started.service.result(told)
    assert [file.content for file in result.files] == [encoded(f"new {SECRET}\n".encode())]
    started.idle(told)
    folder = started.home / AGENTS
    assert [path.name for path in folder.iterdir()] == ["log"]
    assert (folder / "log").read_text() == f"said {'*' * 20}\n"
    assert (started.home / ".gemini/log").read_text() == f"{'*' * 20}\n", "an agent's folder comes with the turn"
    assert (started.home / ".other/log").read_text() == f"{SECRET}\n"
