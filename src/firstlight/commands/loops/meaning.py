"""Meaning: check that a loop means the same in a function of its own, before the function that contains it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError, Param
from firstlight.commands.loops.syntax import called, text, walk

_QUALIFIERS = ("const", "signed", "unsigned", "int")
_ARITHMETIC = re.compile(rb"#[ \t]*pragma[ \t]+(STDC|clang[ \t]+fp|float_control|fenv_\w+)\b[^\n]*")
_ATTRIBUTES = re.compile(r"\b_*(optimize|optnone|target|target_clones)_*\b")


def root_of(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def declared_name(declarator: Node | None) -> Node | None:
    """Return the name of a declarator, of a variable or of a type."""
    kinds = ("identifier", "type_identifier")
    while declarator is not None and declarator.type not in kinds:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in declarator.named_children if c.type.endswith(("declarator", *kinds))), None)
        declarator = inner
    return declarator


def _names(declaration: Node) -> set[str]:
    return {text(declared_name(d)) for d in declaration.children_by_field_name("declarator")}


def own_names(loop: Node) -> set[str]:
    """Return the names that the loop declares. Raises NotUnderstoodError for one that lives longer than the loop."""
    found = set[str]()
    for node in walk(loop):
        if node.type == "declaration":
            found |= _names(node)
            for child in node.children:
                if child.type == "storage_class_specifier" and text(child) not in ("register", "auto"):
                    raise NotUnderstoodError(f"`{text(node)}` is declared in the loop: declare it before the loop")
    return found


def outer_uses(loop: Node, own: set[str]) -> Iterator[str]:
    """Yield the names among `own` that the loop also uses where its own declaration is not visible."""
    for node in walk(loop):
        if node.type == "identifier" and text(node) in own and not _inside(node, loop):
            yield text(node)


def _inside(use: Node, loop: Node) -> bool:
    name, at = text(use), use
    while at != loop and at.parent is not None:
        at = at.parent
        for child in at.children:
            if child.type == "declaration" and child.start_byte <= use.start_byte and name in _names(child):
                return True
    return False


def typedefs(root: Node) -> dict[str, str]:
    """Return the types of the file, by the names that typedefs of plain types give them."""
    found: dict[str, str] = {}
    for node in walk(root):
        if node.type == "type_definition":
            declarators = node.children_by_field_name("declarator")
            if declarators:
                words = [text(c) for c in node.children[1:] if c.end_byte <= declarators[0].start_byte]
                found |= {text(d): " ".join(words) for d in declarators if d.type == "type_identifier"}
    return found


def resolved(kind: str, types: Mapping[str, str]) -> str:
    """Return a type with the names of typedefs replaced."""
    for _ in range(20):  # typedefs of typedefs
        new = re.sub(r"[A-Za-z_]\w*", lambda word: types.get(word[0], word[0]), kind)
        if new == kind:
            break
        kind = new
    return kind


def check(loop: Node, function: Node, params: tuple[Param, ...]) -> None:
    """Raise NotUnderstoodError if something in the file changes the meaning of the loop when it is moved."""
    root = root_of(loop)
    calls = {text(n) for n in walk(loop) if n.type == "identifier" and called(n)}
    name = text(declared_name(function.child_by_field_name("declarator")))
    for node in walk(root):
        if node.type not in ("function_definition", "declaration"):
            continue
        body = node.child_by_field_name("body")
        defined = text(declared_name(node.child_by_field_name("declarator")))
        if body is not None and defined in calls:
            raise NotUnderstoodError(f"{defined}() is called and defined in this file: define it as a macro instead")
        for part in walk(node) if defined == name else ():
            if part.type in ("attribute_specifier", "attribute_declaration") and (
                found := _ATTRIBUTES.search(text(part))
            ):
                raise NotUnderstoodError(
                    f"{name} has the attribute `{found[1]}`: tune a loop in a function without this attribute"
                )
    before = (function.text or b"")[: loop.start_byte - function.start_byte]
    if pragma := _ARITHMETIC.search(before):
        raise NotUnderstoodError(f"`{pragma[0].decode()}` is inside the function: move it before the function")
    words = set(re.findall(r"\w+", " ".join([text(loop), *(f"{p.type} {' '.join(p.rows)}" for p in params)])))
    for node in walk(function):
        if node.start_byte < loop.start_byte and (again := _local(node) & words):
            raise NotUnderstoodError(f"{min(again)} is declared in the function: declare it before the function")


def _local(node: Node) -> set[str]:
    """Return the types and constants that a node declares."""
    if node.type == "type_definition":
        return _names(node)
    if node.type == "enumerator" or (node.type == "enum_specifier" and node.child_by_field_name("body") is not None):
        return {text(node.child_by_field_name("name"))}
    return set()


def aliased(params: tuple[Param, ...], pointers: set[str], exposed: set[str], types: Mapping[str, str]) -> None:
    """Raise NotUnderstoodError if a number may be an element of an array and one of them is changed.

    A function of its own has a copy of the number. pointers: arrays that may be anywhere in memory; exposed: numbers
    whose addresses may be known elsewhere.
    """
    for one in params:
        for array in params:
            if one.array or one.name not in exposed or array.name not in pointers or array.restrict:
                continue
            if (one.written or array.written) and _alike(resolved(one.type, types), resolved(array.type, types)):
                why = f"{one.name} may be an element of {array.name}: copy it to a local variable before the loop"
                raise NotUnderstoodError(why)


def _alike(a: str, b: str) -> bool:
    one, other = (
        Counter(w for w in re.findall(r"\w+", re.sub(r"\benum\s+\w+", "", kind)) if w not in _QUALIFIERS)
        for kind in (a, b)
    )
    return one == other or Counter(["char"]) in (one, other)
