"""View: the marked loops of a file as its compiler sees them, with macros expanded and headers included.

The preprocessor runs twice on a copy with marks around each loop. The first run shows the loops; the second shows that
the text that moves before the loop's function has the same meaning there.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tree_sitter import Node

from firstlight.commands.loops import NotUnderstoodError
from firstlight.commands.loops.syntax import parse, text, walk
from firstlight.core.errors import BuildError
from firstlight.system.process import bounded

PATIENCE = 600.0
OBEYED = ("GCC", "clang", "STDC", "(no)?unroll(_and_jam)?", "float_control", r"fenv_\w+")
"""Pragmas that GCC or Clang obey at a loop; `#pragma ivdep` and `simd` belong to other compilers."""
WITH_FLAG = {"-fopenmp": "omp", "-fopenacc": "acc"}
_OPTION = re.compile(
    rb"^[ \t]*#[ \t]*pragma[ \t]+((?:GCC[ \t]+(?:optimize|target|\w+_options)|clang[ \t]+(?:fp|optimize|attribute)|STDC"
    rb"|float_control|fenv_\w+)\b.*)",
    re.MULTILINE,
)
"""Pragmas that act like flags of the compiler on the functions after them."""


class Place(msgspec.Struct, frozen=True):
    """A marked loop in its file: offsets in bytes of the pragma, of the loop's end and of the function, and the
    expressions of the pragma.
    """

    begin: int
    end: int
    function: int
    expressions: tuple[str, ...]


class View:
    """A file as the preprocessor shows it. Raises BuildError if the preprocessor rejects the file."""

    def __init__(self, command: Sequence[str], path: Path, code: bytes, places: Sequence[Place]) -> None:
        self.command, self.path, self.code, self.places = command, path, code, places
        inserted: list[tuple[int, str]] = []
        for k, place in enumerate(places):
            inserted.append((place.begin, f"fl_begin_{k}_\n"))
            more = " ".join(place.expressions)
            inserted.append((place.end, f" fl_end_{k}_ {more} fl_more_{k}_ "))
        self.output = self._preprocessed(inserted)
        self.root = parse(re.sub(rb"fl_(?:begin|end|more)_\d+_", lambda m: b" " * len(m[0]), self.output))

    def _preprocessed(self, inserted: list[tuple[int, str]]) -> bytes:
        parts, at = list[bytes](), 0
        for offset, new in sorted(inserted):
            parts += [self.code[at:offset], new.encode("utf-8", "surrogateescape")]
            at = offset
        with tempfile.TemporaryDirectory(prefix="firstlight-view-") as folder:
            copy = Path(folder) / self.path.name
            copy.write_bytes(b"".join([*parts, self.code[at:]]))
            words = [*self.command, f"-iquote{self.path.parent}", "-w", "-E", "-P", str(copy)]
            try:
                done = bounded.run(words, timeout=PATIENCE)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise BuildError(f"{self.command[0]} does not preprocess {self.path}: {error}") from error
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or [
                "the compiler fails without a message"
            ]
            raise BuildError(f"{self.command[0]} does not preprocess {self.path}: {lines[0].replace(str(copy), '')}")
        shown = re.sub(r"^[ \t]*#(?![ \t]*pragma\b)[^\n]*", "", done.stdout, flags=re.MULTILINE)  # -g3 shows macros
        obeyed = "|".join([*OBEYED, *(word for flag, word in WITH_FLAG.items() if flag in " ".join(self.command))])
        shown = re.sub(rf"^[ \t]*#[ \t]*pragma[ \t]+(?!({obeyed})\b)[^\n]*", "", shown, flags=re.MULTILINE)
        return shown.encode("utf-8", "surrogateescape")

    def loop(self, k: int) -> tuple[Node, Node]:
        """Return the loop of a place, and the function around it."""
        begin, end = self.output.find(b"fl_begin_%d_" % k), self.output.find(b" fl_end_%d_" % k)
        if begin < 0 or end < begin:
            raise NotUnderstoodError("these flags exclude the loop from compilation")
        if (self.output[:begin].rstrip().split(b"\n")[-1].lstrip()).startswith(b"#"):
            raise NotUnderstoodError(
                "another pragma precedes `#pragma tune`: remove the other pragma or move it into the loop body"
            )
        begin += len(b"fl_begin_%d_" % k)
        inside = self.output[begin:end]
        if b"#pragma" in inside.replace(b"# pragma", b"#pragma"):
            raise NotUnderstoodError("the loop contains another pragma: remove that pragma")
        first = begin + len(inside) - len(inside.lstrip())
        last = begin + len(inside.rstrip())
        node = self.root.named_descendant_for_byte_range(first, last)
        function = node
        while function is not None and function.type != "function_definition":
            function = function.parent
        if node is None or (node.type, node.start_byte, node.end_byte) != ("for_statement", first, last):
            raise NotUnderstoodError(
                "the loop is not a single for loop after macro expansion: write the loop without these macros"
            )
        if node.has_error or function is None:
            raise NotUnderstoodError("the parser does not understand the loop after macro expansion")
        return node, function

    def _tokens(self, k: int) -> list[str]:
        """Return the tokens of the expressions of the pragma of a place."""
        begin, end = (self.output.find(b"fl_%s_%d_" % (mark, k)) for mark in (b"end", b"more"))
        return tokens(self.output[begin:end].decode("utf-8", "surrogateescape"))[1:]

    def expressions(self, k: int) -> list[str]:
        """Return the names in the expressions of the pragma of a place."""
        return [word for word in self._tokens(k) if re.match(r"[A-Za-z_]", word)]

    def options(self, k: int) -> list[str]:
        """Return the pragmas that act like flags at a place, without those between a push and its pop."""
        found, pushed = list[str](), list[int]()
        for pragma in _OPTION.findall(self.output[: self.output.find(b"fl_begin_%d_" % k)]):
            words = tokens(pragma.decode("utf-8", "surrogateescape"))
            if {"pop", "pop_options"} & set(words):
                del found[pushed.pop() if pushed else 0 :]
                continue
            if {"push", "push_options"} & set(words):
                pushed.append(len(found))
            found.append(" ".join(words))
        return found

    def enumerates(self, name: str) -> bool:
        pattern = rb"\benum\b[^;{]*\{[^}]*\b" + name.encode("utf-8", "surrogateescape") + rb"\b"
        return re.search(pattern, self.output) is not None

    def moved(self, chosen: Sequence[tuple[int, Sequence[str]]]) -> dict[int, str]:
        """Return, by place, the first text that has the loop's own meaning when it is before the loop's function."""
        inserted = []
        for k, texts in chosen:
            more = " ".join(self.places[k].expressions)
            for n, one in enumerate(texts):
                inserted.append((self.places[k].function, f"\nfl_text_{k}_{n}_ {one} {more} fl_last_{k}_{n}_\n"))
        output, found = self._preprocessed(inserted), dict[int, str]()
        for k, texts in chosen:
            wanted = tokens(text(self.loop(k)[0])) + self._tokens(k)
            for n, one in enumerate(texts):
                begin, end = (output.find(b"fl_%s_%d_%d_" % (mark, k, n)) for mark in (b"text", b"last"))
                shown = output[begin:end].decode("utf-8", "surrogateescape")
                if begin >= 0 and tokens(shown)[1:] == wanted:
                    found.setdefault(k, one)
        return found


def tokens(code: str) -> list[str]:
    return re.findall(r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'|\w+|\S", code)


def hides(loop: Node, expanded: Node) -> bool:
    """Return whether the macros of a loop are more than constants: they name variables, or access something."""
    names, shown = (Counter(text(n) for n in walk(node) if n.type == "identifier") for node in (loop, expanded))
    return not shown <= names or _touched(loop) != _touched(expanded)


def _touched(loop: Node) -> list[str]:
    some = ("subscript_expression", "assignment_expression", "update_expression", "call_expression", "declaration")
    found = []
    for node in walk(loop):
        if node.type in some[1:3]:
            target = node.child_by_field_name("left") or node.child_by_field_name("argument")
            found.append(" ".join(tokens(text(target))))
        elif node.type in some:
            found.append(" ".join(tokens(text(node))))
    return found
