"""Describe the lattice, process grid and precision of a figure of a lattice program in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from firstlight.analysis import ranking
from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core.units import count

DIMENSIONS = ("t", "x", "y", "z")
ALONE = "plain loops"  # what the variant without any SIMD of its own is called
SIMD = "SIMD lattice layout"
PARALLEL = "mpi"
SILENT = "mpi_silent"  # the twin without communication


class Case(NamedTuple):
    """A lattice, the process grid (0: chosen by the program), and the precision."""

    extents: tuple[int, ...]
    grid: tuple[int, ...]
    ranks: int
    bits: int
    threads: int = 1

    @property
    def volume(self) -> int:
        n = 1
        for extent in self.extents:
            n *= extent
        return n

    @property
    def lattice(self) -> str:
        """Return `16x16³` as R5 writes it, or all four extents."""
        t, *space = self.extents
        return f"{t}x{space[0]}³" if len(set(space)) == 1 else "x".join(map(str, self.extents))

    @property
    def processes(self) -> str:
        """Return `2x1x1x1` along t, x, y and z, or the number of ranks if the program chooses the grid; and threads."""
        shape = "x".join(map(str, self.grid)) if all(self.grid) else count(self.ranks, "rank")
        return shape + (f" of {self.threads} threads" if self.threads > 1 else "")


def case(figure: Figure) -> Case | None:
    """Return the case of a figure, None if it has no lattice."""
    parameters = dict(figure.identity.parameters)
    found = [parameters.get(name) for name in (*DIMENSIONS, "bits")]
    grid = [parameters.get(f"p{name}", 0) for name in DIMENSIONS]
    if not all(isinstance(v, int) and v > 0 for v in found) or not all(isinstance(v, int) and v >= 0 for v in grid):
        return None
    *extents, bits = (int(v) for v in found if v is not None)
    p = figure.identity.placement
    return Case(tuple(extents), tuple(map(int, grid)), p.ranks, bits, p.threads)


def cores(figure: Figure) -> int:
    p = figure.identity.placement
    return p.ranks * p.threads


def parallel(who: Identity) -> bool:
    return who.variant.split("_")[0] == PARALLEL


def words(variant: str) -> str:
    """Return the name of a variant without the prefix of its way of starting: `SIMD lattice layout`, `overlap`."""
    if variant == "serial":
        return ALONE
    bare = variant.removeprefix("mpi_").replace("virtual_nodes", SIMD)
    return (
        f"{bare.removeprefix('omp_').replace('_', ' ')}, threads" if bare.startswith("omp_") else bare.replace("_", " ")
    )


def best(figures: Iterable[Verified]) -> Verified | None:
    """Return the best figure that may be ranked; if all are oversubscribed, the best of those."""
    some = list(figures)
    return ranking.best(some) or max(some, key=lambda f: f.estimate.median, default=None)
