"""The plan: which programs are launched with which arguments, in which order, within which budget."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from firstlight.catalogue import Selection, Sizes, Variant, Workload, why
from firstlight.errors import UsageError
from firstlight.machine import Machine
from firstlight.toolchains import Absent, Mpi, Toolbox, Toolchain


class Placement(msgspec.Struct, frozen=True):
    """Where a program runs: nodes, ranks in all, threads a rank."""

    nodes: int = 1
    ranks: int = 1
    threads: int = 1


class Program(msgspec.Struct, frozen=True):
    """One executable: a variant built by a toolchain, against an MPI library where it needs one.

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


class Cell(msgspec.Struct, frozen=True):
    """What one launch executes; launches of one cell are the samples of its figures.

    `id` is unique in a run and safe as a file name.
    """

    id: str
    program: Program
    placement: Placement
    arguments: tuple[str, ...]  # "n=100,1000": the sweep runs inside the launch


class Plan(msgspec.Struct, frozen=True):
    """What will be launched, and what could not be planned on this machine and why."""

    cells: tuple[Cell, ...]
    absent: tuple[Absent, ...]

    @property
    def programs(self) -> list[Program]:
        """Each executable once, in the order of the cells."""
        return list(dict.fromkeys(cell.program for cell in self.cells))


class Effort(NamedTuple):
    """How much a suite measures: `budget` seconds of launching; `samples` of at least `sample_seconds` in a launch.

    No sample of a case is begun after `case_seconds`, but two are always taken. A launch that takes longer than
    `timeout` seconds hangs, and is killed.
    """

    budget: float
    samples: int
    sample_seconds: float
    case_seconds: float
    timeout: float

    @property
    def arguments(self) -> tuple[str, ...]:
        given = {"samples": self.samples, "sample-seconds": self.sample_seconds, "case-seconds": self.case_seconds}
        return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))


EFFORT = {
    "quick": Effort(120, 5, 0.002, 0.3, 40),
    "standard": Effort(15 * 60, 10, 0.01, 2, 180),
    "full": Effort(2 * 3600, 20, 0.02, 10, 900),
}
LAUNCHES = 6  # fewer give no nonparametric 95 % interval of a median
MOST_LAUNCHES = 30
MEMORY_SHARE = 0.6  # of the available memory, for one working set

Value = int | str
_SYMBOL = re.compile(r"L([1-9])")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")


def parse_budget(text: str) -> float:
    """Seconds in `110`, `150s`, `10m`, `2h` or `1h30m`. Raises UsageError for anything else and for zero."""
    return parse_time(text, "budget")


def parse_time(text: str, what: str) -> float:
    """A span of time as `parse_budget`; `what` names it in the error."""
    compact = text.strip().lower()
    parts = _DURATION.findall(compact)
    seconds = sum(float(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit] for number, unit in parts)
    whole = "".join(number + unit for number, unit in parts) == compact
    plain = len(parts) == 1 or all(unit for _, unit in parts)
    if not (whole and plain and 0 < seconds < 1e7):
        raise UsageError(f"{text!r} is no {what}; write it as 150s, 10m or 2h")
    return seconds


def resolve_size(value: Value, sizes: Sizes | None, machine: Machine) -> Value | None:
    """A size in elements for one that may be symbolic (L1, L2, L3, memory); None where this machine has no such size.

    L1..L3 are half of that cache, `memory` four times all last-level caches together (as STREAM asks). A working set
    never takes more than MEMORY_SHARE of the memory, or of what is available where that is less: a symbolic size is
    capped there, a number above it is dropped.
    Words that are no size, and all values where no sizes are declared, pass unchanged.
    """
    if sizes is None:
        return value
    # A share of the whole memory where that much is free: what is available changes from run to run, and the size is
    # part of a figure's identity.
    share = MEMORY_SHARE * machine.memory
    free = share if machine.memory_available >= share else MEMORY_SHARE * machine.memory_available
    most = int(free / sizes.bytes_per_element)
    if isinstance(value, int):
        return value if value <= most else None
    if value == "memory":
        elements = 4 * machine.last_caches() / (sizes.memory_bytes_per_element or sizes.bytes_per_element)
    elif level := _SYMBOL.fullmatch(value):
        cache = machine.cache(int(level[1]))
        elements = cache.size / 2 / sizes.bytes_per_element if cache else 0
    else:
        return value
    return _fit(elements, most, sizes.power_of_two)


def _fit(elements: float, most: int, power_of_two: bool) -> int | None:
    if elements < 1 or most < 1:
        return None
    if not power_of_two:
        return min(int(elements), most)
    up = 1 << math.ceil(math.log2(elements))
    return up if up <= most else 1 << (most.bit_length() - 1)


def select(workloads: dict[str, Workload], names: Sequence[str]) -> dict[str, frozenset[str] | None]:
    """The workloads asked for by `dot` or `dot.kahan`; the variants named, or None for all. No names: every workload.

    Raises UsageError with the nearest names for one that does not exist.
    """
    if not names:
        return dict.fromkeys(workloads)
    chosen: dict[str, set[str] | None] = {}
    for name in names:
        workload, dot, variant = name.partition(".")
        if workload not in workloads or (dot and not _has_variant(workloads[workload], variant)):
            raise UsageError(_unknown(workloads, name))
        if not dot:
            chosen[workload] = None
        elif (wanted := chosen.setdefault(workload, set())) is not None:
            wanted.add(variant)
    return {name: None if wanted is None else frozenset(wanted) for name, wanted in chosen.items()}


def _has_variant(workload: Workload, name: str) -> bool:
    return any(
        name == v.name or ("blas" in v.needs and name.startswith(f"{v.name}_"))
        for v in workload.variants
        if not v.broken
    )


def _unknown(workloads: dict[str, Workload], name: str) -> str:
    from difflib import get_close_matches

    known = [*workloads, *(f"{w.name}.{v.name}" for w in workloads.values() for v in w.variants if not v.broken)]
    within = [k for k in known if k.startswith(name.partition(".")[0] + ".")] if "." in name else []
    near = get_close_matches(name, within or known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "`./fl list` shows all"
    return f"no workload or variant named {name!r}; {hint}"


def plan(
    suite: str,
    workloads: dict[str, Workload],
    names: Sequence[str],
    toolbox: Toolbox,
    machine: Machine,
    toolchains: Sequence[str] = ("*",),
    mpis: Sequence[str] = ("*",),
) -> Plan:
    """Every cell of the suite that this machine can build and run. `toolchains` and `mpis` are patterns (fnmatch).

    Raises UsageError for an unknown name and for a pattern that matches nothing here.
    """
    _must_match("toolchain", toolchains, [t.name for t in toolbox.toolchains])
    if tuple(mpis) != ("*",):
        _must_match("MPI library", mpis, [m.name for m in toolbox.mpis])
    planner = _Planner(suite, toolbox, machine, toolchains, mpis)
    for name, wanted in select(workloads, names).items():
        planner.add(workloads[name], wanted)
    return Plan(tuple(planner.cells), tuple(dict.fromkeys(planner.absent)))


def _must_match(what: str, patterns: Sequence[str], present: list[str]) -> None:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in present):
            here = ", ".join(present) or "none"
            raise UsageError(f"no {what} matches {pattern!r}; here: {here}; `./fl doctor` tells more")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _selects(entry: Selection, name: str, variant: Variant) -> bool:
    """Also where no BLAS is here: then `blas_openblas` and `blas_*` still ask for the source `blas`."""
    missing = "blas" in variant.needs and name == variant.name
    return _matches(name, entry.variants) or (missing and any(p.startswith(f"{name}_") for p in entry.variants))


def order(cells: Sequence[Cell], seed: int, number: int) -> list[Cell]:
    """The cells of round `number` in random order: a function of the seed, the round and which cells, nothing else.

    Each cell occurs once a round, so that a machine that drifts harms all cells alike.
    """
    arranged = sorted(cells, key=lambda cell: cell.id)
    random.Random(f"{seed}:{number}").shuffle(arranged)
    return arranged


class _Planner:
    """Collects the cells of one plan, and what was absent."""

    def __init__(
        self, suite: str, toolbox: Toolbox, machine: Machine, toolchains: Sequence[str], mpis: Sequence[str]
    ) -> None:
        self.suite, self.toolbox, self.machine = suite, toolbox, machine
        self.toolchains = [t for t in toolbox.toolchains if _matches(t.name, toolchains)]
        self.mpis = [m for m in toolbox.mpis if _matches(m.name, mpis)]
        self.cells: list[Cell] = []
        self.absent: list[Absent] = []
        self.taken: dict[tuple[Program, Placement], list[dict[str, list[Value]]]] = {}

    def add(self, workload: Workload, wanted: frozenset[str] | None) -> None:
        """Plan the workload's entries of this suite. A variant named by the user but in none takes the first entry."""
        selections = workload.suites.get(self.suite, [])
        if not selections:
            why = f"it has no {self.suite} suite"
            self.absent.append(Absent(workload.name, why, f"choose another suite than --{self.suite}"))
            return
        for variant in workload.variants:
            if variant.broken:
                continue
            for name in self._names(variant):
                entries = [entry for entry in selections if _selects(entry, name, variant)]
                if wanted is not None:
                    named = not wanted.isdisjoint({name, variant.name})
                    entries = (entries or selections[:1]) if named else []
                for entry in entries:
                    self._add_variant(workload, name, variant, entry)

    def _names(self, variant: Variant) -> list[str]:
        """A variant that calls a BLAS becomes one for each BLAS found; without any it keeps its name and is absent."""
        if "blas" in variant.needs and self.toolbox.blas:
            return [f"{variant.name}_{blas.name}" for blas in self.toolbox.blas]
        return [variant.name]

    def _add_variant(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> None:
        if "blas" in variant.needs and not self.toolbox.blas:
            self._lacks(f"{workload.name}.{name}", "blas")
            return
        parameters = self._parameters(workload, entry)
        if parameters is None:
            return
        for toolchain in self._toolchains(workload, name, variant, entry):
            for mpi in self._mpis(workload, name, variant, toolchain):
                program = Program(workload.name, name, toolchain.name, mpi.name if mpi else None)
                ranks = entry.ranks if mpi else 1
                for threads in self._threads(workload, entry) if "openmp" in variant.needs else [1]:
                    self._add_cell(program, Placement(1, ranks, threads), parameters)

    def _toolchains(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> list[Toolchain]:
        """Those that match the entry and have what the variant needs; only one where that is asked for or enough."""
        one = entry.toolchains == ["one"]
        able = []
        for toolchain in self.toolchains:
            if not one and not _matches(toolchain.name, entry.toolchains):
                continue
            lacking = [n for n in ("openmp", "fortran") if n in variant.needs and not getattr(toolchain, n)]
            for capability in lacking:
                self._lacks(f"{workload.name}.{name}", capability, toolchain.name)
            if not lacking:
                able.append(toolchain)
        if not able or (workload.toolchain_sensitive and not one):
            return able
        return [min(able, key=lambda t: (t.flag_set != "native", family(t.compiler) != "gcc"))]

    def _mpis(self, workload: Workload, name: str, variant: Variant, toolchain: Toolchain) -> Sequence[Mpi | None]:
        if "mpi" not in variant.needs:
            return [None]
        if not self.mpis:
            self._lacks(f"{workload.name}.{name}", "mpi")
        able = []
        for mpi in self.mpis:
            if "fortran" in variant.needs and family(toolchain.compiler) not in mpi.f08:
                what = f"{workload.name}.{name} with {toolchain.name} and {mpi.name}"
                why_not = f"{mpi.label} has no mpi_f08 module that this Fortran compiler can read"
                self.absent.append(Absent(what, why_not, "install an MPI library built with this Fortran compiler"))
            else:
                able.append(mpi)
        return able

    def _threads(self, workload: Workload, entry: Selection) -> list[int]:
        """Thread counts once each; those above the number of CPUs would only disturb each other."""
        cpus = len(self.machine.cpus)
        counts = [cpus if t == "all" else int(t) for t in entry.threads]
        for count in counts:
            if count > cpus:
                what = f"{workload.name} with {count} threads"
                self.absent.append(Absent(what, f"this machine has {cpus} CPUs", "nothing to do"))
        return [count for count in dict.fromkeys(counts) if count <= cpus]

    def _parameters(self, workload: Workload, entry: Selection) -> dict[str, list[Value]] | None:
        """The values in numbers, once each; None where a parameter has no value left on this machine."""
        resolved: dict[str, list[Value]] = {}
        for name, values in entry.parameters.items():
            sizes = workload.sizes if workload.sizes and workload.sizes.parameter == name else None
            kept: list[Value] = []
            for value in values:
                number = resolve_size(value, sizes, self.machine)
                if number is None:
                    reason = "no such cache here, or more than the memory available allows"
                    self.absent.append(Absent(f"{workload.name} with {name}={value}", reason, "nothing to do"))
                elif number not in kept:
                    kept.append(number)
            if not kept:
                return None
            resolved[name] = kept
        return resolved

    def _add_cell(self, program: Program, placement: Placement, parameters: dict[str, list[Value]]) -> None:
        earlier = self.taken.setdefault((program, placement), [])
        left = _without(parameters, earlier)
        if left is None:
            return
        earlier.append(left)
        parts = [
            program.workload,
            program.variant,
            program.toolchain,
            program.mpi,
            f"{placement.ranks}x{placement.threads}",
        ]
        name = ".".join(part for part in parts if part) + (f".{len(earlier)}" if len(earlier) > 1 else "")
        values = tuple(f"{key}={','.join(map(str, some))}" for key, some in left.items())
        self.cells.append(Cell(name, program, placement, values + EFFORT[self.suite].arguments))

    def _lacks(self, what: str, capability: str, toolchain: str = "") -> None:
        with_toolchain = f" with {toolchain}" if toolchain else ""
        reason = f"it needs {why(capability)}"
        self.absent.append(Absent(what + with_toolchain, reason, f"install {why(capability)}"))


def family(compiler: str) -> str:
    """The compiler's family: gcc for gcc-13."""
    return compiler.partition("-")[0]


def _without(
    parameters: dict[str, list[Value]], earlier: list[dict[str, list[Value]]]
) -> dict[str, list[Value]] | None:
    """Drop the values that an earlier cell measures with equal other parameters; None where nothing is left."""
    left = dict(parameters)
    for other in earlier:
        if other.keys() != left.keys():
            continue
        differing = [name for name in left if set(left[name]) - set(other[name])]
        if not differing:
            return None
        name = differing[0]
        if all(set(left[n]) <= set(other[n]) for n in left if n != name):
            left[name] = [value for value in left[name] if value not in other[name]]
    return left
