"""Rsdft: the published eigenvalues of each order; any box; the same eigenvalues for any number of processes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from native import COUNTED, Placement

pytestmark = pytest.mark.native

TRAP = ("vary=0", "projectors=0")
"""A harmonic trap and nothing else, the same in each step."""
PUBLISHED = {2: 1.4848452893, 4: 1.4992358535, 8: 1.4999924234, 12: 1.4999997968}
"""The lowest state of that trap by order, in a box of +-8 with a spacing of 0.4."""
SMALL = ("spacing=0.5", "states=16", "wanted=10", "passes=8")


def program(variant: str) -> Built:
    return native.plain("rsdft", variant)


def energies(variant: str, place: Placement, folder: Path, *words: str) -> list[float]:
    """Return the energies of the last sample of the only case."""
    output = native.verified(program(variant), place, folder, *words, effort=COUNTED)
    (series,) = {tuple(s["values"]) for s in output.of("series") if s["rank"] == 0}
    return list(series)


@pytest.mark.parametrize("order", PUBLISHED)
def test_the_lowest_state_of_a_trap_is_the_published_one(order: int, tmp_path: Path) -> None:
    words = ("n=41", "spacing=0.4", f"order={order}", "states=8", "wanted=1", "degree=24", "passes=6", *TRAP)
    lowest = energies("simd", Placement(), tmp_path, *words)[0]
    assert abs(lowest - PUBLISHED[order]) < 1e-9
    if order == 12:
        assert abs(lowest / 1.5 - 1) < 2e-7


def test_the_levels_of_a_trap_are_those_of_its_formula(tmp_path: Path) -> None:
    """1.5, three times 2.5, six times 3.5; each order is nearer to them than the one before."""
    exact = [1.5] + 3 * [2.5] + 6 * [3.5]
    furthest = []
    for order in (2, 4, 6, 8, 10, 12):
        found = energies("simd", Placement(), tmp_path, *SMALL, "n=25", f"order={order}", *TRAP)
        furthest.append(max(abs(f - e) for f, e in zip(found, exact, strict=False)))
    assert all(after < before for before, after in pairwise(furthest)) and furthest[-1] < 1e-4


@pytest.mark.parametrize("variant", ["serial", "simd"])
def test_boxes_orders_and_states(variant: str, tmp_path: Path) -> None:
    some = ("states=16", "wanted=10", "order=2,4,6,8,10,12", "projectors=0,2")
    native.verified(program(variant), Placement(), tmp_path, "n=17,18", *some, effort=COUNTED)
    many = ("n=17", "states=24,40", "wanted=18", "degree=16,30")
    native.verified(program(variant), Placement(), tmp_path, *many, effort=COUNTED)


@pytest.mark.parametrize(
    ("ranks", "groups"), [(1, 1), (2, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2), (7, 1), (8, 1), (8, 2)]
)
def test_neither_the_grid_nor_groups_change_an_eigenvalue(ranks: int, groups: int, tmp_path: Path) -> None:
    words = (*SMALL, "n=19", "order=4", "vary=0")
    alone = energies("simd", Placement(), tmp_path, *words)
    shared = energies("mpi", Placement(ranks=ranks), tmp_path, *words, f"groups={groups}")
    assert max(abs(a - b) for a, b in zip(alone[:10], shared[:10], strict=True)) < 1e-9


def test_three_groups_have_unlike_shares_of_the_states(tmp_path: Path) -> None:
    native.verified(
        program("mpi"), Placement(ranks=3), tmp_path, "n=17", "states=32", "wanted=20", "groups=3", effort=COUNTED
    )


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_take_any_share(threads: int, tmp_path: Path) -> None:
    native.verified(program("omp"), Placement(threads=threads), tmp_path, "n=17", "order=2,8", effort=COUNTED)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("order=3",), "rsdft needs an even order; order=3 given"),
        (("states=12",), "rsdft needs states in multiples of 8; states=12 given"),
        (("wanted=9",), "rsdft needs wanted <= states; wanted=9 and states=8 given"),
        (("passes=3",), "rsdft needs passes=6 for these states and degree=16; passes=3 given"),
        (("wanted=8",), "rsdft cannot separate state 8 from the highest of its 8 states with degree=16"),
        (("groups=3",), "rsdft needs groups=3 to divide its 2 processes"),
        (("groups=2",), "rsdft needs at least 8 states per group"),
        (("n=5", "order=12"), "no process grid of 2 ranks leaves blocks of 6 x 6 x 6 cells at least"),
        (("n=5", "states=32"), "rsdft needs at least four points per state"),
    ],
)
def test_what_cannot_run_is_refused(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    output = native.run(program("mpi"), Placement(ranks=2), words, tmp_path, COUNTED)
    assert output.status == 2 and why in output.stderr
