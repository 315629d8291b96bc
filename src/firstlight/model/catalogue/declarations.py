"""Declarations: the entries that a workload.toml may have."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Protocol

import msgspec

from firstlight.core import formulas

Value = int | Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)] | str
"""A value of a parameter: finite, for it is part of a figure's identity."""


class Selection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[suites.quick]]` entry: these variants, on toolchains matching one of the patterns, with these parameters.

    A parameter is a list of values: whole or real numbers, words, patterns of words that the program expands (`*`: all
    that it has), or the symbolic sizes L1, L2, L3 (half of that cache) and memory (four times the last cache).
    `toolchains = ["one"]` stands for the native flags of one compiler. MPI programs run with `ranks` ranks on one node,
    or as `placements` define: NODESxRANKSxTHREADS, as in 1x4x2, allxall-1x1 or 1xgpusx1. With `each_gpu`, those without
    MPI are measured on every GPU of the node by itself.
    """

    variants: list[str]
    toolchains: list[str] = msgspec.field(default_factory=lambda: ["*"])
    parameters: dict[str, list[Value]] = {}
    ranks: int = 2
    threads: list[int | str] = msgspec.field(default_factory=lambda: [1])  # or "all": a core each; "all-threads"
    placements: list[str] = []
    each_gpu: bool = False
    bytes_per_element: float | None = None


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a symbolic size becomes a value of `parameter`: bytes of working set an element.

    With `growth`, the parameter counts refinements: a value v has growth^v elements; with `power`, what is along an
    edge: v^power. `most`: the program's limit. `largest`: a formula over the `cores` of the machine that the size
    of this name does not exceed, where a size that fits the memory would be too slow.
    `bytes_of`: by the values of one other parameter the bytes that an element then really uses, where that is less.
    """

    parameter: str
    bytes_per_element: float
    memory_bytes_per_element: float | None = None  # where "memory" is counted differently (STREAM: each array)
    power_of_two: bool = False
    growth: Annotated[int, msgspec.Meta(ge=2)] | None = None
    power: Annotated[int, msgspec.Meta(ge=1)] = 1
    most: int | None = None
    largest: str | None = None
    bytes_of: dict[str, dict[str, float]] = {}

    def __post_init__(self) -> None:
        if self.largest is not None and (unknown := formulas.names(self.largest) - {"cores"}):
            raise ValueError(f"`largest` is a formula over `cores`, which does not define {', '.join(sorted(unknown))}")

    def elements(self, value: float) -> float:
        """Return the number of elements for a value of the parameter. Raises OverflowError if it is too large."""
        return self.growth**value if self.growth else value**self.power

    def bytes_with(self, values: Mapping[str, Sequence[Value]]) -> list[float]:
        """Return the bytes per element for each value of that parameter; the default for a value that is not listed."""
        for name, known in self.bytes_of.items():
            if name in values:
                return [known.get(str(value), self.bytes_per_element) for value in values[name]]
        return [self.bytes_per_element]


class Declaration(Protocol):
    """Figures to which an entry of workload.toml applies: of these variants, with these values of parameters.

    `device`: of the variants whose steps run on a GPU, else of those on the host. Each kind has ceilings of its own.
    """

    @property
    def where(self) -> Mapping[str, Value]: ...
    @property
    def variants(self) -> Sequence[str]: ...
    @property
    def device(self) -> bool: ...


class Provides(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured ceiling that this workload supplies: `metric` of the cases that `where` selects, best of all."""

    ceiling: str
    metric: str
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    by_working_set: bool = False


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lower bound of a step's time: quantity (a cost) / ceiling, in the cases that `where` selects."""

    quantity: str
    ceiling: str
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False


class Duration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """About how many `seconds` a step lasts on a core of today, times the values of the parameters `per`.

    With its share in additional work (restoring, checking): a launch of a case, divided by its samples and three.

    Entries describe steps that are longer than a sample, before the first launch. If several entries match a case, the
    first one applies; none speaks of a GPU, nor of a case that leaves one of `where` or `per` to its default.
    """

    seconds: Annotated[float, msgspec.Meta(gt=0)]
    per: list[str] = []
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])


Purpose = Literal["", "small messages", "large messages", "collectives", "halo exchange"]
"""What a program uses its MPI library for, as users choose the library by."""
LARGE = 65536
"""Bytes of a message or a vector from which on it is large. The latency is a large part of the time of smaller ones."""
BY_SIZE: tuple[Purpose, ...] = ("small messages", "large messages")
PURPOSES: tuple[Purpose, ...] = (*BY_SIZE, "collectives", "halo exchange")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row: one question, answered by the best figure that it selects. `choose`: what the answer recommends.

    `choose`: toolchain, mpi, variant or a parameter that `where` does not fix; several as in `mpi+variant`. A row
    compares only variants of one class (see `Class`). A `headline` is on the front page, other rows are in the section
    of their chapter. `order`: the position within the chapter. A row that is not `placed` covers all placements, which
    then may be the choice. `ranks = "gpus"`: one rank for each GPU of the node. `purpose`: the purpose for which the
    row compares MPI libraries, with plain calls (see `analysis.libraries`).
    """

    title: str
    metric: str
    order: int
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    threads: int | str = 1
    ranks: int | Literal["gpus"] = 1
    choose: str = "toolchain"
    headline: bool = False
    placed: bool = True
    purpose: Purpose = ""


class Elsewhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer of the row with this title is reported by another suite of benchmarks, `suite`, as `name`.

    `scale`: what the figure is multiplied by, where the suite counts less or more work. `per_core`: divided by the
    cores that it uses, for the suite reports the mean of one. `differs`: what of its rules the figure does not follow;
    empty where it follows all of them.
    """

    suite: str
    name: str
    row: str
    scale: Annotated[float, msgspec.Meta(gt=0)] = 1
    per_core: bool = False
    differs: str = ""


class ExpectedFailure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Variants whose checks fail with these flag sets, and why: what the flags permit breaks the method."""

    variants: list[str]
    flag_sets: list[str]
    reason: str


class Class(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Variants that do other work than the rest of the folder (more accurate, more general), named by what they do.

    They are never ranked with the others, and are shown in a table of choices of their own.
    """

    name: str
    variants: list[str]


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How this workload is drawn: `kind` names a function in the folder's report.py, or a drawing in report/plots."""

    kind: str  # staircase, message, roofline
    x: str
    metric: str
    lines: str  # toolchain, mpi, variant or a parameter
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    subject: str = ""  # what the drawn figures are called in the title sentence
    mark_caches: bool = False


class Flags(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """More variants of the same sources: `<variant>_<name>`, compiled with further flags (the vectoriser switched off).

    `flags` contains them by compiler family; with a compiler that is not among them there is no such variant.
    """

    name: str
    flags: dict[str, list[str]]
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
