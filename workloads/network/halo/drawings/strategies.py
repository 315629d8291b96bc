"""Find which strategies compete in a halo exchange, on which placements, and which of them win at each size.

Strategies compete if equally many parties (ranks, or threads without MPI) exchange on equally many nodes, through one
MPI library. Those that need no MPI compete with those of each library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from firstlight.analysis import ranking
from firstlight.analysis.verdict import Failed, Identity, Unverified, Verified
from firstlight.core.units import count
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import sentence, wording
from firstlight.report.frame import View

REFERENCE = "sendrecv"  # what a program does that does nothing special
Times = dict[str, dict[float, Verified]]  # by strategy and x


class Place(NamedTuple):
    """A place where strategies compete: the number of nodes, and of ranks or threads that exchange in all."""

    nodes: int
    parties: int

    @property
    def words(self) -> str:
        nodes = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{count(self.parties, 'process', 'processes')} or as many threads{nodes}"


class Win(NamedTuple):
    """The fastest at one x: `winners` are alike, best first.

    `known`: false if all are called alike only because no difference can be shown.
    """

    x: float
    winners: tuple[Verified, ...]
    everyone: tuple[Verified, ...]
    known: bool

    @property
    def next(self) -> Verified | None:
        """Return the best figure that is not alike; None without one."""
        return next((f for f in self.everyone if f not in self.winners), None)

    @property
    def all_alike(self) -> bool:
        return len(self.winners) == len(self.everyone)

    def over(self, strategy: str) -> float | None:
        """Return how many times slower that strategy is; None if it is among the winners or was not measured."""
        at = self.loser(strategy)
        return None if at is None else ranking.advantage(self.winners[0], at)

    def loser(self, strategy: str) -> Verified | None:
        """Return the figure of that strategy; None if it is among the winners or was not measured."""
        at = next((f for f in self.everyone if f.identity.variant == strategy), None)
        return None if at is None or at in self.winners else at


class Contest(NamedTuple):
    """The strategies of one MPI library at one place. `times` are of figures that may be ranked, unless `crowded`."""

    mpi: str
    label: str
    place: Place
    times: Times
    crowded: bool

    @property
    def wins(self) -> list[Win]:
        """Return the winners at each x, ascending; nothing if no figure can be ranked."""
        xs = sorted({x for line in self.times.values() for x in line})
        at = [win(x, [line[x] for line in self.times.values() if x in line]) for x in xs]
        return [w for w in at if w is not None]

    @property
    def reference(self) -> str:
        """Return the strategy that others are compared with; "" without one."""
        return next((s for s in self.times if s.endswith(REFERENCE)), "")


def win(x: float, figures: Sequence[Verified]) -> Win | None:
    groups = ranking.rank(figures)
    if not groups:
        return None
    everyone = tuple(f for g in groups for f in g.figures)
    winners = groups[0].figures
    sure = all(f.estimate.low is not None for f in winners)
    known = len(groups) > 1 or (sure and sentence.equal(winners))
    return Win(x, winners, everyone, known)


def place(identity: Identity) -> Place:
    p = identity.placement
    return Place(p.nodes, p.ranks if identity.mpi else p.ranks * p.threads)


def at(figure: Verified, plot: Plot) -> float | None:
    """Return the position of the figure on the axis; None if it has no positive number there."""
    x = dict(figure.identity.parameters).get(plot.x)
    return float(x) if isinstance(x, int | float) and x > 0 else None


def usual(figures: Iterable[Verified], plot: Plot) -> tuple[list[Verified], str]:
    """Return the figures with the most frequent value of every numeric parameter but x, and these values as text.

    Parameters that are words (how data are handed over) may vary. The text has a value only if others occur.
    """
    some = [f for f in figures if at(f, plot) is not None]
    others = Counter(_numbers(f, plot) for f in some)
    if not others:
        return [], ""
    common = max(others, key=lambda k: (others[k], [-v for _, v in k]))
    values = [f"{name} = {value:g}" for name, value in common if len({dict(k).get(name) for k in others}) > 1]
    return [f for f in some if _numbers(f, plot) == common], ", ".join(values)


def _numbers(figure: Verified, plot: Plot) -> tuple[tuple[str, float], ...]:
    return tuple((k, float(v)) for k, v in figure.identity.parameters if isinstance(v, int | float) and k != plot.x)


def main_place(figures: Iterable[Verified]) -> Place | None:
    """Return the place of most strategies to rank, then most figures to rank, then the largest; else the smallest."""
    some = list(figures)
    free = [f for f in some if not f.oversubscribed]
    counts = Counter(place(f.identity) for f in free)
    if counts:
        return max(counts, key=lambda p: (len(_strategies(free, p)), counts[p], p))
    return min((place(f.identity) for f in some), default=None)


def _strategies(figures: Iterable[Verified], where: Place) -> set[str]:
    return {f.identity.variant for f in figures if place(f.identity) == where}


def contests(view: View, figures: Sequence[Verified], plot: Plot, where: Place) -> list[Contest]:
    """Return one contest for each MPI library, in the order of the run; one without a name if there is no library."""
    here = [f for f in figures if place(f.identity) == where]
    known = [m.name for m in view.judgement.run.toolbox.mpis]
    mpis = sorted(
        {f.identity.mpi for f in here if f.identity.mpi},
        key=lambda m: (known.index(m) if m in known else len(known), m),
    )
    made = []
    for mpi in mpis or [""]:
        some = [f for f in here if f.identity.mpi in (mpi, None)]
        free = [f for f in some if not f.oversubscribed]
        label = wording.mpi_name(view.judgement.run, mpi) if mpi else ""
        made.append(Contest(mpi, label, where, fastest(free or some, plot), not free))
    return [c for c in made if c.times]


def fastest(figures: Iterable[Verified], plot: Plot) -> Times:
    """Return the best figure of each strategy and x over everything else that differs, oversubscribed ones included."""
    times: Times = {}
    for f in figures:
        x = at(f, plot)
        if x is None:
            continue
        line = times.setdefault(f.identity.variant, {})
        if x not in line or ranking.advantage(f, line[x]) > 1:
            line[x] = f
    return {s: dict(sorted(line.items())) for s, line in sorted(times.items())}


def standing(some: Iterable[Contest]) -> list[str]:
    """Return the strategies by their mean ratio to the best over all contests and x, the best first."""
    behind: dict[str, list[float]] = {}
    for contest in some:
        for x in {x for line in contest.times.values() for x in line}:
            at_x = {s: line[x] for s, line in contest.times.items() if x in line}
            best = min(at_x.values(), key=lambda f: f.estimate.median if f.better == "lower" else -f.estimate.median)
            for s, f in at_x.items():
                behind.setdefault(s, []).append(ranking.advantage(best, f))
    return sorted(behind, key=lambda s: (sum(behind[s]) / len(behind[s]), s))


def short(strategy: str, everyone: Iterable[str] = ()) -> str:
    """Return the name without `mpi_` or `mpi4_`, if it then differs from all others; else the whole name."""
    bare = strategy.removeprefix("mpi_").removeprefix("mpi4_")
    others = {s.removeprefix("mpi_").removeprefix("mpi4_") for s in everyone if s != strategy}
    return strategy if bare in others else bare


def missing(view: View, workload: Workload, measured: Collection[str]) -> list[str]:
    """Return what is in no drawing, with the reason, each reason once: `partitioned: it needs MPI-4 calls`."""
    run = view.judgement.run
    reasons: dict[str, dict[str, None]] = {}

    def note(variant: str, reason: str) -> None:
        reasons.setdefault(reason, {})[variant] = None

    for absent in run.not_available:
        program, _, condition = absent.what.partition(" with ")
        name, dot, variant = program.partition(".")
        shown = variant in measured and " and " not in condition  # with another compiler
        if name == workload.name and dot and not shown:
            note(short(variant) + _only(view, condition, variant in measured), absent.why)
    for build in run.builds:
        p = build.program
        if not build.ok and p.workload == workload.name:
            note(short(p.variant) + _only(view, p.mpi or p.toolchain, p.variant in measured), "does not build")
    for f in view.judgement.figures:
        i = f.identity
        if i.workload == workload.name and isinstance(f, Failed) and f.cause != "build":
            note(short(i.variant) + _only(view, i.mpi or i.toolchain, i.variant in measured), f.reason)
        if i.workload == workload.name and isinstance(f, Unverified) and i.variant not in measured:
            note(short(i.variant), f.reason)
    return [f"{', '.join(who)}: {reason}" for reason, who in reasons.items()]


def _only(view: View, condition: str, elsewhere: bool) -> str:
    """Return ` (MPICH)` if an MPI library is the reason, or if the strategy was measured with others; else ""."""
    library = condition.rpartition(" and ")[2] if " and " in condition else condition if elsewhere else ""
    return f" ({wording.mpi_name(view.judgement.run, library)})" if library else ""
