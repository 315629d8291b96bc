"""Evaluate the work of one execution as a user writes it: 2e9, 3*8*{n}, {n}**3/3."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from firstlight.core.errors import UsageError

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
LONGEST = 200  # characters


def amount(name: str, text: str) -> float:
    """Evaluate the arithmetic expression in `text`. Raises UsageError for anything that is not a positive number."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        value = _value(ast.parse(text, mode="eval").body)
        if 0 < value < math.inf:
            return value
    except (SyntaxError, ValueError, TypeError, OverflowError, ZeroDivisionError, RecursionError):
        pass
    raise UsageError(
        f"--work {name}={text[:80]}: not a positive number; write a value such as 2e9 or 3*8*{{n}}"
    ) from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError
