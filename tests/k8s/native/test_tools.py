"""The tools as the model meets them."""

import contextlib
from pathlib import Path
from typing import Any

from k8s.native.code_graph.graph import CodeGraph
from k8s.native.tools import ITEM_TEXT, MOST_ITEMS, OUTPUT_TEXT, PlanItem, Toolbox
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.local import LocalWorkspace
from k8s.native.workspaces.memory import MemoryWorkspace
from k8s.native.workspaces.workspace import Executed

CHANGING = {"write_file", "edit_file", "apply_patch", "bash", "job_output", "job_stop"}
READING = {"read_file", "list_dir", "glob", "grep", "update_plan"}


class Heard:
    """What was emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, **payload: Any) -> None:
        self.events.append((kind, payload))


def names(toolbox: Toolbox) -> set[str]:
    return {tool.__name__ for tool in (*toolbox.reading(), *toolbox.changing())}


def test_read_only_leaves_out_the_tools_that_change_something(tmp_path: Path) -> None:
    workspace = LocalWorkspace(tmp_path)
    graph = CodeGraph(tmp_path, workspace.paths)
    assert names(Toolbox(workspace, Heard(), graph=graph)) == READING | CHANGING | {"code_graph"}
    assert names(Toolbox(workspace, Heard(), graph=graph, read_only=True)) == READING | {"code_graph"}


def test_without_a_provider_there_is_no_code_graph() -> None:
    assert names(Toolbox(MemoryWorkspace(), Heard())) == READING | CHANGING


def test_edits_and_commands_are_told() -> None:
    heard = Heard()
    toolbox = Toolbox(MemoryWorkspace({"a": "x"}, {"make": Executed(2, "built\n", "warned\n")}), heard)
    assert toolbox.write_file("b", "yy") == "Wrote 2 bytes to b."
    assert toolbox.edit_file("a", [Edit("x", "xyz")]) == "Edited a, 3 bytes now."
    assert toolbox.bash("make") == "Error: Exit code 2.\nbuilt\n\n[stderr]\nwarned\n"
    assert heard.events == [
        ("file_edit", {"path": "b", "change": "add", "bytes": 2}),
        ("file_edit", {"path": "a", "change": "update", "bytes": 3}),
        ("command", {"command": "make", "exit_code": 2}),
    ]


def test_what_cannot_be_done_is_text_and_no_crash() -> None:
    heard = Heard()
    toolbox = Toolbox(MemoryWorkspace({"a": "xx"}), heard)
    assert toolbox.read_file("none") == "Error: There is no file none."
    assert toolbox.edit_file("a", [Edit("x", "y")]).startswith("Error: a was not edited. The text to replace occurs 2")
    assert toolbox.grep("(").startswith("Error: '(' is no regular expression")
    assert heard.events == []


def test_a_long_output_is_clipped_and_says_so() -> None:
    shown = Toolbox(MemoryWorkspace({"a": "head\n" + "x" * 100_000 + "\ntail"}), Heard()).read_file("a")
    assert len(shown) <= OUTPUT_TEXT
    assert shown.startswith("head\n") and shown.endswith("\ntail") and "characters left out" in shown


def test_nothing_found_is_said() -> None:
    toolbox = Toolbox(MemoryWorkspace({"a": "x"}), Heard())
    assert (toolbox.glob("*.rs"), toolbox.grep("zzz")) == ("(no file)", "(no match)")


def test_a_plan_is_told_whole_and_bounded() -> None:
    heard = Heard()
    toolbox = Toolbox(MemoryWorkspace(), heard, read_only=True)
    plan = [PlanItem("Look", "done"), PlanItem("x" * 500, "active"), PlanItem("Test"), PlanItem("  ")]
    assert toolbox.update_plan(plan) == "1 of 3 done."
    assert heard.events == [
        (
            "plan",
            {
                "items": [
                    {"text": "Look", "state": "done"},
                    {"text": "x" * ITEM_TEXT, "state": "active"},
                    {"text": "Test", "state": "pending"},
                ]
            },
        )
    ]
    for wrong in ([], [PlanItem(" ")], [PlanItem("x")] * (MOST_ITEMS + 1)):
        assert toolbox.update_plan(wrong).startswith(f"Error: A plan has 1 to {MOST_ITEMS} items, not")
    assert len(heard.events) == 1


def test_a_patch_tells_each_file_and_fails_as_a_whole() -> None:
    heard = Heard()
    toolbox = Toolbox(MemoryWorkspace({"a": "x\n", "b": "y\n"}), heard)
    patch = "*** Begin Patch\n*** Update File: a\n-x\n+z\n*** Delete File: b\n*** End Patch"
    assert toolbox.apply_patch(patch) == "update a\ndelete b"
    assert toolbox.apply_patch(patch).startswith("Error: Nothing was changed. ")
    assert [(kind, told["path"], told["change"], told["bytes"]) for kind, told in heard.events] == [
        ("file_edit", "a", "update", 2),
        ("file_edit", "b", "delete", 0),
    ]


def test_a_job_is_started_looked_at_and_stopped(tmp_path: Path) -> None:
    heard = Heard()
    with contextlib.closing(LocalWorkspace(tmp_path)) as workspace:
        toolbox = Toolbox(workspace, heard)
        assert toolbox.bash("echo ready; exec sleep 300", background=True) == "Started job j1."
        seen = ""
        while "ready" not in seen:
            seen = toolbox.job_output("j1")
            assert seen.startswith("Job j1 runs.\n")
        assert toolbox.job_stop("j1") == "Job j1 was stopped.\n"
        assert toolbox.bash("exit 4", background=True) == "Started job j2."
        assert toolbox.job_output("j2", wait=60) == "Job j2 ended with exit code 4.\n"
        assert toolbox.job_output("j3") == "Error: There is no job 'j3'; there are: j1, j2."
    assert [told["exit_code"] for _, told in heard.events] == [None, None]
