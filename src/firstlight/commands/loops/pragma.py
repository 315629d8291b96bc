"""Pragma: parse `#pragma tune precious trip(100:10000) even not_pow2 tol(rel=1e-12) fpmode(strict)`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from msgspec.structs import replace

from firstlight.commands.loops import NotUnderstoodError, Pragma

MARK = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+tune\b", re.MULTILINE)
MOST = 1 << 40  # of a trip count
_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*")


def parse(text: str) -> Pragma:
    """Parse the clauses of `#pragma tune`. Raises NotUnderstoodError with the problem in one line."""
    pragma, seen, precious = Pragma(), set[str](), False
    for word, inside in clauses(" ".join(text.replace("\\\n", " ").split())):
        key = word if word not in ("extent", "range") else f"{word}({(inside or '').split(',')[0].strip()})"
        if key in seen:
            raise NotUnderstoodError(f"{key} occurs twice")
        seen.add(key)
        precious = precious or (word, inside) == ("precious", None)
        pragma = _with(pragma, word, inside)
    if not precious:
        raise NotUnderstoodError("the pragma must begin with `precious`: #pragma tune precious trip(100:10000)")
    return pragma


def clauses(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each clause with the text in its brackets; None if it has no brackets. Raises NotUnderstoodError."""
    at = 0
    while text[at:].strip():
        word = _WORD.match(text, at)
        if word is None:
            raise NotUnderstoodError(f"expected a clause at `{text[at:].strip()[:20]}`")
        at = word.end()
        if at >= len(text) or text[at] != "(":
            yield word[1], None
            continue
        depth, begin = 0, at + 1
        for end in range(at, len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
        else:
            raise NotUnderstoodError(f"{word[1]}(...) has no closing parenthesis")
        yield word[1], text[begin:end].strip()
        at = end + 1


def _with(pragma: Pragma, word: str, inside: str | None) -> Pragma:
    match word, inside:
        case "precious", None:
            return pragma
        case "even", None:
            return replace(pragma, even=True)
        case "not_pow2", None:
            return replace(pragma, not_pow2=True)
        case "trip", str():
            low, high = _whole(inside)
            return replace(pragma, low=low, high=high)
        case "tol", str():
            return replace(pragma, tolerance=_tolerance(inside))
        case "fpmode", "strict" | "reassoc":
            return replace(pragma, reassoc=inside == "reassoc")
        case "extent", str():
            name, what = _about(word, inside)
            return replace(pragma, extents={**pragma.extents, name: what})
        case "range", str():
            name, what = _about(word, inside)
            kind = "ascending" if re.match(r"ascending\b", what) else "uniform"
            first, colon, last = (part.strip() for part in what.removeprefix("ascending").partition(":"))
            if not (first and colon and last):
                raise NotUnderstoodError(
                    f"range({inside}): write range(NAME, LOW:HIGH) or range(NAME, ascending LOW:HIGH)"
                )
            return replace(pragma, ranges={**pragma.ranges, name: (kind, first, last)})
    clause = word if inside is None else f"{word}({inside})"
    raise NotUnderstoodError(
        f"{clause} is not one of precious, trip(LOW:HIGH), even, not_pow2, tol(rel=R), fpmode(strict|reassoc), "
        "extent(NAME, N), range(NAME, LOW:HIGH)"
    )


def _whole(inside: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,13})\s*:\s*(\d{1,13})", inside)
    low, high = (int(found[1]), int(found[2])) if found else (1, 0)
    if not 0 <= low <= high <= MOST:
        raise NotUnderstoodError(f"trip({inside}): write trip(LOW:HIGH), with two whole numbers, the lower first")
    return low, high


def _tolerance(inside: str) -> float:
    try:
        value = float(inside.replace(" ", "").removeprefix("rel="))
    except ValueError:
        value = math.nan
    if not (inside.replace(" ", "").startswith("rel=") and 0 <= value < 1):
        raise NotUnderstoodError(f"tol({inside}): write tol(rel=1e-12), with a number of at least 0 and below 1")
    return value


def _about(word: str, inside: str) -> tuple[str, str]:
    name, comma, what = (part.strip() for part in inside.partition(","))
    if not (comma and what and re.fullmatch(r"[A-Za-z_]\w*", name)):
        raise NotUnderstoodError(f"{word}({inside}): write a name, a comma and its property")
    return name, what
