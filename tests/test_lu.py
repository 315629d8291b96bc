"""Lu: tiles that divide nothing, threads and shares that change no bit, the published growth of a tournament."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.build import Built
from native import COUNTED, Placement

pytestmark = [pytest.mark.native, pytest.mark.plain]


def program(variant: str) -> Built:
    return native.plain("lu", variant)


def fingerprints(variant: str, threads: int, folder: Path, *words: str) -> dict[tuple[object, ...], set[float]]:
    """All bits of x by n, block and step."""
    said = native.verified(program(variant), Placement(threads=threads), folder, *words, "--seed", "5", effort=COUNTED)
    found: dict[tuple[object, ...], set[float]] = {}
    for sample in said.of("sample"):
        case = said.of("case")[sample["case"]]["parameters"]
        found.setdefault((case["n"], case["block"], sample["sample"]), set()).add(sample["values"]["fingerprint"][0])
    return found


@pytest.mark.parametrize("variant", ["blocked", "calu"])
def test_tiles_that_divide_nothing(variant: str, tmp_path: Path) -> None:
    words = ("n=1,2,3,31,32,33,97,130", "block=1,2,5,32,200", "groups=1,2,3,5")
    native.verified(program(variant), Placement(), tmp_path, *words, effort=COUNTED)


@pytest.mark.parametrize(("plain", "threaded"), [("blocked", "omp"), ("calu", "omp_calu")])
def test_neither_threads_nor_the_fixed_share_change_a_bit(plain: str, threaded: str, tmp_path: Path) -> None:
    words = ("n=33,150", "block=8,32")
    alone = fingerprints(plain, 1, tmp_path, *words)
    assert len(set(map(frozenset, alone.values()))) >= 4  # sizes and steps differ
    for threads in (1, 2, 3, 5):
        assert fingerprints(threaded, threads, tmp_path, *words, "fixed=0,30,50,100") == alone


def test_growth_and_residual_of_a_tournament_are_the_published_ones(tmp_path: Path) -> None:
    """1024 equations, tile columns of 32, 4 groups: residual 0.0073 and growth 46.7 of another random matrix."""
    said = native.verified(program("calu"), Placement(), tmp_path, "n=1024", "block=32", "groups=4", effort=COUNTED)
    growth = [sample["values"]["growth"][0] for sample in said.of("sample")]
    assert all(46.7 / 2.5 < g < 46.7 * 2.5 for g in growth), growth
    residuals = [float(check["what"].split("residual is ")[1].split(",")[0]) for check in said.of("check")]
    assert residuals and all(0.0073 / 5 < r < 0.0073 * 5 for r in residuals), residuals


@pytest.mark.parametrize("broken", ["broken_pivot", "broken_stale_panel", "broken_lost_update", "broken_unsettled"])
def test_many_equations_are_judged_as_few_are(broken: str, tmp_path: Path) -> None:
    """Beyond 96 equations no elimination is made once more."""
    for n in (90, 300):
        said = native.run(program(broken), Placement(), (f"n={n}",), tmp_path, COUNTED)
        assert said.status == 1 and not any(check["ok"] for check in said.of("check"))
