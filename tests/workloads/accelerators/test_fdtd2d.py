"""fdtd2d: the published errors of a closed cavity, and absorbing layers that are thin or that nothing has reached."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.model.catalogue import Variant, on_device
from native import Output, Placement

pytestmark = pytest.mark.native


FDTD = native.workloads["fdtd2d"]
EVERY = [v for v in FDTD.variants if not v.broken and not on_device(v.needs) and "emulated" not in v.name]


def verified(folder: Path, *words: str) -> Output:
    program = native.plain("fdtd2d", "simd")
    return native.verified(program, Placement(), folder, *words)


def values(output: Output, name: str, case: int = 0) -> list[float]:
    return [v for s in output.of("sample") if s["case"] == case for v in s["values"].get(name, [])]


@pytest.mark.parametrize(("bits", "published"), [(64, 3.9e-15), (32, 1.8e-6)])
def test_the_error_of_a_cavity_is_the_published_one(bits: int, published: float, tmp_path: Path) -> None:
    """Mode (3, 2), n = 256, S = 0.7, 1000 time steps, here with a weak mode that is drawn."""
    errors = values(verified(tmp_path, "problem=cavity", "n=256", "steps=1000", f"bits={bits}"), "error")
    assert errors and all(published / 4 < e < published * 2 for e in errors)


@pytest.mark.full
@pytest.mark.parametrize("variant", EVERY, ids=lambda v: v.name)
def test_the_error_of_a_cavity_is_the_published_one_in_every_variant(variant: Variant, tmp_path: Path) -> None:
    """Each variant computes every number from the same numbers, so the errors are equal, except for contractions by a
    compiler.
    """
    made = native.built_somehow(FDTD, variant)
    place = native.party_of_two(variant)
    output = native.verified(made, place, tmp_path, "problem=cavity", "n=256", "steps=1000", "bits=32,64")
    for case, published in enumerate((1.8e-6, 3.9e-15)):
        errors = values(output, "error", case)
        assert errors and all(published / 4 < e < published * 2 for e in errors)


@pytest.mark.parametrize("courant", [0.1, 0.7])
def test_layers_that_nothing_has_reached_are_right(courant: float, tmp_path: Path) -> None:
    output = verified(tmp_path, "problem=cpml", "n=40", "steps=1,2,9,30", f"courant={courant}", "bits=32,64")
    assert len(output.of("case")) == 8
    assert [values(output, "absorption", case) for case in range(8)] == [[]] * 8


def test_thin_layers_absorb_less_and_are_right(tmp_path: Path) -> None:
    """The moment when most of what came back is on its way: four cells let through what ten do not."""
    output = verified(tmp_path, "problem=cpml", "n=40", "steps=69", "layers=4,5,6,7,8,10")
    absorbed = [min(values(output, "absorption", case)) for case in range(6)]
    assert absorbed == sorted(absorbed)
    assert 24 < absorbed[0] < 40 and absorbed[-1] > 70
