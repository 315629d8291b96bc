"""The pages of `nodes`: the performance of each node relative to the median, and the outliers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.analysis import nodes
from firstlight.commands.nodes.comparison import Line, Nodes, Value, shade, two_states
from firstlight.core.units import count, interval, percent, quantity, ratio, significant
from firstlight.report import chapters, html
from firstlight.report.ink import Ink, wrap
from firstlight.results.store.durable import replace as write_whole

MOST_SHOWN = 8
"""Number of nodes whose values one line of the terminal page shows."""
UNEVEN = 100.0
"""A factor of the median that is not a plausible difference between nodes."""


def whole(value: Value, unit: str) -> str:
    """Return the basis of a share: `14.2 GB/s, run node-003; bimodal: 9.10 or 14.2 GB/s, 5 of 12 in the lower`."""
    shown = f"{quantity(value.estimate.median, unit)}, " if value.estimate is not None else ""
    return f"{shown}run {value.run}{two_states(value, unit)}"


def sentence(found: Nodes) -> str:
    """Return the headline."""
    n = count(len(found.hosts), "node")
    if len(found.hosts) < nodes.FEWEST:
        return f"{n} side by side: with fewer than {nodes.FEWEST} no outlier can be identified"
    if not found.outliers:
        return f"{n}: {_from(found)}"
    named = [("link " if len(o.hosts) > 1 else "") + " - ".join(o.hosts) for o in found.outliers]
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    evidence = next((o.evidence[0] for o in found.outliers[:1] if o.evidence), "")
    why = f"{': ' if len(named) == 1 else f'; {named[0]}: '}{evidence}" if evidence else ""
    return f"{n}: {', '.join(named[:4])}{more} {'differs' if len(named) == 1 else 'differ'} from the others{why}"


def _from(found: Nodes) -> str:
    """Return `no outlier; a difference counts from 1.22 ×`: with few nodes only large differences count."""
    spreads = [line.spread for line in (*found.lines, *found.links) if line.spread is not None]
    limits = sorted(s.limit for s in spreads if s.limit is not None)
    if not limits:
        return f"no figure was measured on {nodes.FEWEST} nodes, so no outlier can be identified"
    least, most = ratio(limits[0]), ratio(limits[-1])
    return f"no outlier; an outlier differs by at least {least}" + (
        f" to {most}, depending on the figure" if most != least else ""
    )


def describe_spread(line: Line) -> str:
    """Return text such as `14.2 GB/s, 13.9 to 14.5 over 4 nodes; an outlier from 1.31 ×`."""
    spread = line.spread
    if spread is None:
        return "measured on fewer than two nodes"
    noun = "pair" if line.values and len(line.values[0].members) > 1 else "node"
    text = (
        f"{quantity(spread.centre, line.unit)}, {interval(spread.low, spread.high, spread.centre, line.unit, ' to ')}"
    )
    text += f" over {count(spread.of, noun)}"
    two = sum(value.states is not None for value in line.values)
    text += f", bimodal on {count(two, noun)}" if two else ""
    if spread.limit is None:
        return text
    far = f"an outlier from {ratio(spread.limit)}" if spread.limit < UNEVEN else "too uneven to identify an outlier"
    return f"{text}; {far}"


def summary(found: Nodes, width: int = 80, colour: bool = False, place: Path | None = None) -> str:
    """Return the page for the terminal, without a final newline."""
    ink = Ink(colour)
    lines = [ink("strong", "firstlight") + f" · {found.name}", *wrap(sentence(found), width, "  ", "  ")]
    for outlier in found.outliers:
        lines += ["", ink("bad" if outlier.worse else "warn", f"  {' - '.join(outlier.hosts)}")]
        lines += [x for text in outlier.evidence for x in wrap(text, width, "    · ", "      ")]
    for title, some in (("nodes", found.lines), ("pairs of nodes", found.links)):
        if some:
            lines += ["", ink("dim", f"  {title}")]
        for line in some:
            lines += wrap(f"{line.title}: {describe_spread(line)}", width, "  ", "    ")
    if found.facts:
        lines += ["", ink("dim", "  not the same on all nodes")]
        for fact in found.facts:
            others = ", ".join(f"{host}: {value}" for host, value in [*fact.others.items()][:MOST_SHOWN])
            lines += wrap(f"{fact.what}: {fact.most}; {others}", width, "  ", "    ")
    if found.missing:
        lines += ["", ink("bad", f"  {count(len(found.missing), 'run')} not measured")]
        lines += [
            x
            for name, why in [*found.missing.items()][:MOST_SHOWN]
            for x in wrap(f"{name}: {why}", width, "    ", "      ")
        ]
    if found.pairs.all:
        lines += ["", *wrap(paired(found), width, "  ", "    ")]
    if found.no_pairs:
        lines += ["", *wrap(f"pairs of nodes: not available: {found.no_pairs}", width, "  ", "    ")]
    if found.left_out:
        text = (
            f"{count(found.left_out, 'round')} of pairs were not measured; the measured rounds are a random selection"
        )
        lines += ["", *wrap(text, width, "  ", "    ")]
    return ink.page([*lines, *([f"  page: {place}"] if place else [])])


def paired(found: Nodes) -> str:
    """Return `6 pairs of nodes: 3 measured, 1 attempted without a result, 2 not drawn`, which covers every pair."""
    of, rest = found.pairs, found.pairs.all - found.pairs.measured - found.pairs.failed
    parts = [f"{of.measured} measured"]
    parts += [f"{of.failed} attempted without a result"] if of.failed else []
    parts += [f"{rest} {'not available' if found.no_pairs else 'not drawn'}"] if rest else []
    return f"{count(of.all, 'pair')} of nodes: {', '.join(parts)}"


def write(found: Nodes, firstlight: str, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    write_whole(path, render(found, firstlight).encode())


def render(found: Nodes, firstlight: str) -> str:
    """Return the HTML page."""
    sections: dict[str, list[Line]] = {}
    for line in found.lines:
        sections.setdefault(chapters.title(line.chapter), []).append(line)
    page = {
        "found": found, "firstlight": firstlight, "sections": sections, "sentence": sentence(found),
        "describe_spread": describe_spread,
        "percent": percent, "significant": significant, "matrix": _matrix, "shade": shade,
        "whole": whole, "paired": paired,
    }  # fmt: skip
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, ())


def _matrix(line: Line, hosts: Sequence[str]) -> list[list[Value | None]]:
    """Return the values by node and node, both halves of the matrix."""
    by = {value.members: value for value in line.values}
    n = range(len(hosts))
    return [[by.get((min(a, b), max(a, b))) if a != b else None for b in n] for a in n]
