"""Plan the cells of a request, one for each command with each combination of the values that vary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import NamedTuple

from firstlight.commands.bench.amounts import amount
from firstlight.commands.bench.building import known
from firstlight.commands.bench.placeholders import BUILT, KNOWN, PLACED, WRAPPERS, filled, names
from firstlight.commands.bench.request import WORKING_SET, BenchRequest, launcher_words
from firstlight.commands.bench.request import words as words_of
from firstlight.core.errors import UsageError
from firstlight.model.catalogue import Value
from firstlight.model.plan import AS_IT_IS, EFFORT, Cell, ExternalCommand, Likeness, Placement, Program
from firstlight.model.plan.arguments import compose
from firstlight.model.plan.effort import EXTERNAL
from firstlight.model.plan.placements import expand
from firstlight.runner import external_commands
from firstlight.system.machine import Machine
from firstlight.system.mpi_families import interchangeable
from firstlight.toolchain import Absent, Mpi, Toolbox, Toolchain, used_mpi


class Made(NamedTuple):
    """The toolchain, MPI library and folder of one build. Without a toolchain, a program is used as it is, in place."""

    toolchain: Toolchain | None
    mpi: Mpi | None
    folder: Path

    @property
    def name(self) -> str:
        return self.toolchain.name if self.toolchain is not None else AS_IT_IS


class Choices(NamedTuple):
    """The values of each axis, and those that are not available here."""

    toolchains: tuple[Toolchain | None, ...]
    mpis: tuple[Mpi | None, ...]
    placements: tuple[Placement, ...]
    binds: tuple[str, ...]  # bound, unbound; (): as commands do by themselves
    sweep: tuple[dict[str, Value], ...]
    absent: tuple[Absent, ...] = ()


def texts(request: BenchRequest) -> list[str]:
    """Return all texts of the request that may contain a placeholder."""
    output = (request.output.file, request.output.reference) if request.output is not None else ()
    shells = (request.prepare, request.check, request.build)
    return [*request.commands.values(), *request.work.values(), *shells, *request.environment.values(), *output]


def unknown(request: BenchRequest) -> list[str]:
    """Return the names in braces that are not placeholders; braces mean something to shells and to awk, too."""
    return sorted(names(texts(request)) - {*request.sweep, *KNOWN})


def choices(request: BenchRequest, machine: Machine, toolbox: Toolbox, folder: Path) -> Choices:
    """Return the values that vary in this request. Raises UsageError for what cannot be varied here."""
    used = names(texts(request))
    if taken := sorted(set(request.sweep) & set(KNOWN)):
        raise UsageError(f"a sweep cannot be called {taken[0]}: {{{taken[0]}}} is reserved")
    if idle := sorted(set(request.sweep) - used):
        raise UsageError(f"no command uses the sweep {idle[0]}: write {{{idle[0]}}} in a command")
    if request.mpi_share and not any(launched(request, name) for name in request.commands):
        raise UsageError("--mpi-share: no command begins with mpiexec -n, so firstlight recognises no MPI program")
    if request.build and not used & {*BUILT, *WRAPPERS}:
        raise UsageError("--build names no compiler: write {cxx} and {flags} in the build command")
    if "bind" in used and "bind" not in request.vary:
        raise UsageError("{bind} has no value: add --vary bind")
    absent: list[Absent] = []
    mpis = _mpis(request, toolbox, folder, absent)
    if "mpi" in used and mpis == (None,):
        raise UsageError("{mpi} has no value: no command begins with mpiexec -n {ranks}, and no --build names {mpicxx}")
    binds = ("bound", "unbound") if "bind" in request.vary else ()
    return Choices(
        toolchains=_toolchains(request, toolbox, used),
        mpis=mpis,
        placements=_placements(request, machine, absent),
        binds=binds,
        sweep=tuple(dict(zip(request.sweep, some, strict=True)) for some in product(*request.sweep.values())),
        absent=tuple(absent),
    )


def launched(request: BenchRequest, name: str) -> bool:
    return launcher_words(words_of(request, name)) > 0


def _toolchains(request: BenchRequest, toolbox: Toolbox, used: set[str]) -> tuple[Toolchain | None, ...]:
    if not used & {*BUILT, *WRAPPERS}:
        if request.toolchains:
            raise UsageError("--toolchain selects the compilers of --build; add a --build with {cxx}")
        return (None,)
    found = [t for t in toolbox.toolchains if any(fnmatchcase(t.name, p) for p in request.toolchains or ("*",))]
    if not found:
        here = ", ".join(t.name for t in toolbox.toolchains) or "none"
        raise UsageError(f"no toolchain matches {' or '.join(request.toolchains)}; available: {here}")
    return tuple(found)


def _mpis(request: BenchRequest, toolbox: Toolbox, folder: Path, absent: list[Absent]) -> tuple[Mpi | None, ...]:
    some = [name for name in request.commands if launched(request, name)]
    builds = not names(texts(request)).isdisjoint(WRAPPERS)
    if not some and not builds:
        if "mpi" in request.vary or request.mpis:
            raise UsageError("no command begins with mpiexec -n {ranks}, so there is no MPI library to choose")
        return (None,)
    if not toolbox.mpis:
        raise UsageError("no MPI library is available for launches; `./fl doctor` shows what is missing")
    wanted = [m for m in toolbox.mpis if any(fnmatchcase(m.name, p) for p in request.mpis or ("*",))]
    if not wanted:
        here = ", ".join(m.name for m in toolbox.mpis)
        raise UsageError(f"no MPI library matches {' or '.join(request.mpis)}; available: {here}")
    if builds:
        return tuple(wanted) if "mpi" in request.vary or request.mpis else (wanted[0],)
    if request.build or not some:
        return tuple(wanted[:1])
    return _of_programs(request, some, toolbox, wanted, folder, absent)


def _of_programs(
    request: BenchRequest,
    some: Sequence[str],
    toolbox: Toolbox,
    wanted: Sequence[Mpi],
    folder: Path,
    absent: list[Absent],
) -> tuple[Mpi, ...]:
    """Return the MPI library that a built program is linked with; with --vary or --mpi, those of its interface."""
    own = {}
    for name in some:
        words = words_of(request, name)
        there = [str(external_commands.found(w, folder) or w) for w in words[3:4]]
        own[name] = used_mpi.mpi_of([*there, words[0]], toolbox.mpis, None)
    first = next(iter(own.values()))
    if "mpi" not in request.vary and not request.mpis:
        return (first,)
    alike = {family.name for family in interchangeable(first.family)}
    for mpi in (m for m in wanted if m.family not in alike):
        why = f"the program is linked with {first.label}"
        absent.append(
            Absent(f"{request.name} with {mpi.label}", why, "build the program for each library: --build with {mpicxx}")
        )
    found = tuple(m for m in wanted if m.family in alike)
    if not found:
        raise UsageError(
            f"the program is linked with {first.label}: add --build with {{mpicxx}} to measure other libraries"
        )
    return found


def _placements(request: BenchRequest, machine: Machine, absent: list[Absent]) -> tuple[Placement, ...]:
    parallel = any(launched(request, name) for name in request.commands)
    given = request.placements or (_several(machine, parallel) if "placement" in request.vary else ())
    if not given:
        given = ("1xallx1",) if parallel and "ranks" in names(request.commands.values()) else ("1x1x1",)
    found, lacking = expand(given, machine)
    absent += [
        Absent(
            f"{request.name} on {shape}",
            "this machine has too few cores or nodes",
            "use a machine with more cores or nodes",
        )
        for shape in lacking
    ]
    if not found:
        raise UsageError(f"no placement fits this machine: {', '.join(lacking)}")
    used = names([*request.commands.values(), *request.environment.values()])
    if not parallel and used.isdisjoint({*PLACED} - {"threads"}) and (several := [p for p in found if p.ranks > 1]):
        what = f"no command starts {several[0].ranks} processes"
        raise UsageError(
            f"--placement: {what}; begin the command with mpiexec -n {{ranks}}, or use {{ranks}} in the command"
        )
    return tuple(found)


def _several(machine: Machine, parallel: bool) -> tuple[str, ...]:
    """Return placements on 1, 2, 4, ... and all cores of a node, with ranks if `parallel`, else with threads."""
    counts = [2**k for k in range(machine.cores.bit_length()) if 2**k < machine.cores] + [machine.cores]
    return tuple(f"1x{n}x1" if parallel else f"1x1x{n}" for n in counts)


def cells(
    request: BenchRequest,
    some: Choices,
    made: Sequence[Made],
    recorders: Mapping[str, str] = {},
    folders: Mapping[str, Path] = {},
    counters: Mapping[str, tuple[int, int]] = {},
) -> list[Cell]:
    """Return the cells of every command, in the order of the request.

    `recorders`: the call recorder by MPI library. `folders`: the folders of the commands that have one of their own.
    `counters`: the hardware counters that can be read here. Ranks of a launcher may have other parents, or be on other
    nodes, so those of its commands are not read.
    """
    found: list[Cell] = []
    taken: dict[str, int] = {}
    for name in request.commands:
        for one, placement, bind, values in product(made, some.placements, some.binds or ("",), some.sweep):
            mpi = one.mpi if launched(request, name) else None
            if one.mpi is not None and mpi is None and one is not _first_like(made, one):
                continue  # it does not care which library the others have
            place = _placed(request, name, placement)
            parts = [request.name, name, one.name, mpi.name if mpi else "", f"{place.ranks}x{place.threads}"]
            stem = ".".join(filter(None, parts))
            program = Program(request.name, name, one.name, mpi.name if mpi else None)
            parameters = {**values, **({"bind": bind} if bind else {})}
            arguments = compose({name: [one] for name, one in parameters.items()}) + EFFORT[EXTERNAL].arguments
            own = one._replace(folder=folders.get(name, one.folder))
            external = _external(request, name, own, place, bind, values, recorders, counters)
            if any(c.program == program and c.external == external and c.placement == place for c in found):
                continue
            taken[stem] = taken.get(stem, 0) + 1
            unique = stem if taken[stem] == 1 else f"{stem}.{taken[stem]}"
            found.append(Cell(unique, program, place, arguments, external))
    return found


def _first_like(made: Sequence[Made], one: Made) -> Made:
    return next(m for m in made if m.toolchain == one.toolchain)


def _placed(request: BenchRequest, name: str, placement: Placement) -> Placement:
    """Return the placement of a command; a number of ranks in it (`mpiexec -n 4`) is kept. Raises UsageError for 0."""
    words = words_of(request, name)
    if not launcher_words(words) or not words[2].isdecimal():
        return placement
    if int(words[2]) < 1:
        raise UsageError(f"{name}: {' '.join(words[:3])} starts no process")
    return Placement(1, int(words[2]), placement.threads)


def _external(
    request: BenchRequest,
    name: str,
    made: Made,
    placement: Placement,
    bind: str,
    values: dict[str, Value],
    recorders: Mapping[str, str],
    counters: Mapping[str, tuple[int, int]],
) -> ExternalCommand:
    own = launched(request, name)
    placed = bool(request.placements) or "placement" in request.vary or bool(bind) or "threads" in names(texts(request))
    placeholders = {**values, **_known(made, placement), **({"bind": bind} if bind else {})}
    full = [filled(word, placeholders) for word in words_of(request, name)]
    command = full[launcher_words(full) :] if own else full
    like = None
    if request.output is not None:
        reference = made.folder / filled(request.output.reference, placeholders)
        like = Likeness(filled(request.output.file, placeholders), str(reference), request.output.tolerance)
    environment = {key: filled(value, placeholders) for key, value in request.environment.items()}
    if placed:
        _require_threads(environment, placement)
    return ExternalCommand(
        command=tuple(command),
        folder=str(made.folder),
        launched=own,
        bound=bind == "bound" or (own and not bind),
        placed=placed,
        environment=environment,
        prepare=filled(request.prepare, placeholders),
        warmup=request.warmup,
        figures={key: figure.pattern for key, figure in request.figures.items()},
        status=request.verify_status,
        expect=filled(request.expect, placeholders),
        check=filled(request.check, placeholders),
        like=like,
        recorder=recorders.get(mpi.name, "") if (mpi := made.mpi) is not None and own else "",
        cost={n: amount(n, filled(text, placeholders)) for n, text in request.work.items() if n != WORKING_SET},
        working_set=amount(WORKING_SET, filled(request.work[WORKING_SET], placeholders))
        if WORKING_SET in request.work
        else 0.0,
        counters={} if own else dict(counters),
    )


def _require_threads(environment: Mapping[str, str], placement: Placement) -> None:
    """Raise UsageError for a variable that sets another number of threads than the placement."""
    shape, threads = f"{placement.nodes}x{placement.per_node}x{placement.threads}", str(placement.threads)
    first = environment.get("OMP_NUM_THREADS", threads).split(",")[0].strip()  # the others are for nested teams
    limit = environment.get("OMP_THREAD_LIMIT", threads).strip()
    lower = limit.isdecimal() and int(limit) < placement.threads
    for name, wrong in (("OMP_NUM_THREADS", first != threads), ("OMP_THREAD_LIMIT", lower)):
        if wrong:
            raise UsageError(
                f"--env {name}={environment[name]} contradicts --placement {shape}, which sets the threads per rank; "
                f"remove one of the two, or write {name}={{threads}}"
            )


def _known(made: Made, placement: Placement) -> dict[str, object]:
    """Return the values of the placeholders for placement and tools."""
    place = (placement.nodes, placement.ranks, placement.per_node, placement.threads)
    values: dict[str, object] = dict(zip(PLACED, place, strict=True))
    return values | known(made.toolchain, made.mpi)


def ways(some: Choices, build: str, folder: Path, copies: Path) -> Iterator[Made]:
    """Yield one build for each toolchain and MPI library. `copies`: the place for copies of the folder."""
    for toolchain, mpi in product(some.toolchains, some.mpis):
        if not build:
            yield Made(toolchain, mpi, folder)
        else:
            parts: Iterable[str] = filter(None, (toolchain.name if toolchain else "", mpi.name if mpi else ""))
            yield Made(toolchain, mpi, copies / "+".join(parts))
