"""Formulas: arithmetic over named numbers as declarations write it, read once and evaluated without running code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "cbrt": math.cbrt, "log2": math.log2, "ceil": math.ceil, "floor": math.floor, "min": min,
    "max": max,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_MOST = 2000  # characters
_DEEPEST = 100  # levels, as in a sum of 100 terms: far below Python's own limit, wherever a formula is read


class FormulaError(ValueError):
    """A formula that is malformed, or that has no finite value."""


def names(text: str) -> set[str]:
    """Return the names that a formula uses. Raises FormulaError for a malformed one."""
    found: set[str] = set()
    _walk(_parsed(text), text, found)
    return found


def value(text: str, numbers: Mapping[str, float]) -> float:
    """Evaluate a formula. Raises FormulaError for a malformed one, an unknown name and a value that is not finite."""
    try:
        found = float(_evaluated(_parsed(text), numbers))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise FormulaError(f"`{text}`: {error}") from error
    except KeyError as error:
        raise FormulaError(f"`{text}`: {error.args[0]} is not a known name") from error
    if not math.isfinite(found):
        raise FormulaError(f"`{text}` is not finite")
    return found


def _parsed(text: str) -> ast.expr:
    if len(text) > _MOST:
        raise FormulaError(f"`{text[:80]}...` is longer than {_MOST} characters; split it into `steps`")
    try:
        found = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"`{text[:80]}` is not a formula") from error
    level: list[ast.AST] = [found]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise FormulaError(f"`{text[:80]}...` is nested deeper than {_DEEPEST} levels; split it into `steps`")
    return found


def _walk(node: ast.expr, text: str, found: set[str]) -> None:
    match node:
        case ast.Name():
            found.add(node.id)
        case ast.Constant(value=int() | float()):
            pass
        case ast.UnaryOp(op=ast.USub()):
            _walk(node.operand, text, found)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            _walk(node.left, text, found)
            _walk(node.right, text, found)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS and node.args:
            for argument in node.args:
                _walk(argument, text, found)
        case _:
            raise FormulaError(f"`{text[:80]}`: use numbers, names, + - * / ** and {', '.join(FUNCTIONS)}")


def _evaluated(node: ast.expr, numbers: Mapping[str, float]) -> float:
    match node:
        case ast.Name():
            return numbers[node.id]
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluated(node.operand, numbers)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_evaluated(node.left, numbers), _evaluated(node.right, numbers))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_evaluated(argument, numbers) for argument in node.args))
        case _:
            raise TypeError("no formula")
