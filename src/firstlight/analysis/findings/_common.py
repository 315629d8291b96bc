"""Functions that several rules need: the verified figures, flag sets by toolchain, commands that reproduce."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from firstlight.analysis import Judgement, provenance, ranking
from firstlight.analysis.formatting import name
from firstlight.analysis.interval import Ratio
from firstlight.analysis.states import least, ratio
from firstlight.analysis.verdict import Failed, Identity, Verified
from firstlight.core import shell
from firstlight.results.record import Run

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

SHOWN = 6  # pieces of evidence in a finding
CONFIDENCE = 0.99  # a rule checks every case of every program, and findings must be reliable


def verified(judgement: Judgement) -> list[Verified]:
    """Return the verified figures that may be ranked and compared and are work over time."""
    return [f for f in judgement.figures if isinstance(f, Verified) and not (f.oversubscribed or f.observed)]


def observed(judgement: Judgement) -> list[Verified]:
    """Return the verified values that programs observed themselves."""
    return [f for f in judgement.figures if isinstance(f, Verified) and f.observed and not f.oversubscribed]


def failed(judgement: Judgement) -> list[Failed]:
    return [f for f in judgement.figures if isinstance(f, Failed)]


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by key, in the order in which keys first appear."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def once(items: Iterable[K]) -> list[K]:
    return list(dict.fromkeys(items))


def flag_set(run: Run, toolchain: str) -> str:
    """Return base, native or fast: as in the toolbox, else the last part of the name."""
    known = {t.name: t.flag_set for t in run.toolbox.toolchains}
    return known.get(toolchain, toolchain.rpartition("-")[2])


def compiler(run: Run, toolchain: str) -> str:
    known = {t.name: t.compiler for t in run.toolbox.toolchains}
    return known.get(toolchain, toolchain.rpartition("-")[0])


def by_flags(judgement: Judgement) -> Iterable[list[Verified]]:
    """Return groups of figures that differ only in flag sets: same compiler, variant, MPI, placement and parameters."""

    def key(f: Verified) -> Hashable:
        i = f.identity
        return target(i), compiler(judgement.run, i.toolchain), i.mpi, i.placement, i.parameters, i.metric

    return grouped(verified(judgement), key).values()


def mpi_label(run: Run, mpi: str | None) -> str:
    """Return the name of an MPI library without its version: `Open MPI`."""
    known = run.toolbox.mpi(mpi)
    return known.label.removesuffix(known.version).strip() if known else str(mpi)


def command(*what: str, toolchains: Sequence[str] = (), mpi: str | None = None) -> str:
    """Return the command that measures this again: `./fl run dot.kahan --toolchain gcc-fast`."""
    words = ["run", *once(what)]
    pattern = _pattern(toolchains)
    if pattern:
        words += ["--toolchain", pattern]
    if mpi:
        words += ["--mpi", mpi]
    return shell.command(*words)


def _pattern(toolchains: Sequence[str]) -> str:
    """Return one pattern that matches the toolchains: a name, gcc-*, *-fast; "" if only * would match."""
    names = once(toolchains)
    if len(names) == 1:
        return names[0]
    heads, tails = {n.rpartition("-")[0] for n in names}, {n.rpartition("-")[2] for n in names}
    if len(heads) == 1:
        return f"{heads.pop()}-*"
    return f"*-{tails.pop()}" if len(tails) == 1 else ""


def target(identity: Identity) -> str:
    return f"{identity.workload}.{identity.variant}"


def without_defaults(judgement: Judgement, identity: Identity) -> Identity:
    """Return the identity without the parameters that have the program's default in the whole run.

    It keeps those that the suite or the user set, and those with several values in this run.
    """
    cells = (cell for cell in judgement.run.cells if cell.program.workload == identity.workload)
    given = {name for cell in cells for name in cell.values}
    others = [dict(f.identity.parameters) for f in judgement.figures if f.identity.workload == identity.workload]
    kept = tuple((name, v) for name, v in identity.parameters if name in given or any(o.get(name) != v for o in others))
    return replace(identity, parameters=kept)


def shown(judgement: Judgement, figure: Verified) -> str:
    """Format a figure as evidence: its name, median and interval, and its states if it has two."""
    e = figure.estimate
    span = "too few launches for an interval" if e.low is None else provenance.span(figure)
    two = f"; bimodal: {provenance.two_states(figure)}" if figure.states else ""
    return f"{name(without_defaults(judgement, figure.identity))}: {provenance.median(figure)} ({span}{two})"


def gain(better: Verified, worse: Verified, confidence: float = CONFIDENCE) -> Ratio:
    """Return how many times better the first is, for either direction, with the interval of the ratio.

    The value is the ratio of the medians, which a reader can compute from the page. For figures with two states it is
    the smallest of the ratios of their states.
    """
    a, b = (worse, better) if better.better == "higher" else (better, worse)
    return ratio(a, b, confidence)._replace(value=least(a, b))


def clearly(found: Ratio, threshold: float) -> bool:
    """Return whether the interval of a gain does not touch 1 and the gain is more than the threshold."""
    return found.value > 1 + threshold and not ranking.touches(found)


def apart(figures: Sequence[Verified], threshold: float) -> tuple[float, Verified, Verified] | None:
    """Return the gain of the best over the worst of these figures, and both figures; None if it is not clear."""
    winner = ranking.best(figures)
    others = [f for f in figures if f is not winner]
    if winner is None or not others:
        return None
    loser = max(others, key=lambda f: gain(winner, f).value)
    found = gain(winner, loser)
    return (found.value, winner, loser) if clearly(found, threshold) else None
