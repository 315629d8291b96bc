"""Documents: a user's files that programs read, kept in a run under a name that identifies their content.

`mine.xyz-0123456789abcdef`: the file's own name, without its folder, and a hash of its content. The programs' harness
makes the same names (native/harness/src/document.cpp).
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from firstlight.core import shell
from firstlight.model.catalogue import Value
from firstlight.model.plan.settings import Settings

FOLDER = "documents"
"""The folder of a run that contains its documents."""
MAX_BYTES = 64 << 20
BY_BYTES = 1 << 20
"""Files up to this size are hashed byte by byte, larger ones eight bytes at a time, for Python is slow."""
NAME = re.compile(r"([A-Za-z0-9._-]{1,60})-([0-9a-f]{16})")
_OTHER = re.compile(rb"[^A-Za-z0-9._-]")


class Document(NamedTuple):
    name: str
    content: bytes


def of(path: str, content: bytes) -> Document:
    """Return the document of a file. A document that a run kept keeps its name."""
    last = path.encode("utf-8", "surrogateescape").rpartition(b"/")[2]
    known = NAME.fullmatch(last.decode("ascii", "replace"))
    if known and known[2] == _hash(content):
        return Document(known[0], content)
    return Document(f"{_OTHER.sub(b'_', last[:60]).decode()}-{_hash(content)}", content)


def is_name(text: str) -> bool:
    return NAME.fullmatch(text) is not None


def is_document(value: Value | None) -> bool:
    """Return whether the value of a parameter is the name of a document."""
    return isinstance(value, str) and is_name(value)


def named(settings: Settings) -> set[str]:
    """Return the documents among the values of a run's settings."""
    given = (v for of_one in settings.values() for values in of_one.values() for v in values)
    return {v for v in given if isinstance(v, str) and is_document(v)}


def file_name(name: str) -> str:
    """Return the name of the file that has become a document: mine.xyz."""
    return name[:-17]


def named_settings(settings: Mapping[str, Sequence[Value]]) -> tuple[str, ...]:
    """Return settings as words, each file by its own name: the folder of a user's file is private."""
    return tuple(f"{name}={','.join(map(shown, some))}" for name, some in settings.items())


def typed(settings: Mapping[str, Sequence[Value]], run: str) -> tuple[str, ...]:
    """Return settings of a run as words of a command that works, each file by the path of its copy in the run.

    Other users may have written the run: no word names a file in another folder.
    """
    folder = shell.call().runs / run / FOLDER

    def path(value: Value) -> str:
        text = str(value)
        return str(folder / text) if is_name(text) else text.rpartition("/")[2]

    return tuple(f"{name}={','.join(map(path, some))}" for name, some in settings.items())


def shown(value: Value) -> str:
    """Return a value as users write it: a document by the name of its file."""
    return file_name(value) if isinstance(value, str) and is_name(value) else str(value)


def fits(name: str, content: bytes) -> bool:
    """Return whether the content of a document fits its name."""
    return name[-16:] == _hash(content)


def _hash(content: bytes) -> str:
    """Return the 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo), which distinguishes files with the same name.

    Large files are hashed by words, the last filled with zeros. A shift also moves differences at the top of a word
    down.
    """
    found, prime, mask = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF
    if len(content) <= BY_BYTES:
        for byte in content:
            found = (found ^ byte) * prime & mask
        return f"{found:016x}"
    words = array("Q", content + bytes(-len(content) % 8))
    if sys.byteorder == "big":
        words.byteswap()
    found ^= len(content)
    for word in words:
        found = (found ^ word) * prime & mask
        found ^= found >> 32
    return f"{found:016x}"
