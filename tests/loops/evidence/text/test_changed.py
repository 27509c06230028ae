import pytest

from loops.evidence.text.changed import HINTED, NAMED, Changed


@pytest.mark.parametrize(
    ("text", "favour"),
    [
        ("packages/web/src/cart.ts:3:7: error", NAMED),
        ("/__w/shop/shop/packages/web/src/cart.ts(3,7): error", NAMED),
        ("src/cart.ts:3:7: error in the package's own folder", NAMED),
        (r"D:\a\shop\packages\web\src\cart.ts:3", NAMED),
        ('{"file": "src\\\\cart.ts"}', NAMED),
        ("at total (cart.ts:3:7)", HINTED),
        ("lib/cart.ts:3", HINTED),
        ("src/cart.tsx:3: another file", 0),
        ("src/shopping-cart.ts:3: another file", 0),
        ("src/cart.ts-snapshot: another file", 0),
        ("Makefile:3: failed", NAMED),
        ("no file at all", 0),
    ],
)
def test_a_line_is_favoured_by_how_surely_it_names_a_changed_file(text: str, favour: int) -> None:
    assert Changed(["packages/web/src/cart.ts", "./Makefile", " ", ""]).favour(text) == favour


def test_without_changed_files_no_line_is_favoured() -> None:
    assert Changed([]).favour("src/a.py:3") == 0
