"""The parts of a plan: placements, programs, cells."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import msgspec

from firstlight.model.plan.arguments import Values, value, values
from firstlight.toolchain import Absent

Many = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]
"""A number of nodes, ranks or threads, also where it is read from another user's run."""


class Placement(msgspec.Struct, frozen=True):
    """The placement of a program: nodes, total ranks, threads per rank.

    `gpu`: the number of the one GPU that the program sees, among the usable GPUs (None: all GPUs, and each rank uses
    one).
    """

    nodes: Many = 1
    ranks: Many = 1
    threads: Many = 1
    gpu: int | None = None

    @property
    def per_node(self) -> int:
        """Return the number of ranks on the fullest node."""
        return -(-self.ranks // self.nodes)


class Program(msgspec.Struct, frozen=True):
    """One executable: a variant built with a toolchain and, if needed, an MPI library.

    `variant` is blas_openblas for blas.cpp with OpenBLAS.
    """

    workload: str
    variant: str
    toolchain: str
    mpi: str | None = None

    @property
    def target(self) -> str:
        return f"{self.workload}.{self.variant}"

    @property
    def key(self) -> str:
        return f"{self.target}@{self.toolchain}" + (f"+{self.mpi}" if self.mpi else "")


AS_IT_IS = "as-it-is"
"""The toolchain name of an external command that firstlight did not build."""
NOT_OURS = "imported"
"""The toolchain name of a program that another tool measured and reported."""


class Likeness(msgspec.Struct, frozen=True):
    """A file that an external command writes, and its reference, which must have the same bytes or numbers within a
    tolerance.
    """

    file: str
    reference: str
    tolerance: float | None = None  # None: the same bytes


class ExternalCommand(msgspec.Struct, frozen=True):
    """An external program: its command, and what each execution verifies and measures.

    The words are final except for `{out}`, a separate file of each execution. The observer (see observer/) starts the
    program, and writes the lines that a program of firstlight would write.
    """

    command: tuple[str, ...]
    folder: str  # absolute: where it runs
    launched: bool = False  # by the launcher of its cell's MPI library, whose words stand in front
    bound: bool = False  # to cores of its own
    placed: bool = False  # its threads are those of its placement; else it decides by itself
    environment: dict[str, str] = {}
    prepare: str = ""  # a command of a shell before every execution
    warmup: int = 0  # executions of a launch that count for nothing
    figures: dict[str, str] = {}  # its description of itself: a regular expression by the name of a value
    status: bool = True  # whether it must end with status 0
    expect: str = ""  # a text that it must print
    check: str = ""  # a command of a shell after every execution, which must end with status 0
    like: Likeness | None = None
    recorder: str = ""  # a library to be loaded in one more execution a launch: it records what its ranks do in MPI
    cost: dict[str, float] = {}  # the work of an execution
    working_set: float = 0.0  # bytes that a process has in use
    counters: dict[str, tuple[int, int]] = {}  # hardware counters: type and number of each event, by its name


class Cell(msgspec.Struct, frozen=True, dict=True):
    """The content of one launch; launches of one cell are the samples of its figures.

    `id` is unique in a run and safe as a file name.
    """

    id: str
    program: Program
    placement: Placement
    arguments: tuple[str, ...]  # "n=100,1000": the sweep runs inside the launch
    external: ExternalCommand | None = msgspec.field(default=None, name="guest")
    """The command that the observer starts; None: the cell launches a program of firstlight."""

    @cached_property
    def values(self) -> Values:
        """Return the values of each parameter. All combinations are cases, a pattern is a value; an external
        command has one case.
        """
        pairs = (word.partition("=") for word in self.arguments if "=" in word and not word.startswith("-"))
        return {name: values(text) if self.external is None else (value(text),) for name, _, text in pairs}

    @cached_property
    def options(self) -> Values:
        """Return the values of each option `--name`."""
        pairs = zip(self.arguments, self.arguments[1:], strict=False)
        return {word.removeprefix("--"): values(text) for word, text in pairs if word.startswith("--")}

    def option(self, name: str, default: float) -> float:
        return float(self.options.get(name, (default,))[0])


class Plan(msgspec.Struct, frozen=True):
    """The planned launches, and what could not be planned on this machine, with the reasons."""

    cells: tuple[Cell, ...]
    absent: tuple[Absent, ...]

    @property
    def programs(self) -> list[Program]:
        """Return each executable once, in the order of the cells."""
        return list(dict.fromkeys(cell.program for cell in self.cells))
