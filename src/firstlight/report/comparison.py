"""The comparison as a terminal page: each figure of both runs, the ratio with its interval, and what it means."""

from __future__ import annotations

from firstlight.judge import words
from firstlight.judge.compare import BETTER, SAME, UNCLEAR, WORSE, Changed, Compared, Comparison
from firstlight.report.terminal import Ink, plain, wrap
from firstlight.units import count, percent, quantity, significant

_MOST = 40
_STYLE = {WORSE: "bad", BETTER: "good", UNCLEAR: "warn", SAME: "dim"}


def comparison(
    compared: Comparison, width: int = 80, colour: bool = False, most: int = _MOST, everything: bool = False
) -> str:
    """What is different first; what is the same is counted, and listed where `everything` is asked for."""
    ink = Ink(colour)
    lines = [ink("strong", "firstlight") + f" · run {compared.b} against run {compared.a}", ""]
    for outcome in (WORSE, BETTER, UNCLEAR, *((SAME,) if everything else ())):
        some = [f for f in compared.figures if f.outcome == outcome]
        lines += _group(outcome, sorted(some, key=_distance, reverse=True), width, ink, most)
    lines += _changed(compared.changed, width, ink)
    for title, alone in (("only in A", compared.only_a), ("only in B", compared.only_b)):
        if alone:
            more = ", ..." if len(alone) > 1 else ""
            lines += [
                *wrap(f"{title}: {count(len(alone), 'figure')}, {words.name(alone[0])}{more}", width, "  ", "    "),
                "",
            ]
    lines += [ink("dim", "  what differs in the environments")]
    differing = compared.environment or ("nothing that was recorded",)
    lines += [x for e in differing for x in wrap(e, width, "  - ", "    ")]
    return "\n".join(plain(line) for line in [*lines, "", *_verdict(compared, width, ink)])


def _distance(figure: Compared) -> float:
    return max(figure.ratio, 1 / figure.ratio) if figure.ratio > 0 else 1.0


def _group(outcome: str, some: list[Compared], width: int, ink: Ink, most: int) -> list[str]:
    if not some:
        return []
    head = f"  {outcome:<34}{'A':>12}{'B':>12}  {'B / A':<20}"
    lines = [ink("dim", head.rstrip())]
    for f in some[:most]:
        lines += [ink(_STYLE[outcome], x) for x in wrap(words.name(f.identity), width, "  ", "      ")]
        span = "too few" if f.low is None or f.high is None else f"{_three(f.low)} - {_three(f.high)}"
        numbers = f"{quantity(f.a.median, f.unit):>12}  {quantity(f.b.median, f.unit):>12}  {_three(f.ratio)} ({span})"
        lines += [f"{'':22}{numbers}", *(wrap(f.reason, width, f"{'':24}", f"{'':24}") if f.reason else ())]
    if len(some) > most:
        lines.append(f"  and {len(some) - most} more")
    return [*lines, ""]


def _three(value: float) -> str:
    return significant(value)


def _changed(changed: tuple[Changed, ...], width: int, ink: Ink) -> list[str]:
    if not changed:
        return []
    lines = [ink("dim", "  verdicts that changed")]
    for c in changed:
        told = f"{words.name(c.identity)}: {c.before} in A, {c.after} in B" + (f": {c.reason}" if c.reason else "")
        lines += [ink("bad" if c.regression else "warn", x) for x in wrap(told, width, "  ✗ ", "    ")]
    return [*lines, ""]


def _verdict(compared: Comparison, width: int, ink: Ink) -> list[str]:
    n = compared.counts
    told = " · ".join(ink(_STYLE[k], f"{n[k]} {k}") if n[k] else f"{n[k]} {k}" for k in (WORSE, BETTER, UNCLEAR, SAME))
    lines = ["  " + told]
    observed = sum(f.observed and f.outcome in (WORSE, UNCLEAR) for f in compared.figures)
    if observed:
        which = f"of these, {count(observed, 'observed value')} (noise, shares of time) decide{'s' * (observed == 1)}"
        lines += wrap(f"{which} no exit status", width, "  ", "  ")
    meaning = (
        f"different: the {percent(compared.confidence)} interval of B / A, widened by {percent(compared.drift)} for "
        f"drift between runs, excludes 1, and B / A is more than {percent(compared.threshold)} from 1"
    )
    if compared.shift is not None:
        lines += wrap(f"over all figures B is {significant(compared.shift)} x as good as A", width, "  ", "  ")
    return lines + [ink("dim", x) for x in wrap(meaning, width, "  ", "  ")]
