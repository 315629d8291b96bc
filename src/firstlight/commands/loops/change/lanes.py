"""Lanes: split a reduction into several partial results, which are independent and fill a vector."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace
from tree_sitter import Node

from firstlight.commands.loops.change import NotApplicableError, Piece, applicable
from firstlight.commands.loops.change.strip import around, lane_loop
from firstlight.commands.loops.nest import Header, header, nest, replaced
from firstlight.commands.loops.syntax import render, statements, text, walk

LANES = ("4", "8", "16", "32", "64")


class Reduction(NamedTuple):
    """A reduction into `name` with the operator `op`: +, *, > (keeps the larger) or < (keeps the smaller)."""

    name: str
    op: str

    @property
    def first(self) -> str:
        return {"+": "0", "*": "1"}.get(self.op, self.name)

    def joined(self, lane: str) -> str:
        if self.op in "+*":
            return f"{self.name} {self.op}= {lane};"
        return f"if ({lane} {self.op} {self.name}) {self.name} = {lane};"


def choices(piece: Piece) -> tuple[str, ...]:
    return applicable(apply, piece, LANES)


def apply(piece: Piece, value: str) -> Piece:
    if "fl_l" in piece.code:
        raise NotApplicableError("the loop already has lanes")
    whole = nest(piece.code)
    for node in whole.innermost:
        one = header(node)
        if one is not None and one.upward and (found := reductions(one)):
            return replace(piece, code=replaced(whole, node, _written(one, found, int(value))))
    raise NotApplicableError("no loop here is a pure reduction")


def _written(one: Header, found: list[Reduction], lanes: int) -> str:
    step = "" if one.step == 1 else f"{one.step} * "
    instead = {r.name: f"fl_{r.name}[fl_l]" for r in found} | {one.var: f"({one.var} + {step}fl_l)"}
    begin = " ".join(
        f"__typeof__({r.name}) fl_{r.name}[{lanes}]; {lane_loop(lanes)} fl_{r.name}[fl_l] = {r.first};" for r in found
    )
    join = " ".join(f"{lane_loop(lanes)} {{ {r.joined(f'fl_{r.name}[fl_l]')} }}" for r in found)
    block = f"{lane_loop(lanes)} {render(one.body, instead)}"
    whole = around(one, lanes, block, render(one.body), f"{join}\n")
    return f"{{\n{begin}\n{whole}\n}}"


def reductions(one: Header) -> list[Reduction]:
    """Return the reductions of the body; [] if it assigns another outer scalar, or uses a reduced one elsewhere."""
    own = {
        text(d.child_by_field_name("declarator") or d)
        for n in walk(one.body)
        if n.type == "declaration"
        for d in n.children_by_field_name("declarator")
    }
    found: list[Reduction] = []
    for node in walk(one.body):
        target = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
        name = text(node.child_by_field_name(target)) if target else ""
        left = node.child_by_field_name(target) if target else None
        if left is None or left.type != "identifier" or name in own:
            continue
        kind = _kind(node, name)
        if kind is None:
            return []
        found.append(Reduction(name, kind[0]))
        if sum(text(n) == name for n in walk(one.body) if n.type == "identifier") != kind[1]:
            return []
    return found if len({r.name for r in found}) == len(found) else []


def _kind(node: Node, name: str) -> tuple[str, int] | None:
    """Return the operator of a reduction, and how often its statement contains the name; None for other statements."""
    op, right = text(node.child_by_field_name("operator")), node.child_by_field_name("right")
    if node.type == "update_expression":
        return ("+", 1) if op == "++" else None
    if op in ("+=", "*=", "-="):
        return op[0].replace("-", "+"), 1
    if right is None or op != "=":
        return None
    if right.type == "binary_expression" and text(right.child_by_field_name("left")) == name:
        inner = text(right.child_by_field_name("operator"))
        return (inner, 2) if inner in "+*" else None
    return _guarded(node, right, name) or _chosen(right, name)


def _guarded(node: Node, right: Node, name: str) -> tuple[str, int] | None:
    """Return the operator and count of names of `if (e > s) s = e;`; None for other statements."""
    at = node.parent
    while at is not None and at.type in ("expression_statement", "compound_statement"):
        if len(statements(at)) != 1:
            return None
        at = at.parent
    if at is None or at.type != "if_statement" or at.child_by_field_name("alternative") is not None:
        return None
    condition = at.child_by_field_name("condition")
    inner = condition.named_children[0] if condition is not None and condition.named_children else None
    return _compared(inner, text(right), name)


def _chosen(right: Node, name: str) -> tuple[str, int] | None:
    """Return the operator and count of names of `s = e > s ? e : s` or `s = fmax(s, e)`; None for others."""
    while right.type == "parenthesized_expression" and right.named_children:
        right = right.named_children[0]
    if right.type == "conditional_expression":
        condition = right.child_by_field_name("condition")
        while condition is not None and condition.type == "parenthesized_expression":
            condition = condition.named_children[0]
        a, b = (text(right.child_by_field_name(f)) for f in ("consequence", "alternative"))
        if b == name and (found := _compared(condition, a, name)) is not None:
            return found[0], 3
        if a == name and (found := _compared(condition, b, name)) is not None:
            return {">": "<", "<": ">"}[found[0]], 3
    if right.type == "call_expression":
        arguments = right.child_by_field_name("arguments")
        among = [text(n) for n in arguments.named_children] if arguments is not None else []
        kind = {"fmax": ">", "fmaxf": ">", "fmin": "<", "fminf": "<"}.get(text(right.child_by_field_name("function")))
        return (kind, 2) if kind and name in among else None
    return None


def _compared(condition: Node | None, value: str, name: str) -> tuple[str, int] | None:
    if condition is None or condition.type != "binary_expression":
        return None
    left, op, right = (text(condition.child_by_field_name(f)) for f in ("left", "operator", "right"))
    if op.rstrip("=") not in ("<", ">") or {left, right} != {value, name}:
        return None
    turned = {">": "<", "<": ">"}
    return (op[0] if left == value else turned[op[0]]), 2
