"""Unit: write the C code of a trial: golden, the candidate, and the data on parameters that the driver requires.

A unit begins with the file's text before the loop's function, so types, macros and small functions have the same
meaning as in the file.
"""

from __future__ import annotations

from tree_sitter import Node

from firstlight.commands.loops import Param, Pragma
from firstlight.commands.loops.dispatch import Apart, Version, block, functions, listed
from firstlight.commands.loops.nest import header, trip
from firstlight.commands.loops.source import Marked, Source
from firstlight.commands.loops.syntax import text


def prelude(source: Source, loop: Marked) -> str:
    before = source.code[: loop.function.start_byte].decode("utf-8", "surrogateescape")
    return before + "\n" + "#endif\n" * _open_conditions(loop.function)


def _open_conditions(function: Node) -> int:
    count, at = 0, function.parent
    while at is not None:
        count += at.type in ("preproc_if", "preproc_ifdef")
        at = at.parent
    return count


def golden(source: Source, loop: Marked, driver: str) -> str:
    """Return the golden side: its function, the probe, and everything that the driver uses."""
    p = loop.params
    rows = ",\n".join(_row(one, loop.pragma) for one in p)
    probe = render_probe(loop)
    one = header(loop.node)
    return "\n".join(
        [
            prelude(source, loop),
            f'#include "{driver}"',
            f"void fl_golden({listed(p)}) {block(p, loop.text)}",
            f"static void fl_probe({listed(p)}) {block(p, probe)}",
            f"const struct fl_param fl_params[] = {{\n{rows}\n}};",
            f"const int fl_count = {len(p)};",
            f"const long fl_step = {abs(one.step) if one else 1};",
            _call("fl_golden_call", "fl_golden", p),
            _call("fl_probe_call", "fl_probe", p),
            f"long fl_trip_call(void **fl_a) {{\n{_locals(p)}\nreturn {trip(loop.node)};\n}}",
            f"void fl_range_call(void **fl_a, long *fl_low, long *fl_high) {{\n{_locals(p)}\n{_ranges(loop)}\n}}",
        ]
    )


def candidate(
    source: Source, loop: Marked, versions: list[Version], driver: str, guarded: bool = True, apart: Apart = "none"
) -> str:
    """Return the candidate's side: exactly the dispatcher that would be kept."""
    name = "fl_candidate"
    return "\n".join(
        [
            prelude(source, loop),
            f'#include "{driver}"',
            functions(loop, name, versions, guarded, apart),
            _call("fl_candidate_call", name, loop.params),
        ]
    )


def _row(p: Param, pragma: Pragma) -> str:
    role = ("w" if p.written else "r") if p.array else ("s" if p.written else "i")
    kind = pragma.ranges.get(p.name, ("", "", ""))[0]
    size = f"sizeof({p.type})" + "".join(f" * ({row})" for row in p.rows)
    mark = {"uniform": "u", "ascending": "a"}.get(kind, "-")
    return (
        f"""{{"{p.name}", '{role}', FL_KIND(*({p.type} *)0), '{mark}', {int(p.restrict)}, {size}, """
        f"FL_UNIT({p.type})}}"
    )


def _argument(k: int, p: Param) -> str:
    if not p.array:
        return f"({p.type} *)fl_a[{k}]" if p.written else f"*({p.type} *)fl_a[{k}]"
    return f"fl_a[{k}]"


def _call(name: str, function: str, params: tuple[Param, ...]) -> str:
    handed = ", ".join(_argument(k, p) for k, p in enumerate(params))
    return f"void {name}(void **fl_a) {{\n(void)fl_a;\n{function}({handed});\n}}"


def _locals(params: tuple[Param, ...]) -> str:
    lines = ["(void)fl_a;"]
    lines += [
        f"{p.type} {p.name} = *({p.type} *)fl_a[{k}]; (void){p.name};" for k, p in enumerate(params) if not p.array
    ]
    return "\n".join(lines)


def _ranges(loop: Marked) -> str:
    lines = ["(void)fl_low; (void)fl_high;"]
    for k, p in enumerate(loop.params):
        if p.name in loop.pragma.ranges:
            _, low, high = loop.pragma.ranges[p.name]
            lines.append(f"fl_low[{k}] = (long)({low}); fl_high[{k}] = (long)({high});")
    return "\n".join(lines)


def render_probe(loop: Marked) -> str:
    """Return the golden loop with every index of a free array recorded."""
    numbers = {p.name: k for k, p in enumerate(loop.params) if p.array}

    def written(node: Node) -> str:
        data, begin = node.text or b"", node.start_byte
        parts, at = list[str](), 0
        for child in node.children:
            parts.append(data[at : child.start_byte - begin].decode("utf-8", "surrogateescape"))
            inner = written(child)
            array = text(node.child_by_field_name("argument")) if node.type == "subscript_expression" else ""
            if array in numbers and child == node.child_by_field_name("index"):
                inner = f"fl_at({numbers[array]}, {inner})"
            parts.append(inner)
            at = child.end_byte - begin
        return "".join(parts) + data[at:].decode("utf-8", "surrogateescape")

    return written(loop.node)
