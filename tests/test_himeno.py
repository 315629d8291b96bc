"""himeno: the published sums of residuals, their closed form, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from native import Placement

pytestmark = pytest.mark.native

THREE = {"XS": 6.229343e-3, "S": 3.295448e-3, "M": 1.692174e-3, "L": 8.571036e-4}
OFFICIAL = {"M": 1.733593e-3, "L": 2.0**-11}


def gosa(variant: str, folder: Path, *words: str) -> dict[str, float]:
    """What the sums of the benchmark's own inputs are."""
    program = native.plain_program("himeno", variant)
    said = native.verified(native.make([program])[program], Placement(), folder, "problem=official", *words)
    values = said.of("sample")[0]["values"]
    return {name: values[name][0] for name in ("gosa", "gosa_exact", "gosa_official")}


@pytest.mark.parametrize("size", ["XS", "S", "M", pytest.param("L", marks=pytest.mark.full)])
def test_gosa_after_three_sweeps_is_the_published_one(size: str, tmp_path: Path) -> None:
    found = gosa("serial", tmp_path, f"size={size}", "sweeps=3")
    assert found["gosa_exact"] == pytest.approx(THREE[size], rel=2e-7)
    # Of fields in 32 bits: their rounding adds its own square, the more the smaller the differences of neighbours are.
    assert found["gosa"] == pytest.approx(THREE[size], rel=6e-3 if size == "L" else 3e-3)
    if size in OFFICIAL:
        assert found["gosa_official"] == pytest.approx(OFFICIAL[size], rel=5e-7)


@pytest.mark.full
def test_gosa_after_a_hundred_sweeps_is_the_published_one(tmp_path: Path) -> None:
    assert gosa("serial", tmp_path, "size=S", "sweeps=100")["gosa_exact"] == pytest.approx(2.147093e-3, rel=3e-7)


@pytest.mark.parametrize("points", [(9, 7, 12), (3, 3, 3), (20, 5, 8)])
def test_gosa_after_one_sweep_has_a_closed_form(points: tuple[int, int, int], tmp_path: Path) -> None:
    i, j, k = points
    found = gosa("serial", tmp_path, "size=free", f"i={i}", f"j={j}", f"k={k}", "sweeps=1")
    wanted = (i - 2) * (j - 2) * (k - 2) / (9 * (i - 1) ** 4)
    assert found["gosa_exact"] == pytest.approx(wanted, rel=1e-12)
    assert found["gosa"] == pytest.approx(wanted, rel=1e-4)
