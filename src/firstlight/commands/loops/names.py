"""Names: find the free names of a loop, with the types from their declarations.

A name without a declaration in the file is a macro or a constant of a header; otherwise the compiler reports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError, Param, meaning
from firstlight.commands.loops.syntax import called, text, walk

PURE = frozenset(
    f"{name}{suffix}"
    for name in (
        *("sqrt", "cbrt", "fabs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
        *("acos", "atan", "atan2", "sinh", "cosh", "tanh", "pow", "hypot", "fmin", "fmax", "fma", "floor", "ceil"),
        *("trunc", "round", "rint", "fmod", "copysign", "erf", "erfc", "creal", "cimag", "conj", "cabs"),
        *("isnan", "isinf", "isfinite", "signbit", "inf", "nan", "huge_val"),
    )
    for suffix in ("", "f")
) | {"abs", "labs", "llabs"}
"""Functions without side effects: a loop that calls any other function may have effects outside and is left alone."""
JUMPS = ("return_statement", "goto_statement", "labeled_statement")


class _Declared(NamedTuple):
    type: str
    declarator: Node


def free_names(
    loop: Node, function: Node, more: Sequence[str] = (), constant: Callable[[str], bool] | None = None
) -> tuple[Param, ...]:
    """Return the free names, scalars first: a scalar may be the length of an array's rows. Raises NotUnderstoodError.

    more: names that the pragma uses. constant: whether an undeclared name is a constant; None for a file whose headers
    were not read, where every such name may be one.
    """
    _may_be_moved(loop)
    own = meaning.own_names(loop)
    used = list(dict.fromkeys(text(n) for n in walk(loop) if n.type == "identifier" and not called(n)))
    visible = _visible(loop)
    if twice := sorted(visible.keys() & set(meaning.outer_uses(loop, own))):
        raise NotUnderstoodError(f"{twice[0]} is declared again in the loop: use another name there")
    used += [name for name in more if name in visible and name not in used]
    known = {name: visible[name] for name in used if name in visible and name not in own}
    for _ in range(4):  # the length of a row is a free name, too
        for name in [text(n) for d in list(known.values()) for n in _sizes(d.declarator)]:
            if name in visible:
                known.setdefault(name, visible[name])
    changed = {text(_root(target)) for target in _targets(loop)}
    if lost := sorted(changed - known.keys() - own):
        raise NotUnderstoodError(
            f"{lost[0]} changes in the loop, but the parser cannot find its declaration: copy it to a local variable"
        )
    for name in used if constant is not None else ():
        if name not in known and name not in own and constant is not None and not constant(name):
            raise NotUnderstoodError(f"{name} has no declaration that the parser can find: copy it to a local variable")
    types = meaning.typedefs(meaning.root_of(loop))
    params = [_param(name, d, loop, name in changed, types) for name, d in known.items()]
    made = tuple(sorted(params, key=lambda p: p.array))
    meaning.check(loop, function, made)
    pointers = {name for name, d in known.items() if _anywhere(d.declarator, function)}
    exposed = {name for name, d in known.items() if _address_known(name, d.declarator, function, loop)}
    meaning.aliased(made, pointers, exposed, types)
    return made


def _anywhere(declarator: Node, function: Node) -> bool:
    """Return whether a variable is a pointer: declared as one, or a parameter of the function."""
    head = function.child_by_field_name("declarator")
    parameter = head is not None and head.start_byte <= declarator.start_byte < head.end_byte
    return parameter or any(n.type == "pointer_declarator" for n in walk(declarator))


def _address_known(name: str, declarator: Node, function: Node, loop: Node) -> bool:
    """Return whether code outside of the loop may know the address of a variable when the loop begins."""
    local = function.start_byte <= declarator.start_byte < function.end_byte
    declaration = declarator.parent
    storage = {text(k) for k in declaration.children if k.type == "storage_class_specifier"} if declaration else set()
    if "extern" in storage or not (local or "static" in storage):
        return True
    where = function if local else meaning.root_of(function)
    jumps = any(node.type == "labeled_statement" for node in walk(function))
    end = where.end_byte if storage or jumps else _repeated(loop, declarator)
    return any(
        node.type == "pointer_expression" and text(node).startswith("&") and name in re.findall(r"\w+", text(node))
        for node in walk(where)
        if node.start_byte < end
    )


def _repeated(loop: Node, declarator: Node) -> int:
    """Return the end of the code that may run before the loop while the variable lives: of the loops around it."""
    end, at = loop.end_byte, loop.parent
    while at is not None and at.start_byte > declarator.start_byte:
        end = at.end_byte if at.type in ("for_statement", "while_statement", "do_statement") else end
        at = at.parent
    return end


HINTS = {
    "pointer_expression": "write `x[0]` instead of `*x`, and pass no addresses",
    "field_expression": "copy members to local variables before the loop, and arrays to local pointers",
    "gnu_asm_expression": "tune a loop without assembler",
    "comma_expression": "write two statements",
}
"""Hints for constructs that the parser does not understand."""


def _may_be_moved(loop: Node) -> None:
    if "__assert_fail" in text(loop):
        raise NotUnderstoodError("assert() may end the program: compile with -DNDEBUG, or tune a loop without it")
    for node in walk(loop):
        if node.type in JUMPS:
            word = text(node).split()[0].rstrip(";")
            raise NotUnderstoodError(f"`{word}` leaves the loop: set a variable instead, or tune a loop without it")
        if node.type in HINTS:
            raise NotUnderstoodError(f"`{' '.join(text(node).split())[:40]}` is not understood: {HINTS[node.type]}")
        if node.type == "call_expression":
            function = text(node.child_by_field_name("function"))
            macro = re.search(
                rf"^[ \t]*#[ \t]*define[ \t]+{re.escape(function)}\(", text(meaning.root_of(loop)), re.MULTILINE
            )
            if function.removeprefix("__builtin_") not in PURE and not macro:
                hint = "define it as a macro, or tune a loop without it"
                raise NotUnderstoodError(f"{function}() is called, and its effects are unknown: {hint}")


def _targets(loop: Node) -> Iterator[Node]:
    """Yield the targets of assignments and updates."""
    for node in walk(loop):
        target = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
        if target is not None and (found := node.child_by_field_name(target)) is not None:
            yield found


def _root(node: Node) -> Node:
    while node.type in ("subscript_expression", "parenthesized_expression"):
        inner = node.child_by_field_name("argument") or node.named_children[0]
        node = inner
    return node


def _visible(loop: Node) -> dict[str, _Declared]:
    """Return the declarations before the loop by name; inner declarations replace outer ones."""
    scopes: list[Node] = []
    at: Node | None = loop
    while at is not None:
        scopes.append(at)
        at = at.parent
    found: dict[str, _Declared] = {}
    for scope in reversed(scopes):
        if scope.type == "function_definition":
            for p in walk(scope.child_by_field_name("declarator") or scope):
                if p.type == "parameter_declaration":
                    found |= _declarations(p)
        for child in scope.children if scope != loop else ():
            if child.type == "declaration" and child.start_byte < loop.start_byte:
                found |= _declarations(child)
            elif child.type in ("preproc_ifdef", "preproc_if") and child.start_byte < loop.start_byte:
                for inner in child.children:
                    found |= _declarations(inner) if inner.type == "declaration" else {}
    return found


def _declarations(node: Node) -> dict[str, _Declared]:
    declarators = node.children_by_field_name("declarator")
    if not declarators:
        return {}
    first = declarators[0].start_byte
    words = [text(c) for c in node.children if c.end_byte <= first and c.type != "storage_class_specifier"]
    type_text = " ".join(" ".join(words).split())
    return {text(meaning.declared_name(d)): _Declared(type_text, d) for d in declarators}


def _sizes(declarator: Node) -> Iterator[Node]:
    for node in walk(declarator):
        if node.type == "array_declarator" and (size := node.child_by_field_name("size")) is not None:
            yield from (n for n in walk(size) if n.type == "identifier")


def _param(name: str, declared: _Declared, loop: Node, written: bool, types: Mapping[str, str]) -> Param:
    kind, declarator = declared
    if re.search(r"\b(volatile|_Atomic|struct|union)\b", meaning.resolved(kind, types)):
        raise NotUnderstoodError(f"{name} has the unsupported type {kind}: use local variables of number types")
    if declarator.type == "init_declarator":
        declarator = declarator.child_by_field_name("declarator") or declarator
    shape = [n.type for n in walk(declarator) if n.type.endswith("declarator")]
    if "function_declarator" in shape or shape.count("pointer_declarator") > 1:
        raise NotUnderstoodError(
            f"{name} is declared as `{text(declarator)}`, which is not supported: use a local array or a number"
        )
    if not shape:
        return Param(name, re.sub(r"\bconst\b\s*", "", kind).strip() if written else kind, written=written)
    rows: list[str] = []
    at: Node | None = declarator
    while at is not None and at.type == "array_declarator":
        rows.insert(0, text(at.child_by_field_name("size")))
        at = at.child_by_field_name("declarator")
    pointer = "pointer_declarator" in shape
    if shape[0] == "pointer_declarator" and "array_declarator" in shape:
        raise NotUnderstoodError(
            f"{name} is an array of pointers, which is not supported: copy a row to a local pointer"
        )
    rows = rows if pointer else rows[1:]
    restrict = bool(re.search(r"\b(__)?restrict(__)?\b", text(declarator)))
    _only_by_subscripts(name, loop)
    return Param(name, kind, array=True, rows=tuple(rows), written=written, restrict=restrict)


def _only_by_subscripts(name: str, loop: Node) -> None:
    for node in walk(loop):
        if node.type == "identifier" and text(node) == name and not called(node):
            parent = node.parent
            if (
                parent is None
                or parent.type != "subscript_expression"
                or parent.child_by_field_name("argument") != node
            ):
                raise NotUnderstoodError(f"{name} is used other than by its elements: write `{name}[i]`")
