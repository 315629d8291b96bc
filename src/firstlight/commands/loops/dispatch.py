"""Dispatch: write golden, the candidates and their dispatcher in C; this code is compiled in a trial and kept.

A candidate runs for the trip counts that it was made for, and only if its assumption is true: arrays do not overlap.
For trip counts below and above, golden runs after one comparison.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError, Param
from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.nest import header, trip
from firstlight.commands.loops.source import Marked
from firstlight.commands.loops.syntax import text, walk

Apart = Literal["none", "candidates", "all"]
APART: tuple[Apart, ...] = ("none", "candidates", "all")
"""Functions that are not inlined, in the order of the trials: a call adds 1 to 2 ns, inlining may slow a loop more."""


class Version(msgspec.Struct, frozen=True):
    """A candidate in the dispatcher: for trip counts from `low` on, up to those of the next one. None: golden."""

    low: int
    piece: Piece | None
    comment: str = ""  # what was changed, and the result


def piece(loop: Marked, family: str) -> Piece:
    """Return the golden loop as a piece for changes."""
    return Piece(loop.text, loop.params, family, loop.pragma.reassoc)


def identifier(path_stem: str, loop: str) -> str:
    return re.sub(r"\W", "_", f"fl_{path_stem}_{loop}")


def functions(loop: Marked, name: str, versions: list[Version], guarded: bool = True, apart: Apart = "none") -> str:
    """Return golden, the candidates and the dispatcher `name` in C.

    apart: the functions that are not inlined into the dispatcher, where they would share registers and be compiled
    together. guarded: False omits the overlap checks; only tests set it.
    """
    alone = "__attribute__((noinline)) "
    golden = alone if apart == "all" else ""
    definitions = [f"static {golden}void {name}_golden({listed(loop.params)}) {block(loop.params, loop.text)}"]
    called: list[tuple[Piece, str]] = []
    ways: list[tuple[Version, str]] = []
    for k, version in enumerate(versions):
        one = version.piece
        function = next((f for piece, f in called if piece == one), f"{name}_{k}" if one else "")
        ways.append((version, function))
        if one is None or (one, function) in called:
            continue
        called.append((one, function))
        attributes = "".join(f"{a} " for a in one.attributes) + ("" if apart == "none" else alone)
        comment = f"/* {version.comment} */\n" if version.comment else ""
        head = f"{comment}static {attributes}void {function}({listed(one.params, one.restrict)})"
        definitions.append(f"{head} {block(one.params, one.code, one.opening)}")
    definitions.append(f"static void {name}({listed(loop.params)}) {_dispatch(loop, name, ways, guarded)}")
    return "\n\n".join(map(indented, definitions)) + "\n"


def indented(code: str) -> str:
    """Return the code indented by the depth of braces and brackets."""
    lines, depth = [], 0
    for line in map(str.strip, code.split("\n")):
        opened = line.count("{") + line.count("(")
        closed = line.count("}") + line.count(")")
        begins = len(line) - len(line.lstrip("})"))
        lines.append(line if line.startswith("#") else ("  " * (depth - begins) + line).rstrip())
        depth += opened - closed
    return "\n".join(lines)


def listed(params: tuple[Param, ...], restrict: bool = False) -> str:
    return ", ".join(p.declared(restrict) for p in params) or "void"


def block(params: tuple[Param, ...], code: str, opening: tuple[str, ...] = ()) -> str:
    scalars = [p for p in params if p.written and not p.array]
    lines = [*(line for line in opening if line.startswith("#"))]  # a pragma comes first in its block
    lines += [f"{p.type} {p.name} = *fl_{p.name};" for p in scalars]
    lines += [line for line in opening if not line.startswith("#")]
    lines += [code, *(f"*fl_{p.name} = {p.name};" for p in scalars)]
    return "{\n" + "\n".join(lines) + "\n}"


def _range(loop: Marked, ways: list[tuple[Version, str]]) -> list[str]:
    """Return the tests that the dispatcher makes first: whether a candidate exists for the trip count."""
    pragma = loop.pragma
    tests = [f"fl_trip >= {max(pragma.low, ways[0][0].low)}"]
    tests += [f"fl_trip <= {pragma.high}"] if ways[-1][1] else [f"fl_trip < {ways[-1][0].low}"]
    tests += ["fl_trip % 2 == 0"] if pragma.even else []
    return tests + (["(fl_trip & (fl_trip - 1)) != 0"] if pragma.not_pow2 else [])


def _guard(loop: Marked, one: Piece, guarded: bool) -> str:
    return "\n&& ".join(disjoint(loop, must=one.restrict)) if guarded else ""


def _dispatch(loop: Marked, name: str, ways: list[tuple[Version, str]], guarded: bool) -> str:
    ways = ways[next((k for k, (_, function) in enumerate(ways) if function), len(ways)) :]
    if not ways:
        return f"{{\n{name}_golden({_handed(loop)});\n}}"
    lines = [f"const long fl_trip = {trip(loop.node)};", f"if ({' && '.join(_range(loop, ways))}) {{"]
    for k, (version, function) in enumerate(ways):
        below = f"if (fl_trip < {ways[k + 1][0].low}) " if k + 1 < len(ways) else ""
        inside = ""
        if version.piece is not None:
            call = f"{{\n{function}({_handed(loop)});\nreturn;\n}}"
            guard = _guard(loop, version.piece, guarded)
            inside = f"if ({guard}) {call}" if guard else call
        lines.append(f"{'else ' if k else ''}{below}{{\n{inside}\n}}")
    used = set(re.findall(r"\w+", " ".join(lines)))
    first = [f"{p.type} {p.name} = *fl_{p.name};" for p in loop.params if p.written and not p.array and p.name in used]
    return "{\n" + "\n".join([*first, *lines, "}", f"{name}_golden({_handed(loop)});"]) + "\n}"


def _handed(loop: Marked) -> str:
    return ", ".join(f"fl_{p.name}" if p.written and not p.array else p.name for p in loop.params)


def disjoint(loop: Marked, must: bool = False) -> list[str]:
    """Return C expressions that are true if no written array shares an element with another array.

    Only pairs with known extents are tested: from the pragma, or because every index is the loop variable plus a
    constant. `must`: raise NotUnderstoodError if an extent is unknown.
    """
    tests = []
    arrays = [p for p in loop.params if p.array]
    for k, a in enumerate(arrays):
        for b in arrays[k + 1 :]:
            if not (a.written or b.written) or a.restrict or b.restrict:
                continue
            one, other = extent(loop, a), extent(loop, b)
            if one is None or other is None:
                if must:
                    unknown = a.name if one is None else b.name
                    raise NotUnderstoodError(
                        f"the length of {unknown} is unknown: add extent({unknown}, N) to the pragma"
                    )
                continue
            tests.append(f"((char *)({other[1]}) <= (char *)({one[0]}) || (char *)({one[1]}) <= (char *)({other[0]}))")
    return tests


def extent(loop: Marked, array: Param) -> tuple[str, str] | None:
    """Return the addresses of an array's first element and behind its last one, as C; None if they are unknown."""
    if array.name in loop.pragma.extents:
        return array.name, f"{array.name} + ({loop.pragma.extents[array.name]})"
    one = header(loop.node)
    if one is None:
        return None
    offsets = []
    for node in walk(one.body):
        if node.type == "subscript_expression" and text(node.child_by_field_name("argument")) == array.name:
            found = _offset(node.child_by_field_name("index"), one.var)
            if found is None:
                return None
            offsets.append(found)
    if not offsets:
        return None
    first, last = (one.init, one.bound) if one.step > 0 else (one.bound, one.init)
    behind = 1 if one.op in ("<=", ">=") or one.step < 0 else 0
    return f"{array.name} + ({first}) + ({min(offsets)})", f"{array.name} + ({last}) + ({max(offsets) + behind})"


def _offset(index: Node | None, var: str) -> int | None:
    found = re.fullmatch(rf"{re.escape(var)}(?:([+-])(\d{{1,9}}))?", re.sub(r"\s", "", text(index)))
    return None if found is None else int((found[1] or "") + (found[2] or "0"))
