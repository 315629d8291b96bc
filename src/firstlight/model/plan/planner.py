"""The planner: every cell of a suite that this machine can build and run, and what was absent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from firstlight.core.errors import UsageError
from firstlight.core.units import count
from firstlight.model.catalogue import Selection, Value, Variant, Workload, on_device
from firstlight.model.plan.arguments import compose
from firstlight.model.plan.ceilings import Ceiling, measures, unmeasured
from firstlight.model.plan.choice import select
from firstlight.model.plan.effort import EFFORT, EXTERNAL, effort
from firstlight.model.plan.placements import expand
from firstlight.model.plan.requirements import family, lacking_compiler, lacking_here, programs, variant_names
from firstlight.model.plan.runtime_estimate import launch_seconds
from firstlight.model.plan.selectors import NOT, applies, can_serve, matches, part, planned_by
from firstlight.model.plan.settings import NONE, PLAIN, Defaults, Settings
from firstlight.model.plan.sizes import lacking, resolve_size, with_less_memory
from firstlight.model.plan.splitting import Box, split
from firstlight.model.plan.types import Cell, Placement, Plan, Program
from firstlight.system.machine import Machine, cores
from firstlight.toolchain import Absent, Toolbox, Toolchain


def plan(
    suite: str,
    workloads: dict[str, Workload],
    names: Sequence[str],
    toolbox: Toolbox,
    machine: Machine,
    toolchains: Sequence[str] = ("*",),
    mpis: Sequence[str] = ("*",),
    placements: Sequence[str] = (),
    settings: Settings = NONE,
    defaults: Defaults = PLAIN,
    without: Mapping[str, Collection[str]] = PLAIN,
) -> Plan:
    """Return every cell of the suite that this machine can build and run. `toolchains` and `mpis` are fnmatch patterns.

    If `names` leave out workloads that measure ceilings of the named ones, cells for these ceilings are added: on as
    many cores, with native flags if possible, from the shortest suite that has them.

    `placements` (see `placements.expand`) replace those of every MPI program, `settings` the suite's values of a
    workload's parameters, except in cells for ceilings alone. The `defaults` of that workload ensure that no case is
    measured twice. `without` lists, by workload, parameters without meaning, which are left out. A named workload that
    lacks that suite is measured with its next suite.

    Raises UsageError for an unknown name, for a pattern that matches nothing here and for an invalid placement.
    """
    _must_match("toolchain", toolchains, [t.name for t in toolbox.toolchains])
    if tuple(mpis) != ("*",):
        _must_match("MPI library", mpis, [m.name for m in toolbox.mpis])
    planner = _Planner(suite, toolbox, machine, toolchains, mpis, placements, settings, defaults, without)
    named = {name.partition(".")[0] for name in names}
    for name, wanted in select(workloads, names).items():
        if name in named or suite in workloads[name].suites:  # a suite that leaves a workload out lacks nothing
            planner.add(workloads[name], wanted)
    if names:  # the reference of a suite's figures is its own choice
        for ceiling in unmeasured(planner.cells, workloads, machine):
            planner.add_ceiling(ceiling, workloads)
    if placements and planner.cells and not any(cell.program.mpi for cell in planner.cells):
        raise UsageError(
            "--placement applies only to MPI programs, but none of these programs uses MPI; omit --placement, or name "
            "an MPI program (see `./fl list`)"
        )
    return Plan(tuple(planner.cells), tuple(dict.fromkeys(planner.absent)))


def beside(cells: Sequence[Cell], workloads: dict[str, Workload], toolbox: Toolbox, machine: Machine) -> Plan:
    """Return a plan that measures the ceilings of these cells that none of them measures."""
    planner = _Planner(EXTERNAL, toolbox, machine, ("*",), ("*",), (), NONE, PLAIN, PLAIN)
    for ceiling in unmeasured(cells, workloads, machine):
        planner.add_ceiling(ceiling, workloads)
    return Plan(tuple(planner.cells), tuple(dict.fromkeys(planner.absent)))


def _must_match(what: str, patterns: Sequence[str], present: list[str]) -> None:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern.removeprefix(NOT)) for name in present):
            here = ", ".join(present) or "none"
            raise UsageError(f"no {what} matches {pattern!r}; available: {here}; `./fl doctor` shows more")


def suite_of(workload: Workload, suite: str) -> str:
    """Return the suite that is measured for a named workload: the requested one, or the next one that it has."""
    known = [*EFFORT]
    later = (name for name in known[known.index(suite) :] if name in workload.suites)
    earlier = (name for name in reversed(known[: known.index(suite)]) if name in workload.suites)
    return next(later, next(earlier, suite))


class _Planner:
    """The cells of one plan, and what was absent."""

    def __init__(
        self,
        suite: str,
        toolbox: Toolbox,
        machine: Machine,
        toolchains: Sequence[str],
        mpis: Sequence[str],
        placements: Sequence[str],
        settings: Settings,
        defaults: Defaults,
        without: Mapping[str, Collection[str]],
    ) -> None:
        self.suite, self.toolbox, self.machine = suite, toolbox, machine
        self.shapes, self.settings, self.defaults, self.without = placements, settings, defaults, without
        self.toolchains = [t for t in toolbox.toolchains if matches(t.name, toolchains)]
        self.mpis = [m for m in toolbox.mpis if matches(m.name, mpis)]
        self.cells: list[Cell] = []
        self.absent: list[Absent] = []
        self.taken: dict[tuple[Program, Placement], list[Box]] = {}

    def add(self, workload: Workload, wanted: frozenset[str] | None) -> None:
        """Plan the workload's entries of this suite.

        A named variant without an entry uses the first one. The user chooses its toolchains if the suite has none of
        these.
        """
        selections = workload.suites.get(suite_of(workload, self.suite), [])
        for variant in workload.variants:
            if variant.broken:
                continue
            for name in variant_names(variant, self.toolbox):
                entries = [entry for entry in selections if planned_by(entry, name, variant)]
                if wanted is not None:
                    named = not wanted.isdisjoint({name, variant.name})
                    entries = self._with_toolchains(entries or selections[:1]) if named else []
                for entry in entries:
                    self._add_variant(workload, name, variant, entry)

    def _with_toolchains(self, entries: list[Selection]) -> list[Selection]:
        """Return the entries; with every toolchain that the user chose if none of these is in an entry."""
        chosen = len(self.toolchains) < len(self.toolbox.toolchains)
        if chosen and not any(e.toolchains == ["one"] or self._matching(e) for e in entries):
            return [replace(entry, toolchains=["*"]) for entry in entries]
        return entries

    def _matching(self, entry: Selection) -> list[Toolchain]:
        return [t for t in self.toolchains if matches(t.name, entry.toolchains)]

    def add_ceiling(self, ceiling: Ceiling, workloads: Mapping[str, Workload]) -> None:
        """Plan cells that measure this ceiling, of the first suite that has it; none if no program here can."""
        for suite in EFFORT:
            if any(measures(cell, ceiling, workloads, self.machine) for cell in self.cells):
                return
            for workload in (w for w in workloads.values() if any(p.ceiling == ceiling.name for p in w.provides)):
                self._add_provider(ceiling, workload, workload.suites.get(suite, []))

    def _add_provider(self, ceiling: Ceiling, workload: Workload, selections: Sequence[Selection]) -> None:
        """Add cells for a ceiling: a process with a thread per core, for one core a program without threads."""
        for variant in (v for v in workload.variants if not v.broken and "mpi" not in v.needs):
            if ("openmp" in variant.needs) != (ceiling.cores > 1):
                continue
            for name in variant_names(variant, self.toolbox):
                for selection in (s for s in selections if planned_by(s, name, variant)):
                    for program in self._fastest(workload, name, variant, selection):
                        for box in self._limiting(ceiling, workload, program, selection):
                            self._add_cell(program, Placement(1, 1, ceiling.cores), box)

    def _fastest(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> list[Program]:
        """Return programs with native flags, if possible, of each compiler of the entry: a capacity is their best."""
        able = self._toolchains(workload, name, variant, entry)
        able = able or self._toolchains(workload, name, variant, replace(entry, toolchains=["one"]))
        chosen = [t for t in able if t.flag_set == "native"] or able[:1]
        return [p for t in chosen for p in programs(workload, name, variant, t, self.toolbox, self.mpis)[0]]

    def _limiting(self, ceiling: Ceiling, workload: Workload, program: Program, entry: Selection) -> list[Box]:
        """Return the cases of the entry that measure the ceiling."""
        values = self._parameters(workload, entry) or {}
        declared = [p for p in workload.provides if p.ceiling == ceiling.name]
        able = (p for p in declared if applies(p, program, values, workload, self.machine))
        boxes = [box for p in able if (box := part(values, p, workload, self.machine))]
        return [with_less_memory(box, workload.sizes, self.machine) if workload.sizes else box for box in boxes]

    def _add_variant(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> None:
        parameters = self._parameters(workload, replace(entry, parameters=self._given(workload, entry)))
        if parameters is None:
            return
        for toolchain in self._toolchains(workload, name, variant, entry):
            found, missing = programs(workload, name, variant, toolchain, self.toolbox, self.mpis)
            self.absent += missing
            for program in found:
                for placement in self._placements(workload, name, variant, entry):
                    for one in _by_target(workload, parameters):
                        for box in self._parts(workload, program, placement, one):
                            self._add_cell(program, placement, box)

    def _given(self, workload: Workload, entry: Selection) -> Box:
        """Return the values of an entry, with those that the user set instead of its own.

        Entries that differed only in a replaced value are now equal. To show this, a parameter that one entry leaves to
        the program's default is written out if another entry sets it.
        """
        changed = self.settings.get(workload.name, {})
        if not changed:
            return entry.parameters
        entries = workload.suites.get(suite_of(workload, self.suite), [])
        known_names = dict.fromkeys(name for one in entries for name in one.parameters)
        known = self.defaults.get(workload.name, {})
        plain: Box = {name: [known[name]] for name in known_names if name in known and name not in entry.parameters}
        given = entry.parameters | plain | {name: [*values] for name, values in changed.items()}
        return {name: values for name, values in given.items() if name not in self.without.get(workload.name, ())}

    def _toolchains(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> list[Toolchain]:
        """Return the toolchains that match the entry and have what the variant needs; one if that is enough."""
        what = f"{workload.name}.{name}"
        if lacks := lacking_here(what, variant, self.toolbox):
            self.absent.append(lacks)
            return []
        one = entry.toolchains == ["one"]
        able = []
        for toolchain in self.toolchains if one else self._matching(entry):
            missing = lacking_compiler(what, variant, toolchain, self.toolbox)
            self.absent += missing
            if not missing:
                able.append(toolchain)
        if not able or (workload.toolchain_sensitive and not one):
            return able
        return [min(able, key=lambda t: (t.flag_set != "native", family(t.compiler) != "gcc"))]

    def _placements(self, workload: Workload, name: str, variant: Variant, entry: Selection) -> list[Placement]:
        """Return where the program runs: the user's placements, the entry's, or its `ranks` and `threads`."""
        shapes = (self.shapes or entry.placements) if "mpi" in variant.needs else ()
        if entry.each_gpu and len(self.machine.gpus) > 1 and on_device(variant.needs) and "mpi" not in variant.needs:
            return [Placement(gpu=k) for k in range(len(self.machine.gpus))]
        if not shapes:
            threads = self._threads(workload, entry) if "openmp" in variant.needs else [1]
            return [Placement(1, entry.ranks if "mpi" in variant.needs else 1, n) for n in threads]
        placements, missing = expand(shapes, self.machine)
        for shape in missing:
            here = f"{count(self.machine.nodes, 'node')} with {count(self.machine.cores, 'core')}"
            why, fix = f"only {here} are available", "use a larger allocation: ./fl submit --nodes K"
            if cores.GPUS in shape and not self.machine.gpus:
                why, fix = "programs can use no GPU here", "run on a node with a GPU"
            self.absent.append(Absent(f"{workload.name} as {shape}", why, fix))
        if "openmp" in variant.needs:
            return placements
        single = [p for p in placements if p.threads == 1]
        if placements and not single:
            what = f"{workload.name}.{name} as {', '.join(shapes)}"
            self.absent.append(
                Absent(what, "this variant runs one thread per rank", "choose a placement that ends in x1")
            )
        return single

    def _threads(self, workload: Workload, entry: Selection) -> list[int]:
        """Return each thread count once; counts above the number of cores require the word for hardware threads."""
        most = cores.most(self.machine)
        counts = [cores.amount(t, self.machine) for t in entry.threads]
        fits = [t == cores.ALL_THREADS or n <= most for t, n in zip(entry.threads, counts, strict=True)]
        for n, fitting in zip(counts, fits, strict=True):
            if not fitting:
                what = f"{workload.name} with {n} threads"
                self.absent.append(
                    Absent(what, f"this machine has only {count(most, 'core')}", "use a machine with more cores")
                )
        return list(dict.fromkeys(n for n, fitting in zip(counts, fits, strict=True) if fitting and n > 0))

    def _parameters(self, workload: Workload, entry: Selection) -> Box | None:
        """Return the values as numbers, once each; None if a parameter has no value left on this machine."""
        resolved: Box = {}
        for name, values in entry.parameters.items():
            sizes = workload.sizes if workload.sizes and workload.sizes.parameter == name else None
            if sizes and entry.bytes_per_element:
                sizes = replace(sizes, bytes_per_element=entry.bytes_per_element)
            kept: list[Value] = []
            for value in self._targets(workload, values) if workload.storage == name else values:
                number = resolve_size(value, sizes, self.machine)
                if number is None:
                    why, fix = lacking(value, sizes, self.machine)
                    self.absent.append(Absent(f"{workload.name} with {name}={value}", why, fix))
                elif number not in kept:
                    kept.append(number)
            if not kept:
                return None
            resolved[name] = kept
        return resolved

    def _targets(self, workload: Workload, values: Sequence[Value]) -> list[Value]:
        """Return the targets of storage that are here; `*` stands for all."""
        here = [target.name for target in self.machine.storage]
        for value in (value for value in values if value not in (*here, "*")):
            why = f"no storage target has this name; known targets: {', '.join(here) or 'none'}"
            self.absent.append(Absent(f"{workload.name} on target {value}", why, f"./fl run --storage {value}=DIR"))
        return [name for name in here if name in values or "*" in values]

    def _parts(self, workload: Workload, program: Program, placement: Placement, parameters: Box) -> list[Box]:
        """Return the cases that rows need as boxes of their own, if all cases together last long."""

        def seconds(box: Box) -> float:
            return launch_seconds(Cell("", program, placement, self._arguments(box)), workload)

        rows = (row for row in workload.rows if can_serve(program, placement, row, workload, self.machine))
        asked = (part(parameters, row, workload, self.machine) for row in rows)
        return split(parameters, [box for box in asked if box is not None], seconds)

    def _arguments(self, parameters: Box) -> tuple[str, ...]:
        return compose(parameters) + effort(self.suite, self.machine).arguments

    def _add_cell(self, program: Program, placement: Placement, parameters: Box) -> None:
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
            (f"{placement.nodes}n" if placement.nodes > 1 else "") + f"{placement.ranks}x{placement.threads}",
            f"gpu{placement.gpu}" if placement.gpu is not None else "",
        ]
        name = ".".join(part for part in parts if part) + (f".{len(earlier)}" if len(earlier) > 1 else "")
        self.cells.append(Cell(name, program, placement, self._arguments(left)))


def _by_target(workload: Workload, parameters: Box) -> list[Box]:
    """Return the cases of each target of storage: a launch that fails on a full or lost target affects no other."""
    name = workload.storage
    return [parameters | {name: [target]} for target in parameters[name]] if name in parameters else [parameters]


def _without(parameters: Box, earlier: list[Box]) -> Box | None:
    """Drop the values that an earlier cell measures with equal other parameters; return None if nothing is left."""
    left = dict(parameters)
    for other in earlier:
        if other.keys() != left.keys():
            continue
        differing = [name for name in left if _beyond(left[name], other[name])]
        if not differing:
            return None
        name = differing[0]
        if all(not _beyond(left[n], other[n]) for n in left if n != name):
            left[name] = _beyond(left[name], other[name])
    return left


def _beyond(values: list[Value], measured: list[Value]) -> list[Value]:
    """Return the values that are neither among the measured ones nor match a pattern of them."""
    patterns = [m for m in measured if isinstance(m, str) and "*" in m]
    return [v for v in values if v not in measured and not (isinstance(v, str) and matches(v, patterns))]
