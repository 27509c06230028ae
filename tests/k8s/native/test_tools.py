"""The tools as the model meets them."""

from pathlib import Path
from typing import Any

from k8s.native.code_graph.graph import CodeGraph
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.local import LocalWorkspace
from k8s.native.workspaces.memory import MemoryWorkspace
from k8s.native.tools import OUTPUT_TEXT, Toolbox
from k8s.native.workspaces.workspace import Executed

CHANGING = {"write_file", "edit_file", "bash"}
READING = {"read_file", "list_dir", "glob", "grep"}


class Heard:
    """What was emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, **payload: Any) -> None:
        self.events.append((kind, payload))


def names(toolbox: Toolbox) -> set[str]:
    return {tool.__name__ for tool in toolbox.tools()}


def test_there_are_eight_tools_and_read_only_leaves_out_the_three_that_change(tmp_path: Path) -> None:
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
