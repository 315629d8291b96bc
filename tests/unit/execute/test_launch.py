"""Launch: commands, environment, binding, and the sentence that says how a launch ended."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic_machine
from firstlight.core.errors import UsageError
from firstlight.execute.launch import Outcome, environment, flaw, launch, launcher, scratch, supervise
from firstlight.execute.launch import command as command_of
from firstlight.execute.launch.invocation import Here
from firstlight.model.plan import Cell, Placement, Program
from firstlight.runner.environment import variables
from firstlight.system.machine import Gpu, Kind, Machine
from firstlight.system.mpi_families import NodeCapacity
from firstlight.system.mpi_families.family import Origin
from firstlight.system.process import tree
from firstlight.system.process.shm_leftovers import Leftovers
from firstlight.toolchain import Mpi, Toolbox

MACHINE = synthetic_machine.machine()
TWO = Here(NodeCapacity(2, 2))  # cores
NO_TOOLS = Toolbox((), (), (), ())
Make = Callable[[str], Path]


def cell(mpi: str | None = None, ranks: int = 1, threads: int = 1) -> Cell:
    return Cell("dot.serial", Program("dot", "serial", "gcc-base", mpi), Placement(1, ranks, threads), ("n=100",))


def library(family: str) -> Mpi:
    return Mpi(family, family, family, "5", "system", "/x/mpicxx", None, (), "/x/mpiexec", {"FROM_LIBRARY": "1"})


def run(executable: Path, tmp_path: Path, threads: int = 1, timeout: float = 20, tools: Toolbox = NO_TOOLS) -> Outcome:
    output = tmp_path / "record.jsonl"
    output.unlink(missing_ok=True)
    ready = command_of(cell(threads=threads), executable, tools, output=output, machine=MACHINE)
    return launch(ready, timeout, f"test-{os.getpid()}-{tmp_path.name}")


def test_a_program_that_ends_well_is_ok(program: Make, tmp_path: Path) -> None:
    outcome = run(program("record()"), tmp_path)
    assert (outcome.ok, outcome.status, outcome.reason) == (True, 0, "")
    assert outcome.seconds > 0
    assert outcome.command[1:] == ("n=100", "--output", str(tmp_path / "record.jsonl"))


def test_a_failed_verification_is_a_complete_launch(program: Make, tmp_path: Path) -> None:
    outcome = run(program("record(ok=False)"), tmp_path)
    assert (outcome.ok, outcome.status, outcome.reason) == (True, 1, "")


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("record(end=False)", 0, "ended with status 0 and an incomplete record: no message"),
        ("pass", 0, "ended with status 0 and no record: no message"),
        ("record(); open(output(), 'a').write('{')", 0, "ended with status 0 and an incomplete record: no message"),
        ("record(); line(type='sample')", 0, "ended with status 0 and an incomplete record: no message"),
        ("record(); sys.exit('n must be positive')", 1, ""),
        ("print('n must be positive', file=sys.stderr); sys.exit(2)", 2, "rejected its arguments (status 2): n must be positive"),  # noqa: E501
        ("print(sys.argv[0] + ': it needs pairs\\nExit code: 2', file=sys.stderr); sys.exit(2)", 2, "rejected its arguments (status 2): it needs pairs"),  # noqa: E501
        ("print('no memory', file=sys.stderr); sys.exit(3)", 3, "could not run here (status 3): no memory"),
        ("sys.exit(77)", 77, "ended by itself (status 77): no message"),
        ("record(); os.abort()", -6, "program aborted: signal 6 (SIGABRT)"),
        ("record(); os.kill(os.getpid(), 11)", -11, "program aborted: signal 11 (SIGSEGV)"),
    ],
)  # fmt: skip
def test_the_reason_says_how_it_ended(program: Make, tmp_path: Path, body: str, status: int, reason: str) -> None:
    outcome = run(program(body), tmp_path)
    assert (outcome.status, outcome.reason, outcome.ok) == (status, reason, reason == "")


def test_a_program_does_not_start_in_the_current_folder(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries below MPI read configuration files of the current folder: UCX reads `ucx.conf`."""
    monkeypatch.chdir(tmp_path)
    assert run(program("record(); sys.stderr.write(os.getcwd())"), tmp_path).stderr == "/"


def test_what_cannot_be_started_is_a_lost_launch(tmp_path: Path) -> None:
    outcome = run(tmp_path / "nothing", tmp_path)
    assert not outcome.ok
    assert outcome.reason == f"cannot start {tmp_path / 'nothing'}: No such file or directory"
    with pytest.raises(FileNotFoundError):
        supervise.run([str(tmp_path / "nothing")], {}, identity="nothing", timeout=1)


def test_a_program_on_a_file_system_without_programs_tells_why(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = program("record()")
    executable.chmod(0o644)
    assert run(executable, tmp_path).reason == f"cannot start {executable}: Permission denied"
    monkeypatch.setattr("firstlight.execute.launch.starts_nothing", lambda place: place == executable)
    assert run(executable, tmp_path).reason.endswith(
        "; its file system is mounted noexec: set FIRSTLIGHT_CACHE to a folder of another one"
    )


REFUSED = """
import ctypes, platform, struct, sys
number = {"x86_64": 203, "aarch64": 122}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]  # EPERM
packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(packed))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
from firstlight.execute.launch import supervise
ended = supervise.run(["/bin/echo", "it runs"], {}, identity=sys.argv[1], timeout=20, cpu=0)
print(ended.status, ended.stdout, ended.stderr)
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the filter of system calls has no number")
def test_where_the_system_refuses_to_pin_programs_they_run_and_the_record_tells(tmp_path: Path) -> None:
    """Simulate a container whose filter of system calls excludes that call."""
    words = [sys.executable, "-I", "-c", REFUSED, f"test-{os.getpid()}-{tmp_path.name}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this system takes no filter of system calls")
    assert done.returncode == 0, done.stderr
    assert "0 b'it runs\\n'" in done.stdout
    assert "firstlight: not pinned to its CPUs (sched_setaffinity: Operation not permitted)" in done.stdout


def test_a_flood_of_output_never_blocks_and_only_its_tail_is_kept(program: Make, tmp_path: Path) -> None:
    flood = "sys.stderr.write('x' * 3_000_000 + 'the end'); sys.stdout.write('y' * 3_000_000); record()"
    outcome = run(program(flood), tmp_path)
    assert outcome.ok
    assert len(outcome.stderr) == supervise.TAIL and outcome.stderr.endswith("xthe end")
    assert outcome.stdout == "y" * supervise.TAIL


def test_a_program_that_writes_without_end_is_timed_out(program: Make, tmp_path: Path) -> None:
    outcome = run(program("while True: sys.stderr.write('x' * 65536)"), tmp_path, timeout=0.5)
    assert (outcome.status, outcome.reason) == (None, "timed out after 0.5 s and was killed")


def test_the_host_name_and_control_characters_do_not_reach_the_record(program: Make, tmp_path: Path) -> None:
    node = os.uname().nodename
    body = f"print('rank 0 on {node} said \\x1b[31m\\xff', file=sys.stderr); record()"
    stderr = run(program(body), tmp_path).stderr
    assert stderr == f"rank 0 on {MACHINE.name} said  [31mÿ\n" or node in MACHINE.name
    assert "\x1b" not in stderr


def test_one_thread_is_pinned_to_one_core_and_more_are_not(program: Make, tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    show = program("record(); print(cpus())")
    assert len(json.loads(run(show, tmp_path).stdout)) == 1
    assert json.loads(run(show, tmp_path, threads=2).stdout) == mine
    assert sorted(os.sched_getaffinity(0)) == mine


def test_the_environment_is_an_allow_list(program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("UCX_TLS", "self,sm")
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "64")
    outcome = run(program("import json; record(); print(json.dumps(dict(os.environ)))"), tmp_path, threads=2)
    seen = json.loads(outcome.stdout)
    assert "SOME_TOKEN" not in seen
    assert seen["UCX_TLS"] == "self,sm"
    assert seen["OMP_NUM_THREADS"] == "2" and seen["OPENBLAS_NUM_THREADS"] == "1"
    assert seen["OMP_PROC_BIND"] == "close" and seen["OMP_PLACES"] == "cores"
    assert seen[tree.MARK] == f"test-{os.getpid()}-{tmp_path.name}"
    assert outcome.command[-2:] == ("--threads", "2")


def test_each_launch_has_a_short_temporary_folder_that_goes_with_it(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "folder = os.environ['TMPDIR']; print(folder, flush=True)"
    body = f"{script}; os.makedirs(folder + '/deep/er'); os.chmod(folder + '/deep', 0); record()"
    folders = []
    for base in (str(tmp_path), "/dev/shm", "nowhere/at/all"):
        monkeypatch.setenv("TMPDIR", base)
        outcome = run(program(body), tmp_path)
        folders.append(outcome.stdout.strip())
        assert outcome.ok and not Path(folders[-1]).exists()
    assert folders[1].startswith("/dev/shm/fl-") and len(set(folders)) == 3
    assert folders[2].startswith("/tmp/fl-") and max(map(len, folders)) < 48


def test_the_temporary_folder_of_what_hangs_goes_too(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However far the program came: on a busy machine it may be ended before it can tell its folder."""
    foreseen = []

    def recorded(mpi: Mpi | None, machine: Machine) -> Leftovers:
        foreseen.append(real(mpi, machine))
        return foreseen[-1]

    real = scratch.expected_leftovers
    monkeypatch.setattr(scratch, "expected_leftovers", recorded)
    for body in ("print(os.environ['TMPDIR'], flush=True); hang()", "hang()"):
        outcome = run(program(body), tmp_path, timeout=0.5)
        assert outcome.status is None and outcome.stdout.strip() in ("", foreseen[-1].folder)
        assert foreseen[-1].folder and not Path(foreseen[-1].folder).exists()


@pytest.mark.alone  # what nobody holds may be removed, and named, by a launch of another test
def test_what_a_launch_shares_and_leaves_is_named_and_removed(program: Make, tmp_path: Path) -> None:
    name = f"__KMP_REGISTERED_LIB_test_{os.getpid()}_{tmp_path.name}"
    outcome = run(program(f"open('/dev/shm/{name}', 'w').close(); record()"), tmp_path)
    assert outcome.ok and f"firstlight: removed 1 shared files left behind: {name}\n" in outcome.stderr
    assert not (Path("/dev/shm") / name).exists()


def test_where_other_nodes_take_part_there_is_no_temporary_folder_of_this_one(
    in_slurm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scratch.expected_leftovers(None, MACHINE).folder
    assert not scratch.expected_leftovers(None, replace(MACHINE, nodes=2, batch="slurm")).folder
    away = scratch.expected_leftovers(library("openmpi"), replace(MACHINE, nodes=1, batch="slurm"))
    assert not away.folder and scratch.variables(away, library("openmpi")) == {}
    monkeypatch.setenv("SLURM_JOB_NODELIST", os.uname().nodename.partition(".")[0])
    assert scratch.expected_leftovers(None, replace(MACHINE, nodes=1, batch="slurm")).folder


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_nothing_but_the_allowed_names_passes(variables: dict[str, str]) -> None:
    passed = environment.allowed(variables)
    assert passed.items() <= variables.items()
    prefixes = environment.PREFIXES + environment.DEVICES + environment.BATCH
    assert all(name in environment.NAMES or name.startswith(prefixes) for name in passed)


DEVICES = """CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_MPS_PIPE_DIRECTORY NVIDIA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
    HIP_VISIBLE_DEVICES HSA_XNACK GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK ONEAPI_DEVICE_SELECTOR ACC_DEVICE_NUM"""
MANAGERS = """SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_CONF PBS_NODEFILE PALS_PMI FLUX_URI LSB_MCPU_HOSTS LSF_BINDIR
    JSM_JSRUN_NO_WARN_OMP PJM_NODE CRAY_ROOTFS PMI_MMAP_SYNC_WAIT_TIME PMI_NO_FORK"""
SETTINGS = """UCX_NET_DEVICES FI_PROVIDER PSM2_MULTI_EP PSM3_NIC HFI_UNIT RDMAV_FORK_SAFE IBV_FORK_SAFE CXI_LOG
    PMIX_MCA_gds OMPI_MCA_btl OMPI_MCA_orte_base_help_aggregate PRTE_MCA_rmaps_default_mapping_policy
    OMPI_MCA_orte_tmpdir_base OMPI_MCA_orte_launch_agent MPICH_OFI_NIC_POLICY I_MPI_FABRICS OMP_TARGET_OFFLOAD"""
RANK_VARIABLES = """PMI_RANK PMI_SIZE PMI_FD PMI_PORT PMI_JOBID PMI_ID PMI_LOCAL_RANK PMI_CONTROL_PORT PMI2_RANK
    PMIX_RANK PMIX_NAMESPACE PMIX_SERVER_URI41 PMIX_SERVER_TMPDIR PMIX_GDS_MODULE PALS_RANKID PALS_APID FLUX_TASK_RANK
    JSM_NAMESPACE_RANK OMPI_COMM_WORLD_RANK OMPI_UNIVERSE_SIZE OMPI_MCA_ess OMPI_MCA_ess_base_vpid OMPI_MCA_orte_hnp_uri
    OMPI_MCA_orte_jobfam_session_dir PRTE_LAUNCHED MPIR_CVAR_CH3_INTERFACE_HOSTNAME I_MPI_INFO_NUMA_NODE_NUM"""


LEFT_OVER = """OMP_THREAD_LIMIT OMP_DYNAMIC OMP_MAX_ACTIVE_LEVELS OMP_NESTED OMP_TEAMS_THREAD_LIMIT OMP_NUM_TEAMS
    OMP_TOOL_LIBRARIES GOMP_CPU_AFFINITY KMP_AFFINITY KMP_HW_SUBSET MALLOC_ARENA_MAX MALLOC_TOP_PAD_
    GLIBC_TUNABLES LD_PRELOAD LD_BIND_NOW LD_AUDIT MKL_ENABLE_INSTRUCTIONS OPENBLAS_CORETYPE
    GFORTRAN_UNBUFFERED_ALL LIBRARY_PATH OMP_NUM_THREADS"""


@pytest.mark.parametrize("name", LEFT_OVER.split())
def test_what_is_left_in_a_shell_shrinks_no_team(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Leftover variables do not change the memory, kernels or libraries either."""
    monkeypatch.setenv(name, "1")
    composed = environment.compose(Placement(threads=2), "identity", {})
    assert composed.get(name) == ("2" if name == "OMP_NUM_THREADS" else None)
    assert name in ("OMP_NUM_THREADS", "LIBRARY_PATH") or name not in variables({name: "1"})


def test_programs_get_what_devices_launchers_and_fabrics_need_and_nothing_of_an_outer_rank() -> None:
    """Only settings are recorded: the other variables may name devices, folders and hosts."""
    given = {name: "value" for text in (DEVICES, MANAGERS, SETTINGS, RANK_VARIABLES) for name in text.split()}
    assert set(environment.allowed(given)) == {*DEVICES.split(), *MANAGERS.split(), *SETTINGS.split()}
    assert set(variables(given)) == set(SETTINGS.split())


def test_a_program_learns_which_devices_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "OMP_TARGET_OFFLOAD"):
        monkeypatch.setenv(name, "GPU-1")
        assert environment.compose(Placement(), "x", {})[name] == "GPU-1"


@given(st.binary(max_size=200))
def test_a_record_is_known_by_its_last_line_whatever_comes_before(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "record"
    path.write_bytes(data)
    assert flaw(path) == "an incomplete record"
    path.write_bytes(data + b'\n{"type":"end","cases":1}\n')
    assert flaw(path) == ""
    assert flaw(path.with_name("nothing")) == "no record"


@pytest.mark.parametrize(
    ("replace", "flaw"),
    [
        ("os.unlink(output())", "no record"),
        ("os.unlink(output()); os.mkfifo(output())", "a named pipe in place of its record"),
        ("os.unlink(output()); os.mkdir(output())", "a directory in place of its record"),
        ("os.rename(output(), output() + '2'); os.symlink(output() + '2', output())", "a symbolic link in place of its record"),  # noqa: E501
        ("os.unlink(output()); os.symlink('/dev/zero', output())", "a symbolic link in place of its record"),
        ("os.unlink(output()); import socket; socket.socket(socket.AF_UNIX).bind(os.path.relpath(output()))", "a socket in place of its record"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_a_program_puts_in_place_of_its_record_is_told_at_once(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: str, flaw: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    outcome = run(program(f"record(); {replace}"), tmp_path)
    assert (outcome.ok, outcome.reason) == (False, f"ended with status 0 and {flaw}: no message")


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


@pytest.fixture
def in_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"JOB_ID": "7", "JOB_NUM_NODES": "2", "JOB_NODELIST": "node[1-2]", "JOB_CPUS_PER_NODE": "2(x2)"}
    for name, value in given.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("SLURMD_NODENAME", "node1")


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
    with pytest.raises(UsageError, match="3 nodes are wanted, this Slurm job has 2"):
        way(slurm_library(), Placement(3, 3, 1), TWO)
    with pytest.raises(UsageError, match="cannot be spread evenly"):
        way(slurm_library(), Placement(2, 3, 1), TWO)


def test_more_nodes_than_there_are_are_refused_whatever_the_launcher(tmp_path: Path) -> None:
    tools = Toolbox((), (library("mpich"),), (), ())
    wide = replace(cell(mpi="mpich"), placement=Placement(2, 2, 1))
    with pytest.raises(UsageError, match="needs 2 nodes and there is 1 node; see"):
        command_of(wide, Path("x"), tools, output=tmp_path / "x", machine=MACHINE)


def test_the_batch_systems_launcher_is_taken_where_it_is_proved(in_slurm: None, tmp_path: Path) -> None:
    tools = Toolbox((), (slurm_library(),), (), ())
    machine = replace(MACHINE, nodes=2, batch="slurm")
    words = command_of(cell(mpi="mpich", ranks=2), Path("x"), tools, output=tmp_path / "x", machine=machine).words
    assert words[0] == "/x/srun"


def test_the_names_of_other_nodes_do_not_reach_the_record(
    in_slurm: None, program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("test_launch.MACHINE", replace(MACHINE, nodes=2, batch="slurm"))
    stderr = run(program("print('lost node2, not node21', file=sys.stderr); record()"), tmp_path).stderr
    assert stderr == f"lost {MACHINE.name}, not node21\n"


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
    with pytest.raises(UsageError, match="MPI library 'mpich' is no longer here"):
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


def test_the_process_table_reads_this_process() -> None:
    me = tree.table()[os.getpid()]
    assert me == tree.read(os.getpid())
    assert me.parent == os.getppid() and me.session == os.getsid(0) and me.state == "R"
    assert tree.read(2**22 + 1) is None
    assert sys.executable
