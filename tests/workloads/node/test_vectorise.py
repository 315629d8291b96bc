"""Vectorise: every loop against its definition, with vectoriser and without, as written and helped; its drawing."""

from __future__ import annotations

import platform
import shutil
from functools import cache
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from test_report_noise import drawings, judged

import native
from firstlight.analysis.verdict import Failed, Figure
from firstlight.execute.build import Built
from firstlight.execute.build.assembly import Loop, hot_loop, root_of, widths
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement, Program
from firstlight.report.frame import Drawing
from firstlight.results.description import Description, Metric
from synthetic_figures import Point

LOOPS = 151
HELPED = 20


@cache
def program(variant: str, flags: str = "base", compiler: str = "gcc") -> Built:
    tool = native.toolchain(flags, compiler)
    if tool is None:
        pytest.skip(f"no {compiler} here")
    wanted = Program("vectorise", variant, tool.name)
    return native.make([wanted])[wanted]


def verdicts(output: native.Output) -> dict[str, set[bool]]:
    """Return the verdicts of each loop's checks."""
    found: dict[str, set[bool]] = {}
    for check in output.of("check"):
        found.setdefault(output.of("case")[check["case"]]["parameters"]["kernel"], set()).add(check["ok"])
    return found


@pytest.mark.native
@pytest.mark.parametrize(("variant", "loops"), [("serial", LOOPS), ("serial_novec", LOOPS), ("helped", HELPED)])
def test_all_loops_are_verified_in_one_launch(variant: str, loops: int, tmp_path: Path) -> None:
    """An odd length, too, so that what was unrolled has something left."""
    output = native.verified(program(variant), Placement(), tmp_path, "kernel=*", "m=9,32")
    assert len(output.of("case")) == 2 * loops
    found = verdicts(output)
    assert len(found) == loops and set(map(frozenset, found.values())) == {frozenset({True})}


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("variant", ["serial", "serial_novec", "helped"])
def test_all_loops_are_verified_with_the_widest_vectors(compiler: str, variant: str, tmp_path: Path) -> None:
    native.verified(program(variant, "native", compiler), Placement(), tmp_path, "kernel=*", "m=9,32")


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("variant", ["serial", "serial_novec", "helped"])
def test_fast_arithmetic_is_wrong_in_nothing_but_rounding(compiler: str, variant: str, tmp_path: Path) -> None:
    """With these flags a compiler may violate the bound of the class `rounding`, and of no other loop."""
    output = native.run(program(variant, "fast", compiler), Placement(), ("kernel=*", "m=9,32"), tmp_path)
    wrong = {name for name, ok in verdicts(output).items() if False in ok}
    assert all(name.startswith("rounding_") for name in wrong)
    assert ("rounding_absorbed" in wrong) == (variant != "helped")


@pytest.mark.native
def test_one_wrong_loop_of_many_fails_alone_and_by_name(tmp_path: Path) -> None:
    """Elements are small whole numbers, so that one that was left out may be right by chance; not in three sizes."""
    output = native.run(program("broken_gather"), Placement(), ("kernel=*", "m=9,10,11"), tmp_path)
    assert output.status == 1
    assert {name for name, ok in verdicts(output).items() if False in ok} == {"gather_load"}
    assert {c["what"].partition(":")[0] for c in output.of("check") if not c["ok"]} == {"gather_load"}
    assert len(verdicts(output)) == LOOPS


@pytest.mark.native
def test_a_vectoriser_is_switched_off_without_a_file(tmp_path: Path) -> None:
    plain, without = (program(variant) for variant in ("serial", "serial_novec"))
    descriptions = [msgspec.json.decode(built.describe, type=Description) for built in (plain, without)]
    assert [d.variant for d in descriptions] == ["serial", "serial_novec"]
    assert descriptions[0].kernels == descriptions[1].kernels and len(descriptions[0].kernels) == LOOPS
    assert plain.sha256 != without.sha256
    (begun,) = native.verified(without, Placement(), tmp_path, "kernel=plain_copy", "m=9").of("launch")
    assert "-fno-tree-vectorize" in begun["flags"]


@pytest.mark.native
@pytest.mark.skipif(platform.machine() != "x86_64" or shutil.which("objdump") is None, reason="knows x86's loops")
def test_the_object_code_tells_who_has_vectors() -> None:
    names = ("plain_add", "reduction_sum", "reduction_whole_numbers", "recurrence_first", "not_there")
    wide, none = (widths(_executable(program(variant, "native")), names) for variant in ("serial", "serial_novec"))
    assert isinstance(wide, dict) and isinstance(none, dict)
    assert wide["plain_add"] >= 128 and wide["reduction_whole_numbers"] >= 128
    assert wide["reduction_sum"] == wide["recurrence_first"] == 0 and "not_there" not in wide
    assert set(none.values()) == {0} and set(none) == set(wide)
    every = widths(_executable(program("serial_novec", "native")), _names(program("serial_novec", "native")))
    assert isinstance(every, dict) and len(every) == LOOPS and set(every.values()) == {0}


@pytest.mark.native
@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump here")
def test_the_loop_that_is_explained_is_the_kernels_own() -> None:
    """The widest loop of the program is another one."""
    found = hot_loop(_executable(program("serial", "native")), root_of("plain_add"))
    assert isinstance(found, Loop) and "plain_add" in found.function and "plain_axpy" not in found.function


def _executable(built: Built) -> Path:
    assert built.executable is not None
    return built.executable


def _names(built: Built) -> tuple[str, ...]:
    return msgspec.json.decode(built.describe, type=Description).kernels


# --- the drawing ----------------------------------------------------------------------------------

PLOT = Plot("vectorised", "kernel", "element_time", "toolchain")
ELEMENT = Metric("element_time", "ns", "elements", "time", 1e9, "lower")
WORK = {"elements": 100.0}
SECONDS = {
    "plain_add": (1e-7, 4e-7),
    "plain_copy": (3e-7, 3.1e-7),
    "nest_sums": (1e-7, 2e-7),
    "pack_load": (1e-7, 9e-8),
}
"""Seconds of a step as written, and with the vectoriser off."""


def _kernel(figure: Figure) -> object:
    return dict(figure.identity.parameters)["kernel"]


def drawn(widths: dict[str, int], wrong: str = "") -> Drawing:
    cells = [
        (variant, None, Placement(), [Point({"kernel": k}, 1, WORK, 0.0, s[n]) for k, s in SECONDS.items()])
        for n, variant in enumerate(("serial", "serial_novec"))
    ]
    judgement, known = judged("vectorise", (ELEMENT,), cells, (PLOT,))
    figures = [
        Failed(f.identity, f.unit, f.better, "wrong") if (f.identity.variant, _kernel(f)) == ("serial", wrong) else f
        for f in judgement.figures
    ]
    builds = tuple(replace(b, widths=widths) for b in judgement.run.builds)
    run = replace(judgement.run, builds=builds)
    (found,) = drawings(replace(judgement, run=run, figures=figures), known)
    return found


def test_a_loop_counts_that_gains_and_has_vectors() -> None:
    found = drawn({"plain_add": 256, "plain_copy": 256, "nest_sums": 0, "pack_load": 0})
    assert found.title == "The vectoriser gains most in plain_add: 4.0 x (gcc-native)"
    (matrix,) = found.data
    assert dict(zip(matrix["x"], matrix["text"][0], strict=True)) == {"plain": "1/2", "nest": "0/1", "pack": "0/1"}
    assert [row[:5] for row in found.rows] == [
        ("gcc-native", kind, *numbers)
        for kind, numbers in {"plain": "211", "nest": "101", "pack": "100", "all": "412"}.items()
    ]
    assert found.rows[0][6] == "256 bit" and found.rows[1][6] == "–"


def test_without_a_disassembler_time_decides_and_the_page_says_so() -> None:
    found = drawn({})
    assert "not available: objdump" in found.caption
    assert {row[1]: row[3] for row in found.rows} == {"plain": "1", "nest": "1", "pack": "0", "all": "2"}


def test_a_wrong_loop_is_named_and_not_compared() -> None:
    found = drawn(dict.fromkeys(SECONDS, 128), wrong="nest_sums")
    assert found.notes == ("gcc-native: 1 loop wrong, of the classes nest.",)
    assert {row[1]: (row[2], row[-1]) for row in found.rows}["all"] == ("3", "1")
