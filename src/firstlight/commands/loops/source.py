"""Source: parse a C file: its tree, the marked loops, their free names with types, and the hash of each loop."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace
from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError, Param, Pragma
from firstlight.commands.loops.names import free_names
from firstlight.commands.loops.pragma import MARK, parse
from firstlight.commands.loops.syntax import parse as parsed
from firstlight.commands.loops.syntax import text, walk
from firstlight.commands.loops.view import Place, View, hides


class Marked(msgspec.Struct, frozen=True):
    """A loop behind a pragma. `name` is unique in its file; offsets are in bytes.

    `node`: the loop, or its preprocessed form if macros do more than name a constant.
    """

    name: str  # the function's, with a number where it is not its first marked loop
    line: int
    pragma: Pragma
    node: Node
    function: Node
    begin: int  # of the pragma
    start: int  # offset of the loop
    end: int
    params: tuple[Param, ...]
    hash: str  # of the tokens, the pragma, the types and the macros of this file that it uses
    view: str = ""  # a hash of the preprocessed loop and of pragmas that act like flags, "" if no compiler was run

    @property
    def text(self) -> str:
        return text(self.node)


class Refused(msgspec.Struct, frozen=True):
    """A pragma whose loop is compiled as it is."""

    line: int
    why: str


class Source(msgspec.Struct, frozen=True):
    """A file with all its pragmas; `loops` are those that are understood, `hashes` those of all loops by name."""

    path: Path
    code: bytes
    loops: tuple[Marked, ...]
    refused: tuple[Refused, ...]
    hashes: dict[str, str] = {}


def has_pragmas(code: bytes) -> bool:
    """Return whether the code has a tune pragma; fast, because the wrapper checks every file that it compiles."""
    return b"tune" in code and MARK.search(code.decode("utf-8", "surrogateescape")) is not None


class _Found(NamedTuple):
    """A loop behind a pragma as it is in the file."""

    name: str
    line: int
    pragma: Pragma
    begin: int
    node: Node
    function: Node
    hash: str


def read(path: Path, code: bytes | None = None, command: Sequence[str] = ()) -> Source:
    """Read a file. command: a compiler with the build's flags, which expands macros and headers; none: the file alone.

    Raises OSError if the file cannot be read, BuildError if the compiler does not preprocess it.
    """
    code = path.read_bytes() if code is None else code
    found: list[_Found] = []
    loops: list[Marked] = []
    refused: list[Refused] = []
    for pragma in _pragmas(parsed(code)):
        try:
            found.append(_found(pragma, code, [one.name for one in found]))
        except NotUnderstoodError as error:
            refused.append(Refused(pragma.start_point[0] + 1, str(error)))
    view = View(command, path, code, [_place(one) for one in found]) if command and found else None
    texts: list[tuple[int, Sequence[str]]] = []
    for k, one in enumerate(found):
        try:
            loops.append(_marked(one, k, view))
            if view is not None:
                texts.append((k, [text(one.node), text(view.loop(k)[0])]))
        except NotUnderstoodError as error:
            refused.append(Refused(one.line, str(error)))
    if view is not None and loops:
        loops = list(_moved(loops, [found[k] for k, _ in texts], view, texts, refused))
    refused.sort(key=lambda one: one.line)
    return Source(path, code, tuple(loops), tuple(refused), {one.name: one.hash for one in found})


_COUNTED = re.compile(rb"^[ \t]*#[ \t]*(?:line\b|\d+)|\b__COUNTER__\b", re.MULTILINE)
"""Text whose meaning depends on the number of lines or of uses before it, which tuned code changes."""


def _place(one: _Found) -> Place:
    pragma = one.pragma
    expressions = [*pragma.extents.values(), *(e for _, low, high in pragma.ranges.values() for e in (low, high))]
    return Place(one.begin, one.node.end_byte, one.function.start_byte, tuple(expressions))


def _moved(
    loops: list[Marked],
    found: list[_Found],
    view: View,
    texts: list[tuple[int, Sequence[str]]],
    refused: list[Refused],
) -> Iterator[Marked]:
    """Yield the loops with text that may be moved: their own if macros only name constants, else the expanded text."""
    choices = [
        (k, some[1:] if _unlike(one.node, view.loop(k)[0]) else some)
        for (k, some), one in zip(texts, found, strict=True)
    ]
    chosen = view.moved(choices)
    for marked, one, (k, some) in zip(loops, found, texts, strict=True):
        if k not in chosen:
            why = "a macro in the loop has another meaning before the function: rename the macro"
            refused.append(Refused(marked.line, why))
        else:
            yield replace(marked, node=one.node) if chosen[k] == some[0] else marked


def _pragmas(root: Node) -> list[Node]:
    return [n for n in walk(root) if n.type == "preproc_call" and re.match(r"#\s*pragma\s+tune\b", text(n))]


def _unlike(loop: Node, expanded: Node) -> bool:
    """Return whether the loop in the file differs from the loop that the compiler sees in more than constants."""
    return loop.has_error or any(n.type.startswith("preproc_") for n in walk(loop)) or hides(loop, expanded)


def _found(pragma: Node, code: bytes, taken: list[str]) -> _Found:
    parsed = parse(re.sub(r"^#\s*pragma\s+tune\b", "", text(pragma)).strip())
    loop = pragma.next_named_sibling
    while loop is not None and loop.type in ("comment", "preproc_call"):
        loop = loop.next_named_sibling
    if loop is None or loop.type != "for_statement":
        raise NotUnderstoodError("`#pragma tune` does not precede a for loop: put the pragma directly before one")
    function: Node | None = loop
    while function is not None and function.type != "function_definition":
        function = function.parent
    if function is None or function.parent is None or function.parent.type not in _OUTSIDE:
        raise NotUnderstoodError("the loop is not in a top-level function of the file")
    if one := _COUNTED.search(code):
        what = one[0].decode().strip()
        raise NotUnderstoodError(f"tuned code would change the numbers that `{what}` produces: remove `{what}`")
    if any(child.type == "ERROR" for child in function.children):
        raise NotUnderstoodError(
            "the parser does not understand the declaration before the function: rewrite this declaration"
        )
    base = next(text(n) for n in walk(function.child_by_field_name("declarator") or function) if n.type == "identifier")
    count = sum(1 for name in taken if name == base or re.fullmatch(rf"{re.escape(base)}-\d+", name))
    name = base if count == 0 else f"{base}-{count + 1}"
    try:
        types = msgspec.json.encode(free_names(loop, function)).decode()
    except NotUnderstoodError as error:
        types = str(error)
    hashed = _hash(loop, parsed, types, code)
    return _Found(name, pragma.start_point[0] + 1, parsed, pragma.start_byte, loop, function, hashed)


def _marked(one: _Found, k: int, view: View | None) -> Marked:
    """Return the loop with its free names. Raises NotUnderstoodError."""
    node, seen = one.node, ""
    if view is None:
        if node.has_error:
            raise NotUnderstoodError("the parser does not understand the loop as C")
        params = free_names(one.node, one.function)
    else:
        node, function = view.loop(k)
        params = free_names(node, function, view.expressions(k), view.enumerates)
        parts = [*tokens(node), *view.expressions(k), msgspec.json.encode(params).decode(), *view.options(k)]
        seen = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    _known({*one.pragma.extents, *one.pragma.ranges}, params)
    start, end = one.node.start_byte, one.node.end_byte
    return Marked(one.name, one.line, one.pragma, node, one.function, one.begin, start, end, params, one.hash, seen)


_OUTSIDE = ("translation_unit", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "linkage_specification")


def _known(names: set[str], params: tuple[Param, ...]) -> None:
    if unknown := sorted(names - {p.name for p in params}):
        raise NotUnderstoodError(f"the pragma names {unknown[0]}, which the loop does not use")


def tokens(node: Node) -> Iterator[str]:
    """Yield the tokens that a compiler reads, without comments and blanks."""
    if node.type == "comment":
        return
    if not node.children or node.type in ("string_literal", "char_literal"):
        yield text(node)
        return
    for child in node.children:
        yield from tokens(child)


def _hash(loop: Node, pragma: Pragma, types: str, code: bytes) -> str:
    used = {text(n) for n in walk(loop) if n.type == "identifier"}
    macros = re.findall(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", code, re.MULTILINE)
    parts = [" ".join(tokens(loop)), msgspec.json.encode(pragma).decode(), types]
    parts += [f"{n.decode()} {b.decode('utf-8', 'replace').strip()}" for n, b in macros if n.decode() in used]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
