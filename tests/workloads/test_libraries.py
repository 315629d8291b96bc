"""Variants that call a numerical library: one program for each that offers what they need; each solves its system."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
import own
from firstlight.model import plan
from firstlight.model.plan import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]
CIRCULANT = own.WORKLOADS["circulant"]


@pytest.mark.parametrize("source", ["lapack_blas2", "fft"])
def test_every_library_that_offers_it_solves_the_system(source: str, tmp_path: Path) -> None:
    found = plan.library_names(CIRCULANT.variant(source), native.toolbox())
    if not found:
        pytest.skip("no library here offers it")
    for name, library in found.items():
        built = own.program("circulant", name)
        assert not built.error, built.error
        output = native.run(built, Placement(), ("n=64,65,3",), tmp_path)
        assert (output.status, output.reason) == (0, ""), (library.label, output.stderr)


def test_what_leaves_the_neighbours_out_is_rejected(tmp_path: Path) -> None:
    output = native.run(own.program("circulant", "broken_diagonal"), Placement(), ("n=64",), tmp_path)
    assert output.status == 1 and any("an unknown is off by" in line["what"] for line in output.of("check"))
