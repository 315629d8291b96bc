"""Native programs in tests: build them once, run one at small sizes, read its output."""

from __future__ import annotations

import hashlib
import os
import subprocess
import uuid
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import launches
import run_options
import spent
import turns
from firstlight import ROOT
from firstlight import toolchain as toolchains
from firstlight.core.errors import ENVIRONMENT
from firstlight.execute.build import Built, Options, build
from firstlight.execute.launch import command, launch
from firstlight.model import plan
from firstlight.model.catalogue import Variant, Workload, load, on_device, roots
from firstlight.model.plan import Cell, Placement, Program
from firstlight.system import machine
from firstlight.toolchain import Toolbox, Toolchain

CACHE = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))
here = toolchains.played(machine.discover(), CACHE)  # FIRSTLIGHT_TARGET=aarch64: as emulated
workloads = load(roots())


COMPILERS = ("gcc", "clang")
"""Whose programs tests make, the first one everywhere."""


@cache
def toolbox() -> Toolbox:
    """Return the tools of this machine, and each compiler's base flags once more with less optimisation (`BRIEF`)."""
    found = toolchains.discover(here, CACHE)
    brief = [
        replace(t, name=f"{t.compiler}-{BRIEF}", flags=(*t.flags, "-Og"))
        for t in found.toolchains
        if t.flag_set == "base" and t.compiler in COMPILERS
    ]
    return replace(found, toolchains=(*found.toolchains, *brief))


BRIEF = "brief"
"""The name of the toolchains of broken variants, and of all without --full: the result of a check does not depend on
optimisation, which is half of their compile time. With --full, correct variants are compiled as users' programs are.
"""


def toolchain(flag_set: str, compiler: str = "gcc", brief: bool = False) -> Toolchain | None:
    name = f"{compiler}-{BRIEF if brief and flag_set == 'base' else flag_set}"
    return next((t for t in toolbox().toolchains if t.name == name), None)


def variants(broken: bool) -> list[tuple[Workload, Variant]]:
    return [(w, v) for w in workloads.values() for v in w.variants if v.broken == broken]


PLAINEST = ("serial", "omp", "mpi", "mpi_blocking")
KINDS = ((), ("openmp",), ("mpi",))
"""A representative of a kind needs this: nothing (serial), threads or processes."""


@cache
def _representatives(workload: str) -> frozenset[str]:
    """Return the names of a workload's plainest variant of each kind, and of all broken variants of these kinds."""
    every = workloads[workload].variants
    found = {v.name for v in every if v.broken and tuple(v.needs) in KINDS}
    for needs in KINDS:
        names = [v.name for v in every if not v.broken and tuple(v.needs) == needs]
        found |= set(sorted(names, key=lambda n: (n not in PLAINEST, len(n), n))[:1])
    return frozenset(found)


def of_newcomer(workload: Workload, variant: Variant) -> bool:
    """Return whether `./fl test` builds it: a representative, or a broken variant of its kind."""
    return variant.name in _representatives(workload.name)


def programs(workload: Workload, variant: Variant, tool: Toolchain) -> list[Program]:
    """Return the programs of one source file with one toolchain: one per MPI library, one per BLAS library."""
    here = toolbox()
    return [
        program
        for name in plan.variant_names(variant, here)
        for program in plan.programs(workload, name, variant, tool, here, here.mpis)[0]
    ]


def buildable(variant: Variant, tool: Toolchain) -> bool:
    """Return whether this toolchain supports the variant, with one of the MPI libraries here or without any."""
    workload = next(w for w in workloads.values() if variant in w.variants)
    return bool(programs(workload, variant, tool))


def compilers(variant: Variant) -> list[str]:
    """Return the compilers here that can build the variant, with or without MPI: all with --full, else the first.

    CUDA variants meet the first only, for nvcc makes the device's code whatever compiles the host's. Each workload's
    `cuda` meets them all; without a GPU, where it is only linked, the one of a single workload does.
    """
    able = [c for c in COMPILERS if (t := toolchain("base", c)) and buildable(variant, t)]
    return able if run_options.full and ("cuda" not in variant.needs or _meets_all(variant)) else able[:1]


def _meets_all(variant: Variant) -> bool:
    """Return whether a CUDA variant meets all compilers."""
    plain = [v for _, v in variants(broken=False) if v.name == "cuda"]
    return variant in (plain if here.gpus else plain[:1])


def runs(variant: Variant) -> bool:
    """Return whether this machine has the devices that the variant needs."""
    return bool(here.gpus) or not on_device(variant.needs)


def met(workload: Workload, variant: Variant, compiler: str) -> list[Program]:
    """Return the programs of a variant that `test_workloads` makes: one MPI library, MPICH where it is there, for it
    starts soonest; with --full in turn over the variants, and the next one with the next compiler. A broken variant
    then meets Open MPI: its ranks wait without spinning, so that further tests may start many.

    So every variant meets every compiler and, with two compilers and two libraries, every library; and each compiler
    meets each library. What only one compiler can build meets all libraries there, if it can run.

    With --of-machine a variant meets one compiler and one library. A representative meets the compiler of the fresh
    machine again, and the other library; the other variants of a workload share one compiler, so that only one has to
    build its judge. The representatives of the chapter about the libraries themselves meet all of them.
    """
    tool = toolchain("base", compiler, variant.broken or not run_options.full)
    every = programs(workload, variant, tool) if tool else []
    mpis = sorted({p.mpi for p in every if p.mpi})
    if not run_options.full:
        return [p for p in every if p.mpi in (*mpis[:1], None)]
    if variant.broken:
        return [p for p in every if p.mpi in (*mpis[-1:], None)]
    able = compilers(variant)
    turn = sum(f"{workload.name}.{variant.name}".encode())
    if run_options.of_machine and len(able) > 1:
        turn_of_workload = -1 - sum(workload.name.encode()) % len(able)  # the judges that are long to build get gcc
        if compiler != able[0 if of_newcomer(workload, variant) else turn_of_workload]:
            return []
        if workload.chapter == "network" and of_newcomer(workload, variant):
            return every
        library = mpis[-1 if of_newcomer(workload, variant) else turn % len(mpis)] if mpis else None
        return [p for p in every if p.mpi == library]
    if len(mpis) < 2 or (len(able) < 2 and runs(variant)):
        return every
    return [p for p in every if p.mpi == mpis[(turn + COMPILERS.index(compiler)) % len(mpis)]]


def on_each_library(workload: Workload, variant: Variant) -> list[Program]:
    """Return a program for each MPI library that `test_workloads` uses, among those that it makes: the first library
    with gcc, the next with clang. A broken variant has one.
    """
    found: dict[tuple[str, str | None], Program] = {}
    for compiler in compilers(variant)[: 1 if variant.broken else None]:
        for program in met(workload, variant, compiler):
            found.setdefault((program.variant, program.mpi), program)
    return list(found.values())


def made_from(workload: Workload, variant: Variant, program: Program) -> bool:
    return program.workload == workload.name and workload.variant(program.variant) == variant


def built_somehow(workload: Workload, variant: Variant) -> Built:
    """Return one program of the variant that `test_workloads` makes, too; skip the test if nothing here builds it."""
    programs = on_each_library(workload, variant)
    if not programs:
        pytest.skip("nothing here builds it")
    (made,) = make(programs[:1]).values()
    return made


def plain_program(workload: str, variant: str, flag_set: str = "base") -> Program:
    """Return the program with gcc's flags of that set and the first MPI library; skip the test if either is missing."""
    tool, mpis = toolchain(flag_set, brief=variant.startswith("broken_")), toolbox().mpis
    if tool is None:
        pytest.skip("no gcc here")
    if not variant.removeprefix("broken_").startswith("mpi"):
        return Program(workload, variant, tool.name)
    if not mpis:
        pytest.skip("no MPI library here")
    return Program(workload, variant, tool.name, mpis[0].name)


def party_of_two(variant: Variant) -> Placement:
    """Return a placement with two threads or two ranks, where the variant may have several."""
    if "openmp" in variant.needs:
        return Placement(threads=2)
    return Placement(ranks=2) if "mpi" in variant.needs else Placement()


STRICT = Options(strict=True)
"""Warnings are errors. All tests that need no other options share one build of a program."""


def make(
    wanted: Iterable[Program], options: Options = STRICT, workloads: dict[str, Workload] = workloads
) -> dict[Program, Built]:
    wanted = list(wanted)
    names = {program.workload for program in wanted}
    with spent.charge(spent.BUILD, names.pop() if len(names) == 1 else ""):
        return build(wanted, toolbox(), workloads, CACHE, options=options)


def plain(workload: str, variant: str, flag_set: str = "base") -> Built:
    """plain_program(), built."""
    program = plain_program(workload, variant, flag_set)
    return make([program])[program]


EFFORT = ("--samples", "2", "--sample-seconds", "0.0001")
"""Arguments of a launch in tests that set how long it measures."""

SEVERAL_BATCHES = ("--samples", "4", "--steps", "4")
"""Arguments of a launch with a check at a random step of a random batch, samples after it, and steps before it."""

IN_BATCHES = ("--samples", "2", "--steps", "8")
"""Arguments of a launch whose samples have several steps, however long, for what differs within a batch."""

COUNTED = ("--samples", "2", "--steps", "1")
"""Arguments of a launch whose samples have the same steps on every machine, for what differs from step to step."""


class Output(msgspec.Struct):
    """Represent the end of a program and the lines of its record."""

    status: int | None
    reason: str
    stderr: str
    lines: list[dict]  # type: ignore[type-arg]

    def of(self, kind: str) -> list[dict]:  # type: ignore[type-arg]
        return [line for line in self.lines if line["type"] == kind]

    def iterations(self, *names: str) -> dict[tuple[object, ...], int]:
        """Return iterations by the values of those parameters; they are the same on every rank and in every sample."""
        found: dict[tuple[object, ...], set[float]] = {}
        for sample in self.of("sample"):
            parameters = self.of("case")[sample["case"]]["parameters"]
            found.setdefault(tuple(parameters[n] for n in names), set()).update(sample["values"]["iterations"])
        assert all(len(some) == 1 for some in found.values())
        return {key: int(some.pop()) for key, some in found.items()}


VERDICTS = CACHE / "verdicts"
"""Outputs of programs, by all that they depend on. `--fresh` launches the programs again."""


def run(
    built: Built, place: Placement, arguments: tuple[str, ...], folder: Path, effort: tuple[str, ...] = EFFORT
) -> Output:
    """Launch a program for a short time, as a run does; return the stored output if the same launch was made before."""
    assert built.executable is not None, built.error
    mpi = next((m for m in toolbox().mpis if m.name == built.program.mpi), None)
    key = repr((built.sha256, place, arguments, mpi and (mpi.label, mpi.launcher), len(here.cpus), effort))
    known = VERDICTS / hashlib.sha256(key.encode()).hexdigest()
    if known.exists() and not run_options.fresh:
        return msgspec.json.decode(known.read_bytes(), type=Output)
    with spent.charge(spent.LAUNCH, built.program.workload):
        answer = launches.settled(lambda: _launch(built, place, arguments, folder, effort))
    if answer.status in (None, ENVIRONMENT):
        return answer  # killed, not started, or no place for it: it may end another way
    VERDICTS.mkdir(parents=True, exist_ok=True)
    part = known.with_name(f"{known.name}.{os.getpid()}")
    part.write_bytes(msgspec.json.encode(answer))
    part.replace(known)
    return answer


def yielding(program: Program, place: Placement) -> bool:
    """Return whether its processes yield while they wait for messages: Open MPI's do, as `conftest` configures it."""
    mpi = next((m for m in toolbox().mpis if m.name == program.mpi), None)
    return mpi is not None and mpi.family == "openmpi" and place.threads == 1


def _launch(
    built: Built, place: Placement, arguments: tuple[str, ...], folder: Path, effort: tuple[str, ...]
) -> Output:
    output = folder / f"{uuid.uuid4().hex}.jsonl"
    cell = Cell("test", built.program, place, arguments)
    assert built.executable is not None, built.error
    with turns.party(place.ranks * place.threads, yielding(built.program, place)):
        ready = command(cell, built.executable, toolbox(), output=output, machine=here, options=effort)
        outcome = launch(ready, turns.PATIENCE, uuid.uuid4().hex)
    spent.elsewhere(outcome.processors)
    lines = [msgspec.json.decode(line) for line in output.read_bytes().splitlines()] if output.exists() else []
    return Output(outcome.status, outcome.reason, outcome.stderr, lines)


def verified(built: Built, place: Placement, folder: Path, *arguments: str, effort: tuple[str, ...] = EFFORT) -> Output:
    """Run one launch; every check must pass."""
    output = run(built, place, arguments, folder, effort)
    assert (output.status, output.reason) == (0, ""), (output.stderr, [c for c in output.of("check") if not c["ok"]])
    assert output.of("check") and all(check["ok"] for check in output.of("check"))
    return output


def finds_one_wrong_element(built: Built, n: int, folder: Path, *arguments: str, effort: tuple[str, ...]) -> None:
    """Assert that the checks of two cases find the element in the middle that a broken program alters."""
    output = run(built, Placement(), (f"n={n}", *arguments), folder, effort)
    assert output.status == 1
    checks = output.of("check")
    assert {c["case"] for c in checks if not c["ok"]} == {0, 1}
    wrong = [c for c in checks if not c["ok"]]
    assert all(c["error"] == 1 and f"element ({n // 2}, {n // 2}) is " in c["what"] for c in wrong)


def direct(built: Built, *words: str) -> subprocess.CompletedProcess[str]:
    """Call a serial program without a launcher."""
    assert built.executable is not None, built.error
    return subprocess.run([built.executable, *words], capture_output=True, text=True, timeout=60)
