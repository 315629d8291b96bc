"""Cases of the workload `cfd`: run one, and read the series and the number of its iterations."""

from __future__ import annotations

from pathlib import Path

import native
from native import Output, Placement

RELAXED = ("relax=0.9", "relax_pressure=0.2")


def run_case(folder: Path, *words: str, variant: str = "simd", place: Placement | None = None) -> Output:
    program = native.plain("cfd", variant)
    return native.verified(program, place or Placement(), folder, *words)


def series(output: Output, name: str) -> list[list[float]]:
    """Return a series, case by case."""
    return [line["values"] for line in output.of("series") if line["rank"] == 0 and line["name"] == name]


def iterations(output: Output) -> list[float]:
    samples = output.of("sample")
    return [samples[2 * n]["values"]["iterations"][0] for n in range(len(samples) // 2)]
