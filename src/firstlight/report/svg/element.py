"""Element: write SVG elements with escaped text, rounded numbers and the colours of the page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from firstlight.core.shell import visible

LETTER = 0.56  # average width of a character, as a share of the font size
NAMED = {"@ink": "var(--ink)", "@muted": "var(--muted)", "@ghost": "var(--ghost)", "@paper": "var(--paper)"}
_TAG = re.compile(r"</?(?:b|i|sub|sup|extra)>")
_BREAK = re.compile(r"<br ?/?>")
_CONTROL = re.compile(r"[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MICRO = re.compile(r"(?<![\w/])us\b")
_POWER = re.compile(r"(?<=[0-9])\^(-?[0-9]+)\b")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def raised(number: int) -> str:
    """Return the number as an exponent in type."""
    return str(number).translate(_RAISED)


def plain(label: object) -> str:
    """Return the text of a label: its line breaks as newlines, without tags, entities and control characters."""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", str(label))))
    return _CONTROL.sub("\ufffd", visible(typeset(text)))


def typeset(text: str) -> str:
    """Return a text with `us` as µs and `8^3` as 8³."""
    return _MICRO.sub("µs", _POWER.sub(lambda m: raised(int(m[1])), text))


def escaped(text: str) -> str:
    """Return plain text as the content of an element or of an attribute."""
    return html.escape(text, quote=True)


def number(value: float) -> str:
    """Return a coordinate, rounded to a tenth of a pixel."""
    return (
        f"{value:.1f}".removesuffix(".0").replace("-0", "0") if abs(value) < 0.05 else f"{value:.1f}".removesuffix(".0")
    )


def tag(name: str, *content: str, **attributes: object) -> str:
    """Return an element; attributes that are None are left out, and `_` in their names becomes `-`."""
    own = "".join(
        f' {key.strip("_").replace("_", "-")}="{number(v) if isinstance(v, float) else escaped(str(v))}"'
        for key, v in attributes.items()
        if v is not None
    )
    inner = "".join(content)
    return f"<{name}{own}>{inner}</{name}>" if inner else f"<{name}{own}/>"


def titled(hover: str) -> str:
    """Return the `<title>` of a mark, or nothing."""
    return f"<title>{escaped(hover)}</title>" if hover else ""


def paint(colour: str) -> str:
    """Return a colour of a drawing as CSS. Raises ValueError if it is neither `#RRGGBB` nor one of the page."""
    if colour in NAMED:
        return NAMED[colour]
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        raise ValueError(f"a drawing has the unknown colour {colour!r}")
    return colour


def width(text: str, size: float = 11) -> float:
    """Return the estimated width of the widest line of a text, in pixels."""
    return max(len(line) for line in text.split("\n")) * LETTER * size


def words(
    x: float, y: float, text: str, anchor: str = "start", size: float = 11, fill: str = "@ink", **more: object
) -> str:
    """Return a text whose lines begin at (x, y), with the class of its size."""
    lines = text.split("\n")
    content = [escaped(lines[0])]
    content += [tag("tspan", escaped(line), x=float(x), dy=float(size * 1.15)) for line in lines[1:]]
    where = {"start": None, "middle": "middle", "end": "end"}[anchor]
    return tag(
        "text", *content, x=float(x), y=float(y), text_anchor=where, font_size=None if size == 11 else size,
        fill=None if fill == "@ink" else paint(fill), **more,
    )  # fmt: skip


def path(points: Iterable[tuple[float, float]], closed: bool = False) -> str:
    """Return the `d` of a line through points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + ("Z" if closed else "")
