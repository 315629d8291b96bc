"""The allocation is read from variables of batch systems; no text makes it raise or fill the memory."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.system.machine import Machine, allocation, discover
from firstlight.system.machine.allocation import Allocation, host_list, node_file, slurm_counts

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NUM_NODES": "3",
    "SLURM_JOB_CPUS_PER_NODE": "72(x2),36",
    "SLURM_JOB_NODELIST": "gpu[07-08],login1",
    "SLURMD_NODENAME": "gpu07",
}
names = st.from_regex(r"[a-z]{1,6}-?", fullmatch=True)
values = st.one_of(st.text(), st.text(alphabet="0123456789[](),-x", max_size=40))


def silent(*words: str) -> str:
    return ""


def test_outside_of_a_batch_system_there_is_one_node():
    assert allocation.discover({}, silent) == Allocation("", 1)


def test_a_slurm_job():
    found = allocation.discover(SLURM, silent)
    assert (found.system, found.nodes, found.cpus, found.even, found.job) == ("slurm", 3, 36, False, "4711")
    assert found.hosts == ("gpu07", "gpu08", "login1")


def test_a_shell_outside_of_the_nodes_it_holds_is_told_so():
    given = {name: value for name, value in SLURM.items() if name != "SLURMD_NODENAME"}
    found = allocation.discover(given, silent)
    assert (found.system, found.nodes) == ("", 1)
    assert "./fl submit" in found.warning


def test_a_pbs_job(tmp_path: Path):
    nodes = tmp_path / "nodes"
    nodes.write_text("n1.cluster\nn1.cluster\nn2.cluster\n\n")
    found = allocation.discover({"PBS_JOBID": "12.server", "PBS_NODEFILE": str(nodes)}, silent)
    assert (found.system, found.nodes, found.hosts, found.job) == ("pbs", 2, ("n1.cluster", "n2.cluster"), "12.server")
    assert allocation.discover({"PBS_JOBID": "12.server", "PBS_NODEFILE": str(tmp_path / "none")}, silent).nodes == 1


@pytest.mark.parametrize(
    ("hosts", "names", "cpus", "even"),
    [
        ("batch3 1 a05n15 42 a05n16 42", ("a05n15", "a05n16"), 42, True),  # the first starts jsrun, no rank is there
        ("hostA 8 hostB 4", ("hostA", "hostB"), 4, False),
        ("hostA 1 hostB 1", ("hostA", "hostB"), 1, True),
        ("hostA 16", ("hostA",), 16, True),
    ],
)
def test_a_job_of_lsf(hosts: str, names: tuple[str, ...], cpus: int, even: bool):
    found = allocation.discover({"LSB_JOBID": "29209", "LSB_MCPU_HOSTS": hosts}, silent)
    assert found == Allocation("lsf", len(names), cpus, even, names, "29209")


@pytest.mark.parametrize("hosts", ["", "hostA", "hostA x", "hostA 0", "hostA 8 hostB"])
def test_a_job_of_lsf_that_is_damaged_is_none(hosts: str):
    assert allocation.discover({"LSB_JOBID": "29209", "LSB_MCPU_HOSTS": hosts}, silent) == Allocation()


@pytest.mark.parametrize(("job", "expected"), [("f23A", ("flux", 4)), ("", ("", 1))])
def test_a_flux_instance_of_a_job_but_not_that_of_the_system(job: str, expected: tuple[str, int]):
    attributes = {"size": "4\n", "hostlist": "n[1-4]\n", "jobid": job}
    found = allocation.discover({"FLUX_URI": "local:///run"}, lambda *words: attributes[words[2]])
    assert (found.system, found.nodes) == expected


def test_flux_inside_of_slurm_is_flux():
    attributes = {"size": "2", "hostlist": "n[1-2]", "jobid": "f1"}
    assert allocation.discover({**SLURM, "FLUX_URI": "x"}, lambda *words: attributes[words[2]]).system == "flux"


@given(
    st.dictionaries(
        st.sampled_from([*SLURM, "SLURM_NNODES", "PBS_JOBID", "FLUX_URI", "LSB_JOBID", "LSB_MCPU_HOSTS"]), values
    ),
    values,
)
def test_no_variables_make_it_raise(given_variables: dict[str, str], answer: str):
    found = allocation.discover(given_variables, lambda *words: answer)
    assert 1 <= found.nodes <= allocation.MOST_NODES


@given(names, st.lists(st.integers(0, 999), min_size=1, max_size=30, unique=True), st.integers(0, 4))
def test_a_host_list_is_read_back(stem: str, numbers: list[int], width: int):
    inside = ",".join(f"{n:0{width}d}" for n in numbers)
    assert host_list(f"first,{stem}[{inside}]") == ("first", *(f"{stem}{n:0{width}d}" for n in numbers))


def test_host_lists_with_ranges():
    assert host_list("a[1-3,5],b7\n") == ("a1", "a2", "a3", "a5", "b7")
    assert host_list("rack[1-2]n[08-10]") == tuple(f"rack{r}n{n}" for r in (1, 2) for n in ("08", "09", "10"))


def test_a_damaged_host_list_cannot_fill_the_memory():
    assert len(host_list("n[0-99999999]")) == allocation.MOST_NODES
    assert len(host_list("n[0-99999]m[0-99999]")) == allocation.MOST_NODES
    assert host_list("n[") == ("n",)


@given(st.text())
def test_no_text_makes_a_parser_raise(text: str):
    host_list(text)
    slurm_counts(text)
    node_file(text)


@given(st.lists(st.tuples(st.integers(1, 9999), st.integers(1, 99)), min_size=1, max_size=9))
def test_slurm_counts_are_read_back(parts: list[tuple[int, int]]):
    text = ",".join(f"{cpus}(x{times})" if times > 1 else str(cpus) for cpus, times in parts)
    assert slurm_counts(text) == tuple(dict.fromkeys(cpus for cpus, _ in parts))


def test_an_old_description_has_one_node_and_no_batch_system():
    here = msgspec.to_builtins(discover())
    del here["nodes"], here["batch"]
    old = msgspec.convert(here, Machine)
    assert (old.nodes, old.batch) == (1, "")
