"""Find the workloads that come with firstlight: their folders, and the modules of their own drawings."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from firstlight import ROOT
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.report import own


@cache
def workloads() -> dict[str, Workload]:
    """Return all workloads, read once: a test that invents a run does not read them again."""
    return catalogue.load([ROOT / "workloads"])


def folder(workload: str) -> Path:
    """Return the folder of a workload that comes with firstlight."""
    return next((ROOT / "workloads").glob(f"*/{workload}"))


def module(workload: str, name: str) -> ModuleType:
    """Import a module of `drawings` in the folder of a workload that comes with firstlight."""
    report = own.module(workloads()[workload])
    assert report is not None
    return import_module(f"{report.__package__}.drawings.{name}")
