"""The output of noise agrees with its own raw times, and a quiet second has no noise."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.plan import Placement

pytestmark = [pytest.mark.native, pytest.mark.alone, pytest.mark.full]


@cache
def program(variant: str) -> Built:
    return native.plain("noise", variant)


def run_case(variant: str, folder: Path, *words: str, place: Placement = Placement()) -> native.Output:  # noqa: B008
    output = native.run(program(variant), place, words, folder)
    assert (output.status, output.reason) == (0, ""), (output.reason, output.stderr, output.of("check"))
    return output


def series(output: native.Output, name: str) -> list[list[float]]:
    return [line["values"] for line in output.of("series") if line["name"] == name]


@pytest.mark.parametrize(("variant", "threads"), [("fixed_work", 1), ("omp_fixed_work", 2)])
def test_noise_is_the_mean_over_the_least_quantum(variant: str, threads: int, tmp_path: Path) -> None:
    output = run_case(variant, tmp_path, "quanta=7", "work=20000", place=Placement(threads=threads))
    (every,) = series(output, "quanta")  # of the last sample, thread by thread
    assert len(every) == 7 * threads and min(every) > 0
    mine = [every[7 * k : 7 * k + 7] for k in range(threads)]
    values = output.of("sample")[-1]["values"]
    assert values["noise"][2] == pytest.approx(max(sum(q) / 7 / min(q) - 1 for q in mine), abs=1e-9)
    assert values["worst"][2] == pytest.approx(1e-6 * max(every))
    assert sum(mine[0]) <= 1e6 * output.of("sample")[-1]["wall"]


def test_waiting_for_each_other_loses_what_any_of_them_loses(tmp_path: Path) -> None:
    output = run_case("mpi_fixed_work", tmp_path, "quanta=9", "work=20000", place=Placement(ranks=2))
    quanta, cycles = series(output, "quanta"), series(output, "cycles")
    assert [len(q) for q in quanta] == [len(c) for c in cycles] == [9, 9]
    for q, c in zip(quanta, cycles, strict=True):
        assert all(x < y for x, y in zip(q, c, strict=True))
    together = [sum(c) / 9 / min(q) - 1 for q, c in zip(quanta, cycles, strict=True)]
    values = output.of("sample")[-1]["values"]
    assert values["together"][2] == pytest.approx(max(together), abs=1e-9)
    assert values["together"][2] > values["noise"][0]


@pytest.mark.parametrize("ranks", [1, 3])
def test_any_number_of_processes_waits(ranks: int, tmp_path: Path) -> None:
    output = run_case("mpi_fixed_work", tmp_path, "quanta=3", "work=1000", place=Placement(ranks=ranks))
    assert len(series(output, "cycles")) == ranks


@pytest.mark.parametrize(("variant", "threads"), [("selfish", 1), ("omp_selfish", 2)])
def test_detours_add_up_to_what_was_stolen(variant: str, threads: int, tmp_path: Path) -> None:
    output = run_case(variant, tmp_path, "looks=200000", "threshold=2000", place=Placement(threads=threads))
    values, wall = output.of("sample")[-1]["values"], output.of("sample")[-1]["wall"]
    (at,), (length,), (thread,) = (series(output, f"detour_{x}") for x in ("at", "length", "thread"))
    assert len(at) == len(length) == len(thread)
    assert at == sorted(at) and set(thread) <= set(range(threads))
    assert all(x > 2 for x in length)
    assert all(begin >= 0 and begin + span <= 1e6 * wall for begin, span in zip(at, length, strict=True))
    assert 0 <= values["stolen"][2] < 1 and values["look"][2] > 0
    if not at:  # a quiet machine
        assert values["stolen"] == values["detours"] == values["longest"] == [0, 0, 0]
    elif len(at) < 512:
        assert values["longest"][2] == pytest.approx(1e-6 * max(length))
        if threads == 1:  # of several, the worst by one measure need not be the worst by the other
            assert values["stolen"][2] <= sum(length) / (1e6 * 200_000 * values["look"][0]) * (1 + 1e-9)


def test_a_clock_too_slow_for_the_threshold_is_no_measurement(tmp_path: Path) -> None:
    output = native.run(program("selfish"), Placement(), ("looks=100000", "threshold=1"), tmp_path)
    assert output.status == 1
    assert "the clock of this machine is too slow for threshold=1" in output.of("check")[0]["what"]


def test_a_threshold_beyond_everything_leaves_nothing(tmp_path: Path) -> None:
    output = run_case("selfish", tmp_path, "looks=1000", "threshold=1000000000")
    assert output.of("sample")[-1]["values"]["stolen"] == [0, 0, 0] and series(output, "detour_at") == [[]]


@pytest.mark.parametrize("work", [1, 2, 3, 1000, 65537])
def test_quanta_of_every_length_end_where_the_jump_says(work: int, tmp_path: Path) -> None:
    run_case("fixed_work", tmp_path, "quanta=3", f"work={work}")
