"""The workloads that come with firstlight: where they lie, and the modules of their own drawings."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from firstlight import ROOT, catalogue
from firstlight.report import own


def folder(workload: str) -> Path:
    """Where a workload that comes with firstlight lies."""
    return next((ROOT / "workloads").glob(f"*/{workload}"))


def module(workload: str, name: str) -> ModuleType:
    """A module of `drawings` in the folder of a workload that comes with firstlight."""
    report = own.module(catalogue.load([ROOT / "workloads"])[workload])
    assert report is not None
    return import_module(f"{report.__package__}.drawings.{name}")
