"""Parameters with a role have values from the newest run of this machine, which are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import many_runs
import synthetic
import synthetic_halo
import synthetic_machine
from commands import Captured, call
from firstlight.analysis.figures import judge
from firstlight.core import heritage
from firstlight.core.errors import USAGE
from firstlight.core.roles import EXECUTION, Ask, Role, defect_of_ask
from firstlight.model.catalogue import Variant, Workload
from firstlight.model.catalogue.brought import Brought
from firstlight.model.plan import Cell, Placement, Plan, Program
from firstlight.report import html, terminal, wording
from firstlight.results.record import TunedDefault
from firstlight.runner import tuned_defaults

HERE, TOOLBOX = synthetic_machine.machine(), synthetic_machine.toolbox()
WAYS = {"mpi_waitall": "two_sided", "mpi_lock_flush": "one_sided", "mpi_shared_flags": "shared"}
DECLARATION = Ask("way", "halo", "two_sided", "8 * cells", ["mpi*"], {"cells": 32.0})
DAY = 86400.0


def halo() -> Workload:
    roles = [
        Role("halo", "exchange", [v], {"data": "packed"}, size="n * width", bytes_per_element=8, answer=way)
        for v, way in WAYS.items()
    ]
    return replace(synthetic_halo.workload(), roles=tuple(roles))


def sea() -> Workload:
    variants = tuple(Variant(v, Path(f"{v}.cpp"), ("mpi",) * (v != "serial"), False) for v in ("serial", "mpi"))
    return replace(synthetic_halo.workload(), name="sea", variants=variants, plots=(), asks=(DECLARATION,))


WORKLOADS = {"halo": halo(), "sea": sea()}


def keep(folder: Path, name: str, days: float = 0.0, launches: int = 8, **changes: object) -> Path:
    scene = synthetic_halo.run(strategies=WAYS, launches=launches, sizes=(4, 32, 1024), mpis=["openmpi"])
    return many_runs.write(scene, folder, name, synthetic.STARTED + days * DAY, **changes)


def cell(*arguments: str, mpi: str | None = "openmpi", place: Placement | None = None, variant: str = "mpi") -> Cell:
    return Cell("one", Program("sea", variant, "gcc-native", mpi), place or Placement(1, 2, 1), arguments)


def answered(folder: Path, one: Cell) -> tuple[tuple[str, ...], tuple[TunedDefault, ...]]:
    planned, defaults = tuned_defaults.answered(Plan((one,), ()), WORKLOADS, TOOLBOX, HERE, folder)
    return planned.cells[0].arguments, defaults


def test_without_a_run_what_is_usual_is_taken_and_said(tmp_path: Path) -> None:
    arguments, (default,) = answered(tmp_path / "results", cell("cells=32"))
    assert arguments == ("way=two_sided", "cells=32")
    assert (default.run, default.program, default.cells) == ("", "", ("one",))
    assert wording.answered([default], TOOLBOX) == [
        "way=two_sided for sea with Open MPI 4.1.4: no earlier run of this machine measured which value is the best "
        "(role halo)"
    ]


@pytest.mark.parametrize(
    ("words", "value", "program", "size"),
    [
        (("cells=32",), "shared", "halo.mpi_shared_flags", 256),
        ((), "shared", "halo.mpi_shared_flags", 256),  # in the program's units
        (("cells=5,7",), "shared", "halo.mpi_shared_flags", 32),
        (("cells=900",), "two_sided", "", 8192),  # there all are alike
        (("cells=1e9",), "two_sided", "", 8192),
    ],
)
def test_the_way_that_was_best_with_messages_of_that_size(
    words: tuple[str, ...], value: str, program: str, size: int, tmp_path: Path
) -> None:
    keep(tmp_path, "20261124-101010-standard")
    arguments, (default,) = answered(tmp_path, cell(*words))
    assert arguments == (f"way={value}", *words)
    run = "20261124-101010-standard"
    assert (default.value, default.run, default.program, default.size) == (value, run, program, size)
    text = "halo.mpi_shared_flags was the best in run" if program else "no value was better in run"
    assert f"{text} {run}" in wording.answered([default], TOOLBOX)[0]


def test_the_newest_run_that_can_be_read_and_measured_it_is_asked(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard", 0)
    keep(tmp_path, "mine", 2)
    other = synthetic.run(only=["pingpong"], failed_build=False)
    many_runs.write(other, tmp_path, "20270101-101010-quick", synthetic.STARTED + 9 * DAY)
    (tmp_path / "20270102-101010-quick").mkdir()
    (tmp_path / "20270102-101010-quick" / "run.json").write_text("{")
    assert answered(tmp_path, cell())[1][0].run == "mine"


def test_a_run_of_another_machine_or_library_says_nothing(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard", machine=replace(HERE, name="elsewhere"))
    assert answered(tmp_path, cell())[1][0].run == ""
    keep(tmp_path, "20261121-101010-standard", machine=replace(HERE, processor="another"))
    assert answered(tmp_path, cell())[1][0].run == ""
    newer = tuple(replace(m, version="9.9") for m in TOOLBOX.mpis)
    keep(tmp_path, "20261122-101010-standard", toolbox=replace(TOOLBOX, mpis=newer))
    assert answered(tmp_path, cell())[1][0].run == ""
    keep(tmp_path, "20261123-101010-standard")
    assert answered(tmp_path, cell(mpi="mpich"))[1][0].run == ""
    assert answered(tmp_path, cell(place=Placement(2, 4, 1)))[1][0].run == ""  # of messages between nodes
    assert answered(tmp_path, cell())[1][0].value == "shared"


def test_nodes_of_one_kind_in_a_batch_system_are_one_machine(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard", machine=replace(HERE, name="elsewhere", batch="slurm"))
    here = replace(HERE, batch="slurm")
    _, (default,) = tuned_defaults.answered(Plan((cell(),), ()), WORKLOADS, TOOLBOX, here, tmp_path)
    assert default.value == "shared"


def test_too_few_launches_tell_no_difference(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard", launches=3)
    assert answered(tmp_path, cell())[1][0].value == "two_sided"


def test_what_was_measured_alone_is_no_comparison(tmp_path: Path) -> None:
    """Neither a result without its alternative nor a result alone is a comparison."""
    for k, ways in enumerate((["mpi_shared_flags", "mpi_lock_flush"], ["mpi_waitall"])):
        scene = synthetic_halo.run(strategies=ways, sizes=(32,), mpis=["openmpi"])
        many_runs.write(scene, tmp_path, f"2026112{k}-101010-standard", synthetic.STARTED + k * DAY)
    assert answered(tmp_path, cell())[1][0].run == ""


def test_what_is_set_and_what_has_no_messages_is_left_alone(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard")
    assert answered(tmp_path, cell("way=one_sided")) == (("way=one_sided",), ())
    assert answered(tmp_path, cell(variant="serial", mpi=None)) == ((), ())


def test_cells_that_are_answered_alike_are_told_once(tmp_path: Path) -> None:
    keep(tmp_path, "20261120-101010-standard")
    cells = tuple(replace(cell(f"cells={n}"), id=f"c{n}") for n in (30, 32, 2000))
    planned, defaults = tuned_defaults.answered(Plan(cells, ()), WORKLOADS, TOOLBOX, HERE, tmp_path)
    assert [(one.value, one.cells) for one in defaults] == [("shared", ("c30", "c32")), ("two_sided", ("c2000",))]
    assert [c.arguments[0] for c in planned.cells] == ["way=shared", "way=shared", "way=two_sided"]
    more = replace(defaults[0], workload="lake", size=2048)
    assert wording.answered([*defaults, more], TOOLBOX) == [
        "way=shared for lake and sea with Open MPI 4.1.4: halo.mpi_shared_flags was the best in run "
        "20261120-101010-standard with messages of 256 B and 2 KiB",
        "way=two_sided for sea with Open MPI 4.1.4: no value was better in run 20261120-101010-standard with messages "
        "of 8 KiB",
    ]


def test_the_terminal_and_the_page_say_it() -> None:
    scene = synthetic.run(only=["pingpong"], failed_build=False)
    one = TunedDefault(
        "sea", "way", "shared", "halo", "openmpi", ("one",), "20261120-101010-full", "halo.mpi_fast", 8192
    )
    judged = judge(replace(scene.run, answered=(one,)), scene.records, scene.workloads)
    wanted = (
        "way=shared for sea with Open MPI 4.1.4: halo.mpi_fast was the best in run 20261120-101010-full with messages"
    )
    assert wanted in " ".join(terminal.summary(judged, scene.workloads).split())
    page = html.render(judged, scene.workloads, heritage.load())
    assert wanted in " ".join(page.replace("\u00a0", " ").split())


STRANGER = Brought("halo", "halo", "?", dict.fromkeys(WAYS, "./x"))


@pytest.mark.parametrize(
    "roles",
    [
        (Role("halo", "exchange", ["mpi_waitall"], {"data": "packed"}, size="n * width", answer="$(id)"),),
        (Role("halo", "exchange", ["*"], size="+".join(["n"] * 600), answer="shared"),),
        (Role("message", "exchange", ["*"], size="n"),),
        (Role("application", "exchange"),),
        (Role("nonsense", "exchange"),),
        (Role(EXECUTION, "exchange", ["no*"]),),
        (Role(EXECUTION, "exchange", size="n"),),
        (Role(EXECUTION, "exchange", bytes_per_element=0),),
        (Role(EXECUTION, "exchange", titles={"gone": "x"}),),
        (Role(EXECUTION, "exchange"), Role("vector_addition", "exchange")),
    ],
)
def test_a_run_that_brings_another_role_is_not_read(roles: tuple[Role, ...], tmp_path: Path, capsys: Captured) -> None:
    """A run of another user in the folder does not affect the arguments of programs, nor whether they have any."""
    keep(tmp_path, "20261120-101010-standard")
    path = keep(tmp_path, "20261122-101010-standard", 2, brought=(replace(STRANGER, roles=roles),))
    arguments, (default,) = answered(tmp_path, cell())
    assert (arguments, default.run) == (("way=shared",), "20261120-101010-standard")
    code, out, err = call(capsys, "figures", str(path))
    assert code == USAGE and not out and "run.json: was not written by firstlight: its workload 'halo'" in err


def test_a_workload_that_a_run_brings_plays_no_role_of_the_catalogue(tmp_path: Path) -> None:
    """The run's own programs measured what it calls `halo`."""
    keep(tmp_path, "20261120-101010-standard", brought=(replace(STRANGER, roles=(Role(EXECUTION, "exchange"),)),))
    assert answered(tmp_path, cell())[1][0].run == ""
    keep(tmp_path, "20261119-101010-standard")
    assert answered(tmp_path, cell())[1][0].run == "20261119-101010-standard"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"role": "message"}, "'message' is not a role with an answer; possible roles are halo"),
        ({"role": "nonsense"}, "'nonsense' is not a role"),
        ({"size": "8 * cells * layers"}, "`usual` lacks layers"),
        ({"size": "cells of the sea"}, "is not a formula"),
        ({"variants": ["cuda*"]}, "no variant matches 'cuda*'"),
    ],
)
def test_what_cannot_be_asked_is_told_when_it_is_read(changes: dict[str, object], why: str) -> None:
    assert why in defect_of_ask(replace(DECLARATION, **changes), ["serial", "mpi"])
    assert defect_of_ask(DECLARATION, ["serial", "mpi"]) == ""
