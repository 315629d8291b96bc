"""Invented machines of every kind are read correctly, from any format of their kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import invented
import synthetic_machine
from firstlight.analysis.levels import nominal
from firstlight.core.errors import UsageError
from firstlight.system.machine import cores, parse, topology
from invented import GIB, MIB, Shape

SMT = Shape(sockets=2, cores=4, threads=2, nodes=2, group=4)


@pytest.mark.parametrize("maps_only", [False, True], ids=["lists", "maps"])
@pytest.mark.parametrize("numbering", ["half", "next"])
def test_siblings_are_found_however_they_are_numbered_and_told(tmp_path: Path, numbering: str, maps_only: bool) -> None:
    m = invented.machine(tmp_path, SMT._replace(numbering=numbering, maps_only=maps_only, old_names=maps_only))
    assert (m.sockets, m.cores, len(m.cpus), m.threads_per_core) == (2, 8, 16, 2)
    assert m.siblings[1] == ((1, 9) if numbering == "half" else (2, 3))
    assert [len(node) for node in m.numa] == [8, 8] and m.numa_numbers == (0, 1)
    assert sorted(c.shared_by for c in m.caches if c.level == 1) == sorted(m.siblings)
    assert [len(c.shared_by) for c in m.caches if c.level == 3] == [8, 8]
    assert m.cpus[1] in m.siblings[1] or numbering == "next"
    assert cores.serial(m) == m.siblings[1][0]


def test_threads_that_are_offline_or_of_another_group_are_nobody_s(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, SMT._replace(offline=(9, 15), allowed=(1, 2, 9, 10, 3, 11)))
    assert m.cpus == (1, 2, 3, 10, 11) and m.siblings == ((1,), (2, 10), (3, 11))
    assert (m.cores, m.threads_per_core, m.sockets) == (3, 2, 1)
    assert not m.kinds  # one core has a thread less: it is of the same kind
    assert m.numa == ((1, 2, 3, 10, 11),)


def test_numbers_need_not_follow_each_other(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, SMT._replace(cpu_step=4, node_step=8))
    assert m.cpus == tuple(range(0, 64, 4)) and m.numa_numbers == (0, 8)
    assert m.siblings[1] == (4, 36) and (m.cores, m.sockets) == (8, 2)


def test_a_node_of_memory_alone_is_told_with_its_size(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, SMT._replace(memory_only=((2, 16), (250, 32))))
    assert [(node.number, node.size) for node in m.memory_only] == [(2, 16 * GIB), (250, 32 * GIB)]
    assert len(m.numa) == 2 and m.memory == (2 * 64 + 48) * GIB


def test_the_memory_of_gpus_is_none_of_the_processor(tmp_path: Path) -> None:
    root = invented.invent(tmp_path, SMT._replace(memory_only=((2, 16), (250, 32))))
    status = root / "proc/driver/nvidia/gpus/0004:04:00.0/numa_status"
    status.parent.mkdir(parents=True)
    status.write_text("Node:      250\nStatus:    online\n")
    assert [node.number for node in topology.numa(root, topology.usable(root))] == [0, 1, 2]


def test_memory_of_other_nodes_is_not_ours(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, SMT._replace(memory_nodes=(1,)))
    assert m.memory == 64 * GIB


def test_nodes_that_overlap_are_not_believed(tmp_path: Path) -> None:
    root = invented.invent(tmp_path, SMT)
    (root / "sys/devices/system/node/node1/cpulist").write_text("0-15\n")
    assert topology.numa(root, topology.usable(root)) == ()


@pytest.mark.parametrize("kinds_by", ["units", "capacity", ""])
@pytest.mark.parametrize("threads", [1, 2])
def test_cores_of_two_kinds(tmp_path: Path, kinds_by: str, threads: int) -> None:
    m = invented.machine(
        tmp_path, Shape(cores=6, small=8, threads=threads, numbering="next", group=14, kinds_by=kinds_by)
    )
    assert m.cores == 14 and len(m.cpus) == 6 * threads + 8
    if kinds_by == "" and threads == 1:
        assert not m.kinds  # they do not differ
        return
    fast, slow = m.kinds
    assert len(fast.cpus) == 6 * threads and len(slow.cpus) == 8
    assert cores.kind(m, (cores.serial(m) or 0,)) == fast.name
    assert m.cache(2).size == MIB  # that of the core that serial programs run on
    assert cores.amount("all", m) == 14 and cores.amount("all-threads", m) == len(m.cpus)


def test_the_fast_cores_may_come_last(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, Shape(cores=4, small=4, kinds_by="capacity"))
    turned = replace(m, kinds=tuple(reversed(m.kinds)))
    assert cores.serial(m) == 1 and cores.serial(turned) == 5 and cores.serial(turned, (0, 1, 4)) == 4
    assert cores.among(turned, m.cpus)[0] == (4,)


def test_cores_of_nearly_the_same_capacity_are_of_one_kind(tmp_path: Path) -> None:
    root = invented.invent(tmp_path, Shape(cores=4, small=4, kinds_by="capacity"))
    (root / "sys/devices/system/cpu/cpu0/cpu_capacity").write_text("1009\n")
    found = topology.kinds(root, topology.cores(root, topology.usable(root)))
    assert [len(kind.cpus) for kind in found] == [4, 4]


def test_caches_may_be_told_by_number_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    m = invented.machine(tmp_path / "a", SMT._replace(numbers_only=True))
    other = invented.machine(tmp_path / "b", SMT)
    assert [(c.level, sorted(c.shared_by)) for c in m.caches] == [(c.level, list(c.shared_by)) for c in other.caches]


def test_two_small_cores_told_as_a_big_one_have_a_cache_each(tmp_path: Path) -> None:
    shape = Shape(cores=4, threads=8, numbering="next", first_caches=2, maps_only=True, processor="")
    m = invented.machine(tmp_path, shape)
    assert (m.cores, m.threads_per_core, m.sockets) == (4, 8, 1)
    assert [c.shared_by for c in m.caches if c.level == 1][:2] == [(0, 2, 4, 6), (1, 3, 5, 7)]


def test_more_than_a_thousand_processors(tmp_path: Path) -> None:
    shape = Shape(sockets=4, cores=144, threads=2, nodes=4, caches=False, maps_only=True)
    root = invented.invent(tmp_path, shape)
    mine = topology.usable(root)
    assert len(mine) == 1152 and len(topology.cores(root, mine)) == 576
    assert [len(node.cpus) for node in topology.numa(root, mine)] == [288] * 4


def test_pages_are_those_that_the_system_tells(tmp_path: Path) -> None:
    m = invented.machine(tmp_path, "arm")
    assert m.page == os.sysconf("SC_PAGE_SIZE") and m.huge_page == 512 * MIB
    assert [node.size for node in m.memory_only] == [96 * GIB]


@given(st.sets(st.integers(0, 2000)))
def test_a_map_is_read_back(cpus: set[int]) -> None:
    assert parse.cpu_map(invented._map(cpus, 2048)) == tuple(sorted(cpus))


@given(st.text() | st.text(alphabet="0123456789abcdef,\0\n", max_size=80))
def test_no_text_makes_a_map_raise(text: str) -> None:
    parse.cpu_map(text)


def test_damaged_maps_say_nothing() -> None:
    assert parse.cpu_map("0xff") == parse.cpu_map("123456789") == parse.cpu_map("f," * 9999 + "f") == ()
    assert parse.cpu_map("3\n\0") == parse.cpu_list("0-1\n\0") == (0, 1)


@pytest.mark.parametrize(
    ("word", "amount"),
    [("all", 8), ("all-1", 7), ("half", 4), ("all-threads", 16), ("12", 12), (3, 3)],
)
def test_how_many_a_word_means(tmp_path: Path, word: int | str, amount: int) -> None:
    assert cores.amount(word, invented.machine(tmp_path, SMT)) == amount


@pytest.mark.parametrize("word", ["every", "all-", "half-1", "-1", "all-threads-1", ""])
def test_other_words_mean_nothing(word: str) -> None:
    with pytest.raises(UsageError, match="is not a number of ranks or threads"):
        cores.amount(word, synthetic_machine.machine())


def test_levels_of_memory_are_shared_by_cores_not_by_threads(tmp_path: Path) -> None:
    levels = nominal(invented.machine(tmp_path, SMT)).levels
    assert [(x.caches, x.cores) for x in levels] == [(8, 1), (8, 1), (2, 4)]
    laptop = nominal(invented.machine(tmp_path / "x", "laptop")).levels
    assert [(x.caches, x.cores) for x in laptop] == [(14, 1), (8, 4), (1, 14)]


@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc's lstopo is not installed")
@pytest.mark.parametrize("name", ["next", "maps", "laptop", "power", "big.LITTLE"])
def test_hwloc_reads_the_same(tmp_path: Path, name: str) -> None:
    shape = invented.SHAPES[name]
    m = invented.machine(tmp_path, shape)
    done = subprocess.run(
        ["lstopo-no-graphics", "--of", "xml", "--no-io"], capture_output=True, text=True, check=True,
        env={**os.environ, "HWLOC_FSROOT": str(tmp_path / "root")},
    )  # fmt: skip
    of = {kind: [o for o in ET.fromstring(done.stdout).iter("object") if o.get("type") == kind]
          for kind in ("Core", "PU", "L1Cache", "L2Cache", "L3Cache", "NUMANode")}  # fmt: skip
    assert sorted(int(o.get("os_index", -1)) for o in of["PU"]) == list(m.cpus)
    assert len(of["Core"]) == m.cores
    assert [len(of[f"L{k}Cache"]) for k in (1, 2, 3)] == [sum(c.level == k for c in m.caches) for k in (1, 2, 3)]
    numbers = sorted([*m.numa_numbers, *(node.number for node in m.memory_only)])
    assert sorted(int(o.get("os_index", -1)) for o in of["NUMANode"]) == numbers
