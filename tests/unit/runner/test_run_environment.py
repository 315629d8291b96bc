"""Environment variables of a run: which of them are recorded, and how `compare` shows them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import synthetic
from firstlight.analysis.environment import differences
from firstlight.report import method
from firstlight.runner import environment


def test_the_environment_keeps_what_steers_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node07")
    kept = environment.variables(
        {
            "OMP_WAIT_POLICY": "active",
            "UCX_TLS": "shm,node07",
            "OMPI_MCA_orte_hnp_uri": "tcp://10.0.0.1",
            "MPICH_TOKEN": "abc",
            "I_MPI_HYDRA_HOST_FILE": "hosts",
            "SLURM_JOB_NUM_NODES": "2",
            "SLURM_JOB_USER": "me",
            "SLURM_CPU_FREQ_REQ": "low",
            "HOME": "/home/me",
            "USER": "me",
            "LD_LIBRARY_PATH": "/home/me/lib:/opt/x/lib:/scratch/me/lib:/home/menor/lib:/net/node07/lib",
            "LD_PRELOAD": "/home/me/spy.so",
            "OMP_PLACES": "",
            "UCX_NET_DEVICES": "\udcff",
            "AWS_SECRET_ACCESS_KEY": "abc",
        }
    )
    paths = "~/lib:/opt/x/lib:/scratch/<user>/lib:/home/menor/lib:/net/<host>/lib"
    assert kept == {
        "LD_LIBRARY_PATH": paths,
        "MPICH_TOKEN": environment.HIDDEN,
        "OMP_WAIT_POLICY": "active",
        "SLURM_CPU_FREQ_REQ": "low",
        "SLURM_JOB_NUM_NODES": "2",
        "UCX_NET_DEVICES": "\\udcff",
        "UCX_TLS": "shm,<host>",
    }


def test_files_in_the_home_folder_that_configure_mpi_are_recorded(tmp_path: Path) -> None:
    """Open MPI with `btl = self,tcp` in one of them has twenty times the latency of shared memory."""
    for name, text in {
        ".openmpi/mca-params.conf": "btl = self,tcp\n",
        ".prte/mca-params.conf": "# nothing\n\n",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    kept = environment.variables({"HOME": str(tmp_path)})
    assert set(kept) == {"~/.openmpi/mca-params.conf"} and "tcp" not in str(kept)
    assert environment.variables({}) == environment.variables({"HOME": str(tmp_path / "nowhere")}) == {}


def test_a_long_variable_that_ends_otherwise_is_told_by_compare() -> None:
    """Where libraries are searched changes a measurement: it is recorded whole or by its hash."""
    paths = ":".join(f"/opt/software/library-{k}/lib" for k in range(200))
    one, other = (environment.variables({"LD_LIBRARY_PATH": paths + end}) for end in ("/a", "/b"))
    assert len(one["LD_LIBRARY_PATH"]) < 1100 and one != other and environment.variables({}) == {}
    run = synthetic.run().run
    a, b = (msgspec.structs.replace(run, environment=kept) for kept in (one, other))
    (difference,) = differences(a, b)
    assert difference.startswith("LD_LIBRARY_PATH: /opt/software/library-0/lib:")
    assert any(difference.endswith(" in A, not set in B") for difference in differences(a, run))
    assert ("LD_LIBRARY_PATH", one["LD_LIBRARY_PATH"]) in method.environment(a)
