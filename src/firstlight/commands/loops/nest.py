"""Nest: represent the loops of a piece of C as headers and bodies, and write them back."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError
from firstlight.commands.loops.syntax import names, parse, statements, text, walk


class Header(NamedTuple):
    """A header `for (type var = init; var op bound; var += step)`; `type` is "" if it is declared outside."""

    var: str
    type: str
    init: str
    op: str
    bound: str
    step: int
    node: Node

    @property
    def body(self) -> Node:
        return self.node.child_by_field_name("body") or self.node

    def written(self, begin: str | None = None) -> str:
        """Return the header as C. `begin` replaces the first value; "" keeps the variable's current value."""
        first = self.init if begin is None else begin
        start = f"{self.type} {self.var} = {first}".strip() if first else ""
        step = {1: f"++{self.var}", -1: f"--{self.var}"}.get(self.step, f"{self.var} += {self.step}")
        return f"for ({start}; {self.var} {self.op} {self.bound}; {step})"

    @property
    def upward(self) -> bool:
        return self.step > 0 and self.op in ("<", "<=")

    @property
    def rectangular(self) -> set[str]:
        """Return the names that the loop's range depends on."""
        return {n for part in ("initializer", "condition") for n in _names(self.node, part)} - {self.var}


def _names(node: Node, field: str) -> list[str]:
    found = node.child_by_field_name(field)
    if found is None:
        return []
    if found.type == "declaration":
        declarator = found.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value") if declarator is not None else None
        return names(value) if value is not None else []
    return names(found)


def header(node: Node) -> Header | None:
    """Return the header of a counting loop; None for any other loop."""
    begin, condition, update = (node.child_by_field_name(f) for f in ("initializer", "condition", "update"))
    if begin is None or condition is None or update is None or node.child_by_field_name("body") is None:
        return None
    kind, first = "", begin
    if begin.type == "declaration":
        declarators = begin.children_by_field_name("declarator")
        if len(declarators) != 1 or declarators[0].type != "init_declarator":
            return None
        first = declarators[0]
        kind = text(begin).split(text(first))[0].strip()
        var, init = first.child_by_field_name("declarator"), first.child_by_field_name("value")
    elif begin.type == "assignment_expression" and text(begin.child_by_field_name("operator")) == "=":
        var, init = begin.child_by_field_name("left"), begin.child_by_field_name("right")
    else:
        return None
    name, step = text(var), _step(update, text(var))
    if condition.type != "binary_expression" or text(condition.child_by_field_name("left")) != name or not step:
        return None
    op = text(condition.child_by_field_name("operator"))
    if op not in ("<", "<=", ">", ">=") or (op[0] == "<") != (step > 0) or var is None or var.type != "identifier":
        return None
    return Header(name, kind, text(init), op, text(condition.child_by_field_name("right")), step, node)


def _step(update: Node, name: str) -> int:
    compact = re.sub(r"\s", "", text(update))
    escaped = re.escape(name)
    if compact in (f"++{name}", f"{name}++"):
        return 1
    if compact in (f"--{name}", f"{name}--"):
        return -1
    found = re.fullmatch(rf"{escaped}([+-])=(\d{{1,6}})", compact) or re.fullmatch(
        rf"{escaped}={escaped}([+-])(\d{{1,6}})", compact
    )
    return int(found[1] + found[2]) if found else 0


class Nest(NamedTuple):
    """A piece of C inside a function; `root` is the function's block."""

    root: Node

    @property
    def loops(self) -> list[Node]:
        return [n for n in walk(self.root) if n.type == "for_statement"]

    @property
    def innermost(self) -> list[Node]:
        return [n for n in self.loops if not any(m.type == "for_statement" for m in walk(n) if m != n)]

    @property
    def perfect(self) -> list[Header]:
        """Return the headers from the first loop inwards, as long as a body contains only the next loop."""
        found: list[Header] = []
        at: Node | None = self.loops[0] if self.loops else None
        while at is not None and (one := header(at)) is not None:
            found.append(one)
            inner = statements(one.body)
            at = inner[0] if len(inner) == 1 and inner[0].type == "for_statement" else None
        return found


def nest(code: str) -> Nest:
    root = parse(f"void f(void) {{\n{code}\n}}".encode("utf-8", "surrogateescape"))
    return Nest(next(n for n in walk(root) if n.type == "compound_statement"))


def inside(one: Nest) -> str:
    """Return the piece without the block around it."""
    return text(one.root)[1:-1].strip("\n")


def replaced(one: Nest, node: Node, code: str) -> str:
    """Return the piece with one node replaced by `code`."""
    whole, begin = (one.root.text or b""), one.root.start_byte
    new = whole[: node.start_byte - begin] + code.encode("utf-8", "surrogateescape") + whole[node.end_byte - begin :]
    return new.decode("utf-8", "surrogateescape")[1:-1].strip("\n")


def trip(loop: Node) -> str:
    """Return the trip count of the loop as a C expression of type long. Raises NotUnderstoodError."""
    one = header(loop)
    if one is None:
        raise NotUnderstoodError("the loop is not a counting loop: write for (i = A; i < B; i += C)")
    if assigned := {text(n) for n in walk(one.body) if n.type == "identifier"} & {one.var}:
        for node in walk(one.body):
            target = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
            if target and text(node.child_by_field_name(target)) in assigned:
                raise NotUnderstoodError(f"{one.var} is changed in the body")
    low, high = f"(long)({one.init})", f"(long)({one.bound})"
    if one.step < 0:
        low, high = high, low
    count = f"({high} - {low}{' + 1' if '=' in one.op else ''})"
    step = abs(one.step)
    return count if step == 1 else f"(({count[1:-1]} + {step - 1}) / {step})"
