"""Transpose: squares and lines that do not divide a matrix; threads; in place; a wrong element; what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import native
from native import COUNTED, Placement

pytestmark = pytest.mark.native

program = partial(native.plain, "transpose")
BOTH = "precision=64,32"
SIZES = "n=1,2,3,4,5,7,8,9,15,16,17,24,25,31,32,33,47,48,63,64,65,96,127,128,129,130,145,160,257,300,331,336"


@pytest.mark.parametrize("variant", ["serial", "serial_blocked", "serial_recursive", "serial_in_place"])
def test_loops_are_right_at_any_size(variant: str, tmp_path: Path) -> None:
    native.verified(program(variant), Placement(), tmp_path, "n=1,2,3,15,16,17,31,33,64,65,97", BOTH, effort=COUNTED)


@pytest.mark.parametrize("flag_set", ["base", "native"])
@pytest.mark.parametrize("variant", ["simd", "simd_in_place", "nontemporal"])
def test_squares_that_do_not_divide_the_matrix(variant: str, flag_set: str, tmp_path: Path) -> None:
    """One more and one less than a vector, a line, a square of lines and a strip, of any width."""
    native.verified(program(variant, flag_set), Placement(), tmp_path, SIZES, BOTH, effort=COUNTED)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("variant", ["omp", "omp_nontemporal"])
def test_threads_share_rows(variant: str, threads: int, tmp_path: Path) -> None:
    words = "n=1,2,9,15,16,31,48,65,130,160,257"
    native.verified(program(variant), Placement(threads=threads), tmp_path, words, BOTH, effort=COUNTED)


@pytest.mark.parametrize("n", [2, 9, 65, 300])
def test_one_wrong_element_is_found(n: int, tmp_path: Path) -> None:
    native.finds_one_wrong_element(program("broken_one_element"), n, tmp_path, BOTH, effort=COUNTED)


@pytest.mark.parametrize("variant", ["broken_null_in_place", "broken_twice_in_place"])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_what_turns_back_is_found_after_any_number_of_steps(variant: str, steps: int, tmp_path: Path) -> None:
    effort = ("--samples", "2", "--steps", str(steps))
    output = native.run(program(variant), Placement(), ("n=2,9,130", BOTH), tmp_path, effort)
    assert {c["case"] for c in output.of("check") if not c["ok"]} == set(range(6))


def test_32_bits_do_not_stand_for_64(tmp_path: Path) -> None:
    output = native.run(program("broken_single"), Placement(), ("n=2", "precision=32,64"), tmp_path, COUNTED)
    assert {(c["case"], c["ok"]) for c in output.of("check")} >= {(0, True), (1, False)}


def test_widths_that_no_number_has_are_refused() -> None:
    done = native.direct(program("serial"), "precision=48")
    assert done.returncode == 2 and "precision must be 32 or 64" in done.stderr and done.stderr.count("\n") == 1
