"""Strip: run iterations of a loop as lanes of each statement of its body; around an inner loop: unroll and jam."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from tree_sitter import Node

from firstlight.commands.loops.change import NotApplicableError, Piece, applicable
from firstlight.commands.loops.nest import Header, header, nest, replaced
from firstlight.commands.loops.syntax import names, render, statements, text, walk

LANES = ("4", "8", "16", "32")


def _target(piece: Piece) -> Header | None:
    """Return the loop around the first innermost loop, or that loop itself; None if it does not count upwards."""
    whole = nest(piece.code)
    if not whole.innermost:
        return None
    inner = whole.innermost[0]
    around = inner.parent
    while around is not None and around.type != "for_statement":
        around = around.parent
    one = header(around or inner)
    return one if one is not None and one.upward else None


def choices(piece: Piece) -> tuple[str, ...]:
    return applicable(apply, piece, LANES)


def apply(piece: Piece, value: str) -> Piece:
    one = _target(piece)
    if one is None:
        raise NotApplicableError("there is no loop to strip")
    lanes = int(value)
    step = "" if one.step == 1 else f"{one.step} * "
    instead = {one.var: f"({one.var} + {step}fl_l)"}
    block = " ".join(_spread(n, one.var, lanes, instead) for n in statements(one.body))
    code = around(one, lanes, f"{{ {block} }}", render(one.body))
    return replace(piece, code=replaced(nest(piece.code), one.node, code))


def around(one: Header, lanes: int, block: str, rest: str, between: str = "") -> str:
    """Return C code that runs `lanes` iterations at a time with `block`, and the remaining ones with `rest`."""
    far = (lanes - 1) * one.step
    start = f"{one.type} {one.var} = {one.init};".strip()
    return (
        f"{{\n{start}\nfor (; {one.var} + {far} {one.op} {one.bound}; {one.var} += {lanes * one.step}) {block}\n"
        f"{between}{one.written('')} {rest}\n}}"
    )


def lane_loop(lanes: int) -> str:
    return f"for (int fl_l = 0; fl_l < {lanes}; ++fl_l)"


def _spread(node: Node, var: str, lanes: int, instead: dict[str, str]) -> str:
    """Return a statement for all lanes. Scalars that the body declares become arrays with one element per lane."""
    match node.type:
        case "compound_statement":
            return "{ " + " ".join(_spread(n, var, lanes, instead) for n in statements(node)) + " }"
        case "declaration":
            return " ".join(_declared(node, lanes, instead))
        case "for_statement":
            parts = [node.child_by_field_name(f) for f in ("initializer", "condition", "update")]
            used = {name for part in parts if part is not None for name in names(part)}
            if used & instead.keys() or (inner := node.child_by_field_name("body")) is None:
                raise NotApplicableError("the range of an inner loop depends on the lane")
            head = (node.text or b"")[: inner.start_byte - node.start_byte].decode("utf-8", "surrogateescape")
            return f"{head} {_spread(inner, var, lanes, instead)}"
        case "expression_statement":
            return f"{lane_loop(lanes)} {render(node, instead)}"
        case "if_statement" if not any(n.type in ("for_statement", "break_statement") for n in walk(node)):
            return f"{lane_loop(lanes)} {render(node, instead)}"
    raise NotApplicableError(f"{node.type.replace('_', ' ')} cannot be split into lanes")


def _declared(node: Node, lanes: int, instead: dict[str, str]) -> Iterator[str]:
    declarators = node.children_by_field_name("declarator")
    kind = text(node)[: declarators[0].start_byte - node.start_byte].replace("const ", "").strip()
    for one in declarators:
        name, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
        if one.type == "identifier":
            name = one
        if name is None or name.type != "identifier":
            raise NotApplicableError("the body declares variables other than scalars")
        first = render(value, instead) if value is not None else None
        instead[text(name)] = f"{text(name)}[fl_l]"
        yield f"{kind} {text(name)}[{lanes}];"
        if first is not None:
            yield f"{lane_loop(lanes)} {text(name)}[fl_l] = {first};"
