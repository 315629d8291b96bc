"""Formulas of declarations: arithmetic, and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core import formulas
from firstlight.core.formulas import FormulaError


@given(st.floats(1, 1e6), st.floats(1, 1e6))
def test_they_are_arithmetic(a: float, b: float) -> None:
    found = formulas.value("2 * a ** 2 / b - min(a, b) + ceil(log2(max(b, 2)))", {"a": a, "b": b})
    assert found == pytest.approx(2 * a**2 / b - min(a, b) + math.ceil(math.log2(max(b, 2))))


def test_they_tell_the_names_they_need() -> None:
    assert formulas.names("-E / sqrt(P) + 3") == {"E", "P"}


@pytest.mark.parametrize(
    "text",
    [
        "", "1 +", "a.b", "a[0]", "'a'", "__import__('os')", "open(a)", "(lambda: 1)()", "a if b else c",
        "True and 1",
        "a // b", "sqrt()", "min(*a)", "1; 2", "(" * 3000,
        "+".join(["a"] * 500), "-" * 900 + "a", "a" + "**a" * 500, "sqrt(" * 150 + "a" + ")" * 150,
        "min(1, " * 120 + "a" + ")" * 120, "(" * 120 + "-" * 120 + "a" + ")" * 120, "+".join(["1"] * 999),
        "a" * 3000, "1" * 3000, "1 " + " " * 3000, "a" + " * (1 + a" * 150 + ")" * 150, "[" * 90 + "]" * 90,
    ],
)  # fmt: skip
def test_nothing_else_is_a_formula(text: str) -> None:
    with pytest.raises(FormulaError):
        formulas.names(text) and formulas.value(text, {"a": 1.0})
    with pytest.raises(FormulaError):
        formulas.value(text, {"a": 1.0})


def test_what_is_nested_deep_needs_no_deep_stack() -> None:
    """A formula may be read at any depth of the stack, so it must not use up the limit of recursion."""
    assert formulas.value("+".join(["a"] * 90), {"a": 1.0}) == 90
    assert formulas.names("min(1, " * 40 + "a" + ")" * 40) == {"a"}


@pytest.mark.parametrize("text", ["1 / a", "sqrt(a - 1)", "log2(a)", "10.0 ** 400", "b", "9 ** 9 ** 9 ** 9.0"])
def test_what_has_no_finite_value_says_so(text: str) -> None:
    with pytest.raises(FormulaError, match="`"):
        formulas.value(text, {"a": 0.0})
