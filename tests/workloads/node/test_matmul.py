"""Matmul: tiles, blocks and panels that do not divide a matrix; threads; one wrong element of many; what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import native
from native import COUNTED, Placement

pytestmark = pytest.mark.native

program = partial(native.plain, "matmul")
BOTH = "precision=64,32"


@pytest.mark.parametrize("variant", ["serial", "serial_ikj", "serial_blocked", "serial_recursive"])
def test_loops_are_right_at_any_size(variant: str, tmp_path: Path) -> None:
    native.verified(program(variant), Placement(), tmp_path, "n=1,2,3,5,63,64,65,129,257", BOTH, effort=COUNTED)


@pytest.mark.parametrize("flag_set", ["base", "native", "fast"])
def test_tiles_that_do_not_divide_the_matrix(flag_set: str, tmp_path: Path) -> None:
    """One more and one less than a vector, a tile, a panel, a block of rows and the depth of a block, of any width."""
    words = "n=1,2,3,4,5,7,8,9,12,13,15,16,17,23,24,25,47,48,49,59,60,61,119,120,121,239,241,383,384,385,391"
    native.verified(program("simd", flag_set), Placement(), tmp_path, words, BOTH, effort=COUNTED)


def test_more_columns_than_are_packed_at_once(tmp_path: Path) -> None:
    """128 panels of six columns, with vectors of two."""
    native.verified(program("simd"), Placement(), tmp_path, "n=769", "precision=64", effort=COUNTED)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_panels(threads: int, tmp_path: Path) -> None:
    words = "n=1,2,3,7,8,9,25,61,200,385"
    native.verified(program("omp"), Placement(threads=threads), tmp_path, words, BOTH, effort=COUNTED)


@pytest.mark.parametrize("n", [9, 64, 65, 300])
def test_one_wrong_element_is_found(n: int, tmp_path: Path) -> None:
    native.finds_one_wrong_element(program("broken_one_element"), n, tmp_path, BOTH, effort=COUNTED)


def test_32_bits_do_not_stand_for_64(tmp_path: Path) -> None:
    for n in (2, 65):
        output = native.run(program("broken_single"), Placement(), (f"n={n}", "precision=32,64"), tmp_path, COUNTED)
        assert {(c["case"], c["ok"]) for c in output.of("check")} >= {(0, True), (1, False)}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("precision=48",), "precision must be 32 or 64"),
        (("precision=32", "n=8193"), "in 32 bit sums are exact up to n = 8192 only"),
    ],
)
def test_what_could_not_be_verified_is_refused(words: tuple[str, ...], why: str) -> None:
    done = native.direct(program("serial"), *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
