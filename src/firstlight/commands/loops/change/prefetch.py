"""Prefetch: request data now that the innermost loop reads some iterations later."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.commands.loops.change import NotApplicableError, Piece
from firstlight.commands.loops.nest import Header, header, nest, replaced
from firstlight.commands.loops.syntax import names, render, text, walk

TURNS = ("16", "64")


def choices(piece: Piece) -> tuple[str, ...]:
    return TURNS if any(_reads(one) for one in _innermost(piece)) else ()


def _innermost(piece: Piece) -> list[Header]:
    return [one for node in nest(piece.code).innermost if (one := header(node)) is not None]


def _reads(one: Header) -> list[str]:
    """Return the array elements that move with the loop, as `x[i]`; nested ones, as `x[y[i]]`, are left out."""
    found = {}
    for node in walk(one.body):
        if node.type == "subscript_expression" and one.var in names(node):
            argument, index = node.child_by_field_name("argument"), node.child_by_field_name("index")
            nested = any(
                n.type == "subscript_expression" for part in (argument, index) if part is not None for n in walk(part)
            )
            if not nested:
                found[text(node)] = node
    return list(found)


def apply(piece: Piece, value: str) -> Piece:
    whole = nest(piece.code)
    one = next((h for n in whole.innermost if (h := header(n)) is not None and _reads(h)), None)
    if one is None:
        raise NotApplicableError("the loop has nothing to prefetch")
    own = {
        text(d.child_by_field_name("declarator") or d)
        for n in walk(one.body)
        if n.type == "declaration"
        for d in n.children_by_field_name("declarator")
    }
    ahead = {one.var: f"({one.var} + {int(value) * one.step})"}
    asked = []
    for node in walk(one.body):
        if node.type == "subscript_expression" and text(node) in _reads(one) and not own & set(names(node)):
            asked.append(f"__builtin_prefetch(&{render(node, ahead)});")
    if not asked:
        raise NotApplicableError("the loop has nothing to prefetch")
    body = f"{{ {' '.join(dict.fromkeys(asked))} {render(one.body)} }}"
    return replace(piece, code=replaced(whole, one.node, f"{one.written()} {body}"))
