"""Vectorise: every loop against its definition, with vectoriser and without, as written and helped; its drawing."""

from __future__ import annotations

import platform
import shutil
from functools import cache
from pathlib import Path

import msgspec
import pytest

import native
from firstlight.build import Built
from firstlight.build.assembly import Loop, hot_loop, root_of, widths
from firstlight.plan import Placement, Program
from firstlight.record import Description

LOOPS = 151
HELPED = 24


@cache
def program(variant: str, flags: str = "base", compiler: str = "gcc") -> Built:
    tool = native.toolchain(flags, compiler)
    if tool is None:
        pytest.skip(f"no {compiler} here")
    wanted = Program("vectorise", variant, tool.name)
    return native.make([wanted])[wanted]


def verdicts(said: native.Said) -> dict[str, set[bool]]:
    """Of each loop's checks."""
    found: dict[str, set[bool]] = {}
    for check in said.of("check"):
        found.setdefault(said.of("case")[check["case"]]["parameters"]["kernel"], set()).add(check["ok"])
    return found


@pytest.mark.native
@pytest.mark.plain
@pytest.mark.parametrize(("variant", "loops"), [("serial", LOOPS), ("serial_novec", LOOPS), ("helped", HELPED)])
def test_all_loops_are_verified_in_one_launch(variant: str, loops: int, tmp_path: Path) -> None:
    """An odd length, too, so that what was unrolled has something left."""
    said = native.verified(program(variant), Placement(), tmp_path, "kernel=*", "m=9,32")
    assert len(said.of("case")) == 2 * loops
    found = verdicts(said)
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
    """With these flags a compiler may break what the class `rounding` holds it to, and no other loop."""
    said = native.run(program(variant, "fast", compiler), Placement(), ("kernel=*", "m=9,32"), tmp_path)
    wrong = {name for name, ok in verdicts(said).items() if False in ok}
    assert all(name.startswith("rounding_") for name in wrong)
    assert ("rounding_absorbed" in wrong) == (variant != "helped")


@pytest.mark.native
@pytest.mark.plain
def test_one_wrong_loop_of_many_fails_alone_and_by_name(tmp_path: Path) -> None:
    said = native.run(program("broken_gather"), Placement(), ("kernel=*", "m=9"), tmp_path)
    assert said.status == 1
    assert {name for name, ok in verdicts(said).items() if False in ok} == {"gather_load"}
    assert {c["what"].partition(":")[0] for c in said.of("check") if not c["ok"]} == {"gather_load"}
    assert len(verdicts(said)) == LOOPS


@pytest.mark.native
@pytest.mark.plain
def test_a_vectoriser_is_switched_off_without_a_file(tmp_path: Path) -> None:
    plain, without = (program(variant) for variant in ("serial", "serial_novec"))
    told = [msgspec.json.decode(built.describe, type=Description) for built in (plain, without)]
    assert [d.variant for d in told] == ["serial", "serial_novec"]
    assert told[0].kernels == told[1].kernels and len(told[0].kernels) == LOOPS
    assert plain.sha256 != without.sha256
    (begun,) = native.verified(without, Placement(), tmp_path, "kernel=plain_copy", "m=9").of("launch")
    assert "-fno-tree-vectorize" in begun["flags"]


@pytest.mark.native
@pytest.mark.plain
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
@pytest.mark.plain
@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump here")
def test_the_loop_that_is_explained_is_the_kernels_own() -> None:
    """Not the widest one of the program."""
    found = hot_loop(_executable(program("serial", "native")), root_of("plain_add"))
    assert isinstance(found, Loop) and "plain_add" in found.function and "plain_axpy" not in found.function


def _executable(built: Built) -> Path:
    assert built.executable is not None
    return built.executable


def _names(built: Built) -> tuple[str, ...]:
    return msgspec.json.decode(built.describe, type=Description).kernels
