"""For small directories with large claims, the report is bounded in memory, lines and steps."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from test_store import CELL, a_launch

from driver import run_of
from firstlight.analysis import Judgement
from firstlight.core.errors import REGRESSION, RecordError
from firstlight.report import drawing
from firstlight.results import store as stores
from firstlight.results.description import MOST_TOLD, Description
from firstlight.results.store import audit, layout, lines
from firstlight.system.machine import Cache
from synthetic import run

ROOM = 1 << 29
"""Bytes of address space that are enough to check any small directory."""

CHECK = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({ROOM}, {ROOM}))
from firstlight.commands.shared import command_line
sys.exit(command_line.call(["check", sys.argv[1]]))
"""


def far_apart(launches: Path) -> None:
    """Ten empty files: launches 0 to 999998 of ten cells are missing."""
    for k in range(10):
        (launches / f"x{k}.999999.jsonl").touch()


def newlines(launches: Path) -> None:
    (launches / "x.0000.jsonl").write_bytes(b"\n" * (1 << 20))


def unexpected(launches: Path) -> None:
    """Yield a million well-formed lines, none of which belongs there."""
    (launches / "x.0000.jsonl").write_bytes(b'{"type":"end","cases":1}\n' * layout.MAX_LINES)


def a_seal_of_newlines(launches: Path) -> None:
    (launches.parent / layout.SEAL).write_bytes(b"\n" * (16 << 20))


@pytest.mark.parametrize(
    "fill", [far_apart, newlines, pytest.param(unexpected, marks=pytest.mark.full), a_seal_of_newlines]
)
@pytest.mark.full
def test_a_small_directory_is_checked_in_little_memory_and_few_lines(
    tmp_path: Path, fill: Callable[[Path], None]
) -> None:
    with stores.create(tmp_path, run_of()) as store:
        fill(store.path / layout.LAUNCHES)
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(store.path)], capture_output=True, text=True, timeout=600, cwd=tmp_path
    )
    assert done.returncode == REGRESSION, done.stderr
    assert 0 < len(done.stdout.splitlines()) < 100


def test_of_many_defects_the_first_are_told_and_how_many_more(tmp_path: Path) -> None:
    reading = lines.read(b"\n" * 1000)
    assert len(reading.defects) == lines.MOST_OF_A_FILE + 1
    assert reading.defects[-1][1] == f"and {1000 + 1 - lines.MOST_OF_A_FILE} more"  # and no exit line
    with stores.create(tmp_path, run_of()) as store:
        for k in range(audit.MOST + 7):
            (store.path / f"foreign{k}").touch()
    found = stores.check(store.path)
    assert len(found) == audit.MOST + 1 and found[-1].what == "and 7 more defects"


def test_many_missing_launches_are_one_defect(tmp_path: Path) -> None:
    with stores.create(tmp_path, run_of()) as store:
        for number in range(8):
            a_launch(store, number)
        for number in (0, 3, 4, 5):
            (store.path / "launches" / layout.launch_name(CELL, number)).unlink()
        assert [str(d) for d in stores.check(store.path)] == [
            f"launches/{CELL}.0000.jsonl: is missing",
            f"launches/{CELL}.0003.jsonl: is missing, and so are 2 more up to number 5",
        ]


def test_a_program_of_too_many_metrics_is_no_record(tmp_path: Path) -> None:
    """Each figure is compared with all metrics of its program."""
    base = run().run
    name, described = next(iter(base.descriptions.items()))
    many = tuple(msgspec.structs.replace(described.metrics[0], name=f"m{k}") for k in range(MOST_TOLD + 1))
    crowded: dict[str, Description] = {**base.descriptions, name: msgspec.structs.replace(described, metrics=many)}
    with pytest.raises(RecordError, match=f"length <= {MOST_TOLD}"):
        stores.create(tmp_path, msgspec.structs.replace(base, descriptions=crowded))


@pytest.mark.full
def test_a_machine_is_drawn_in_steps_that_grow_with_it_alone() -> None:
    """Steps by CPUs times caches would be ten thousand times a thousand million here."""
    base, cpus = run().run, tuple(range(20_000))
    caches = tuple(Cache(level, "data", 1 << 15, 64, (cpu,)) for level in (1, 2) for cpu in cpus)
    machine = msgspec.structs.replace(
        base.machine, cpus=cpus, numa=(cpus,), caches=(*caches, Cache(3, "unified", 1 << 20, 64, cpus))
    )
    boxes, _, _ = drawing._nodes(machine, {})
    assert sum(box.style.startswith("cpu") for box in boxes) == len(cpus)
    assert sum(box.style == "cache l1" for box in boxes) == len(cpus)
    assert drawing.picture(Judgement(msgspec.structs.replace(base, machine=machine), (), (), ())).words
