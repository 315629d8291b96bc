"""Parts of a predicted time: draw what it is spent on, one bar per algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.core.units import binary, percent, quantity
from firstlight.execute.network.prediction import Breakdown, Prediction
from firstlight.report.frame import Drawing, Trace, text, time_axis
from firstlight.report.palette import COOL, WARM

PARTS = {"latency": COOL[1], "bandwidth": COOL[0], "contention": WARM[0], "noise": WARM[1]}


def spending(ordered: Sequence[Prediction], most: int) -> list[Drawing]:
    """Draw at most `most` algorithms as bars, the fastest first; the table has all. Return [] if no time has parts."""
    broken = [(p, p.breakdown) for p in ordered if p.breakdown is not None]
    if not broken:
        return []
    some = broken[:most]
    best = some[0][0]
    of = f" of {binary(best.bytes)}" if best.bytes else ""
    on = f" on {best.topology}" if best.topology else ""
    hidden = len(ordered) - len(some)
    layout = {
        "barmode": "stack",
        "xaxis": time_axis("time, lower is better", max(sum(getattr(b, part) for part in PARTS) for _, b in some)),
        "yaxis": {"autorange": "reversed", "type": "category"},
    }
    return [
        Drawing(
            "simulation-parts",
            _title(*some[0]),
            f"A message{of}{on}. Latency: the time of empty messages. Bandwidth: bytes through idle "
            f"interfaces and links. Contention: waiting for links and interfaces. Noise: interruptions by the "
            f"operating system.",
            ("algorithm", *PARTS, "time"),
            [
                (p.algorithm, *(quantity(getattr(b, part), "s") for part in PARTS), quantity(p.seconds or 0.0, "s"))
                for p, b in broken
            ],
            [_bar(part, some) for part in PARTS if any(getattr(b, part) for _, b in some)],
            layout,
            (f"Only the table shows {hidden} slower algorithms",) if hidden else (),
        )
    ]


def _title(best: Prediction, breakdown: Breakdown) -> str:
    spent = {part: getattr(breakdown, part) for part in PARTS}
    total = sum(spent.values())
    if total <= 0:
        return f"{best.algorithm} needs no time"
    most = max(spent, key=lambda part: spent[part])
    return f"{best.algorithm} spends {percent(spent[most] / total)} of its time on {most}"


def _bar(part: str, some: Sequence[tuple[Prediction, Breakdown]]) -> Trace:
    values = [getattr(breakdown, part) for _, breakdown in some]
    names = [text(p.algorithm) for p, _ in some]
    return {
        "type": "bar",
        "orientation": "h",
        "name": part,
        "y": names,
        "x": values,
        "hovertext": [f"{name}: {part} {quantity(v, 's')}" for name, v in zip(names, values, strict=True)],
        "hoverinfo": "text",
        "marker": {"color": PARTS[part]},
    }
