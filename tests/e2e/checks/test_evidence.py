"""What an agent has of a failing check: an excerpt in its prompt, and the whole log in a file that the prompt names."""

import json
from pathlib import Path

from sqlalchemy import select

from loops.store.service_tables import PassingLog
from tests.e2e.acts import asked, push
from tests.e2e.house import CHECK, house

JOB = """
  {name}:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          for n in $(seq 4000); do echo "served request $n"; done
          echo "Error: the value is wrong"
          {check}
"""
WORKFLOW = "name: CI\non: [push, pull_request]\njobs:\n" + "".join(
    JOB.format(name=name, check=CHECK) for name in ("old", "new")
)
AGENT = """
import json, re
seen = {}
plain = lambda line: re.sub(r"\\x1b\\[[0-9;]*m", "", line).rstrip()
if "failed on" in prompt:
    path, size = re.search(r"Whole log: `([^`]+)` \\((\\d+) bytes, outside the checkout\\)", prompt).groups()
    log = pathlib.Path(path)
    text = log.read_text(encoding="utf-8-sig")
    lines = text.split("\\n")
    shown = re.findall(r"^(\\d+)\\| (.*?)(?:  \\[x\\d+\\])?$", prompt, re.M)
    seen = {
        "logs": prompt.count("Whole log: "),
        "outside": pathlib.Path.cwd() not in log.resolve().parents,
        "size": [int(size), log.stat().st_size],
        "requests": len(set(re.findall(r"served request (\\d+)$", text, re.M))),
        "total": len(lines) - 1,
        "shown": len(shown),
        "untrue": [number for number, said in shown if not plain(lines[int(number) - 1]).endswith(said)],
        "requests_shown": prompt.count("served request "),
        "ranges": re.search(r"^\\(lines ([\\d, -]+) of (\\d+)\\)$", prompt, re.M).groups(),
        "names": re.search(r"^## (.*): failure$", prompt, re.M)[1],
        "error": "Error: the value is wrong" in prompt,
    }
    pathlib.Path("value.txt").write_text("right")
    pathlib.Path(SEEN).write_text(json.dumps(seen))
else:
    pathlib.Path("page.txt").write_text("page")
"""


async def test_the_whole_log_is_a_file_outside_the_checkout_and_the_prompt_names_it_and_the_lines_shown(
    tmp_path: Path,
) -> None:
    noted = tmp_path / "seen.json"
    async with house(tmp_path, run=None, files={".github/workflows/ci.yml": WORKFLOW}) as home:
        home.agent(AGENT.replace("SEEN", repr(str(noted))))
        await asked(home, "make it right")
        session = await home.ended()
    assert session.outcome == "green"
    seen = json.loads(noted.read_text())
    assert seen["outside"]
    assert seen["size"][0] == seen["size"][1]
    assert (seen["requests"], seen["total"]) == (4_000, int(seen["ranges"][1]))
    assert (seen["untrue"], seen["error"]) == ([], True)
    assert 0 < seen["requests_shown"] < 60
    count = sum(
        int(last or first) - int(first) + 1
        for first, _, last in (each.partition("-") for each in seen["ranges"][0].split(", "))
    )
    assert count == seen["shown"]
    # two jobs that failed alike are one piece of evidence, with one log
    assert (seen["logs"], sorted(seen["names"].replace("`", "").split(", "))) == (1, ["new", "old"])


TITLED = """name: CI
on: [push, pull_request]
jobs:
  page:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          for n in $(seq 300); do echo "Error: shelf $n of this shop is empty, as ever"; done
          if [ -e page.txt ] && ! grep -q title page.txt; then echo "page.txt wants more at its top"; exit 1; fi
"""
COMPARING = """
import json
if "failed on" in prompt:
    pathlib.Path("page.txt").write_text("title\\npage")
    pathlib.Path(SEEN).write_text(json.dumps(prompt))
else:
    pathlib.Path("page.txt").write_text("page")
"""


async def test_a_failure_is_compared_with_the_same_job_as_it_passed_on_the_base_branch(tmp_path: Path) -> None:
    noted = tmp_path / "seen.json"
    async with house(tmp_path, run=None, files={".github/workflows/ci.yml": TITLED}) as home:
        await push(home, "shop.txt", "open")
        await home.local.idle()
        home.agent(COMPARING.replace("SEEN", repr(str(noted))))
        await asked(home, "make a page")
        session = await home.ended()
        async with home.database.read() as tx:
            kept = list((await tx.execute(select(PassingLog))).scalars())
    assert session.outcome == "green"
    prompt = json.loads(noted.read_text())
    assert "Against this job's last passing log: " in prompt
    assert "page.txt wants more at its top" in prompt
    assert "This job last passed on main at " in prompt
    assert "Files changed since then: page.txt (the failure names it)" in prompt
    assert prompt.count("is empty, as ever") < 40
    assert [row.name for row in kept] == ["page"]
    assert len(kept[0].templates) < 4_000
