"""The machine drawing: every CPU and cache is there once, inside the picture, over the CPUs it serves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.judge import Judgement
from firstlight.machine import Cache, Machine
from firstlight.report import drawing
from firstlight.report.wording import level
from report_samples import sample


def big(sockets: int, groups: int, cores: int, threads: int) -> Machine:
    """A machine whose CPU numbers run over all cores first, then over the second hardware threads, as Linux does."""
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
    return synthetic.machine(
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


def test_a_machine_without_known_caches_is_drawn() -> None:
    picture = pictured(synthetic.machine(caches=(), numa=()))
    assert sum(b.style.startswith("cpu") for b in picture.boxes) == 2


def test_observed_binding_is_drawn_and_told() -> None:
    judgement, _ = sample()
    bound = {b.label: b.second for b in drawing.picture(judgement).boxes if b.second}
    assert bound == {"CPU 0": "rank 0", "CPU 1": "rank 1"}
    assert "2 ranks: rank 0 on CPU 0, rank 1 on CPU 1 (pingpong)" in drawing.bindings(judgement.records)


def test_working_sets_lie_where_they_fit() -> None:
    machine = synthetic.machine()
    sizes = (16 << 10, 64 << 10, 1 << 20, 64 << 20)
    assert [level(size, machine) for size in sizes] == ["L1", "L2", "L3", "memory"]
    assert level(64 << 10, machine, threads=2) == "L1"  # two cores bring two caches
    assert level(64 << 20, machine, threads=2) == "memory"  # but share the last one
