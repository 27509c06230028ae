"""The expression language of workflow files."""

from typing import Any

import pytest

from github.workflows.expressions import BadExpression, Scope

CONTEXTS = {
    "github": {"ref": "refs/heads/main", "event": {"labels": [{"name": "bug"}, {"name": "ui"}]}, "ref_name": "main"},
    "matrix": {"os": "Linux", "n": 3},
    "steps": {"a": {"outcome": "failure"}, "b": {"outcome": "success"}},
    "empty": {},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("github.ref == 'refs/heads/main'", True),
        ("'ABC' == 'abc'", True),
        ("github['ref_name']", "main"),
        ("matrix.n >= 3 && matrix.os != 'Windows'", True),
        ("github.nothing.at.all", None),
        ("empty.x || 'fallback'", "fallback"),
        ("!empty.x && (1 == 1.0)", True),
        ("contains(github.event.labels.*.name, 'UI')", True),
        ("contains('Hello', 'ell')", True),
        ("startsWith(github.ref, 'refs/heads/') && endsWith(github.ref, 'main')", True),
        ("format('{0}-{1} {{x}}', 'a', 2)", "a-2 {x}"),
        ("join(steps.*.outcome, '+')", "failure+success"),
        ("fromJSON('[1, 2]')[1]", 2),
        ("'it''s'", "it's"),
        ("0x10 == 16", True),
        ("null == ''", True),
    ],
)
def test_expressions_have_githubs_values(text: str, value: Any) -> None:
    assert Scope(CONTEXTS).evaluate(text) == value


@pytest.mark.parametrize("text", ["github.", "nobody.x", "f(1)", "1 +", "('a'", "'open"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(BadExpression):
        Scope(CONTEXTS).evaluate(text)


def test_conditions_ask_for_success_unless_they_say_otherwise() -> None:
    failed = Scope(CONTEXTS, {"success": lambda: False, "failure": lambda: True, "always": lambda: True})
    assert not failed.condition("github.ref_name == 'main'")
    assert failed.condition("${{ failure() && matrix.n == 3 }}")
    assert failed.condition("always()")


def test_text_is_substituted_in_place() -> None:
    assert Scope(CONTEXTS).substitute("x ${{ matrix.n }} ${{ github.ref_name == 'main' }}") == "x 3 true"
