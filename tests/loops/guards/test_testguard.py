"""The test guard on realistic changes inside test files: (name, before, after, what it says)."""

from pathlib import Path

import pytest

from github.repositories.config import RepositoryConfig
from tests.loops.guards.proposals import Files, Turn, codes
from tests.loops.guards.suites import CI, CS, GO, JAVA, JS, PHP, PY, RB, RS, edit, noted

TABLE: list[tuple[str, Files, Files, list[str]]] = [
    # skips
    (
        "pytest skip",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "def test_total()", "@pytest.mark.skip(reason='flaky')\ndef test_total()")},
        ["test_skipped"],
    ),
    (
        "pytest xfail",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "def test_total()", "@pytest.mark.xfail\ndef test_total()")},
        ["test_skipped"],
    ),
    (
        "a skip in the body",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "    basket = [5]\n", "    pytest.skip('later')\n    basket = [5]\n")},
        ["test_skipped"],
    ),
    (
        "unittest skip",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "    def test_half", "    @unittest.skip('x')\n    def test_half")},
        ["test_skipped"],
    ),
    (
        "files ignored by conftest",
        {"tests/conftest.py": "import os\n"},
        {"tests/conftest.py": "import os\ncollect_ignore = ['test_shop.py']\n"},
        ["test_skipped"],
    ),
    ("it.skip", {"a.test.ts": JS}, {"a.test.ts": edit(JS, "it('adds up'", "it.skip('adds up'")}, ["test_skipped"]),
    ("xit", {"a.spec.js": JS}, {"a.spec.js": edit(JS, "it('adds up'", "xit('adds up'")}, ["test_skipped"]),
    ("describe.skip", {"a.spec.js": JS}, {"a.spec.js": edit(JS, "describe(", "describe.skip(")}, ["test_skipped"]),
    ("it.only", {"a.spec.js": JS}, {"a.spec.js": edit(JS, "it('adds up'", "it.only('adds up'")}, ["test_skipped"]),
    (
        "t.Skip",
        {"a_test.go": GO},
        {"a_test.go": edit(GO, "\tgot := Total", '\tt.Skip("flaky")\n\tgot := Total')},
        ["test_skipped"],
    ),
    (
        "#[ignore]",
        {"src/lib.rs": RS},
        {"src/lib.rs": edit(RS, "    fn adds_up", "    #[ignore]\n    fn adds_up")},
        ["test_skipped"],
    ),
    (
        "@Disabled",
        {"CartTest.java": JAVA},
        {"CartTest.java": edit(JAVA, "    void addsUp", '    @Disabled("x")\n    void addsUp')},
        ["test_skipped"],
    ),
    (
        "Fact(Skip)",
        {"CartTests.cs": CS},
        {"CartTests.cs": edit(CS, "[Fact]", '[Fact(Skip = "later")]')},
        ["test_skipped"],
    ),
    (
        "rspec skip",
        {"spec/cart_spec.rb": RB},
        {"spec/cart_spec.rb": edit(RB, "it 'adds up' do\n", "it 'adds up' do\n    skip 'later'\n")},
        ["test_skipped"],
    ),
    (
        "rspec xit",
        {"spec/cart_spec.rb": RB},
        {"spec/cart_spec.rb": edit(RB, "it 'adds up'", "xit 'adds up'")},
        ["test_skipped"],
    ),
    (
        "markTestSkipped",
        {"tests/CartTest.php": PHP},
        {
            "tests/CartTest.php": edit(
                PHP, "        $this->assertSame", "        $this->markTestSkipped('x');\n        $this->assertSame"
            )
        },
        ["test_skipped"],
    ),
    (
        "a skip in a new file",
        {},
        {"test_win.py": "import pytest\n\n\n@pytest.mark.skipif(NEW)\ndef test_a():\n    assert f() == 1\n"},
        [],
    ),
    (
        "a skip that was taken away",
        {"test_a.py": edit(PY, "def test_total()", "@pytest.mark.skip\ndef test_total()")},
        {"test_a.py": PY},
        [],
    ),
    (
        "a word in a comment",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "    basket = [5]\n", "    # no pytest.skip(…) here\n    basket = [5]\n")},
        [],
    ),
    ("skipping in code", {"src/iter.py": "a = 1\n"}, {"src/iter.py": "a = 1\nskip(3)\n"}, []),
    ("iterators in rust", {"src/a.rs": "fn f() {}\n"}, {"src/a.rs": "fn f() { a.iter().skip(1) }\n"}, []),
    # assertions
    (
        "an assertion removed",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "    assert total([]) == 0\n", "")},
        ["assertion_removed"],
    ),
    (
        "an assertion commented out",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "    assert total([]) == 0\n", "    # assert total([]) == 0\n")},
        ["assertion_removed"],
    ),
    (
        "equal became true",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "self.assertEqual(half(10), 5)", "self.assertTrue(half(10))")},
        ["assertion_weakened"],
    ),
    (
        "equal became not None",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "assert total(basket) == 5", "assert total(basket) is not None")},
        ["assertion_weakened"],
    ),
    (
        "equal became a range",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "assert total(basket) == 5", "assert total(basket) >= 5")},
        ["assertion_weakened"],
    ),
    (
        "assert True",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "assert total(basket) == 5", "assert True")},
        ["assertion_weakened"],
    ),
    (
        "toBe became toBeDefined",
        {"a.test.js": JS},
        {"a.test.js": edit(JS, "expect(cart.total()).toBe(3)", "expect(cart.total()).toBeDefined()")},
        ["assertion_weakened"],
    ),
    (
        "Equal became NotNil",
        {"a_test.go": GO},
        {"a_test.go": edit(GO, "require.Equal(t, 0, Total(nil))", "require.NotNil(t, Total(nil))")},
        ["assertion_weakened"],
    ),
    (
        "t.Errorf became a log line",
        {"a_test.go": GO},
        {"a_test.go": edit(GO, "t.Errorf(", "t.Logf(")},
        ["assertion_removed"],
    ),
    (
        "assert_eq became is_ok",
        {"src/lib.rs": RS},
        {"src/lib.rs": edit(RS, "assert_eq!(total(&[1, 2]), 3);", "assert!(total(&[1, 2]) > 0);")},
        ["assertion_weakened"],
    ),
    (
        "a value edited",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "total([1, 2]) == 3", "total([1, 2]) == 4")},
        ["expectation_changed"],
    ),
    (
        "a stronger assertion",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "assert total([]) == 0", "assert total([]) == 0\n    assert total([2]) == 2")},
        [],
    ),
    (
        "an assertion rewritten",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "self.assertEqual(half(10), 5)", "assert half(10) == 5")},
        [],
    ),
    (
        "assertions made a table",
        {"test_a.py": "def test_t():\n    assert f(1) == 2\n    assert f(2) == 4\n"},
        {"test_a.py": "def test_t():\n    for x, y in [(1, 2), (2, 4)]:\n        assert f(x) == y\n"},
        [],
    ),
    (
        "an assertion indented",
        {"test_a.py": "def test_t():\n    x = f()\n    assert x == 2\n"},
        {"test_a.py": "def test_t():\n    with g():\n        x = f()\n        assert x == 2\n"},
        [],
    ),
    (
        "an assert in the product",
        {"src/a.py": "def f(x):\n    assert x == 1\n    return x\n"},
        {"src/a.py": "def f(x):\n    return x\n"},
        [],
    ),
    # snapshots and steps
    (
        "a snapshot edited",
        {"src/__snapshots__/a.test.js.snap": "exports[`a`] = `1`;\n"},
        {"src/__snapshots__/a.test.js.snap": "exports[`a`] = `2`;\n"},
        ["snapshot_changed"],
    ),
    ("a snapshot added", {}, {"src/__snapshots__/a.test.js.snap": "exports[`a`] = `1`;\n"}, []),
    (
        "|| true",
        {".gitlab-ci.yml": "t:\n  script:\n    - pytest -q\n"},
        {".gitlab-ci.yml": "t:\n  script:\n    - pytest -q || true\n"},
        ["step_disabled"],
    ),
    (
        "continue-on-error",
        {".github/workflows/ci.yml": CI},
        {
            ".github/workflows/ci.yml": edit(
                CI, "      - run: pytest -q\n", "      - run: pytest -q\n        continue-on-error: true\n"
            )
        },
        ["step_disabled"],
    ),
    (
        "tests no longer run",
        {".github/workflows/ci.yml": CI},
        {".github/workflows/ci.yml": edit(CI, "      - run: pytest -q\n", "      - run: echo ok\n")},
        ["step_disabled"],
    ),
    (
        "a test script that does nothing",
        {"package.json": '{\n  "scripts": {\n    "test": "jest"\n  }\n}\n'},
        {"package.json": '{\n  "scripts": {\n    "test": "exit 0"\n  }\n}\n'},
        ["step_disabled", "step_disabled"],
    ),
    (
        "a test left out by the runner's settings",
        {"pytest.ini": "[pytest]\naddopts = -q\n"},
        {"pytest.ini": "[pytest]\naddopts = -q --ignore=tests/test_shop.py\n"},
        ["step_disabled"],
    ),
    (
        "another option",
        {".github/workflows/ci.yml": CI},
        {".github/workflows/ci.yml": edit(CI, "pytest -q", "pytest -q --maxfail=1")},
        [],
    ),
    (
        "a newer action",
        {".github/workflows/ci.yml": CI},
        {".github/workflows/ci.yml": edit(CI, "checkout@v4", "checkout@v5")},
        [],
    ),
    ("a shell script of the product", {"bin/start.sh": "a\n"}, {"bin/start.sh": "a || true\n"}, []),
]


@pytest.mark.parametrize(("before", "after", "said"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
async def test_the_guard_says_what_a_change_does_to_the_tests(
    tmp_path: Path, before: Files, after: Files, said: list[str]
) -> None:
    assert await noted(tmp_path, before, after) == said


@pytest.mark.parametrize("guard", ["off", "warn", "block"])
async def test_block_refuses_warn_tells_off_says_nothing(tmp_path: Path, guard: str) -> None:
    skipped = edit(PY, "def test_total()", "@pytest.mark.skip\ndef test_total()")
    turn = Turn(tmp_path, {"test_a.py": PY}, {"test_a.py": skipped})
    found = await turn.found(config=RepositoryConfig.model_validate({"test_guard": guard}))
    expected = {"off": ([], []), "warn": ([], ["test_skipped"]), "block": (["test_skipped"], [])}[guard]
    assert (codes(found.refusals), codes(found.notes)) == expected


@pytest.mark.parametrize("repair", [True, False])
async def test_an_edited_expectation_blocks_a_repair_and_is_only_told_where_a_change_was_asked_for(
    tmp_path: Path, repair: bool
) -> None:
    turn = Turn(tmp_path, {"test_a.py": PY}, {"test_a.py": edit(PY, "total([1, 2]) == 3", "total([1, 2]) == 4")})
    found = await turn.found(config=RepositoryConfig(test_guard="block"), repair=repair)
    assert found.publishable is not repair
    assert codes(found.refusals + found.notes) == ["expectation_changed"]


async def test_a_test_file_that_a_cut_diff_does_not_show_is_compared_by_its_contents(tmp_path: Path) -> None:
    shorter = edit(PY, "def test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n", "")
    turn = Turn(tmp_path, {"a.txt": "", "test_z.py": PY}, {"a.txt": "x\n" * 500, "test_z.py": shorter})
    cut = turn.diff[:600] + "\n… 400 characters of the diff were left out\n"
    assert codes((await turn.found(diff=cut)).notes) == ["test_removed"]
    assert codes((await turn.found(diff=cut, base=False)).notes) == ["not_compared"]
