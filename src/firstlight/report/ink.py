"""Ink: the colours of the terminal pages, and lines wrapped to their width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from firstlight.core.shell import COLOURS, STYLES, printable

_JOINED = "\0"  # a space at which no line may end: a command that is copied from a page must work


class Ink:
    """Colour as a second signal: every line reads the same without it."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def page(self, lines: Iterable[str]) -> str:
        """Return the lines as printable text; only colour codes remain, because records contain programs' output."""
        return printable("\n".join(lines), COLOURS if self.colour else ())


def wrap(text: str, width: int, first: str, rest: str) -> list[str]:
    """Wrap a text between words: names, paths and `commands in backquotes` stay whole, also if longer than a line."""
    whole = re.sub(r"`[^`\n]*`", lambda found: found[0].replace(" ", _JOINED), text)
    lines = textwrap.wrap(
        whole, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )
    return [line.replace(_JOINED, " ") for line in lines] or [first.rstrip()]


def hanging(text: str, width: int) -> list[str]:
    """Wrap a sentence of a page within two columns on each side; its later lines begin two columns further in."""
    return wrap(text, width - 2, "  ", "    ")
