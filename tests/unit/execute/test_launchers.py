"""Launchers: their command lines, how they bind ranks to cores, and the signals that they report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic_machine
from firstlight.core.errors import UsageError
from firstlight.execute.launch import command as command_of
from firstlight.execute.launch import launcher
from firstlight.execute.launch.invocation import Here
from firstlight.model.plan import Cell, Placement, Program
from firstlight.system.machine import Gpu, Kind, Machine
from firstlight.system.mpi_families import NodeCapacity
from firstlight.system.mpi_families.family import Origin
from firstlight.toolchain import Mpi, Toolbox
from launch_samples import MACHINE, NO_TOOLS, TWO, cell, library

PRINT_STATUS = "-print-all-exitcodes"


TERMINATED = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)"


@pytest.mark.parametrize(
    ("family", "ranks", "threads", "words"),
    [
        ("openmpi", 2, 1, ["-n", "2", "--map-by", "core", "--bind-to", "core"]),
        ("openmpi", 4, 1, ["-n", "4", "--oversubscribe", "--bind-to", "none"]),
        ("openmpi", 1, 2, ["-n", "1", "--map-by", "slot:PE=2", "--bind-to", "core"]),
        ("openmpi", 2, 2, ["-n", "2", "--bind-to", "none"]),
        ("mpich", 2, 1, [PRINT_STATUS, "-n", "2", "-bind-to", "core"]),
        ("mpich", 1, 2, [PRINT_STATUS, "-n", "1", "-bind-to", "core:2"]),
        ("mpich", 4, 1, [PRINT_STATUS, "-n", "4"]),
        ("intel", 2, 1, ["-n", "2"]),
    ],
)
def test_launchers_bind_what_fits(family: str, ranks: int, threads: int, words: list[str]) -> None:
    way = launcher.find(family).invocation(library(family), Placement(1, ranks, threads), TWO)
    assert way.prefix == ("/x/mpiexec", *words)
    assert way.environment["FROM_LIBRARY"] == "1"
    assert way.environment["OMP_PROC_BIND"] == ("close" if ranks * threads <= 2 else "false")


@pytest.mark.parametrize(
    ("origin", "nodes", "chosen", "expected"),
    [
        ("embedded", 1, {}, {"OMPI_MCA_btl": "^ofi", "OMPI_MCA_mtl": "^ofi"}),
        ("embedded", 1, {"OMPI_MCA_btl": "tcp,self"}, {"OMPI_MCA_mtl": "^ofi"}),
        ("embedded", 2, {}, {}),
        ("system", 1, {}, {}),
    ],
)
def test_pips_library_is_spared_the_network_within_a_node(
    origin: Origin, nodes: int, chosen: dict[str, str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl"):
        monkeypatch.delenv(name, raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    mpi = replace(library("openmpi"), origin=origin)
    way = launcher.find("openmpi").invocation(mpi, Placement(nodes, 2, 1), TWO)
    assert {n: v for n, v in way.environment.items() if n.startswith("OMPI_MCA_")} == expected


@pytest.mark.parametrize(
    ("family", "placement", "words"),
    [
        ("openmpi", (2, 4, 1), ["-n", "4", "--map-by", "ppr:2:node", "--bind-to", "core"]),
        ("openmpi", (3, 3, 2), ["-n", "3", "--map-by", "ppr:1:node:PE=2", "--bind-to", "core"]),
        ("openmpi", (2, 8, 1), ["-n", "8", "--oversubscribe", "--map-by", "ppr:4:node", "--bind-to", "none"]),
        ("mpich", (2, 4, 1), [PRINT_STATUS, "-n", "4", "-ppn", "2", "-bind-to", "core"]),
        ("mpich", (2, 8, 1), [PRINT_STATUS, "-n", "8", "-ppn", "4"]),
        ("intel", (2, 4, 1), ["-n", "4", "-ppn", "2"]),
    ],
)
def test_launchers_spread_over_nodes(family: str, placement: tuple[int, int, int], words: list[str]) -> None:
    assert launcher.find(family).invocation(library(family), Placement(*placement), TWO).prefix == (
        "/x/mpiexec",
        *words,
    )


def slurm_library() -> Mpi:
    return replace(library("mpich"), starter=("/x/srun", "--mpi=pmi2"))


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ((1, 2, 1), ["--nodes=1", "--ntasks=2", "--ntasks-per-node=2", "--cpus-per-task=1", "--exact"]),
        ((2, 4, 1), ["--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--cpu-bind=cores"]),
        ((2, 2, 2), ["--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=2", "--cpu-bind=cores"]),
        ((2, 8, 1), ["--ntasks=8", "--ntasks-per-node=4", "--cpus-per-task=1", "--overcommit", "--cpu-bind=none"]),
    ],
)
def test_srun_is_told_every_count(in_slurm: None, placement: tuple[int, int, int], words: list[str]) -> None:
    way = launcher.find("srun").invocation(slurm_library(), Placement(*placement), TWO)
    assert way.prefix[:2] == ("/x/srun", "--mpi=pmi2")
    assert set(words) <= set(way.prefix)
    assert {"--kill-on-bad-exit=1", "--input=none", "--overlap"} <= set(way.prefix)
    assert ("--overcommit" in way.prefix) == (way.environment["OMP_PROC_BIND"] == "false")


@pytest.mark.parametrize(
    ("ranks", "words"),
    [(4, {"--cpu-bind=cores", "--threads-per-core=1"}), (8, {"--cpu-bind=threads"}), (9, {"--overcommit"})],
)
def test_srun_counts_cores_unless_there_are_more_ranks(in_slurm: None, ranks: int, words: set[str]) -> None:
    here = Here(NodeCapacity(4, 8))
    given = set(launcher.find("srun").invocation(slurm_library(), Placement(1, ranks, 1), here).prefix)
    assert words <= given and ("--threads-per-core=1" in given) == (ranks <= 4)


def hybrid() -> Machine:
    """Four slow cores, then two fast ones with two threads each."""
    kinds = (Kind("core of capacity 1024", (4, 5, 6, 7)), Kind("core of capacity 400", (0, 1, 2, 3)))
    return synthetic_machine.machine(
        cores=6,
        cpus=tuple(range(8)),
        threads_per_core=2,
        kinds=kinds,
        siblings=((0,), (1,), (2,), (3,), (4, 5), (6, 7)),
    )


def test_programs_run_on_the_fastest_cores_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 4, 5, 6, 7})
    here = launcher.here(hybrid())
    assert here.room == NodeCapacity(6, 8)
    direct = launcher.find("direct")
    assert direct.invocation(None, Placement(), here).cpu == 6  # the second core of the fast kind
    threads = direct.invocation(None, Placement(1, 1, 3), here).environment
    assert threads["OMP_PLACES"] == "{4,5},{6,7},{0},{1},{2},{3}"
    assert direct.invocation(None, Placement(1, 1, 8), here).environment["OMP_PLACES"] == "threads"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 5})
    assert launcher.here(hybrid()).room == NodeCapacity(3, 3) and launcher.here(hybrid()).serial == 5


def test_siblings_are_no_cores_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    smt = synthetic_machine.machine(cores=2, cpus=(0, 1, 2, 3), threads_per_core=2, siblings=((0, 1), (2, 3)))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    here = launcher.here(smt)
    assert here.room == NodeCapacity(2, 4) and here.serial == 2 and here.places == "cores"


@pytest.mark.parametrize(
    ("placement", "gpus", "words"),
    [
        ((1, 1, 1), 4, ("--gpus-per-node=1", "--gpu-bind=single:1")),
        ((2, 8, 1), 4, ("--gpus-per-node=4", "--gpu-bind=single:1")),
        ((1, 6, 1), 4, ("--gpus-per-node=4", "--gpu-bind=single:2")),
    ],
)
def test_srun_gives_each_rank_a_gpu(
    in_slurm: None, placement: tuple[int, int, int], gpus: int, words: tuple[str, ...]
) -> None:
    machine = synthetic_machine.machine(nodes=2, batch="slurm", gpus=(Gpu("NVIDIA H200"),) * gpus)
    toolbox = replace(synthetic_machine.toolbox(), mpis=(slurm_library(),))

    def command_line(variant: str, here: Machine) -> tuple[str, ...]:
        here_only = Cell("c", Program("w", variant, "gcc-base", "mpich"), Placement(*placement), ())
        return command_of(here_only, Path("/p"), toolbox, output=Path("/o"), machine=here).words

    line = command_line("mpi_cuda", machine)
    assert line[line.index("/p") - 2 : line.index("/p")] == words
    for other in (command_line("mpi_plain", machine), command_line("mpi_cuda", replace(machine, gpus=()))):
        assert not any("gpu" in word for word in other)


def test_srun_never_asks_for_more_nodes_than_it_has(in_slurm: None) -> None:
    way = launcher.find("srun").invocation
    with pytest.raises(UsageError, match="the placement requires 3 nodes, but this Slurm job has 2"):
        way(slurm_library(), Placement(3, 3, 1), TWO)
    with pytest.raises(UsageError, match="cannot be distributed evenly"):
        way(slurm_library(), Placement(2, 3, 1), TWO)


def test_more_nodes_than_there_are_are_refused_whatever_the_launcher(tmp_path: Path) -> None:
    tools = Toolbox((), (library("mpich"),), (), ())
    wide = replace(cell(mpi="mpich"), placement=Placement(2, 2, 1))
    with pytest.raises(UsageError, match="needs 2 nodes, but can use only 1 node; see"):
        command_of(wide, Path("x"), tools, output=tmp_path / "x", machine=MACHINE)


def test_the_batch_systems_launcher_is_taken_where_it_is_proved(in_slurm: None, tmp_path: Path) -> None:
    tools = Toolbox((), (slurm_library(),), (), ())
    machine = replace(MACHINE, nodes=2, batch="slurm")
    words = command_of(cell(mpi="mpich", ranks=2), Path("x"), tools, output=tmp_path / "x", machine=machine).words
    assert words[0] == "/x/srun"


def test_intel_pins_by_environment() -> None:
    way = launcher.find("intel").invocation
    assert way(library("intel"), Placement(1, 2, 1), TWO).environment["I_MPI_PIN_DOMAIN"] == "core"
    assert way(library("intel"), Placement(1, 4, 1), TWO).environment["I_MPI_PIN"] == "0"


@pytest.mark.parametrize(
    ("family", "status", "printed", "number"),
    [
        ("mpich", 6, "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)", 6),
        ("mpich", 6, "the program chose status 6", None),
        ("mpich", 15, f"Exit codes: [a] 9,6,9,0\n{TERMINATED}", 6),  # the bitwise or of 6 and 9 is 15
        ("mpich", 15, f"[mpiexec@a] Exit codes: [node 1] 9,9\n[b] 139,0\n{TERMINATED}", 11),
        ("mpich", 9, "Exit codes: [a] 0,9\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)", 9),
        ("mpich", 6, "Exit codes: [a] 1536,-1,0\n", None),
        ("openmpi", 139, "", 11),
        ("openmpi", 3, "", None),
        ("intel", 6, "=   KILLED BY SIGNAL: 6 (Aborted)", 6),
        ("intel", 6, "=   KILLED BY SIGNAL: 9 (Killed)\n=   KILLED BY SIGNAL: 6 (Aborted)", 6),
        ("direct", -9, "", 9),
        ("direct", 137, "", None),
    ],
)
def test_each_launcher_tells_a_signal_in_its_own_way(
    family: str, status: int, printed: str, number: int | None
) -> None:
    assert launcher.find(family).signal_of(status, printed) == number


@pytest.mark.parametrize("name", ["nosuch", "tree", "../direct", "a.b", ""])
def test_a_launcher_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="no launcher"):
        launcher.find(name)


def test_a_library_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="MPI library 'mpich' is no longer installed"):
        command_of(cell(mpi="mpich"), Path("x"), NO_TOOLS, output=tmp_path / "x", machine=MACHINE)


def test_options_and_launcher_stand_in_the_command(tmp_path: Path) -> None:
    tools = Toolbox((), (library("mpich"),), (), ())
    words = command_of(
        cell(mpi="mpich", ranks=2),
        Path("/b/p"),
        tools,
        output=Path("/r/o"),
        machine=MACHINE,
        options=("--samples", "5"),
    ).words
    assert words[:4] == ("/x/mpiexec", PRINT_STATUS, "-n", "2")
    assert words[-6:] == ("/b/p", "n=100", "--output", "/r/o", "--samples", "5")
