"""Launchers of batch allocations: command lines compared with those of real sites, binding, and trials.

The lines of other people stand here as they wrote them; ours must ask for the same with the same options.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic_machine
from firstlight.commands.shared import sites
from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here
from firstlight.execute.launch.started import Started, WithDevices, started
from firstlight.model.plan import Placement
from firstlight.system import starters
from firstlight.system.mpi_families import NodeCapacity, of
from firstlight.system.site import launchers
from firstlight.toolchain import Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.starting import refused, starting

RECORDED = [
    # ALCF, Polaris user guide, "Running jobs": hybrid MPI and OpenMP, 32 cores with two threads each
    ("pals", Placement(2, 16, 4), NodeCapacity(32, 64), "mpiexec -n 16 --ppn 8 --depth=4 --cpu-bind depth"),
    # ALCF, Aurora: gpu_tile_compact.sh is started by /opt/cray/pals/1.8/bin/mpiexec -n 12 -ppn 12 --depth 8 ...
    ("pals", Placement(1, 12, 8), NodeCapacity(104, 208), "mpiexec -n 12 -ppn 12 --depth 8 --cpu-bind depth"),
    # a job script of UIC-HPC on Aurora
    ("pals", Placement(1, 1, 8), NodeCapacity(104, 208), "mpiexec --envall -n 1 --ppn 1 --cpu-bind depth --depth 8"),
    # NERSC, Edison and Hopper, "Job Launch Command: aprun"; the man page of aprun, S-2496
    ("aprun", Placement(16, 384, 1), NodeCapacity(24, 48), "aprun -n 384 -N 24 -d 1 -j 1 -cc cpu"),
    ("aprun", Placement(4, 16, 6), NodeCapacity(24, 48), "aprun -n 16 -N 4 -d 6 -j 1 -cc depth"),
    ("aprun", Placement(2, 96, 1), NodeCapacity(24, 48), "aprun -n 96 -N 48 -d 1 -j 2 -cc cpu"),
    # OLCF, Summit: a job of 6 ranks on a node with a GPU and 7 cores each; LSTM training of a user, and the vector sums
    # of the OpenMP tutorial on one resource set of 42 cores
    ("jsrun", Placement(1, 6, 6), NodeCapacity(42, 168), "jsrun --nrs 6 --rs_per_host 6 --tasks_per_rs 1 --cpu_per_rs 6"),  # noqa: E501
    ("jsrun", Placement(1, 1, 42), NodeCapacity(42, 168), "jsrun --nrs 1 --tasks_per_rs 1 --cpu_per_rs 42 --rs_per_host 1 --bind packed:42"),  # noqa: E501
    ("jsrun", Placement(1, 1, 7), NodeCapacity(42, 168), "jsrun --nrs 1 --bind packed:7 --cpu_per_rs 7 --rs_per_host 1 --tasks_per_rs 1"),  # noqa: E501
    # flux-run(1), flux-shell(1), and flux-core's t2604-job-shell-affinity.t: flux run -ocpu-affinity=per-task -n2 -c1
    ("flux", Placement(1, 2, 1), NodeCapacity(2, 2), "flux run -o cpu-affinity=per-task --ntasks=2 --cores-per-task=1"),
    ("flux", Placement(2, 8, 4), NodeCapacity(16, 32), "flux run --nodes=2 --ntasks=8 --cores-per-task=4"),
]  # fmt: skip


def options(words: list[str]) -> dict[str, str]:
    """By long or short name the value; `--name=value`, `--name value` and the spellings of one name are the same."""
    same = {"-ppn": "--ppn", "-d": "--depth"} if "mpiexec" in words[0] else {}
    found: dict[str, str] = {}
    last = ""
    for word in words[1:]:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            last = same.get(name, name)
            found[last] = value
        elif last:
            found[last] = word
    return found


@pytest.mark.parametrize(
    ("name", "placement", "room", "theirs"), RECORDED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_command_line_asks_for_what_those_of_sites_ask_for(
    name: str, placement: Placement, room: NodeCapacity, theirs: str
) -> None:
    one = starters.every()[name]
    first = one.ways(one.COMMAND, of("mpich"))[0]
    ours = list(starters.line(first, placement, room))
    assert ours[0] == theirs.split()[0]
    given, wanted = options(ours), options(theirs.split())
    assert {key: given.get(key) for key in wanted} == wanted, (ours, theirs)


@pytest.mark.parametrize("name", starters.every())
def test_ranks_that_do_not_fit_are_started_and_not_bound(name: str) -> None:
    """On two nodes of four cores with two threads each: a core each, a hardware thread each, neither."""
    one, room = starters.every()[name], NodeCapacity(4, 8)
    lines = [" ".join(one.words(Placement(2, 2 * n, 1), room)) for n in (4, 8, 9)]
    assert len(set(lines)) == 3
    bound = [re.search(r"(?:cpu-affinity|--cpu-bind|-cc|--bind)[= ]([\w:-]+)", line) for line in lines]
    assert bound[2] is not None and bound[2][1] in ("none", "off")
    assert bound[0] is not None and bound[0][1] not in ("none", "off")
    for line, ranks in zip(lines, (8, 16, 18), strict=True):
        numbers = set(map(int, re.findall(r"(?<![\w:])\d+(?!\w)", line)))
        assert ranks in numbers or {2, ranks // 2} <= numbers, line


def library(family: str, *starter: str) -> Mpi:
    return Mpi(family, family, family, "5", "system", "/x/mpicxx", None, (), "/x/mpiexec", {"OF": "1"}, starter=starter)


@pytest.mark.parametrize(
    ("starter", "gpus", "words"),
    [
        (("/x/flux", "run"), 4, ("--gpus-per-task=1", "-o", "gpu-affinity=per-task")),
        (("/x/flux", "run"), 2, ()),  # more ranks than GPUs: each sees all, and uses the one of its rank
        (("/x/jsrun",), 4, ("--gpu_per_rs=1",)),
        (("/opt/cray/pals/1.8/bin/mpiexec",), 4, ()),
        (("/x/aprun",), 4, ()),
    ],
)
def test_each_rank_gets_a_gpu_where_the_launcher_can_give_one(
    starter: tuple[str, ...], gpus: int, words: tuple[str, ...]
) -> None:
    way = started(starter)
    assert isinstance(way, WithDevices) and way.devices(Placement(2, 8, 1), gpus) == words


def test_a_launch_begins_with_the_words_and_has_the_librarys_environment() -> None:
    mpi = library("mpich", "/x/aprun")
    way = started(mpi.starter).invocation(mpi, Placement(2, 8, 2), Here(NodeCapacity(8, 8)))
    assert way.prefix == ("/x/aprun", "-n", "8", "-N", "4", "-d", "2", "-j", "1", "-cc", "depth")
    assert way.environment == {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores", "OF": "1"} and way.grace > 5
    with pytest.raises(UsageError, match="evenly"):
        started(mpi.starter).invocation(mpi, Placement(2, 3, 1), Here(NodeCapacity(8, 8)))
    assert started(mpi.starter).signal_of(139, "") == 11


def test_a_command_line_of_ones_own_is_filled_in() -> None:
    words = launchers.template("prun --np {ranks} --map-by ppr:{per_node}:node:pe={threads}")
    mpi = library("openmpi", *words)
    way = started(mpi.starter)
    assert type(way) is Started
    prefix = way.invocation(mpi, Placement(2, 8, 3), Here(NodeCapacity(16, 16))).prefix
    assert prefix == ("prun", "--np", "8", "--map-by", "ppr:4:node:pe=3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prun -n {rank}", "{rank} is unknown; possible fields are {ranks}"),
        ("prun -n {ranks", "a single brace"),
        ("prun -n 4 ", "does not set the number of ranks"),
        ("prun -n {0}", "{0} is unknown"),
        ("mpirun", "'mpirun' is not a launcher: use one of srun, mpiexec, aprun"),
    ],
)
def test_a_launcher_that_is_none_is_told_before_anything_is_done(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        sites.ask(None, None, text, None, None)


def test_every_file_has_its_name_among_the_launchers() -> None:
    assert {*starters.every(), "srun", "mpiexec"} == set(launchers.NAMES)


def host(folder: Path, batch: str, **programs: str) -> Host:
    """Return a host with these programs on its path: shell scripts that record their arguments."""
    for name, body in programs.items():
        place = folder / ("opt/cray/pals/1.8/bin" if name == "mpiexec" else "bin") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f'#!/bin/sh\necho "$0 $@" >>{folder}/asked\n{body}\n')
        place.chmod(0o755)
    machine = replace(synthetic_machine.machine(), batch=batch, nodes=2)
    path = f"{folder}/bin:{folder}/opt/cray/pals/1.8/bin:/usr/bin:/bin"
    return Host(machine, folder, {"PATH": path}, Memory(folder / "memory.json"))


def compiled(folder: Path, family: str = "mpich") -> Mpi:
    place = folder / "mpicxx"
    place.write_text("#!/bin/sh\ntouch start\n")
    place.chmod(0o755)
    return replace(library(family), cxx=str(place))


@pytest.mark.parametrize(
    ("batch", "command", "name", "line"),
    [
        ("flux", "flux", "flux", "run --nodes=2 --tasks-per-node=2"),
        ("pbs", "mpiexec", "pals", "--envall -n 4 --ppn 2"),
        ("pbs", "aprun", "aprun", "-n 4 -N 2 -d 1"),
        ("lsf", "jsrun", "jsrun", "--nrs=2 --rs_per_host=1 --tasks_per_rs=2"),
    ],
)
def test_what_the_batch_system_has_is_tried_and_taken(
    batch: str, command: str, name: str, line: str, tmp_path: Path
) -> None:
    here = host(tmp_path, batch, **{command: "exit 0"})
    mine, absent = starting(here, compiled(tmp_path))
    assert (
        absent == [] and Path(mine.starter[0]).name == command and starters.of(mine.starter) is starters.every()[name]
    )
    assert line in (tmp_path / "asked").read_text()
    assert list(tmp_path.glob("start-*")) == []


def test_one_that_is_no_pals_is_left_to_its_library_and_ranks_that_are_alone_are_no_proof(tmp_path: Path) -> None:
    here, mine = host(tmp_path, "pbs"), compiled(tmp_path)
    here.path = (tmp_path / "bin",)
    ordinary = tmp_path / "bin" / "mpiexec"
    ordinary.parent.mkdir(exist_ok=True)
    ordinary.write_text("#!/bin/sh\nexit 0\n")
    ordinary.chmod(0o755)
    assert starting(here, mine) == (mine, [])
    other = host(tmp_path, "lsf", jsrun="exit 9")
    found, (absent,) = starting(other, mine)
    assert (
        found == mine and absent.what == "mpich through jsrun" and "the processes do not find each other" in absent.why
    )


def test_who_names_a_launcher_gets_that_or_nothing(tmp_path: Path) -> None:
    here, mine = host(tmp_path, "pbs", flux="exit 0", aprun="exit 1"), compiled(tmp_path)
    assert starters.of(starting(here, mine, "flux")[0].starter) is starters.every()["flux"]
    found, _ = starting(here, mine, "aprun")
    assert found == mine and (gap := refused(here, found, "aprun")) and "aprun was selected" in gap.why
    assert starting(here, mine, "mpiexec") == (mine, [])
    here.machine = replace(here.machine, batch="")
    assert starting(here, mine, "flux") == (mine, []) and refused(here, mine, "flux") is None


@pytest.mark.skipif(shutil.which("mpicxx.mpich") is None, reason="no MPICH of the system here")
def test_a_command_line_of_ones_own_is_proved_and_taken_outside_of_allocations(tmp_path: Path) -> None:
    machine = synthetic_machine.machine()
    here = Host(machine, tmp_path, {"PATH": "/usr/bin:/bin"}, Memory(tmp_path / "memory.json"))
    real = replace(library("mpich"), cxx="/usr/bin/mpicxx.mpich", launcher="/usr/bin/mpiexec.mpich", environment={})
    mine, absent = starting(here, real, "mpiexec.mpich -n {ranks} -ppn {per_node}")
    assert absent == [] and mine.starter == ("/usr/bin/mpiexec.mpich", "-n", "{ranks}", "-ppn", "{per_node}")
    alone, (gap,) = starting(here, real, "env RANKS={ranks}")
    assert (
        alone == real
        and "the processes do not find each other" in gap.why
        and refused(here, alone, "env RANKS={ranks}")
    )
