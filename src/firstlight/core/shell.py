"""The shell: commands that users copy, and foreign text made safe for terminals and pages.

Every package writes a hint as `./fl COMMAND ...`, and `as_typed` makes it work for the user, on a terminal and on a
page: with the name by which this firstlight was called, its global options and its results folder.

Names, reasons and outputs come from files that others may have written. `command` therefore quotes every command that
is shown, and all text for a terminal, a page or another tool's format passes `printable` or `visible`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from firstlight import INSTALLED

STYLES = {"strong": "1", "dim": "2", "good": "32", "warn": "33", "bad": "31"}
"""The numbers of the escape codes of our own colours."""
COLOURS = frozenset(f"\x1b[{number}m" for number in (*STYLES.values(), "0"))

_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile("\x1b\\[[0-9]{1,2}m|.", re.DOTALL)
# Control characters but tab and newline, and the marks that change the direction of what follows.
_HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Call(NamedTuple):
    """The way firstlight was called. `name`: quoted for a shell; `options`: those before the command.

    `results`: the folder of the runs, None if it is the default of the commands; `runs`: the same folder, also if it is
    the default. `with_results`: the commands that have `--results`, such as `run` or `export junit`.

    `quiet`: print only results and errors. `verbose`: also print the commands that are launched.
    """

    name: str = "firstlight" if INSTALLED else "./fl"
    options: tuple[str, ...] = ()
    results: Path | None = None
    with_results: frozenset[str] = frozenset()
    runs: Path = Path("results")
    quiet: bool = False
    verbose: bool = False


_PLAIN = Call()
_CALL: ContextVar[Call] = ContextVar("call", default=_PLAIN)
_GLOBAL = r"(?: --(?:site-file|modules|launcher|target|name)(?: '[^']*'| [^\s'`;]+))"
_HINT = re.compile(rf"(?<![\w./-])\./fl(?=[\s`;,.)]|$)({_GLOBAL}*)((?: [a-z]+){{0,2}})")
_END_OF_HINT = re.compile(r"[`;]|\n")


def call() -> Call:
    """Return the way firstlight was called."""
    return _CALL.get()


def calling(call: Call) -> None:
    """Keep the way firstlight was called, for all later hints."""
    _CALL.set(call)


def as_typed(text: str, escape: Callable[[str], str] = str) -> str:
    """Return the text with its hints as this user must type them. `escape`: for the page that contains the text."""
    if "./fl" not in text:
        return text
    now = _CALL.get()
    start = " ".join([now.name, *map(_word, now.options)])

    def hint(found: re.Match[str]) -> str:
        words, before = found[2].split(), start + found[1]
        known = next((k for k in (1, 2) if " ".join(words[:k]) in now.with_results and len(words) >= k), 0)
        rest = _END_OF_HINT.split(text[found.start() + len("./fl") :], maxsplit=1)[0]
        if not known or now.results is None or "--results" in rest or _has_path(rest, now.results):
            return escape(start) + found[0].removeprefix("./fl")
        folder = f"--results {_word(now.results)}"
        return escape(" ".join([before, *words[:known], folder, *words[known:]]))

    return _HINT.sub(hint, text)


def _has_path(words: str, folder: Path) -> bool:
    """Return whether a word of a command begins with the folder; the value of a setting does not count."""
    return re.search(rf"(?:\s|'|&#39;|\./){re.escape(str(folder))}/", words) is not None


def is_text(word: str) -> bool:
    """Return whether UTF-8 can encode the word: Python keeps other bytes of a file name as lone surrogates."""
    return not any("\ud800" <= c <= "\udfff" for c in word)


def command(*words: object) -> str:
    """Return `./fl` with these words, quoted for a shell, on one line.

    A path that begins with a dash is prefixed with `./`, so that it is not an option.
    """
    return f"./fl {line(words)}"


def line(words: Iterable[object]) -> str:
    """Return the words on one line, quoted for a shell."""
    return " ".join(map(_word, words))


def export(name: str, value: str) -> str:
    """Return `export NAME=value`, quoted for a shell."""
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
    """Escape the bytes of a character; for a lone surrogate, the byte of the file name on the disk."""
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def printable(text: str, kept: Collection[str] = ()) -> str:
    """Return text for a terminal: characters other than printable ones, newlines and tabs become readable escapes.

    `kept`: codes of `COLOURS` that stay; foreign text can use them only to change its colour.
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
    """Return text for a page: characters that hide others or change their order become U+FFFD.

    Bytes of a file name that are not UTF-8 become the same escapes as on a terminal.
    """
    return _SURROGATE.sub(lambda found: _ascii(found[0]), _HIDDEN.sub("\ufffd", text))


def json_text(text: str) -> str:
    """Return a JSON document with the same meaning that is safe on a terminal."""
    return "\n".join(line if line.isprintable() else _json_line(line) for line in text.split("\n"))


def _json_line(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
