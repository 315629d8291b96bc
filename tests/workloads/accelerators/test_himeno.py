"""himeno: the published sums of residuals, their closed form, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import directives
import native
from firstlight.model.catalogue import Variant, on_device
from native import Output, Placement

pytestmark = pytest.mark.native

THREE = {"XS": 6.229343e-3, "S": 3.295448e-3, "M": 1.692174e-3, "L": 8.571036e-4}
OFFICIAL = {"M": 1.733593e-3, "L": 2.0**-11}


HIMENO = native.workloads["himeno"]
EVERY = [v for v in HIMENO.variants if not v.broken and not on_device(v.needs)]
SUMS = ("gosa", "gosa_exact", "gosa_official")
Sums = dict[str, float]


def gosa(variant: str, folder: Path, *words: str) -> Sums:
    """Return the sums of the benchmark's own inputs."""
    program = native.plain("himeno", variant)
    output = native.verified(program, Placement(), folder, "problem=official", *words)
    (found,) = by_size(output).values()
    return found


def by_size(output: Output) -> dict[str, Sums]:
    sizes = [case["parameters"]["size"] for case in output.of("case")]
    return {sizes[s["case"]]: {name: s["values"][name][0] for name in SUMS} for s in output.of("sample")}


@pytest.mark.parametrize("size", ["XS", "S", "M", pytest.param("L", marks=pytest.mark.full)])
def test_gosa_after_three_sweeps_is_the_published_one(size: str, tmp_path: Path) -> None:
    found = gosa("serial", tmp_path, f"size={size}", "sweeps=3")
    assert found["gosa_exact"] == pytest.approx(THREE[size], rel=2e-7)
    # The fields have 32 bits: rounding adds its own square, which counts more where neighbours differ less.
    assert found["gosa"] == pytest.approx(THREE[size], rel=6e-3 if size == "L" else 3e-3)
    if size in OFFICIAL:
        assert found["gosa_official"] == pytest.approx(OFFICIAL[size], rel=5e-7)


@pytest.mark.full
@pytest.mark.parametrize("variant", EVERY, ids=lambda v: v.name)
def test_gosa_of_every_variant_is_the_published_one(variant: Variant, tmp_path: Path) -> None:
    """One fiber per thread is slow: emulated variants use the smallest grid. The official sum depends on its order."""
    made = native.built_somehow(HIMENO, variant)
    sizes = ("XS",) if "emulated" in variant.name else ("XS", "S", "M")
    place = native.party_of_two(variant)
    found = by_size(native.verified(made, place, tmp_path, "problem=official", f"size={','.join(sizes)}"))
    assert set(found) == set(sizes)
    for size, sums in found.items():
        assert sums["gosa"] == pytest.approx(THREE[size], rel=3e-3)
        assert sums["gosa_exact"] == pytest.approx(THREE[size], rel=2e-7)
        if size in OFFICIAL and place.ranks == 1:
            assert sums["gosa_official"] == pytest.approx(OFFICIAL[size], rel=5e-7)


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


@pytest.mark.full
@pytest.mark.parametrize("variant", ["acc_simple", "acc", "target"])
def test_loops_with_directives_are_right(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = directives.on_the_host(HIMENO, variant, tmp_path, monkeypatch)
    output = native.verified(made, Placement(), tmp_path, "problem=official,general", "size=XS,free")
    sums = [s["values"] for s in output.of("sample") if output.of("case")[s["case"]]["parameters"]["size"] == "XS"]
    assert sums[0]["gosa"][0] == pytest.approx(THREE["XS"], rel=3e-3)
