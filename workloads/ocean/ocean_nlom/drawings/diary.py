"""Draw a run's diary of its mass, energy and potential enstrophy, over the time of the model."""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View

LINES = {"energy": "energy", "enstrophy": "potential enstrophy"}
Entries = dict[str, tuple[float, ...]]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the longest diary; return nothing if no verified run kept one."""
    figures = answers.verified(view.selected(workload, plot))
    seen = [(f, entries) for f in figures if (entries := _entries(view, f))]
    if not seen:
        return []
    figure, entries = max(seen, key=lambda x: x[1]["time"][-1])
    time, mass = entries["time"], entries["mass"]
    changed = significant(max(max(mass), -min(mass)))
    most = provenance.number(changed, "max(max(last(a, 'mass')), -min(last(a, 'mass')))", of=(figure,))
    days = provenance.number(significant(max(time)), "max(last(a, 'time'))", "d", (figure,))
    title = f"In {days} model days, the mass of the sea changes by at most a fraction of {most}"
    caption = (
        "Energy and potential enstrophy of all layers, relative to the beginning. Wind and friction change both. Mass "
        "is not drawn, because its change is too small to see."
    )
    data = [_line(view, entries, word, k) for k, word in enumerate(LINES)]
    drawn = frame.layout(
        {"title": {"text": "model time (d)"}, "rangemode": "tozero"},
        {"title": {"text": "relative to the first entry"}},
    )
    head = ("day", "energy", "potential enstrophy", "mass, change")
    rows = [
        (significant(t), *(significant(entries[word][n] / entries[word][0]) for word in LINES), significant(mass[n]))
        for n, t in enumerate(time)
    ]
    return [Drawing(name, title, caption, head, rows, data, drawn)]


def _entries(view: View, figure: Verified) -> Entries:
    """Return the diary of the first rank of the last launch, as all ranks record the same; {} without a diary."""
    for window in observed.windows(view, figure)[-1:]:
        series = window.ranks[min(window.ranks)]
        columns = {word: series.get(word, ()) for word in ("time", "mass", *LINES)}
        if len({len(c) for c in columns.values()}) == 1 and columns["time"] and all(columns[w][0] > 0 for w in LINES):
            return columns
    return {}


def _line(view: View, entries: Entries, word: str, k: int) -> Trace:
    values = entries[word]
    colour = view.palette.colour(word)
    return {
        "type": "scatter", "mode": "lines+markers", "name": LINES[word], "x": list(entries["time"]),
        "y": [float(f"{y / values[0]:.6g}") for y in values],
        "hovertemplate": "%{y:.4g} of the first after %{x:.3g} d",
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 5, "symbol": view.palette.symbol(k)},
    }  # fmt: skip
