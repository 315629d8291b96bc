"""Spmv: formats that keep a row's order agree bit by bit, in threads and processes, too; files; what is refused."""

from __future__ import annotations

import gzip
import json
import math
from ctypes import CDLL, c_double, c_int
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.results.store import documents
from native import COUNTED, EFFORT, Placement

pytestmark = pytest.mark.native

IN_ORDER = "csr,csr4,streamed2,streamed4,streamed8,sell,sell_sorted,streamed_block,tiled"
PATTERNS = "matrix=random,power_law"


def program(variant: str) -> Built:
    return native.plain("spmv", variant)


def fingerprints(folder: Path, variant: str, place: Placement, *words: str) -> dict[tuple[object, ...], set[float]]:
    """Return all bits of y by matrix and size, of all kernels."""
    output = native.run(program(variant), place, (*words, "--seed", "7"), folder, COUNTED)
    assert output.status == 0, (output.reason, output.stderr, [c for c in output.of("check") if not c["ok"]])
    found: dict[tuple[object, ...], set[float]] = {}
    for sample in output.of("sample"):
        case = output.of("case")[sample["case"]]["parameters"]
        found.setdefault((case["matrix"], case["m"], sample["sample"]), set()).add(sample["values"]["fingerprint"][0])
    return found


def test_formats_that_keep_the_order_agree_bit_by_bit(tmp_path: Path) -> None:
    alone = fingerprints(tmp_path, "serial", Placement(), f"kernel={IN_ORDER}", PATTERNS, "m=1,2,3,9")
    assert len(alone) == 16 and all(len(bits) == 1 for bits in alone.values())
    assert len(set(map(frozenset, alone.values()))) > 8  # steps and matrices differ
    for threads in (1, 3):
        place = Placement(threads=threads)
        assert fingerprints(tmp_path, "omp", place, f"kernel={IN_ORDER}", PATTERNS, "m=1,2,3,9") == alone


def test_tiles_change_no_bit_where_there_are_four(tmp_path: Path) -> None:
    """Tiles have at most 32768 rows and columns; three threads have three blocks of rows with two tiles each."""
    words = ("kernel=csr,tiled", PATTERNS, "m=33")
    alone = fingerprints(tmp_path, "serial", Placement(), *words)
    assert alone and all(len(bits) == 1 for bits in alone.values())
    assert fingerprints(tmp_path, "omp", Placement(threads=3), *words) == alone


SIDE, CHUNK = 8, 8
Rows = list[set[int]]
"""Columns of each row."""


@pytest.fixture(scope="module")
def tiles() -> CDLL:
    source, harness = ROOT / "tests/workloads/sparse/spmv_functions.cpp", ROOT / "native/harness/include"
    strict = ("-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
    library = drivers.library(source, *strict, f"-I{harness}", f"-I{ROOT}", f"-I{ROOT}/workloads/sparse/spmv")
    library.stored.restype = c_double
    return library


def compressed(rows: Rows) -> tuple[object, ...]:
    """Return the number of rows, their starts, columns and values, in the library's format."""
    starts = [sum(map(len, rows[:i])) for i in range(len(rows) + 1)]
    columns = [c for row in rows for c in sorted(row)]
    values = [value(i, c) for i, row in enumerate(rows) for c in sorted(row)]
    size = starts[-1]
    return len(rows), (c_int * len(starts))(*starts), (c_int * size)(*columns), (c_double * size)(*values)


def value(row: int, column: int) -> float:
    return ((7 * row + 13 * column) % 29 - 14) / 3


def in_tiles(rows: Rows, height: int) -> int:
    """Return the bytes by their definition: 10 per entry, 2 per row of a slice, 4 per rest, 16 for slices of the same
    length.
    """
    total = 10 * sum(map(len, rows))
    for first in range(0, len(rows), height):
        for left in range(0, len(rows), SIDE):
            counts = sorted(sum(left <= c < left + SIDE for c in row) for row in rows[first : first + height])
            counts = [count for count in counts if count]
            whole = len(counts) // CHUNK * CHUNK
            ragged, alike = 0, []
            for at in range(0, whole, CHUNK):
                common = counts[at]
                rests = sum(count > common for count in counts[at : at + CHUNK])
                total += 2 * CHUNK + 4 * rests
                alike.append((ragged, common))
                ragged += rests > 0
            total += 16 * len(list(groupby(alike))) + (16 + 4 * (len(counts) - whole) if whole < len(counts) else 0)
    return total


def alike(found: float, wanted: float) -> bool:
    return (
        math.isnan(found)
        if math.isnan(wanted)
        else (found, math.copysign(1, found)) == (wanted, math.copysign(1, wanted))
    )


@given(
    rows=st.integers(1, 40).flatmap(lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)),
    threads=st.integers(1, 5),
    holes=st.dictionaries(st.integers(0, 39), st.sampled_from([math.nan, math.inf, -0.0]), max_size=2),
)
@example(rows=[set()], threads=1, holes={})
@example(rows=[{0}], threads=5, holes={0: math.nan})
@example(rows=[set(range(17))] * 17, threads=1, holes={16: math.inf})
@example(rows=[set(range(0, i, 2)) for i in range(33)], threads=2, holes={})
def test_tiles_add_up_each_row_in_its_order(tiles: CDLL, rows: Rows, threads: int, holes: dict[int, float]) -> None:
    """To the bit, with empty rows and tiles, rows that make no slice, and elements that no other row may read."""
    x = [holes.get(c, (5 * c % 23 - 11) / 7) for c in range(len(rows))]
    y = (c_double * len(rows))(*[math.nan] * len(rows))
    given_rows = compressed(rows)
    blocks = tiles.multiply(*given_rows, threads, (c_double * len(x))(*x), y, c_double(1.3))
    height = min(SIDE, -(-len(rows) // threads))
    assert blocks == -(-len(rows) // height)
    for i, row in enumerate(rows):
        total = 0.0
        for c in sorted(row):
            total += value(i, c) * x[c]
        assert alike(y[i], 1.3 * total)
    assert tiles.stored(*given_rows, threads) == in_tiles(rows, height)


@pytest.mark.parametrize("variant", ["mpi", "mpi_overlap"])
def test_processes_change_no_bit(variant: str, tmp_path: Path) -> None:
    """In a band of 4096 rows most need nothing from other processes; in the other matrix all do."""
    words = ("matrix=banded,power_law", "m=1,3,16")
    alone = fingerprints(tmp_path, "serial", Placement(), "kernel=csr", *words)
    for ranks in (1, 2, 3):
        assert fingerprints(tmp_path, variant, Placement(ranks=ranks), "kernel=csr,streamed4,sell", *words) == alone


def test_the_middle_is_multiplied_while_messages_travel(tmp_path: Path) -> None:
    """Whole windows of 512 rows: three of four on each of two processes. Rows drawn at random have no such middle."""
    words = ("kernel=csr,streamed4,sell", "matrix=hpcg,banded,random", "m=16")
    output = native.verified(program("mpi_overlap"), Placement(ranks=2), tmp_path, *words)
    for sample in output.of("sample"):
        matrix = output.of("case")[sample["case"]]["parameters"]["matrix"]
        assert sample["values"]["overlapped"] == [0 if matrix == "random" else 0.75] * 3


def test_ell_agrees_where_rows_are_of_like_length(tmp_path: Path) -> None:
    words = ("matrix=hpcg,banded,fem", "m=2,7")
    assert all(len(b) == 1 for b in fingerprints(tmp_path, "serial", Placement(), "kernel=csr,ell", *words).values())


FILE = """%%MatrixMarket matrix coordinate real symmetric
% with an empty row

4 4 4
1 1 2.5
2 1 -1
4 2 1e-3
4 4 +7
"""


@pytest.mark.parametrize(("variant", "kernels"), [("serial", "*"), ("omp", "*"), ("mpi", "csr,streamed4,sell")])
def test_a_file_is_multiplied(variant: str, kernels: str, tmp_path: Path) -> None:
    (tmp_path / "own.mtx").write_text(FILE)
    built = program(variant)
    assert built.executable is not None
    done = native.direct(built, f"kernel={kernels}", f"matrix={tmp_path / 'own.mtx'}")
    assert done.returncode == 0, done.stderr


GENERAL = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 2\n1 3 5\n2 3 -1\n3 1 7\n"


@pytest.mark.parametrize("variant", ["serial", "omp", "mpi"])
def test_what_one_format_refuses_others_multiply(variant: str, tmp_path: Path) -> None:
    """Only half storage refuses a general matrix, and a file's size is not swept."""
    (tmp_path / "own.mtx").write_text(GENERAL)
    words = (f"matrix={tmp_path / 'own.mtx'},banded", "kernel=*", "m=2,3")
    output = native.verified(
        program(variant), native.party_of_two(native.workloads["spmv"].variant(variant)), tmp_path, *words
    )
    refused = [(c["parameters"]["kernel"], c["why"]) for c in output.of("refused")]
    assert refused == ([] if variant == "mpi" else [("symmetric", "symmetric storage needs a symmetric matrix")])
    kernels = len({c["parameters"]["kernel"] for c in output.of("case")})
    assert kernels == (8 if variant == "mpi" else 11)
    assert (
        len(output.of("case")) + len(refused) == output.of("end")[0]["cases"] == 3 * kernels
    )  # the file once, the band twice
    assert {"m" in c["parameters"] for c in output.of("case") if c["parameters"]["matrix"] != "banded"} == {False}


def test_a_program_describes_what_a_file_replaces() -> None:
    replaced = {p["name"]: p.get("replaced_by", "") for p in json.loads(program("serial").describe)["parameters"]}
    assert replaced == {"kernel": "", "matrix": "", "m": "matrix"}


@pytest.mark.parametrize("variant", ["serial", "omp"])
@pytest.mark.parametrize(
    ("rows", "entries"),
    [
        (1, ""),  # has no entry at all
        (2, "2 1 3\n"),  # has no diagonal
        (5, "2 2 1\n4 3 -2\n"),  # the first row and the last are empty: both check with NaN in x
        (5, "1 1 0\n3 1 0\n5 5 0\n"),  # stored zeros are multiplied
        (9, "".join(f"{i} 1 {i}\n" for i in range(2, 10))),  # has one full column
        (9, "".join(f"9 {i} {i}\n" for i in range(1, 9))),  # has one full row
    ],
)
def test_a_symmetric_file_without_a_diagonal_is_multiplied(
    variant: str, rows: int, entries: str, tmp_path: Path
) -> None:
    head = f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {entries.count(chr(10))}\n"
    (tmp_path / "own.mtx").write_text(head + entries)
    threads = ("--threads", "3") if variant == "omp" else ()
    file = f"matrix={tmp_path / 'own.mtx'}"
    done = native.direct(program(variant), "kernel=csr,symmetric,sell,tiled,streamed_block", file, *threads, *EFFORT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_of_more_than_a_mib_is_multiplied_and_known_by_its_name(tmp_path: Path) -> None:
    """Harness and run agree about a large file's hash."""
    rows, file = 70_000, tmp_path / "large.mtx"
    entries = "".join(f"{i} {rows + 1 - i} {i}.5\n" for i in range(1, rows + 1))
    file.write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {rows}\n{entries}")
    assert file.stat().st_size > documents.BY_BYTES
    done = native.direct(program("serial"), "kernel=csr", f"matrix={file}", *EFFORT)
    assert done.returncode == 0, done.stderr
    assert f'"{documents.of(str(file), file.read_bytes()).name}"' in done.stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 1 1\n", "bad.mtx:1: the file should begin with %%MatrixMarket"),
        (FILE.replace("coordinate", "array"), "bad.mtx:1: only"),
        (FILE.replace("real", "complex"), 'bad.mtx:1: values are "complex"'),
        (FILE.replace("4 4 4\n", "4 5 4\n"), "bad.mtx:4: 4 rows and 5 columns"),
        (FILE.replace("2 1 -1", "2 5 -1"), 'bad.mtx:6: "5" should be a row or column, 1 to 4'),
        (FILE.replace("2 1 -1", "1 2 -1"), "bad.mtx:6: above the diagonal"),
        (FILE.replace("1e-3", "nan"), 'bad.mtx:7: "nan" should be a value'),
        (FILE.replace("4 4 +7", "2 1 3"), "bad.mtx:8: the entry of line 6 once more"),
        (FILE.replace("4 4 +7\n", ""), "bad.mtx:8: entry 4 of 4 is missing"),
        (FILE + "3 3 1\n", "bad.mtx:9: more than the 4 entries"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_by_its_line(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "bad.mtx").write_text(text)
    done = native.direct(program("serial"), f"matrix={tmp_path / 'bad.mtx'}")
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def test_a_program_by_itself_says_who_unpacks(tmp_path: Path) -> None:
    (tmp_path / "own.mtx.gz").write_bytes(gzip.compress(FILE.encode()))
    done = native.direct(program("serial"), f"matrix={tmp_path / 'own.mtx.gz'}")
    assert done.returncode == 2 and "only ./fl run decompresses it" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("kernel=symmetric", "matrix=random"), "needs a symmetric matrix"),
        (("kernel=ell", "matrix=power_law"), "needs rows of similar length"),
    ],
)
def test_what_a_format_does_not_take_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    done = native.direct(program("serial"), *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
