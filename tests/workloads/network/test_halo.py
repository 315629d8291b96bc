"""Halo exchange: the model against brute force; every MPI strategy on many grids, widths, words and kinds of data."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.model.catalogue import Variant
from firstlight.model.plan import Program
from native import Placement

HALO = native.workloads["halo"]
NORTH, SOUTH, WEST, EAST = range(4)

# -- the pure functions, called through C


@pytest.fixture(scope="module")
def functions() -> dict[str, ctypes.CDLL]:
    """Load the same functions for strategies in two phases and for those that serve all neighbours simultaneously."""
    source = Path(__file__).with_name("halo_functions.cpp")
    flags = ("-O1", f"-I{ROOT}/native/harness/include", f"-I{HALO.folder}")
    return {
        name: drivers.library(source, *flags, f"-DHALO_AT_ONCE={at_once}")
        for name, at_once in {"phases": "false", "at_once": "true"}.items()
    }


def integers(*values: int) -> list[ctypes.c_int64]:
    return [ctypes.c_int64(v) for v in values]


def grid(functions: dict[str, ctypes.CDLL], parties: int, rows: int = 0) -> tuple[int, int]:
    out = (ctypes.c_int * 2)()
    functions["phases"].grid(parties, ctypes.c_int64(rows), out)
    return out[0], out[1]


def region(functions: dict[str, ctypes.CDLL], n: int, width: int, kind: int, way: int) -> set[tuple[int, int]]:
    out = (ctypes.c_int64 * 4)()
    functions["phases"].region(*integers(n, width), kind, way, out)
    return {(r, c) for r in range(out[0], out[0] + out[2]) for c in range(out[1], out[1] + out[3])}


@given(parties=st.integers(1, 5000))
def test_the_grid_is_as_square_as_possible(functions: dict[str, ctypes.CDLL], parties: int) -> None:
    rows, columns = grid(functions, parties)
    assert rows * columns == parties and rows <= columns
    assert not any(parties % r == 0 and r * r <= parties for r in range(rows + 1, columns + 1))


@given(data=st.data(), rows=st.integers(1, 12), columns=st.integers(1, 12))
def test_neighbours_are_mutual(functions: dict[str, ctypes.CDLL], data: st.DataObject, rows: int, columns: int) -> None:
    party = data.draw(st.integers(0, rows * columns - 1))
    for way in range(8):
        there = functions["phases"].neighbour(rows * columns, ctypes.c_int64(rows), party, way)
        assert functions["phases"].neighbour(rows * columns, ctypes.c_int64(rows), there, way ^ 1) == party
    y, x = divmod(party, columns)
    east = functions["phases"].neighbour(rows * columns, ctypes.c_int64(rows), party, EAST)
    north = functions["phases"].neighbour(rows * columns, ctypes.c_int64(rows), party, NORTH)
    assert (north, east) == ((y - 1) % rows * columns + x, y * columns + (x + 1) % columns)


shapes = st.integers(1, 4).flatmap(lambda width: st.tuples(st.integers(width, 9), st.just(width)))


@given(shape=shapes)
def test_regions_cover_the_halo_once_and_nothing_else(
    functions: dict[str, ctypes.CDLL], shape: tuple[int, int]
) -> None:
    n, width = shape
    whole = {(r, c) for r in range(n + 2 * width) for c in range(n + 2 * width)}
    interior = {(r, c) for r in range(width, width + n) for c in range(width, width + n)}
    ghosts = [region(functions, n, width, 1, way) for way in range(8)]
    assert sum(map(len, ghosts)) == len(set().union(*ghosts)) and set().union(*ghosts) == whole - interior
    arriving = [region(functions, n, width, 3, way) for way in range(4)]
    assert sum(map(len, arriving)) == len(whole - interior) and set().union(*arriving) == whole - interior
    known = set(interior)  # the second phase sends only what the first has brought
    for phase in ((NORTH, SOUTH), (WEST, EAST)):
        for way in phase:
            assert region(functions, n, width, 2, way) <= known
        known |= arriving[phase[0]] | arriving[phase[1]]


@given(
    shape=shapes, word=st.sampled_from([4, 8]), rows=st.integers(1, 4), columns=st.integers(1, 5),
    kind=st.sampled_from(["phases", "at_once"]),
)  # fmt: skip
def test_the_cost_is_what_counting_every_word_gives(
    functions: dict[str, ctypes.CDLL], shape: tuple[int, int], word: int, rows: int, columns: int, kind: str
) -> None:
    n, width = shape
    sent = halo = 0
    for r in range(-width, n + width):
        for c in range(-width, n + width):
            row, column = (r >= 0) + (r >= n) - 1, (c >= 0) + (c >= n) - 1  # -1, 0, 1
            if (row, column) == (0, 0):
                continue
            halo += 1
            if kind == "at_once":
                sent += (row % rows, column % columns) != (0, 0)
            else:
                sent += columns > 1 if column else rows > 1
    out = (ctypes.c_double * 4)()
    functions[kind].cost(*integers(n, width, word, rows), rows * columns, out)
    chain = (rows > 1) + (columns > 1)
    parties = rows * columns
    messages = min(chain, 1) if kind == "at_once" else chain
    assert list(out) == [messages, sent * word * parties, 2 * halo * word * parties, 2 * sent * word]


@given(shape=shapes, word=st.sampled_from([4, 8]), way=st.integers(0, 3))
def test_packing_and_copying_move_a_region_and_nothing_else(
    functions: dict[str, ctypes.CDLL], shape: tuple[int, int], word: int, way: int
) -> None:
    functions["phases"].wrong_bytes.restype = ctypes.c_int64
    assert functions["phases"].wrong_bytes(*integers(*shape), word, way) == 0


@given(shape=shapes, word=st.sampled_from([4, 8]), first=st.integers(0, 1 << 40), touches=st.integers(0, 80))
def test_the_age_of_every_word_follows_from_its_place(
    functions: dict[str, ctypes.CDLL], shape: tuple[int, int], word: int, first: int, touches: int
) -> None:
    n, width = shape
    new = ctypes.c_int64()
    functions["phases"].wrong_ages.restype = ctypes.c_int64
    assert functions["phases"].wrong_ages(*integers(n, width, word, first, touches), ctypes.byref(new)) == 0
    if touches >= n * width:  # every word that a neighbour needs has been renewed
        assert new.value == n * n - max(0, n - 2 * width) ** 2


coordinates = st.integers(0, 1 << 20)


@given(
    row=coordinates, column=coordinates, iteration=st.integers(0, 1 << 42),
    shift=st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3)).filter(any),
)  # fmt: skip
def test_words_of_neighbours_and_of_near_iterations_differ(
    functions: dict[str, ctypes.CDLL], row: int, column: int, iteration: int, shift: tuple[int, int, int]
) -> None:
    word = functions["phases"].word_at
    word.restype = ctypes.c_uint64
    dr, dc, di = shift
    for size in (4, 8):
        here = [word(size, *integers(row + k, column, iteration)) for k in range(2)]
        there = [word(size, *integers(row + dr + k, column + dc, iteration + di)) for k in range(2)]
        assert here != there  # two words of 4 bytes: an accident of one has a probability of 2 to the power of -32


@given(
    n=st.integers(1, 9),
    width=st.integers(1, 9),
    word=st.integers(4, 8),
    rows=st.integers(0, 6),
    ranks=st.integers(1, 12),
)
def test_what_cannot_be_is_refused(
    functions: dict[str, ctypes.CDLL], n: int, width: int, word: int, rows: int, ranks: int
) -> None:
    possible = width <= n and word in (4, 8) and (rows == 0 or ranks % rows == 0)
    assert functions["phases"].refused(*integers(n, width, word, rows), ranks) == (not possible)


# -- every strategy over MPI


STRATEGIES = [v for v in HALO.variants if not v.broken and set(v.needs) <= {"mpi", "mpi4"}]
FAMILIES = ("openmpi", "mpich")


@pytest.fixture(scope="module")
def built() -> dict[Program, Built]:
    if native.toolchain("base") is None:
        pytest.skip("no gcc here")
    return native.make([p for v in STRATEGIES for p in native.on_each_library(HALO, v)])


def of(built: dict[Program, Built], variant: str, family: str) -> Built:
    found = next((b for p, b in built.items() if (p.variant, p.mpi) == (variant, family)), None)
    if found is None:
        pytest.skip(f"this session builds {variant} without {family}, or not at all")
    assert found.error == ""
    return found


def kinds(variant: Variant) -> str:
    if variant.name == "mpi_put_flag":
        return "packed"
    return "packed,inplace" if variant.name in ("mpi_shared", "mpi4_partitioned") else "packed,datatype,inplace"


def launches(variant: Variant, family: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(ranks, arguments): all kinds of data and words; wide halos; odd rings; long and tall grids, also with few ranks.

    1 to 4 ranks on square grids are those of test_workloads. More ranks than cores crawl where a library waits by
    spinning, so there Open MPI alone takes them.
    """
    wide = kinds(variant) if variant.name == "mpi_shared" else kinds(variant).removesuffix(",inplace")
    yield 2, ("n=2,7", "word=4,8", "rows=2", f"data={kinds(variant)}")
    if family == "mpich":
        yield 2, ("n=3", "width=2,3", "word=4,8", f"data={wide}")
    else:
        yield 6, ("n=3", "width=1,3", "word=4,8", "rows=2,6", f"data={wide}")
        yield 8, ("n=2", "width=1,2")


def combinations() -> list[object]:
    """Return each strategy with each MPI library here that can build it; for a strategy without one, an entry with the
    reason.
    """
    able = {(p.variant, p.mpi) for v in STRATEGIES for p in native.on_each_library(HALO, v)}
    return [
        pytest.param(v, f, id=f"{v.name}-{f}")
        for v in STRATEGIES
        for f in FAMILIES
        if (v.name, f) in able or (f == FAMILIES[0] and not any(name == v.name for name, _ in able))
    ]


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize(("variant", "family"), combinations())
def test_strategy_is_right_on_every_grid(
    variant: Variant, family: str, built: dict[Program, Built], tmp_path: Path
) -> None:
    program = of(built, variant.name, family)
    for ranks, arguments in launches(variant, family):
        output = native.run(program, Placement(ranks=ranks), arguments, tmp_path)
        assert (output.status, output.reason) == (0, ""), (
            ranks,
            arguments,
            output.reason,
            output.stderr,
            output.of("check"),
        )
        assert output.of("check") and all(c["ok"] for c in output.of("check"))


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["mpi_sendrecv", "mpi_ordered", "mpi_isend_recv", "mpi_irecv_send", "mpi_all_at_once"])
def test_long_messages_cannot_lock_a_ring(name: str, family: str, built: dict[Program, Built], tmp_path: Path) -> None:
    """Half a megabyte is beyond every eager protocol; a ring of three has two even places side by side."""
    for ranks in (2, 3):
        output = native.run(of(built, name, family), Placement(ranks=ranks), ("n=1024", "width=64"), tmp_path)
        assert (output.status, output.reason) == (0, ""), (ranks, output.reason, output.stderr)


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("mpi_sendrecv", ("n=2", "width=3"), "needs width <= n"),
        ("mpi_sendrecv", ("rows=3",), "needs rows that divide"),
        ("mpi_sendrecv", ("word=6",), "needs words of 4 or 8 bytes"),
        ("mpi_sendrecv", ("width=2", "data=inplace"), "needs width=1 for data=inplace"),
        ("mpi_put_flag", ("data=datatype",), "supports only data=packed"),
        ("mpi_shared", ("data=datatype",), "supports only data=packed and data=inplace"),
    ],
)
def test_what_a_strategy_cannot_do_is_refused_in_a_line(
    name: str, arguments: tuple[str, ...], message: str, built: dict[Program, Built], tmp_path: Path
) -> None:
    output = native.run(of(built, name, "mpich"), Placement(ranks=2), arguments, tmp_path)
    assert output.status == 2 and output.lines == []
    assert output.stderr.count(message) == 1


@pytest.mark.native
@pytest.mark.full
def test_cost_of_both_kinds_is_recorded(built: dict[Program, Built], tmp_path: Path) -> None:
    """4 processes as 2 x 2, N = 3, w = 2, words of 4 bytes: 40 words of halo, all from other processes."""
    for name, chain in {"mpi_sendrecv": 2, "mpi_all_at_once": 1}.items():
        arguments = ("n=3", "width=2", "word=4")
        output = native.run(of(built, name, "openmpi"), Placement(ranks=4), arguments, tmp_path)
        cost = output.of("case")[0]["cost"]
        wanted = {"operations": 1, "messages": chain, "message_bytes": 4 * 160, "flow": 2 * 160, "bytes": 4 * 2 * 160}
        assert {k: cost[k] for k in wanted} == wanted
