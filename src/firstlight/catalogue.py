"""The catalogue: every workload folder found, its parameters and suites from workload.toml, its variants from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from firstlight.toolchains import Toolbox


class Selection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[suites.quick]]` entry: these variants, on toolchains matching one of the patterns, with these parameters.

    A parameter is a list of values, numbers or the symbolic sizes L1, L2, L3 (half of that cache) and memory (four times the last cache).
    """

    variants: list[str]
    toolchains: list[str] = ["*"]
    parameters: dict[str, list[int | str]] = {}
    ranks: int = 2
    threads: list[int | str] = [1]  # "all" stands for all cores


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a symbolic size becomes a value of `parameter`: bytes of working set an element."""

    parameter: str
    bytes_per_element: float
    memory_bytes_per_element: float | None = None  # where "memory" is counted differently (STREAM: each array)
    power_of_two: bool = False


class Provides(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured ceiling that this workload supplies: metric `metric` of the cases selected by `where`, best over variants and toolchains."""

    ceiling: str
    metric: str
    where: dict[str, int | str] = {}
    variants: list[str] = ["*"]
    by_working_set: bool = False


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step that moves `quantity` (a cost) cannot be faster than quantity / ceiling. Applies to cases selected by `where`."""

    quantity: str
    ceiling: str
    where: dict[str, int | str] = {}
    variants: list[str] = ["*"]


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the terminal page: the best verified figure among those selected. `choose` names what the last column recommends."""

    title: str
    metric: str
    order: int
    where: dict[str, int | str] = {}
    variants: list[str] = ["*"]
    threads: int | str = 1
    ranks: int = 1
    choose: str = "toolchain"  # toolchain, mpi or variant


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How this workload is drawn: `kind` names a drawing in report/plots."""

    kind: str  # staircase, message, roofline
    x: str
    metric: str
    lines: str  # toolchain, mpi or variant
    where: dict[str, int | str] = {}
    variants: list[str] = ["*"]
    subject: str = ""  # what the drawn figures are called in the title sentence
    mark_caches: bool = False


class Variant(msgspec.Struct, frozen=True):
    """One source file: `needs` lists capabilities (openmp, mpi, blas, fortran) from its prefix and its extension."""

    name: str
    source: Path
    needs: tuple[str, ...]
    broken: bool
    why_absent: str = ""


class Workload(msgspec.Struct, frozen=True):
    """One folder. `toolchain_sensitive` is false where the compiler's flags cannot matter, so one toolchain is enough."""

    name: str
    folder: Path
    title: str
    question: str
    chapter: str
    toolchain_sensitive: bool
    suites: dict[str, list[Selection]]
    variants: tuple[Variant, ...]
    sizes: Sizes | None
    provides: tuple[Provides, ...]
    bounded_by: tuple[Bound, ...]
    rows: tuple[Row, ...]
    plots: tuple[Plot, ...]
    source_hash: str = ""


def load(roots: list[Path]) -> dict[str, Workload]:
    """Read every workload folder under `roots`. Raises UsageError naming the file and the key for a defect in a workload.toml."""
    raise NotImplementedError


_ = (Any, Toolbox)
