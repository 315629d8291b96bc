"""The machine drawing: every CPU and cache is there once, inside the picture, over the CPUs it serves."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import invented
import synthetic
import synthetic_machine
from firstlight.analysis import Judgement
from firstlight.analysis.levels import nominal
from firstlight.model.plan import Placement
from firstlight.report import boxes, drawing, maps, terminal
from firstlight.results.record import Binding, LaunchRecord
from firstlight.system.machine import Cache, Machine
from report_samples import sample


def big(sockets: int, groups: int, cores: int, threads: int) -> Machine:
    """Return a machine whose CPU numbers run over all cores first, then over the second hardware threads, as Linux
    does.
    """
    total = sockets * groups * cores
    caches, numa = [], []
    for core in range(total):
        mine = tuple(core + total * t for t in range(threads))
        caches += [Cache(1, "data", 32 << 10, 64, mine), Cache(2, "unified", 1 << 20, 64, mine)]
    for group in range(sockets * groups):
        mine = tuple(c + total * t for t in range(threads) for c in range(group * cores, (group + 1) * cores))
        caches.append(Cache(3, "unified", 32 << 20, 64, mine))
    for socket in range(sockets):
        first = socket * groups * cores
        numa.append(tuple(c + total * t for t in range(threads) for c in range(first, first + groups * cores)))
    return synthetic_machine.machine(
        sockets=sockets, cores=total, cpus=tuple(range(total * threads)), threads_per_core=threads,
        numa=tuple(numa), caches=tuple(caches),
    )  # fmt: skip


def pictured(machine: Machine) -> drawing.Picture:
    run = replace(sample()[0].run, machine=machine)
    return drawing.picture(Judgement(run, (), (), ()))


@pytest.mark.parametrize("shape", [(1, 1, 2, 1), (1, 1, 8, 2), (2, 4, 8, 1), (2, 8, 8, 2), (1, 1, 36, 1)])
def test_every_cpu_is_drawn_once_inside_the_picture(shape: tuple[int, int, int, int]) -> None:
    machine = big(*shape)
    picture = pictured(machine)
    cpus = [b for b in picture.boxes if b.style.startswith("cpu")]
    assert sorted(int(b.label.removeprefix("CPU ")) for b in cpus) == list(machine.cpus)
    for b in picture.boxes:
        assert b.x >= 0 and b.y >= 0 and b.width > 0 and b.height > 0
        assert b.x + b.width <= picture.width + 1e-9 and b.y + b.height <= picture.height + 1e-9
    assert len({(b.x, b.y) for b in cpus}) == len(cpus)
    assert picture.width <= 900


def test_hardware_threads_of_a_core_stand_side_by_side_over_their_cache() -> None:
    picture = pictured(big(1, 1, 4, 2))
    at = {b.label: b for b in picture.boxes if b.style.startswith("cpu")}
    first = min((b for b in picture.boxes if "l1" in b.style), key=lambda b: b.x)
    assert first.x == at["CPU 0"].x and first.x + first.width == at["CPU 4"].x + at["CPU 4"].width


@pytest.mark.parametrize("name", ["server", "power", "gpus"])
def test_a_large_machine_is_drawn_by_core_and_stays_small(tmp_path: Path, name: str) -> None:
    machine = invented.machine(tmp_path, name)
    picture = pictured(machine)
    cpus = [b for b in picture.boxes if b.style.startswith("cpu")]
    assert sorted(int(b.label) for b in cpus) == sorted(core[0] for core in machine.siblings)
    assert [b.label for b in picture.boxes if b.style == "numa"] == [f"NUMA node {n}" for n in machine.numa_numbers]
    lasts = [b for b in picture.boxes if b.style == "cache l3"]
    assert len(lasts) == sum(c.level == 3 for c in machine.caches)
    assert picture.width <= 900 and picture.height <= 1000
    for b in picture.boxes:
        assert b.x >= 0 and b.y >= 0 and b.x + b.width <= picture.width and b.y + b.height <= picture.height
    flat = [b for b in picture.boxes if b.style != "numa"]
    assert not any(_overlap(a, b) for k, a in enumerate(flat) for b in flat[:k])


def _overlap(a: boxes.Box, b: boxes.Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def test_memory_without_processors_and_slower_cores_are_drawn_as_such(tmp_path: Path) -> None:
    picture = pictured(invented.machine(tmp_path / "a", "power"))
    alone = [b.label for b in picture.boxes if b.style == "memory"]
    assert alone[1:] == [f"NUMA node {n}: 16 GiB of memory without cores" for n in (250, 251)]
    laptop = pictured(invented.machine(tmp_path / "b", "laptop"))
    assert sum("slower" in b.style for b in laptop.boxes) == 8
    assert "14 cores, up to 2 hardware threads per core, 6 performance cores (CPUs 0-11), " in laptop.words
    assert "L2 1 MiB and 2 MiB shared by 4 cores, L3 32 MiB shared by all cores" in laptop.words


def test_a_machine_without_known_caches_is_drawn() -> None:
    picture = pictured(synthetic_machine.machine(caches=(), numa=()))
    assert sum(b.style.startswith("cpu") for b in picture.boxes) == 2


def test_observed_binding_is_drawn_and_told() -> None:
    judgement, _ = sample()
    bound = {b.label: b.second for b in drawing.picture(judgement).boxes if b.second}
    assert bound == {"CPU 0": "rank 0", "CPU 1": "rank 1"}
    assert "rank 0 on CPU 0, rank 1 on CPU 1" in [m.picture.words for m in maps.maps(judgement)[0]]


def test_working_sets_lie_where_they_fit() -> None:
    levels = nominal(synthetic_machine.machine())
    sizes = (16 << 10, 64 << 10, 1 << 20, 64 << 20)
    assert [levels.place(size) for size in sizes] == ["L1", "L2", "L3", "memory"]
    assert levels.place(64 << 10, 2) == "L1"  # two cores bring two caches
    assert levels.place(64 << 20, 2) == "memory"  # but share the last one


def test_a_cache_that_acts_like_a_smaller_one_is_told_with_both_sizes() -> None:
    judgement, _ = sample()
    known = judgement.hierarchy
    acts = replace(known, levels=(*known.levels[:-1], replace(known.levels[-1], acts=16 * 2**20)))
    changed = replace(judgement, levels=acts)
    assert "L3 32 MiB shared by all CPUs (effective 16 MiB for one core)" in drawing.picture(changed).words
    assert "L3 32 MiB (effective 16 MiB), " in terminal.machine_line(changed)
    assert "effective" not in drawing.picture(judgement).words + terminal.machine_line(judgement)


def mapped(cpus: int, bindings: dict[str, tuple[Binding, ...]], placement: Placement) -> list[maps.Map]:
    """Maps of a run of pingpong in which the ranks of each MPI library saw that binding."""
    scene = synthetic.run(1, 2, only=["pingpong"])
    machine = synthetic_machine.machine(cpus=tuple(range(cpus)), cores=cpus, numa=(tuple(range(cpus)),))
    cells = tuple(replace(c, placement=placement) for c in scene.run.cells)

    def seen(r: LaunchRecord) -> LaunchRecord:
        assert r.launch is not None
        mpi = r.start.cell.rpartition("-")[2]
        return replace(r, launch=replace(r.launch, binding=bindings[mpi], nodes=placement.nodes))

    run = replace(scene.run, machine=machine, cells=cells)
    return maps.maps(Judgement(run, (), (), tuple(map(seen, scene.records))))[0]


OWN = (Binding(0, (0,)), Binding(1, (1,)))


def test_libraries_that_do_the_same_share_a_map() -> None:
    (found,) = mapped(2, {"openmpi": OWN, "mpich": OWN}, Placement(1, 2, 1))
    assert found.title == "2 ranks · MPICH and Open MPI" and not found.strange
    assert [(b.label, b.second) for b in found.picture.boxes] == [("0", "rank 0"), ("1", "rank 1")]
    assert found.note == "one processor each; 8 launches of pingpong"


def test_unbound_ranks_are_drawn_as_such() -> None:
    free = (Binding(0, (0, 1)), Binding(1, (0, 1)))
    mpich, openmpi = mapped(2, {"openmpi": OWN, "mpich": free}, Placement(1, 2, 1))
    assert mpich.strange and not openmpi.strange
    assert [b.label for b in mpich.picture.boxes if b.style == "free"] == ["ranks 0-1: on any processor"]
    assert all(b.style == "cpu" for b in mpich.picture.boxes if b.style != "free")


def test_ranks_on_one_processor_and_more_ranks_than_processors_are_marked() -> None:
    one = (Binding(0, (0,)), Binding(1, (0,)))
    (both,) = mapped(2, {"openmpi": one, "mpich": one}, Placement(1, 2, 1))
    assert both.strange and [(b.style, b.second) for b in both.picture.boxes] == [("cpu shared", "0 1"), ("cpu", "")]
    four = tuple(Binding(r, (0, 1)) for r in range(4))
    (crowded,) = mapped(2, {"openmpi": four, "mpich": four}, Placement(1, 4, 1))
    assert crowded.strange and crowded.note.startswith("more ranks and threads than processors; unbound; ")


def test_nodes_that_look_alike_share_a_drawing() -> None:
    each = tuple(Binding(r, (r % 64,), r // 64) for r in range(64 * 100))
    (found,) = mapped(64, {"openmpi": each, "mpich": each}, Placement(100, 6400, 1))
    assert [b.label for b in found.picture.boxes if b.style == "label"] == ["node 0 and 99 identical nodes"]
    assert sum(b.style == "cpu bound" for b in found.picture.boxes) == 64
    assert found.note.startswith("node by node; one processor each; ")


@pytest.mark.parametrize("cpus", [1, 2, 8, 9, 33, 300])
def test_every_processor_is_inside_the_map_once(cpus: int) -> None:
    ranks = tuple(Binding(r, (r,)) for r in range(cpus))
    (found,) = mapped(cpus, {"openmpi": ranks, "mpich": ranks}, Placement(1, cpus, 1))
    boxes = found.picture.boxes
    assert len(boxes) == cpus == len({(b.x, b.y) for b in boxes})
    assert all(
        b.x + b.width <= found.picture.width + 1e-9 and b.y + b.height <= found.picture.height + 1e-9 for b in boxes
    )
    assert found.picture.width <= 900


@pytest.mark.parametrize(
    ("cpus", "expected"), [((3,), "CPU 3"), ((0, 1, 2, 3, 8), "CPUs 0-3, 8"), ((5, 1), "CPUs 1, 5")]
)
def test_processors_in_words(cpus: tuple[int, ...], expected: str) -> None:
    assert boxes.spans(cpus) == expected
