"""Fixtures for tests of launches."""

from __future__ import annotations

import pytest


@pytest.fixture
def in_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"JOB_ID": "7", "JOB_NUM_NODES": "2", "JOB_NODELIST": "node[1-2]", "JOB_CPUS_PER_NODE": "2(x2)"}
    for name, value in given.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("SLURMD_NODENAME", "node1")
