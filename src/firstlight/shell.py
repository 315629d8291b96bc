"""The shell: commands that are offered for copying, and text that is shown where it could do more than be read.

Names, reasons and outputs come from files that others may have written. Whatever is offered as a command is made by
`command`, and whatever goes to a terminal, into a page or into another tool's format passes `printable` or `visible`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

STYLES = {"strong": "1", "dim": "2", "good": "32", "warn": "33", "bad": "31"}
"""Of our own colours: the numbers of their escape codes."""
COLOURS = frozenset(f"\x1b[{number}m" for number in (*STYLES.values(), "0"))

_CODE = re.compile("\x1b\\[[0-9]{1,2}m|.", re.DOTALL)
# Control characters but tab and newline, and the marks that change the direction of what follows.
_HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def is_text(word: str) -> bool:
    """Whether it can be written as UTF-8: a name of a file may be any bytes, which Python keeps as lone surrogates."""
    return not any("\ud800" <= c <= "\udfff" for c in word)


def command(*words: object) -> str:
    """`./fl` with these words, as a shell reads them back: one line, whatever the words hold.

    A path that begins with a dash is written so that it is no option.
    """
    return f"./fl {line(words)}"


def line(words: Iterable[object]) -> str:
    """The words as a shell reads them back: on one line, whatever they hold."""
    return " ".join(map(_word, words))


def export(name: str, value: str) -> str:
    """`export NAME=value` as a shell reads it back."""
    return f"export {name}={_word(value)}"


def _word(word: object) -> str:
    text = str(word)
    if isinstance(word, Path) and text.startswith("-"):
        text = f"./{text}"
    if text.isprintable():
        return shlex.quote(text)
    escaped = (c if c.isprintable() and c not in "\\'" else _escape(c) for c in text)
    return f"$'{''.join(escaped)}'"  # as bash, zsh and ksh read it


def _escape(c: str) -> str:
    """Its bytes, of a name that is no text the ones that it has on the disk."""
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def printable(text: str, kept: Collection[str] = ()) -> str:
    """Text for a terminal: other characters than printable ones, newlines and tabs become escapes that can be read.

    `kept`: codes that stay, of `COLOURS`; foreign text can do no more with them than be coloured.
    """
    if "\x1b" not in text:
        kept = ()
    return "\n".join(line if line.isprintable() else _readable(line, kept) for line in text.split("\n"))


def _readable(line: str, kept: Collection[str]) -> str:
    parts = _CODE.findall(line) if kept else line
    return "".join(p if p in kept or p == "\t" or p.isprintable() else _ascii(p) for p in parts)


def _ascii(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def visible(text: str) -> str:
    """Text for a page: without characters that hide others or change their order."""
    return _HIDDEN.sub("\ufffd", text)


def json_text(text: str) -> str:
    """A JSON document of the same meaning, for a terminal as well."""
    return "\n".join(line if line.isprintable() else _json_line(line) for line in text.split("\n"))


def _json_line(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
