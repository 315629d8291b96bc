"""The workloads of tests/support/workloads: made for tests of firstlight itself, built like all others."""

from __future__ import annotations

import pytest

import native
from firstlight import ROOT
from firstlight.execute.build import Built, build
from firstlight.model.catalogue import load
from firstlight.model.plan import Program

FOLDER = ROOT / "tests/support/workloads"
WORKLOADS = load([FOLDER])


def program(workload: str, variant: str) -> Built:
    """Built, or with the error in full; skips the test where what it needs is not here."""
    return made(native.plain_program(workload, variant))


def made(wanted: Program) -> Built:
    """Built, or with the error in full."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTLIGHT_WORKLOADS", str(FOLDER))
        return build([wanted], native.toolbox(), WORKLOADS, native.CACHE, options=native.STRICT)[wanted]
