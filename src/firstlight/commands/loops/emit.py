"""Emit: write the tuned file of a loop atomically, and read it only if its seal is intact.

`tuned/FILE.LOOP.FAMILY.c` is stored next to the source. It is readable C code that contains the golden loop. Its
second line is a JSON record, its last line a SHA-256 of everything before.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight.commands.loops import NotUnderstoodError
from firstlight.core import reading
from firstlight.results.store.durable import replace
from firstlight.system.process import bounded

FOLDER = "tuned"
_SEAL = "/* seal "
_IGNORED = re.compile(
    r"-f(diagnostics|no-diagnostics|file-prefix|debug-prefix|macro-prefix|pic|PIC|pie|PIE|no-pie|color)"
)


class Header(msgspec.Struct, frozen=True):
    """The wrapper's requirements of a tuned file. `build`: see `build_key`."""

    function: str
    loop: str  # the hash of the golden loop
    view: str  # the hash of the preprocessed loop
    build: str
    compiler: str
    date: str


class Tuned(msgspec.Struct, frozen=True):
    """A tuned file whose seal holds; `code` is C."""

    header: Header
    code: str


def place(source: Path, loop: str, family: str) -> Path:
    return source.parent / FOLDER / f"{source.stem}.{loop}.{family}.c"


def every(source: Path) -> list[Path]:
    """Return the tuned files of a source."""
    return beside(source, "c")


def beside(source: Path, suffix: str) -> list[Path]:
    """Return the files with this suffix that are stored for the loops and compiler families of a source."""
    name = re.compile(rf"{re.escape(source.stem)}\.[^.]+\.[^.]+\.{suffix}")  # a.c does not match a.v2.c
    folder = source.parent / FOLDER
    return sorted(path for path in folder.iterdir() if name.fullmatch(path.name)) if folder.is_dir() else []


def write(path: Path, header: Header, notes: Sequence[str], code: str) -> None:
    """Write the tuned file atomically. Raises OSError. `notes`: comment lines for the reader."""
    comment = [part for line in notes for part in (textwrap.wrap(line, 116, subsequent_indent="  ") or [""])]
    lines = ["/* Written by firstlight tune loop. Do not edit it: after any change the golden loop is compiled."]
    lines += [
        f" * {msgspec.json.encode(header).decode().replace('*/', '')}",
        " *",
        *(f" * {c.replace('*/', '')}".rstrip() for c in comment),
    ]
    body = "\n".join([*lines, " */", code])
    path.parent.mkdir(exist_ok=True)
    replace(path, f"{body}{_SEAL}{_sum(body)} */\n".encode("utf-8", "surrogateescape"))


def _sum(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()


def read(path: Path) -> Tuned:
    """Read a tuned file. Raises OSError; NotUnderstoodError if it was edited, is incomplete or of another version."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    body, found, seal = text.rpartition(_SEAL)
    if not found or seal != f"{_sum(body)} */\n":
        raise NotUnderstoodError("the seal is broken: the file was edited or is incomplete")
    try:
        header = reading.json(body.split("\n")[1].removeprefix(" * ").encode(), Header)
    except (IndexError, reading.MalformedError) as error:
        raise NotUnderstoodError("the file is from another version of firstlight") from error
    return Tuned(header, body[body.index("*/\n") + 3 :])


def build_key(cc: str, words: Sequence[str]) -> str:
    """Return a hash of what decides the code of a loop: the compiler's macros (version, processor, dialect) and flags.

    A candidate is verified with one compiler and its flags: with others it may contract or reorder otherwise.
    """
    flags = code_flags(words)
    try:
        done = bounded.run(
            [cc, *(f for f in flags if f[:2] not in ("-D", "-U")), "-dM", "-E", "-x", "c", "/dev/null"], timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    own = [line for line in done.stdout.splitlines() if not re.search(r"__(PIC|pic|PIE|pie)__", line)]
    return hashlib.sha256("\n".join([*own, *flags]).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def code_flags(words: Sequence[str]) -> list[str]:
    """Return the words of a command line that change the code of a loop; a repeated definition counts once."""
    found: list[str] = []
    undefining = any(word.startswith("-U") for word in words)
    for k, word in enumerate(words):
        if word in ("-D", "-U") and k + 1 < len(words):
            found.append(word + words[k + 1])
        elif word.startswith("-D") and word in found and not undefining:
            continue
        elif re.match(r"-(O|m|f|std=|ansi|[DU].)", word) and not _IGNORED.match(word):
            found.append(word)
    return found
