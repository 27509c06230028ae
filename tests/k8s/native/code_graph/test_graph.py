"""The code graph over real sources of each language."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from k8s.native.code_graph.graph import CodeGraph
from k8s.native.workspaces.local import LocalWorkspace
from k8s.native.workspaces.workspace import WorkspaceError

SOURCES = {
    "pkg/__init__.py": "",
    "pkg/money.py": "import os\nfrom . import tax\nclass Money:\n    def round(self):\n        return tax.rate(1)\n",
    "pkg/tax.py": "def rate(x):\n    return x\n",
    "app.py": "from pkg.money import Money\n\nMoney().round()\n",
    "web/a.ts": "import {b} from './b';\nexport class A { go(): void { b(); } }\nexport enum E {X}\n",
    "web/b.ts": "export function b() {}\nexport const c = () => 1;\n",
    "web/c.jsx": "const x = require('./b');\nexport default function View() { return x.y() }\n",
    "go/m/x.go": 'package m\nimport "example.com/go/util"\nfunc Run() { util.Do() }\n',
    "go/util/u.go": "package util\nfunc Do() {}\n",
    "rs/src/lib.rs": "mod money;\nuse crate::money::Coin;\nfn f() { Coin::new(); }\n",
    "rs/src/money.rs": "pub struct Coin;\n",
    "j/com/x/A.java": "package com.x;\nimport com.x.y.B;\nclass A { void f() { new B().g(); } }\n",
    "j/com/x/y/B.java": "package com.x.y;\npublic class B { public void g() {} }\n",
    "r/a.rb": "require_relative 'b'\nclass A\n  def x; helper; end\nend\n",
    "r/b.rb": "module B\n  def self.y; end\nend\n",
    "c/main.c": '#include <stdio.h>\n#include "lib/money.h"\n#define MOST 3\nint main() { return coin_new(MOST); }\n',
    "c/lib/money.h": "struct coin { int x; };\nint coin_new(int x);\n",
    "c/lib/money.c": '#include "money.h"\nint coin_new(int x) { return x; }\n',
    "cc/bank.cpp": '#include "bank.hpp"\nint Bank::open() { return util::count(1); }\n',
    "cc/bank.hpp": "namespace m {\nclass Bank { public: int open(); }; }\n",
    "bin/run.sh": '. "$(dirname "$0")/lib/say.sh"\nsay hello\n',
    "bin/lib/say.sh": 'say() { echo "$1"; }\n',
    "broken.py": "def whole():\n    pass\n\ndef half(:\n",
    "data.bin": "no source",
}


Opened = Callable[..., CodeGraph]


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    """Makes graphs, which end with the module."""
    with ExitStack() as stack:

        def make(*given: Any, **more: Any) -> CodeGraph:
            # here a machine may be slow: a file that is in order is read however long it takes
            made = CodeGraph(*given, **{"seconds": 600, "file_seconds": 600, **more})
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory, opened: Opened) -> CodeGraph:
    """A graph over SOURCES."""
    folder = tmp_path_factory.mktemp("sources")
    for path, text in SOURCES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return opened(folder, LocalWorkspace(folder).paths)


@pytest.mark.parametrize(
    ("path", "symbols"),
    [
        ("pkg/money.py", ["class Money", "function round"]),
        ("web/a.ts", ["class A", "method go", "enum E"]),
        ("web/b.ts", ["function b", "function c"]),
        ("web/c.jsx", ["function View"]),
        ("go/m/x.go", ["function Run"]),
        ("rs/src/money.rs", ["class Coin"]),
        ("j/com/x/y/B.java", ["class B", "method g"]),
        ("r/b.rb", ["module B", "method y"]),
        ("c/main.c", ["constant MOST", "function main"]),
        ("c/lib/money.h", ["class coin", "function coin_new"]),
        ("cc/bank.cpp", ["method open"]),
        ("cc/bank.hpp", ["module m", "class Bank"]),
        ("bin/lib/say.sh", ["function say"]),
        ("broken.py", ["function whole"]),
    ],
)
def test_the_definitions_of_a_file_are_found(graph: CodeGraph, path: str, symbols: list[str]) -> None:
    assert [line.split(": ", 1)[1] for line in graph.ask("file_symbols", path)][: len(symbols)] == symbols


@pytest.mark.parametrize(
    ("path", "users"),
    [
        ("pkg/tax.py", ["pkg/money.py"]),
        ("pkg/money.py", ["app.py"]),
        ("web/b.ts", ["web/a.ts", "web/c.jsx"]),
        ("go/util/u.go", ["go/m/x.go"]),
        ("rs/src/money.rs", ["rs/src/lib.rs"]),
        ("j/com/x/y/B.java", ["j/com/x/A.java"]),
        ("r/b.rb", ["r/a.rb"]),
        ("c/lib/money.h", ["c/lib/money.c", "c/main.c"]),
        ("c/lib/money.c", []),
        ("cc/bank.hpp", ["cc/bank.cpp"]),
        ("bin/lib/say.sh", ["bin/run.sh"]),
        ("app.py", []),
    ],
)
def test_who_depends_on_a_file_is_found(graph: CodeGraph, path: str, users: list[str]) -> None:
    assert sorted({line.split(":")[0] for line in graph.ask("dependents", path)}) == users


def test_who_uses_a_name_is_found(graph: CodeGraph) -> None:
    assert graph.ask("dependents", "rate") == ["pkg/money.py:5: call rate"]
    assert graph.ask("dependents", "coin_new") == ["c/main.c:4: call coin_new"]
    assert graph.ask("dependents", "count") == ["cc/bank.cpp:2: call count"]
    assert graph.ask("dependents", "say") == ["bin/run.sh:2: call say"]


def test_imports_are_listed_with_their_lines(graph: CodeGraph) -> None:
    assert graph.ask("imports", "./pkg/money.py")[0] == "pkg/money.py:1: import os"
    assert graph.ask("imports", "go/m/x.go") == ["go/m/x.go:2: import example.com/go/util"]


def test_the_exact_name_comes_first_in_a_search(graph: CodeGraph) -> None:
    found = graph.ask("search", "money")
    assert found[0] == "pkg/money.py:3: class Money" or found[0].endswith("module money")
    assert graph.ask("search", "nothing like it") == []


def test_a_change_is_seen_and_a_deletion_too(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "tax.py").write_text("def rate():\n    pass\n")
    graph = opened(tmp_path, LocalWorkspace(tmp_path).paths)
    assert graph.ask("search", "brand_new") == []
    (tmp_path / "tax.py").write_text("def brand_new():\n    pass\n")
    assert graph.ask("search", "brand_new") == ["tax.py:1: function brand_new"]
    (tmp_path / "tax.py").unlink()
    assert graph.ask("search", "brand_new") == []


@pytest.mark.parametrize("path", ["data.bin", "nowhere.py"])
def test_a_file_it_does_not_read_is_named(graph: CodeGraph, path: str) -> None:
    with pytest.raises(WorkspaceError, match=path):
        graph.ask("file_symbols", path)


def test_a_link_that_leads_out_and_a_pipe_are_not_read(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.py").write_text("def outside():\n    pass\n")
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(tmp_path / "in" / "pipe.py")
    assert opened(tmp_path / "in", lambda: ["link.py", "pipe.py"]).ask("search", "outside") == []


def test_a_file_made_to_freeze_a_parser_is_given_up_and_the_others_are_read(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "deep.c").write_text("(" * 500_000)
    (tmp_path / "z.py").write_text("def found():\n    pass\n")
    graph = opened(tmp_path, lambda: ["deep.c", "z.py"], file_seconds=5)
    assert graph.ask("search", "found") == ["z.py:1: function found"]


def test_what_was_not_read_in_time_is_said_and_read_the_next_time(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def found():\n    pass\n")
    graph = opened(tmp_path, lambda: ["a.py"], seconds=-1)
    assert graph.ask("search", "found") == ["… 1 files are not read yet: ask again."]
