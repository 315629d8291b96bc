"""Spans of the harness: a meter of known power alongside a program that computes, and what a span contains."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

import energy_meter
import native
from energy_meter import InventedMeter
from firstlight.analysis import energy
from firstlight.model.plan import Placement
from firstlight.results.record import Line, Span
from firstlight.results.store import lines
from firstlight.system.energy import Counter, Meter

pytestmark = pytest.mark.native
METER = Meter("invented", "the node", energy_meter.UPDATE, (Counter("node", 1e-6, energy_meter.RANGE),))
TRIES = 5


def record_of(*words: str) -> list[Line]:
    done = native.direct(native.plain("dot", "serial"), *words)
    assert done.returncode == 0, done.stderr
    found = [lines.decode(line.encode()) for line in done.stdout.splitlines()]
    assert not any(isinstance(line, str) for line in found), found
    return [line for line in found if not isinstance(line, str)]


def spans_of(record: list[Line]) -> list[Span]:
    return [line for line in record if isinstance(line, Span)]


def kinds(record: list[Line]) -> list[str]:
    return [type(line).__name__ for line in record]


def test_the_energy_of_a_program_that_computes_is_the_integral_of_the_power(tmp_path: Path) -> None:
    """The meter or a reading may be late by milliseconds on a busy machine: one launch of five must be within 1 %."""
    errors = []
    with InventedMeter(tmp_path) as meter:
        for _ in range(TRIES):
            words = ("n=1000", "--samples", "2", "--sample-seconds", "0.4", "--energy", str(meter.file))
            spans = spans_of(record_of(*words))
            truth = sum(energy_meter.used(s.began - meter.began, s.ended - meter.began) for s in spans)
            counted = [energy._counted(METER, span) for span in spans]
            assert not any(isinstance(one, str) for one in counted), counted
            errors.append(sum(map(float, counted)) / truth - 1)
            late = sum(meter.late(t) for s in spans for t in (s.began, s.ended))
            if abs(errors[-1]) < 0.01 and late * energy_meter.MOST < 0.01 * truth:
                break
    assert min(map(abs, errors)) < 0.01, errors


def test_a_span_contains_samples_and_neither_checks_nor_the_warm_up() -> None:
    record = record_of("n=100,1000", "--samples", "5", "--steps", "4", "--energy", "times")
    for case in (0, 1):
        mine = [line for line in record if getattr(line, "case", None) == case]
        walls = [line.wall for line in mine if type(line).__name__ == "Sample"]
        spans = spans_of(mine)
        assert len(walls) == 5 and 1 <= len(spans) <= 2
        assert math.fsum(s.wall for s in spans) == pytest.approx(math.fsum(walls))
        assert all(s.began + s.wall <= s.ended and s.before == s.after == ((),) for s in spans)
        assert all(a.ended <= b.began for a, b in pairwise(spans))
        order = kinds(mine)
        assert order[0] == "Case" and order[order.index("Sample") - 1] == "Check"
        for k, kind in enumerate(order):
            if kind == "Check" and "Sample" in order[:k]:
                assert "Span" in order[order.index("Sample") : k], order


@pytest.mark.parametrize("steps", ["1", "2", "7"])
def test_every_sample_is_in_a_span_whichever_step_was_checked(steps: str) -> None:
    for seed in range(1, 9):
        words = ("n=100", "--samples", "4", "--steps", steps, "--seed", str(seed), "--energy", "times")
        record = record_of(*words)
        walls = math.fsum(line.wall for line in record if type(line).__name__ == "Sample")
        assert math.fsum(s.wall for s in spans_of(record)) == pytest.approx(walls)


def test_without_the_option_there_are_no_spans() -> None:
    assert "Span" not in kinds(record_of("n=100", "--samples", "2"))


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("12 J 34 us\n", 12),
        ("", None),
        ("none", None),
        ("-5", None),
        ("99999999999999999999", None),
        ("4611686018427387904", None),
        ("7", 7),
    ],
)
def test_what_is_no_number_is_null(content: str, read: int | None, tmp_path: Path) -> None:
    file = tmp_path / "energy"
    file.write_text(content)
    paths = f"{file},{tmp_path / 'missing'}"
    (span, *_) = spans_of(record_of("n=100", "--samples", "2", "--energy", paths))
    assert span.before == span.after == ((read, None),)


def test_the_first_rank_of_a_node_reads_its_counters(tmp_path: Path) -> None:
    workload = native.workloads["pingpong"]
    built = native.built_somehow(workload, workload.variant("mpi_blocking"))
    file = tmp_path / "energy"
    file.write_text("5\n")
    effort = ("--samples", "3", "--steps", "2", "--energy", str(file))
    output = native.verified(built, Placement(ranks=2), tmp_path, "bytes=8", effort=effort)
    found = [msgspec.convert(line, Span) for line in output.of("span")]
    assert found and all(s.before == s.after == ((5,),) for s in found)
    assert math.fsum(s.wall for s in found) == pytest.approx(math.fsum(s["wall"] for s in output.of("sample")))
