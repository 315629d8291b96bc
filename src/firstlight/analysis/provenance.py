"""Provenance: numbers in sentences have their formula and figures, so that a reader or a script can recompute them.

A sentence is an ordinary string whose numbers come from the functions here. During composition each number is
enclosed in marks that no text contains. `settle` removes the marks and returns a `Sentence`: the plain text, and for
each number its formula and its figures. In a formula the figures are `a`, `b`, `c` in their order:

    a                the median            a.low, a.high   its interval
    a.ceiling        what limits it        a.launches      how many
    a['n']           a parameter           a.ranks         of its placement (nodes, ranks, threads, cores)
    a / b            arithmetic            min, max, median, log2 of several
    each             all of them           a.reason        why it has no number

On pages of many runs the formulas are Python over the document that the same command prints with `--json`:
`figures[3].changes[0].ratio`. `tests/support/documented.py` computes those.

A number from the records of launches has a formula without figures: `drift()`.
`tests/support/titles.py` computes them all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from firstlight.analysis.states import least
from firstlight.analysis.verdict import Failed, Identity, Numbered, Reported, States, Unverified, Verified
from firstlight.core.units import count, factor, interval, parts, percent, quantity, scale, significant

PLAIN = ""  # the unit of a ratio, of a share, of a count
_BEGIN, _TEXT, _END = "\ue000\ue001\ue002"
_MARKED = re.compile(f"{_BEGIN}([^{_BEGIN}{_TEXT}{_END}]*){_TEXT}([^{_BEGIN}{_TEXT}{_END}]*){_END}")
_NAMES = "abcdefghijklmnopqrstuvwxyz"


class Source(NamedTuple):
    """The source of the characters `start` to `end`: the formula, its unit, and the figures `a`, `b`, ... in it."""

    start: int
    end: int
    formula: str
    unit: str
    of: tuple[Identity, ...]


class Sentence(str):
    """Plain text with the sources of its numbers, in their order."""

    __slots__ = ("sources",)
    sources: tuple[Source, ...]


def number(text: str, formula: str, unit: str = PLAIN, of: tuple[Numbered | Identity, ...] = ()) -> str:
    """Return the marked number. `text` is the number as it is printed; `formula` computes it in `unit`."""
    figures = [msgspec.to_builtins(f.identity if isinstance(f, Verified | Reported) else f) for f in of]
    return f"{_BEGIN}{json.dumps([formula, unit, figures])}{_TEXT}{text}{_END}"


def settle(text: str) -> Sentence:
    """Return the text without marks, with its sources. A text that is settled already stays as it is."""
    if isinstance(text, Sentence):
        return text
    plain, sources, at, length = [], [], 0, 0
    for found in _MARKED.finditer(text):
        before = _bare(text[at : found.start()])
        start = length + len(before)
        plain += [before, found[2]]
        length, at = start + len(found[2]), found.end()
        formula, unit, of = _decoded(found[1])
        if formula:
            sources.append(Source(start, length, formula, unit, of))
    settled = Sentence("".join([*plain, _bare(text[at:])]))
    settled.sources = tuple(sources)
    return settled


def _decoded(mark: str) -> tuple[str, str, tuple[Identity, ...]]:
    """Decode a mark. Foreign text may contain our marks: a mark that is not a source decodes to nothing."""
    try:
        formula, unit, of = json.loads(mark)
        return str(formula), str(unit), tuple(msgspec.convert(of, list[Identity]))
    except (ValueError, TypeError, msgspec.ValidationError):
        return "", "", ()


def _bare(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, _BEGIN + _TEXT + _END)))


# --- the numbers that sentences are made of ---------------------------------------------------------------------------


def median(f: Numbered) -> str:
    """Return the median with its unit: `14.2 GB/s`."""
    return number(quantity(f.estimate.median, f.unit), "a", f.unit, (f,))


def span(f: Numbered, dash: str = " - ") -> str:
    """Return `14.0 - 14.3`, in the unit of `median`; "too few" if there is no interval."""
    e = f.estimate
    if e.low is None or e.high is None:
        return interval(e.low, e.high, e.median, f.unit, dash)
    by, unit = scale(e.median, f.unit)[0], parts(e.median, f.unit)[1]
    low, high = (number(significant(x * by), f"a.{end}", unit, (f,)) for x, end in ((e.low, "low"), (e.high, "high")))
    return low + dash + high


def two_states(f: Numbered) -> str:
    """Return `154 or 471 ns, 8 of 13 in the lower`; "" if the launches have one state."""
    s = f.states
    if s is None:
        return ""
    lower, unit = parts(s.lower, f.unit)
    same = parts(s.upper, f.unit)[1] == unit
    first = number(lower if same else f"{lower} {unit}", "a.states.lower", unit if same else f.unit, (f,))
    upper = number(quantity(s.upper, f.unit), "a.states.upper", f.unit, (f,))
    there = number(str(s.in_lower), "a.states.in_lower", PLAIN, (f,))
    of = number(str(s.in_lower + s.in_upper), "a.states.in_lower + a.states.in_upper", PLAIN, (f,))
    return f"{first} or {upper}, {there} of {of} in the lower"


def states_of(s: States | None, unit: str, where: str) -> str:
    """Return `154 or 471 ns, 8 of 13 in the lower`, from `where` in a document; "" if there is one state."""
    if s is None:
        return ""
    lower, upper = (
        number(quantity(x, unit), f"{where}.{end}", unit) for x, end in ((s.lower, "lower"), (s.upper, "upper"))
    )
    if scale(s.lower, unit) == scale(s.upper, unit):
        lower = bare(s.lower, unit, f"{where}.lower", s.upper)
    there = number(str(s.in_lower), f"{where}.in_lower")
    of = number(str(s.in_lower + s.in_upper), f"{where}.in_lower + {where}.in_upper")
    return f"{lower} or {upper}, {there} of {of} in the lower"


def bare(value: float, unit: str, formula: str, near: float) -> str:
    """Return `14.2`, in the unit of `quantity(near, unit)`; the formula computes the value in `unit`."""
    by, printed = scale(near, unit)
    return number(significant(value * by), f"{by!r} * {formula}", PLAIN if printed == "1" else printed)


def launches(f: Numbered) -> str:
    """Return `13 launches`."""
    return number(count(len(f.estimate.launches), "launch", "launches"), "a.launches", PLAIN, (f,))


def times(better: Verified, worse: Verified) -> str:
    """Return `1.6 x`: how many times better the first is by the medians, or `at least 1.6 x` by the nearer states."""
    over, under = (better, worse) if better.better == "higher" else (worse, better)
    return at_least(over, under) + number(
        f"{factor(least(under, over))} x", larger("a", "b", over, under), PLAIN, (over, under)
    )


def at_least(*figures: Verified) -> str:
    """Return `at least `, to be put before a factor of these figures, if one has two states: the nearer ones count."""
    return "at least " if any(f.states is not None for f in figures) else ""


def advantage(text: str, a: Verified, b: Verified) -> str:
    """Return a text with its source: how many times better a is than b."""
    over, under = (a, b) if a.better == "higher" else (b, a)
    return number(text, larger("a", "b", over, under), PLAIN, (over, under))


def larger(x: str, y: str, a: Verified, b: Verified) -> str:
    """Return the formula of how many times larger a (named x) is than b (y), by medians or the nearer states."""
    return f"{x} / {y}" if a.states is None and b.states is None else f"nearest({x}, {y})"


def share(f: Verified) -> str:
    """Return a figure's share of its ceiling, `71 %`; "" if it has no ceiling."""
    part = f.of_ceiling
    return "" if part is None else number(percent(part), "a / a.ceiling" if f.better == "higher" else "a.ceiling / a",
                                          PLAIN, (f,))  # fmt: skip


def ceiling(f: Verified) -> str:
    """Return the value of a figure's ceiling in the figure's own unit: `45.2 GB/s`; "" if it has none."""
    return "" if f.ceiling is None else number(quantity(f.ceiling.value, f.unit), "a.ceiling", f.unit, (f,))


def reason(f: Failed | Unverified) -> str:
    """Return why a figure has no number, as it was recorded."""
    return number(f.reason, "a.reason", PLAIN, (f.identity,))


def placed(text: str, f: Verified) -> str:
    """Return the placement of a figure, from its description: `2 ranks, 4 threads`."""
    kinds = {"core": "cores", "cores": "cores", "node": "nodes", "rank": "ranks", "thread": "threads"}
    parts = []
    for part in text.split(", "):
        noun = part.rpartition(" ")[2]
        parts.append(number(part, f"a.{kinds.get(noun, noun)}", PLAIN, (f,)))
    return ", ".join(parts)


def name(text: str) -> str:
    """Return a name that a workload declares, marked if it contains digits: `arithmetic, 64 bit`."""
    return number(text, "name") if any(map(str.isdigit, text)) else text


def fitted(text: str) -> str:
    """Return a number from a fit through many figures, which is not recomputed from the single figures."""
    return number(text, "fit")


def parameter(text: str, f: Verified | Identity, formula: str, unit: str = PLAIN) -> str:
    """Return a text with its source: a parameter of a figure, or what is computed from it: `8 * a['n']`."""
    return number(text, formula, unit, (f,))


def among(text: str, ratios: Sequence[tuple[Verified, Verified]], how: str = "max") -> str:
    """Return a text with its source: the largest (`min`: smallest) advantage of the first of each pair."""
    figures: list[Verified] = []
    parts = []
    for a, b in ratios[: len(_NAMES) * len(_NAMES)]:
        over, under = (a, b) if a.better == "higher" else (b, a)
        parts.append(larger(_name(figures, over), _name(figures, under), over, under))
    formula = parts[0] if len(parts) == 1 else f"{how}({', '.join(parts)})"
    return number(text, formula, PLAIN, tuple(figures))


def _name(figures: list[Verified], f: Verified) -> str:
    if f not in figures:
        figures.append(f)
    k = figures.index(f)
    return _NAMES[k] if k < len(_NAMES) else _NAMES[k // len(_NAMES) - 1] + _NAMES[k % len(_NAMES)]


def attributes(source: Source, index: Mapping[Identity, int]) -> dict[str, Any] | None:
    """Return formula, unit and places of the figures in `./fl figures --json` for a page; None if one is missing."""
    places = [index.get(i) for i in source.of]
    if None in places:
        return None
    return {"from": source.formula, "unit": source.unit, "of": " ".join(map(str, places))}
