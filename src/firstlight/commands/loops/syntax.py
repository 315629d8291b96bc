"""Syntax: parse C into a tree (tree-sitter), and query any tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from tree_sitter import Language, Node, Parser

_NO_NAMES: Mapping[str, str] = {}


@cache
def _parser() -> Parser:
    import tree_sitter_c

    return Parser(Language(tree_sitter_c.language()))


def parse(code: bytes) -> Node:
    return _parser().parse(code).root_node


def text(node: Node | None) -> str:
    return node.text.decode("utf-8", "surrogateescape") if node is not None and node.text else ""


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from walk(child)


def called(node: Node) -> bool:
    """Return whether this name is the name of a called function."""
    parent = node.parent
    return parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == node


def names(node: Node) -> list[str]:
    """Return the names in an expression, each once; names of called functions are left out."""
    return list(dict.fromkeys(text(n) for n in walk(node) if n.type == "identifier" and not called(n)))


def statements(node: Node) -> list[Node]:
    """Return the statements of a block, or the one statement of a body without a block."""
    inside = node.named_children if node.type == "compound_statement" else [node]
    return [n for n in inside if n.type != "comment"]


def render(node: Node, instead: Mapping[str, str] = _NO_NAMES) -> str:
    """Return the text of a node with some names replaced."""
    begin, code, parts = node.start_byte, node.text or b"", list[bytes]()
    at = 0
    for one in walk(node):
        if one.type == "identifier" and text(one) in instead and not called(one):
            parts += [code[at : one.start_byte - begin], instead[text(one)].encode()]
            at = one.end_byte - begin
    return b"".join([*parts, code[at:]]).decode("utf-8", "surrogateescape")
