"""The programs that `tests/on_gpu.py` launches: variants for devices, or with --emulated those that emulate one.

    python tests/support/gpu_programs.py list [--emulated]              # workloads, with their variants, as JSON
    python tests/support/gpu_programs.py build WORKLOAD [--emulated]    # builds them; how to launch each, as JSON

Wrong variants (`broken_*`) are among them: on a device, their checks must fail as everywhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

import small_sizes
from firstlight import toolchain as toolchains
from firstlight.execute.build import Built, build
from firstlight.execute.launch import command
from firstlight.model import plan
from firstlight.model.catalogue import Variant, Workload, load, on_device, roots
from firstlight.model.plan import Cell, Placement, Program
from firstlight.report import chapters
from firstlight.system import machine
from firstlight.toolchain import Toolbox

OUTPUT = "/the/record.jsonl"
"""This word stands for the file of the record in the arguments of a launch."""
EFFORT = ("--samples", "2", "--sample-seconds", "0.0001")


class Launchable(msgspec.Struct):
    """Represent one program. `trials`: the arguments of each launch at small sizes; without any it is only built, if at
    all.

    `sha256`: of the executable; "" if there is none, which `error` explains.
    """

    name: str
    variant: str
    broken: bool
    sha256: str
    error: str
    executable: str = ""
    environment: dict[str, str] = {}
    trials: list[list[str]] = []


def emulates(variant: Variant) -> bool:
    return "emulated" in variant.name and not on_device(variant.needs)


def chosen(workload: Workload, emulated: bool) -> list[Variant]:
    """Return the variants for devices. With --emulated they are only built, and those that emulate one run."""
    return [v for v in workload.variants if on_device(v.needs) or (emulated and emulates(v))]


def placement(variant: Variant) -> Placement:
    if "mpi" in variant.needs:
        return Placement(ranks=2)
    return Placement(threads=2) if "openmp" in variant.needs else Placement()


def trials(workload: Workload, variant: Variant) -> list[tuple[str, ...]]:
    """Return the arguments of each launch: one that must verify, or several of which one must be rejected."""
    if not variant.broken:
        return [small_sizes.arguments(workload, variant.name)]
    entries = small_sizes.selections(workload, variant.name)
    return list(dict.fromkeys(words for entry in entries for words in small_sizes.words(workload, entry)))


def programs(workload: Workload, variant: Variant, toolbox: Toolbox) -> tuple[list[Program], str]:
    """Return the programs of a variant, or why there are none: directives by each compiler, all else by the first.

    Their flags are those with which the suites measure devices, so that each program is built once.
    """
    found, reasons = [], []
    tools = [t for t in toolbox.toolchains if t.name == f"{t.compiler}-native"]
    for tool in tools:
        made, absent = plan.programs(workload, variant.name, variant, tool, toolbox, toolbox.mpis[:1])
        found += made
        reasons += [a.why for a in absent]
    return found[: None if {"acc", "target"} & {*variant.needs} else 1], reasons[0] if reasons else ""


def launchable(workload: Workload, variant: Variant, built: Built, toolbox: Toolbox, runs: bool) -> Launchable:
    program = built.program
    name = f"{program.workload}.{program.variant} {program.toolchain.partition('-')[0]}"
    made = Launchable(name, f"{program.workload}.{program.variant}", variant.broken, built.sha256, built.error)
    if built.executable is None or not runs:
        return made
    made.executable = str(built.executable.absolute())
    for arguments in trials(workload, variant):
        cell = Cell("small", program, placement(variant), arguments)
        ready = command(
            cell, built.executable, toolbox, output=Path(OUTPUT), machine=machine.discover(), options=EFFORT
        )
        made.trials.append(list(ready.words))
        made.environment = dict(ready.invocation.environment)
    return made


def build_all(workload: Workload, emulated: bool) -> list[Launchable]:
    cache = machine.cache_directory()
    toolbox = toolchains.discover(machine.discover(), cache)
    wanted: dict[Program, Variant] = {}
    missing = []
    for variant in chosen(workload, emulated):
        found, why = programs(workload, variant, toolbox)
        wanted |= dict.fromkeys(found, variant)
        name = f"{workload.name}.{variant.name}"
        missing += [] if found else [Launchable(name, name, variant.broken, "", why)]
    made = build(list(wanted), toolbox, {workload.name: workload}, cache)
    runs = {program: emulates(variant) or not emulated for program, variant in wanted.items()}
    return [*(launchable(workload, v, made[p], toolbox, runs[p]) for p, v in wanted.items()), *missing]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["list", "build"])
    parser.add_argument("workload", nargs="?")
    parser.add_argument("--emulated", action="store_true")
    given = parser.parse_args()
    workloads = load(roots())
    if given.what == "build":
        print(msgspec.json.encode(build_all(workloads[given.workload], given.emulated)).decode())
        return
    # The node's workloads are first: they build fast and provide the ceilings of the others.
    ordered = sorted(workloads.values(), key=lambda w: (chapters.place(w.chapter), w.name))
    every = {w.name: [v.name for v in chosen(w, given.emulated) if not v.broken] for w in ordered}
    print(json.dumps({name: variants for name, variants in every.items() if variants}))


if __name__ == "__main__":
    main()
