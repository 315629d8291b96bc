"""A launched program has the right environment variables and temporary folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.commands.doctor import diagnosis
from firstlight.execute.launch import command, environment, launch, scratch
from firstlight.model.plan import ExternalCommand, Placement
from firstlight.runner.environment import variables
from firstlight.system.machine import Machine
from firstlight.system.mpi_families import outside
from firstlight.system.process import tree
from firstlight.system.process.shm_leftovers import Leftovers
from firstlight.toolchain import Mpi
from launch_samples import MACHINE, NO_TOOLS, Make, cell, library, run


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


@pytest.mark.parametrize(("free", "base"), [(scratch.LEAST, "/dev/shm"), (scratch.LEAST - 4096, "/tmp")])
def test_a_full_temporary_folder_of_the_user_is_not_used(monkeypatch: pytest.MonkeyPatch, free: int, base: str) -> None:
    real = os.statvfs("/dev/shm")
    monkeypatch.setenv("TMPDIR", "/dev/shm")
    monkeypatch.setattr(
        os, "statvfs", lambda folder: os.statvfs_result((4096, 4096, *real[2:4], free // 4096, *real[5:10]))
    )
    assert Path(scratch.expected_leftovers(None, MACHINE).folder).parent == Path(base)


def test_the_temporary_folder_of_what_hangs_goes_too(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program may be ended before it can print its folder on a busy machine; the folder is removed at any stage."""
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


@pytest.mark.alone  # files that no process holds may be removed, and named, by a launch of another test
@pytest.mark.alone
def test_what_a_launch_shares_and_leaves_is_named_and_removed(program: Make, tmp_path: Path) -> None:
    """The test runs alone: a launch that ends at the same time may remove it first, or leave its own files."""
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
    PMIX_MCA_gds OMPI_MCA_btl OMPI_MCA_orte_base_help_aggregate OMPI_MCA_plm_rsh_pass_libpath HYDRA_IFACE
    OMPI_MCA_orte_tmpdir_base OMPI_MCA_orte_launch_agent MPICH_OFI_NIC_POLICY I_MPI_FABRICS OMP_TARGET_OFFLOAD"""


RANK_VARIABLES = """PMI_RANK PMI_SIZE PMI_FD PMI_PORT PMI_JOBID PMI_ID PMI_LOCAL_RANK PMI_CONTROL_PORT PMI2_RANK
    PMIX_RANK PMIX_NAMESPACE PMIX_SERVER_URI41 PMIX_SERVER_TMPDIR PMIX_GDS_MODULE PALS_RANKID PALS_APID FLUX_TASK_RANK
    JSM_NAMESPACE_RANK OMPI_COMM_WORLD_RANK OMPI_UNIVERSE_SIZE OMPI_MCA_ess OMPI_MCA_ess_base_vpid OMPI_MCA_orte_hnp_uri
    OMPI_MCA_orte_jobfam_session_dir PRTE_LAUNCHED MPIR_CVAR_CH3_INTERFACE_HOSTNAME I_MPI_INFO_NUMA_NODE_NUM"""


PLACING = """OMPI_MCA_rmaps OMPI_MCA_rmaps_base_mapping_policy OMPI_MCA_rmaps_base_cpus_per_rank
    OMPI_MCA_rmaps_base_no_schedule_local OMPI_MCA_rmaps_rank_file_path OMPI_MCA_hwloc_base_cpu_set
    OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_hwloc_base_slot_list OMPI_MCA_orte_default_hostfile
    OMPI_MCA_orte_rankfile OMPI_MCA_ras_base_multiplier PRTE_MCA_rmaps_default_mapping_policy
    PRTE_MCA_hwloc_default_binding_policy PRTE_MCA_hwloc_use_hwthreads_as_cpus PRTE_MCA_prte_default_hostfile
    HYDRA_HOST_FILE HYDRA_BINDING HYDRA_MAPPING HYDRA_TOPOLIB I_MPI_PIN I_MPI_PIN_PROCESSOR_LIST I_MPI_PERHOST
    I_MPI_HYDRA_HOST_FILE"""


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
    assert name == "LIBRARY_PATH" or name not in variables({name: "1"})


def test_programs_get_what_devices_launchers_and_fabrics_need_and_nothing_of_an_outer_rank() -> None:
    """Only settings are recorded: the other variables may name devices, folders and hosts."""
    given = {name: "value" for text in (DEVICES, MANAGERS, SETTINGS, RANK_VARIABLES) for name in text.split()}
    assert set(environment.allowed(given)) == {*DEVICES.split(), *MANAGERS.split(), *SETTINGS.split()}
    assert set(variables(given)) == set(SETTINGS.split())


@pytest.mark.parametrize("name", PLACING.split())
def test_what_is_left_in_a_shell_places_no_rank(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """firstlight chooses the places of ranks: no launch, no trial and no record contains the variable."""
    assert not environment.allowed({name: "1"}) and not variables({name: "1"}) and not outside({name: "1"})
    monkeypatch.setenv(name, "1")
    assert name in diagnosis._ignored()[0].detail
    named = ExternalCommand(("true",), "/", environment={name: "1"})
    assert environment.compose(Placement(), "x", {}, named)[name] == "1"  # as `bench --env NAME` does


@pytest.mark.parametrize("name", environment.DECIDED)
def test_variables_that_a_placement_decides_reach_external_commands_only(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "5")
    assert environment.compose(Placement(), "x", {}).get(name) == ("1" if name == "OMP_NUM_THREADS" else None)
    assert environment.compose(Placement(), "x", {}, ExternalCommand(("true",), "/"))[name] == "5"
    assert variables({name: "5"}) == {} and variables({name: "5"}, external=True) == {name: "5"}


def test_a_failed_launch_names_the_settings_of_the_shell(
    program: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = program("sys.exit('cannot find a component')")
    for name in filter(re.compile("OMPI_").match, list(os.environ)):
        monkeypatch.delenv(name)
    for name in ("OMPI_MCA_pml", "UCX_TLS", "OMPI_MCA_rmaps", "MPICH_VERSION", "OMP_WAIT_POLICY"):
        monkeypatch.setenv(name, "nonsense")
    known, reasons = replace(library("openmpi"), launcher=str(launcher)), []
    for mpi in (known, replace(known, environment={"OMPI_MCA_pml": "ob1", "UCX_TLS": "sm"})):
        tools = replace(NO_TOOLS, mpis=(mpi,))
        ready = command(cell("openmpi"), launcher, tools, output=tmp_path / "record", machine=MACHINE)
        reasons.append(launch(ready, 20, f"test-{os.getpid()}-{tmp_path.name}").reason)
    assert reasons[0].endswith("cannot find a component; your shell sets OMPI_MCA_pml, UCX_TLS")
    assert reasons[1].endswith("cannot find a component")


def test_a_program_learns_which_devices_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "OMP_TARGET_OFFLOAD"):
        monkeypatch.setenv(name, "GPU-1")
        assert environment.compose(Placement(), "x", {})[name] == "GPU-1"
