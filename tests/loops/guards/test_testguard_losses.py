"""The test guard on tests that are deleted, moved or renamed: (name, before, after, what it says)."""

from pathlib import Path

import pytest

from tests.loops.guards.proposals import Files
from tests.loops.guards.suites import CS, GO, JAVA, JS, PY, RS, edit, noted

TABLE: list[tuple[str, Files, Files, list[str]]] = [
    # deleted and removed
    ("a python test file", {"tests/test_shop.py": PY}, {"tests/test_shop.py": None}, ["test_deleted"]),
    ("a go test file", {"shop_test.go": GO}, {"shop_test.go": None}, ["test_deleted"]),
    ("a jest file", {"src/cart.test.ts": JS}, {"src/cart.test.ts": None}, ["test_deleted"]),
    ("a helper of tests", {"tests/helpers.py": "def make():\n    return 1\n"}, {"tests/helpers.py": None}, []),
    (
        "a file that hides from the runner",
        {"tests/test_shop.py": PY},
        {"tests/test_shop.py": None, "old/shop.bak": PY},
        ["test_deleted"],
    ),
    (
        "one python test",
        {"tests/test_shop.py": PY},
        {
            "tests/test_shop.py": edit(
                PY, "def test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n", ""
            )
        },
        ["test_removed"],
    ),
    (
        "a test renamed so that it no longer runs",
        {"test_shop.py": PY},
        {"test_shop.py": edit(PY, "def test_total()", "def _test_total()")},
        ["test_removed"],
    ),
    (
        "a test commented out",
        {"test_shop.py": PY},
        {
            "test_shop.py": edit(
                PY,
                "def test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n",
                "# def test_total():\n#     assert total([1, 2]) == 3\n#     assert total([]) == 0\n",
            )
        },
        ["test_removed"],
    ),
    (
        "one jest case",
        {"cart.test.js": JS},
        {
            "cart.test.js": edit(
                JS, "  it('is empty at first', () => {\n    expect(make().items).toEqual([]);\n  });\n", ""
            )
        },
        ["test_removed"],
    ),
    (
        "one go test",
        {"shop_test.go": GO},
        {"shop_test.go": edit(GO, "func TestEmpty(t *testing.T) {\n\trequire.Equal(t, 0, Total(nil))\n}\n", "")},
        ["test_removed"],
    ),
    (
        "one rust test",
        {"src/lib.rs": RS},
        {"src/lib.rs": edit(RS, "    #[test]\n    fn empty() {\n        assert_eq!(total(&[]), 0);\n    }\n", "")},
        ["test_removed"],
    ),
    (
        "the mark of a rust test",
        {"src/lib.rs": RS},
        {"src/lib.rs": edit(RS, "    #[test]\n    fn empty", "    fn empty")},
        ["test_removed"],
    ),
    (
        "one junit test",
        {"src/test/java/CartTest.java": JAVA},
        {
            "src/test/java/CartTest.java": edit(
                JAVA, "    @Test\n    void isEmpty() {\n        assertEquals(0, new Cart().total());\n    }\n", ""
            )
        },
        ["test_removed"],
    ),
    (
        "one xunit test",
        {"CartTests.cs": CS + "// end\n"},
        {"CartTests.cs": "public class CartTests {\n}\n// end\n"},
        ["test_removed"],
    ),
    # moved and renamed: nothing was lost
    ("a moved test file", {"tests/test_shop.py": PY}, {"tests/test_shop.py": None, "tests/unit/test_shop.py": PY}, []),
    (
        "a moved and edited file",
        {"tests/test_shop.py": PY},
        {"tests/test_shop.py": None, "tests/a/test_x.py": "import os\n" * 30 + PY},
        [],
    ),
    (
        "a test moved to another file",
        {"test_a.py": PY, "test_b.py": "import os\n"},
        {
            "test_a.py": edit(PY, "def test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n", ""),
            "test_b.py": "import os\n\n\ndef test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n",
        },
        [],
    ),
    (
        "a test with a better name",
        {"test_a.py": PY},
        {"test_a.py": edit(PY, "test_total_of_one", "test_total_of_one_is_itself")},
        [],
    ),
    (
        "a jest case with a better name",
        {"a.test.js": JS},
        {"a.test.js": edit(JS, "'adds up'", "'adds up its items'")},
        [],
    ),
    (
        "tests in another order",
        {"test_a.py": PY},
        {
            "test_a.py": edit(PY, "def test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n\n\n", "")
            + "\n\ndef test_total_of_one():\n    basket = [5]\n    assert total(basket) == 5\n"
        },
        [],
    ),
    ("code that is no test", {"shop.py": "def test_connection():\n    return 1\n"}, {"shop.py": "x = 1\n"}, []),
]


@pytest.mark.parametrize(("before", "after", "said"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
async def test_the_guard_names_tests_that_are_gone_and_none_that_moved(
    tmp_path: Path, before: Files, after: Files, said: list[str]
) -> None:
    assert await noted(tmp_path, before, after) == said
