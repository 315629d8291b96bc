"""Source: a C file as a parse tree, the marked loops in it, their free names with types, and the hash of a loop."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from tree_sitter import Node

from firstlight.loops import NotUnderstoodError, Param, Pragma
from firstlight.loops.names import free_names
from firstlight.loops.pragma import MARK, parse
from firstlight.loops.syntax import parse as parsed
from firstlight.loops.syntax import text, walk


class Marked(msgspec.Struct, frozen=True):
    """A loop behind a pragma. `name` is unique in its file; offsets are those of bytes."""

    name: str  # the function's, with a number where it is not its first marked loop
    line: int
    pragma: Pragma
    node: Node
    function: Node
    begin: int  # of the pragma
    params: tuple[Param, ...]
    hash: str  # of the tokens, the pragma, the types and the macros of this file that it uses

    @property
    def end(self) -> int:
        return self.node.end_byte

    @property
    def text(self) -> str:
        return text(self.node)


class Refused(msgspec.Struct, frozen=True):
    """A pragma whose loop is compiled as it is."""

    line: int
    why: str


class Source(msgspec.Struct, frozen=True):
    """A file with all its pragmas; `loops` are those that are understood."""

    path: Path
    code: bytes
    loops: tuple[Marked, ...]
    refused: tuple[Refused, ...]


def has_pragmas(code: bytes) -> bool:
    """Cheap: asked of every file that the wrapper compiles."""
    return b"tune" in code and MARK.search(code.decode("utf-8", "surrogateescape")) is not None


def read(path: Path, code: bytes | None = None) -> Source:
    """Raises OSError where the file cannot be read."""
    code = path.read_bytes() if code is None else code
    loops: list[Marked] = []
    refused: list[Refused] = []
    for pragma in _pragmas(parsed(code)):
        line = pragma.start_point[0] + 1
        try:
            loops.append(_marked(pragma, code, [one.name for one in loops]))
        except NotUnderstoodError as error:
            refused.append(Refused(line, str(error)))
    return Source(path, code, tuple(loops), tuple(refused))


def _pragmas(root: Node) -> list[Node]:
    return [n for n in walk(root) if n.type == "preproc_call" and re.match(r"#\s*pragma\s+tune\b", text(n))]


def _marked(pragma: Node, code: bytes, taken: list[str]) -> Marked:
    said = parse(re.sub(r"^#\s*pragma\s+tune\b", "", text(pragma)).strip())
    loop = pragma.next_named_sibling
    while loop is not None and loop.type == "comment":
        loop = loop.next_named_sibling
    if loop is None or loop.type != "for_statement":
        raise NotUnderstoodError("what follows `#pragma tune` is no for loop")
    if loop.has_error:
        raise NotUnderstoodError("the loop is no C that the parser understands")
    function: Node | None = loop
    while function is not None and function.type != "function_definition":
        function = function.parent
    if function is None or function.parent is None or function.parent.type not in _OUTSIDE:
        raise NotUnderstoodError("the loop stands in no function at the top of the file")
    params = free_names(loop, function)
    _known({*said.extents, *said.ranges}, params)
    base = next(text(n) for n in walk(function.child_by_field_name("declarator") or function) if n.type == "identifier")
    count = sum(1 for name in taken if name == base or re.fullmatch(rf"{re.escape(base)}-\d+", name))
    name = base if count == 0 else f"{base}-{count + 1}"
    return Marked(
        name,
        pragma.start_point[0] + 1,
        said,
        loop,
        function,
        pragma.start_byte,
        params,
        _hash(loop, said, params, code),
    )


_OUTSIDE = ("translation_unit", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "linkage_specification")


def _known(names: set[str], params: tuple[Param, ...]) -> None:
    if unknown := sorted(names - {p.name for p in params}):
        raise NotUnderstoodError(f"the pragma speaks of {unknown[0]}, which the loop does not use")


def tokens(node: Node) -> Iterator[str]:
    """What a compiler would read: no comment and no blank."""
    if node.type == "comment":
        return
    if not node.children or node.type in ("string_literal", "char_literal"):
        yield text(node)
        return
    for child in node.children:
        yield from tokens(child)


def _hash(loop: Node, pragma: Pragma, params: tuple[Param, ...], code: bytes) -> str:
    used = {text(n) for n in walk(loop) if n.type == "identifier"}
    macros = re.findall(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", code, re.MULTILINE)
    parts = [" ".join(tokens(loop)), msgspec.json.encode(pragma).decode()]
    parts += [msgspec.json.encode(p).decode() for p in params]
    parts += [f"{n.decode()} {b.decode('utf-8', 'replace').strip()}" for n, b in macros if n.decode() in used]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
