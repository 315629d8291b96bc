"""The record: the lines that a program writes, the file of a launch, and the content of `run.json`.

A launch file is JSON lines, tagged by `type`: start (firstlight), launch, case, refused, sample, reported, series,
field, devices, check, span, counters, end (the program), exit (firstlight). Times are in seconds, sizes in bytes. The
C++ harness writes every line except the first and the last, and `reported`; docs/schema contains the JSON Schemas.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Annotated, Literal

import msgspec

from firstlight.core.units import MOST_SECONDS, minutes
from firstlight.execute.build.effort import Effort
from firstlight.execute.build.kernels import MOST as MOST_KERNELS
from firstlight.execute.build.kernels import Kernel
from firstlight.model.catalogue import Value
from firstlight.model.catalogue.brought import Brought
from firstlight.model.plan import Cell, Program
from firstlight.results.description import MOST_TOLD, Description, Metric
from firstlight.results.states import RunState
from firstlight.system.energy import MOST_COUNTERS, Energy
from firstlight.system.machine import Machine
from firstlight.system.site import Loaded
from firstlight.toolchain import Absent, Toolbox

SCHEMA = 1

MOST_VALUES, MOST_POINTS, MOST_RANKS = 32, 4096, 64
"""Maximum numbers of values of a sample with its phases, points of a series, ranks with series: as in the harness."""
MOST_READINGS = 1024
"""Maximum number of readings of a gauge in one launch."""
MOST_BOXES, FINEST = 96, 999
"""Maximum rows and columns of a small picture of a field, and its number for the largest value: as in the harness."""

SPARE = 1.1
"""A proposed budget is this many times the estimated time of the remaining launches."""

PHASE = "phase_"
"""The prefix of the observed value of a phase, in seconds per step; the name of the phase follows."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
Finite = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Time = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since the epoch, up to the end of the year 9999."""
Spread = tuple[Finite, Finite, Finite]
Monotonic = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""Seconds of the monotonic clock of a node."""
Watts = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class Start(msgspec.Struct, frozen=True, tag="start"):
    """The first line of a launch, written by firstlight before the program starts."""

    run: str
    cell: str
    launch: int  # 0, 1, ... within the cell
    round: int
    time: Time
    command: tuple[str, ...]
    load: float
    preview: bool = False  # for the first page only: launches of the rounds replace it, see `evidence.replaced`


class Binding(msgspec.Struct, frozen=True):
    """The CPUs that each rank may use, as the rank itself observed."""

    rank: int
    cpus: tuple[int, ...]
    node: int = 0


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """The description that a program prints of itself."""

    protocol: int
    workload: str
    variant: str
    compiler: str
    flags: str
    mpi: str
    ranks: int
    nodes: int
    binding: tuple[Binding, ...]
    counters: str  # "instructions cycles flops", or the reason why there are none
    clock: float  # resolution of the wall clock
    seed: int | None = None  # of where inputs change from step to step; --seed sets it. None: unknown


class Case(msgspec.Struct, frozen=True, tag="case"):
    """One combination of parameters.

    `cost` is per step and for the whole job: flops, bytes, messages, message_bytes, accesses, operations (of the
    workload's own kind). flow counts the bytes into and out of one process. A time per element divides by elements.
    `solver.flops` is the part of the flops in the phase solver. A sample has `steps` steps.
    """

    case: int
    parameters: dict[str, int | float | str]
    threads: int
    cost: dict[str, float]
    working_set: float
    steps: int


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A case that the program did not run. It is recorded instead of a case line, with the program's reason.

    A program that refuses all of its cases ends with status 2 and leaves no record.
    """

    case: int
    parameters: dict[str, int | float | str]
    threads: int
    why: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class Sample(msgspec.Struct, frozen=True, tag="sample"):
    """One timed sample.

    `wall` is the maximum over ranks. `cpu` is process CPU time divided by wall time and threads, minimum over ranks (1:
    undisturbed). `values`: the values that the program observed, as minimum, median and maximum over ranks; for phases,
    and for the time outside phases (phase_other), seconds per step. If the state is restored before every step, times
    are sums over the steps only.
    """

    case: int
    sample: int
    wall: float
    wall_min: float
    wall_median: float
    cpu: float
    values: Annotated[dict[Name, Spread], msgspec.Meta(max_length=MOST_VALUES)] = {}


class Series(msgspec.Struct, frozen=True, tag="series"):
    """Points that one rank observed in the last sample of a case, for drawing."""

    case: int
    name: Name
    unit: Annotated[str, msgspec.Meta(max_length=32)]
    rank: Annotated[int, msgspec.Meta(ge=0, lt=MOST_RANKS)]
    values: Annotated[tuple[Finite, ...], msgspec.Meta(max_length=MOST_POINTS)]


Boxes = Annotated[
    tuple[Annotated[int, msgspec.Meta(ge=-FINEST, le=FINEST)], ...], msgspec.Meta(min_length=1, max_length=MOST_BOXES)
]


class Field(msgspec.Struct, frozen=True, tag="field"):
    """A two-dimensional field after the last sample of a case, reduced to means over boxes of cells, for drawing.

    `rows`, `columns`: the cells of the whole field. `values`: row by row, in 1/999 of `largest`, the largest absolute
    mean. All values are 0 if the step produced a value that is not a number.
    """

    case: int
    name: Name
    unit: Annotated[str, msgspec.Meta(max_length=32)]
    rows: Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
    columns: Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
    largest: Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]
    values: Annotated[tuple[Boxes, ...], msgspec.Meta(min_length=1, max_length=MOST_BOXES)]


class Device(msgspec.Struct, frozen=True):
    """The device on which the steps of one rank ran, as the rank observed it. `address` is unique on a node."""

    rank: int
    place: Literal["device", "host", "nowhere"]
    name: str  # NVIDIA H200; what the code was made for, where the runtime reports no name
    address: str


class Devices(msgspec.Struct, frozen=True, tag="devices"):
    """The devices on which a case of a device variant ran. A case that did not run on a device fails its check."""

    case: int
    devices: tuple[Device, ...]


class Check(msgspec.Struct, frozen=True, tag="check"):
    """One check. `error` and `tolerance` are defined by the workload; `error` is null if the result is not finite."""

    case: int
    when: Literal["before", "between", "after"]
    ok: bool
    error: float | None
    tolerance: float
    what: str  # the sentence to show: which element, which rank, expected, found


class Reported(msgspec.Struct, frozen=True, tag="reported"):
    """One execution of a case, as reported by another tool."""

    case: int
    values: Annotated[dict[Name, Finite], msgspec.Meta(max_length=MOST_TOLD)]
    began: Time | None = None  # None: not known; in an undated run only differences have a meaning
    failed: Annotated[str, msgspec.Meta(max_length=4096)] = ""  # the failure that the tool itself reports


Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
OfNode = Annotated[tuple[Count | None, ...], msgspec.Meta(max_length=MOST_COUNTERS)]


class Span(msgspec.Struct, frozen=True, tag="span"):
    """Consecutive samples of a case, with the energy counters of each node directly before and after them.

    `began` and `ended`: times of the monotonic clock of the first node. `wall`: seconds of the samples themselves. A
    counter is null if it could not be read. There are no counters if the launcher reads a power gauge.
    """

    case: int
    began: Monotonic
    ended: Monotonic
    wall: Monotonic
    before: tuple[OfNode, ...]
    after: tuple[OfNode, ...]


class Counters(msgspec.Struct, frozen=True, tag="counters"):
    """Hardware counters over `steps` steps of one untimed sample. A counter is null if the kernel does not provide
    it, or if its value is impossible.
    """

    case: int
    steps: int
    instructions: float | None = None
    cycles: float | None = None
    flops: float | None = None
    refused: str = ""  # what was read and not believed, and why


class End(msgspec.Struct, frozen=True, tag="end"):
    cases: int


class Exit(msgspec.Struct, frozen=True, tag="exit"):
    """The last line of a launch, by firstlight. `ok`: the program ended with status 0 or 1 and a complete record."""

    ok: bool
    status: int | None  # exit status; negative: killed by that signal; null: timed out and killed
    reason: str  # one sentence, "" when ok
    seconds: float
    load: float
    stderr: str  # the last 4 KiB
    sha256: str  # of all lines before this one
    left: int = 0  # processes that outlived the launcher and were ended by firstlight
    power: Annotated[
        tuple[tuple[Monotonic, Watts], ...], msgspec.Meta(max_length=MOST_READINGS)
    ] = ()  # what the launcher read from a gauge


Line = (
    Start
    | Launch
    | Case
    | Refused
    | Sample
    | Reported
    | Series
    | Field
    | Devices
    | Check
    | Span
    | Counters
    | End
    | Exit
)


class LaunchRecord(msgspec.Struct, frozen=True):
    """One launch file, read and grouped."""

    start: Start
    launch: Launch | None
    cases: tuple[Case, ...]
    samples: tuple[Sample, ...]
    checks: tuple[Check, ...]
    counters: tuple[Counters, ...]
    complete: bool
    exit: Exit
    series: tuple[Series, ...] = ()
    devices: tuple[Devices, ...] = ()
    fields: tuple[Field, ...] = ()
    refused: tuple[Refused, ...] = ()
    reported: tuple[Reported, ...] = ()
    spans: tuple[Span, ...] = ()


class Build(msgspec.Struct, frozen=True):
    """The build of one program. `error`: the compiler's output from its first error (all of it: builds/<key>.log).

    `sha256`: the hash of the executable. `recipe`: the hash of all inputs, which is the key of the cache. `kernels`:
    kernels for GPUs as the compiler reports them, even without a GPU. `widths`: for programs with many kernels, the
    bits of the widest vector in the loops of each kernel ({}: not examined).
    """

    program: Program
    ok: bool
    seconds: float
    sha256: str = ""
    error: str = ""
    recipe: str = ""
    kernels: Annotated[tuple[Kernel, ...], msgspec.Meta(max_length=MOST_KERNELS)] = ()
    widths: Annotated[dict[str, Annotated[int, msgspec.Meta(ge=0, le=1 << 16)]], msgspec.Meta(max_length=1 << 12)] = {}


class TunedDefault(msgspec.Struct, frozen=True):
    """A parameter that the user did not set, with the best value of an earlier run of this machine for its role.

    `mpi`: the library of both runs. `run`: the earlier run, "" if there is none. `program`: the program with the best
    figure for messages of `size` bytes, "" if no value was better than the default.
    """

    workload: str
    parameter: Name
    value: str
    role: str
    mpi: str
    cells: tuple[str, ...]  # of this run, that have it
    run: str = ""
    program: str = ""
    size: Annotated[float, msgspec.Meta(ge=0, le=1e18)] = 0


class Whole(msgspec.Struct, frozen=True):
    """The content of a run that has ended: the number of launches by cell, and hashes as in the seal.

    `launches_sha256`: SHA-256 of the launches' lines in SHA256SUMS. `sha256`: that of run.json with 64 zeros here.
    """

    launches: dict[str, int]
    launches_sha256: str
    sha256: str


class Run(msgspec.Struct, frozen=True):
    """The file `run.json`. `state` is budget if the budget stopped the run."""

    schema: int
    id: str
    started: Time
    finished: Time | None
    state: RunState
    firstlight: str
    revision: str
    command: tuple[str, ...]
    suite: str
    budget: float
    launches: int  # wanted at least
    precision: float  # wanted half-width of an interval, relative
    seed: int
    machine: Machine
    toolbox: Toolbox
    environment: dict[str, str]  # allow-listed variables
    cells: tuple[Cell, ...]
    builds: tuple[Build, ...]
    descriptions: dict[str, Description]  # by "workload.variant"
    not_available: tuple[Absent, ...]
    names: tuple[str, ...] = ()  # workloads and variants that the user named; none: all of the suite
    efforts: dict[str, Effort] = {}  # by "workload.variant": what its files add to those of the serial variant
    settings: dict[str, dict[Name, tuple[Value, ...]]] = {}  # by workload: parameters that the user set
    brought: tuple[Brought, ...] = ()  # workloads without a folder: their variants are external commands
    modules: Loaded | None = None  # environment modules that were loaded for it
    missing: float | None = None  # seconds of launching that its budget had no room for
    answered: tuple[TunedDefault, ...] = ()  # parameters that took what an earlier run found
    undated: bool = False  # an imported run whose results have no date: `started` is when it was imported
    sealed: bool = False  # a seal over all files is written at its end; false: by a firstlight before there were any
    energy: Energy | None = None  # what measured energy, or why nothing did; None: by a firstlight that did not
    whole: Whole | None = None  # once it has ended; the last field, and its own hash the last in it

    @property
    def imported(self) -> bool:
        """Return whether other tools reported its figures."""
        return any(one.reporter is not None for one in self.brought)

    def metric(self, target: str, name: str) -> Metric | None:
        """Return a metric of `workload.variant` as that program describes it; None without its description."""
        description = self.descriptions.get(target)
        return next((m for m in description.metrics if m.name == name), None) if description else None

    def more(self) -> tuple[str, ...]:
        """Return options with which a resumed run may reach the requested precision.

        These are its directories, and time if the budget is spent.
        """
        if self.state != "budget":
            return self.storage(self.targets)
        left = 4 * 60.0 if self.missing is None else SPARE * self.missing
        return *self.storage(self.targets), "--budget", minutes(min(max(left, 0.0), MOST_SECONDS))

    @property
    def targets(self) -> dict[str, str]:
        """Return the directories that the command of the run names, by target of storage."""
        option, words = "--storage", iter(self.command)
        given = (
            next(words, "") if w == option else w.removeprefix(f"{option}=") for w in words if w.startswith(option)
        )
        return {name: folder for name, equals, folder in (word.partition("=") for word in given) if equals}

    def storage(self, values: Container[object]) -> tuple[str, ...]:
        """Return the options `--storage NAME=DIR` of the targets among these values."""
        named = (f"{name}={folder}" for name, folder in self.targets.items() if name in values)
        return tuple(word for one in named for word in ("--storage", one))
