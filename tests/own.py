"""The workloads of tests/workloads: made for tests of firstlight itself, built like all others."""

from __future__ import annotations

import pytest

import native
from firstlight import ROOT
from firstlight.build import Built, build
from firstlight.catalogue import load

FOLDER = ROOT / "tests" / "workloads"
WORKLOADS = load([FOLDER])


def program(workload: str, variant: str) -> Built:
    """Built, or with the error in full; skips the test where what it needs is not here."""
    wanted = native.plain_program(workload, variant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTLIGHT_WORKLOADS", str(FOLDER))
        return build([wanted], native.toolbox(), WORKLOADS, native.CACHE, options=native.STRICT)[wanted]
