"""The scalar product: its check bites at lengths at which rounding would have hidden an error."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.model.plan import Program
from native import Placement

pytestmark = pytest.mark.native

DOT = native.workloads["dot"]
LONG = 8_000_000
"""Elements. A bound of n eps times the sum of the terms' magnitudes exceeds any one term from about six million on."""


@pytest.mark.parametrize("variant", ["broken_stale", "broken_last_element"])
def test_one_wrong_term_of_millions_is_found(variant: str, tmp_path: Path) -> None:
    tool = native.toolchain("base")
    if tool is None:
        pytest.skip("no gcc here")
    program = Program("dot", variant, tool.name, None)
    output = native.run(native.make([program])[program], Placement(), (f"n={LONG}", "--samples", "2"), tmp_path)
    assert output.status == 1
    assert [c["ok"] for c in output.of("check")] == [False]
