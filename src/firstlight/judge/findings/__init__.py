"""Findings: oddities discovered in a judgement. One rule a file; a file in this folder is registered by being there.

A rule is a function `find(judgement, workloads) -> list[Finding]` whose sentences take every number from the data.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from firstlight.catalogue import Workload
from firstlight.judge import Finding, Judgement


def rules() -> Iterator[str]:
    """The names of the rules that are there."""
    return (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def discover(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    """What all rules find, the weightiest first."""
    found: list[Finding] = []
    for rule in rules():
        found += import_module(f"{__name__}.{rule}").find(judgement, workloads)
    return sorted(found, key=lambda f: (-f.weight, f.rule, f.sentence))
