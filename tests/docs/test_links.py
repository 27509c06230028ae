from pathlib import Path

import pytest

from tests.docs.links import broken, targets

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("charts/*/README.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_our_pages_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    assert broken(page) == []


def test_every_page_of_docs_is_listed_by_its_first_page() -> None:
    listed = {(DOCS / target).resolve() for target in targets((DOCS / "README.md").read_text()) if ":" not in target}
    assert set(DOCS.rglob("*.md")) - {DOCS / "README.md"} <= listed


def test_a_link_to_a_missing_file_or_heading_is_told_and_one_in_code_is_not(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# `One` page, here\n\n## Twice\n\n## Twice\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Mine\n\n[a](other.md#one-page-here) [b](other.md#twice-1) [c](#mine) [d](https://example.com/x)\n\n"
        "| t |\n| --- |\n| [e](other.md#thrice) |\n\n[f](missing.md) [g](#yours) ![h](none.svg) `[i](code.md)`\n\n"
        "[j][ref]\n\n[ref]: gone.md\n"
    )
    assert broken(page) == ["other.md#thrice", "missing.md", "#yours", "none.svg", "gone.md"]
