"""native/grid: the cut, boxes and coordinates against brute force; exchanges of simulated ranks, and faults in them."""

from __future__ import annotations

import ctypes
import itertools
import math
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

INCLUDES = (f"-I{ROOT}/native/harness/include", f"-I{ROOT}/native/grid/include")
FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", *INCLUDES)
FACES, EDGES, CORNERS = 1, 2, 4
AT_ONCE, BY_DIMENSION = 0, 1
LOST, STALE, SWAPPED = 1, 2, 3

Four = ctypes.c_int64 * 4


class DomainArguments(ctypes.Structure):
    _fields_ = [*((name, Four) for name in ("extents", "periodic", "processes", "halo")), ("ranks", ctypes.c_int64)]


class ExchangeResult(ctypes.Structure):
    _fields_ = [
        ("wrong", ctypes.c_int64), ("missing", ctypes.c_int64), ("applied", ctypes.c_int64),
        ("messages", ctypes.c_double), ("first", ctypes.c_char * 200),
    ]  # fmt: skip


@dataclass(frozen=True)
class Case:
    extents: tuple[int, ...]
    periodic: tuple[bool, ...]
    halo: tuple[int, ...]
    ranks: int
    processes: tuple[int, ...] = ()

    @property
    def dimensions(self) -> int:
        return len(self.extents)

    def arguments(self) -> DomainArguments:
        given = self.processes or (0,) * self.dimensions
        four = [Four(*values) for values in (self.extents, self.periodic, given, self.halo)]
        return DomainArguments(*four, self.ranks)


Cell = tuple[int, ...]


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    made = drivers.library(Path(__file__).with_name("grid_functions.cpp"), *FLAGS)
    for name in ("wrong_cells", "split", "wrong_layout", "wrong_strips", "alone", "seen_damage"):
        getattr(made, name).restype = ctypes.c_int64
    return made


@st.composite
def cases(draw: st.DrawFn, dimensions: tuple[int, int] = (1, 4), cells: int = 3000) -> Case:
    """Yield domains with rank counts that can usually share them."""
    d = draw(st.integers(*dimensions))
    longest = {1: 40, 2: 16, 3: 9, 4: 6}[d]
    several = lambda s: tuple(draw(st.lists(s, min_size=d, max_size=d)))  # noqa: E731
    extents = several(st.integers(1, longest))
    assume(math.prod(extents) <= cells)
    return Case(extents, several(st.booleans()), several(st.integers(0, 2)), draw(st.integers(1, 12)))


def cut(functions: ctypes.CDLL, case: Case) -> tuple[tuple[int, ...], str]:
    counts, why = Four(), ctypes.create_string_buffer(400)
    functions.cut(case.dimensions, ctypes.byref(case.arguments()), counts, why, ctypes.c_size_t(len(why)))
    return tuple(counts[: case.dimensions]), why.value.decode()


def box(case_dimensions: int, numbers: list[int]) -> set[Cell]:
    lower, upper = numbers[:4], numbers[4:8]
    return set(itertools.product(*(range(lower[d], upper[d]) for d in range(case_dimensions))))


def eight() -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * 8)()


def feasible(case: Case, counts: tuple[int, ...]) -> bool:
    return all(
        n // c >= 1 and ((c == 1 and not p) or n // c >= h)
        for n, c, p, h in zip(case.extents, counts, case.periodic, case.halo, strict=True)
    )


def factorings(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (number,)
        return
    for first in (c for c in range(1, number + 1) if number % c == 0):
        for rest in factorings(number // first, parts - 1):
            yield (first, *rest)


def neighbour(case: Case, counts: tuple[int, ...], rank: int, offset: tuple[int, ...]) -> int | None:
    place = []
    for c in reversed(counts):
        place.append(rank % c)
        rank //= c
    place.reverse()
    found = 0
    for x, step, c, periodic in zip(place, offset, counts, case.periodic, strict=True):
        if not 0 <= x + step < c and not periodic:
            return None
        found = found * c + (x + step) % c
    return found


# -- cutting


@given(case=cases())
def test_the_process_grid_has_least_surface_and_thick_enough_blocks(functions: ctypes.CDLL, case: Case) -> None:
    possible = [c for c in factorings(case.ranks, case.dimensions) if feasible(case, c)]
    counts, why = cut(functions, case)
    if not possible:
        assert why.startswith("no process grid of") and "use fewer ranks or a larger grid" in why and "\n" not in why
        return
    surface = lambda c: sum(k / n for k, n in zip(c, case.extents, strict=True))  # noqa: E731
    assert why == "" and counts in possible
    assert surface(counts) <= min(map(surface, possible)) * (1 + 1e-9)


def test_process_counts_that_are_given_are_kept_or_refused(functions: ctypes.CDLL) -> None:
    plain = Case((8, 9), (True, True), (1, 1), 6, (1, 0))
    assert cut(functions, plain) == ((1, 6), "")
    assert "like 4 x 0 (0: chosen) of 6 ranks" in cut(functions, Case((8, 9), (True, True), (1, 1), 6, (4, 0)))[1]
    assert "of 1 rank leaves blocks of 1 x 3 cells" in cut(functions, Case((8, 2), (False, True), (1, 3), 1))[1]
    assert cut(functions, Case((8, 2), (True, False), (1, 3), 1))[1] == ""  # beyond an open end nothing is needed
    assert "extents of at least 1" in cut(functions, Case((0, 2), (True, False), (1, 1), 1))[1]


@given(case=cases())
def test_every_cell_has_one_owner_and_its_own_number(functions: ctypes.CDLL, case: Case) -> None:
    assume(not cut(functions, case)[1])
    covered: Counter[Cell] = Counter()
    for rank in range(case.ranks):
        out = eight()
        functions.owned(case.dimensions, ctypes.byref(case.arguments()), rank, out)
        covered.update(box(case.dimensions, list(out)))
    assert set(covered) == set(itertools.product(*map(range, case.extents))) and set(covered.values()) == {1}
    assert functions.wrong_cells(case.dimensions, ctypes.byref(case.arguments())) == 0


# -- boxes


@given(data=st.data(), d=st.integers(1, 4))
def test_what_goes_fits_what_comes_and_the_halo_is_covered_once(
    functions: ctypes.CDLL, data: st.DataObject, d: int
) -> None:
    halo = data.draw(st.lists(st.integers(0, 2), min_size=d, max_size=d))
    size = [h + data.draw(st.integers(1, 3)) for h in halo]
    own = set(itertools.product(*map(range, size)))
    whole = set(itertools.product(*(range(-h, n + h) for h, n in zip(halo, size, strict=True))))
    covered: Counter[Cell] = Counter()
    for way in range(functions.directions(d)):
        offset, out, back = Four(), eight(), eight()
        functions.offset(d, way, offset)
        if not any(offset):
            continue
        functions.region(d, Four(*size), Four(*halo), way, 0, out)
        functions.region(d, Four(*size), Four(*halo), functions.directions(d) - 1 - way, 1, back)
        going, coming = box(d, list(out)), box(d, list(back))
        assert going <= own and not coming & own
        # A neighbour receives the same cells on its opposite side, moved by a whole block.
        assert {tuple(x - o * n for x, o, n in zip(cell, offset, size, strict=False)) for cell in going} == coming
        covered.update(coming)
    assert set(covered) == whole - own and set(covered.values()) <= {1}


@given(case=cases(cells=600), data=st.data())
def test_inner_and_rim_are_disjoint_and_inner_needs_no_halo(
    functions: ctypes.CDLL, case: Case, data: st.DataObject
) -> None:
    counts, why = cut(functions, case)
    assume(not why)
    rank = data.draw(st.integers(0, case.ranks - 1))
    radius = data.draw(st.lists(st.integers(0, 2), min_size=case.dimensions, max_size=case.dimensions))
    out, owned = (ctypes.c_int64 * 80)(), eight()
    boxes = functions.split(case.dimensions, ctypes.byref(case.arguments()), rank, Four(*radius), out)
    functions.owned(case.dimensions, ctypes.byref(case.arguments()), rank, owned)
    size = [owned[4 + d] - owned[d] for d in range(case.dimensions)]
    parts = [box(case.dimensions, out[8 * k : 8 * k + 8]) for k in range(boxes)]
    own = set(itertools.product(*map(range, size)))
    assert sum(map(len, parts)) == len(own) and set().union(*parts) == own

    def free(cell: Cell) -> bool:
        """Return whether a stencil there reads no cell of a neighbour."""
        for d, (x, r) in enumerate(zip(cell, radius, strict=True)):
            for step, beyond in ((-1, x < r), (1, x >= size[d] - r)):
                offset = tuple(step if e == d else 0 for e in range(case.dimensions))
                if beyond and neighbour(case, counts, rank, offset) is not None:
                    return False
        return True

    assert parts[0] == {cell for cell in own if free(cell)}


@given(data=st.data(), d=st.integers(1, 4), shares=st.integers(1, 9))
def test_shares_of_threads_cover_a_box_once(functions: ctypes.CDLL, data: st.DataObject, d: int, shares: int) -> None:
    size = data.draw(st.lists(st.integers(0, 6), min_size=d, max_size=d))
    covered: Counter[Cell] = Counter()
    most = []
    for share in range(shares):
        out = eight()
        functions.share(d, Four(*size), ctypes.c_int64(share), ctypes.c_int64(shares), out)
        mine = box(d, list(out))
        most.append(len(mine))
        covered.update(mine)
    assert set(covered) == set(itertools.product(*map(range, size))) and set(covered.values()) <= {1}
    if covered and max(size) >= shares:
        cut_ = next(n for n in size if n >= shares)
        assert max(most) == -(-cut_ // shares) * (math.prod(size) // cut_)  # as even as whole planes allow


@given(data=st.data(), d=st.integers(1, 4), alignment=st.sampled_from([1, 4, 16, 64]), shares=st.integers(1, 4))
def test_rows_are_aligned_and_threads_touch_every_cell(
    functions: ctypes.CDLL, data: st.DataObject, d: int, alignment: int, shares: int
) -> None:
    size = Four(*data.draw(st.lists(st.integers(1, 6), min_size=d, max_size=d)))
    halo = Four(*data.draw(st.lists(st.integers(0, 2), min_size=d, max_size=d)))
    assert functions.wrong_layout(d, size, halo, ctypes.c_int64(alignment), ctypes.c_int64(shares)) == 0


@given(
    data=st.data(), d=st.integers(1, 4), alignment=st.sampled_from([1, 16, 64]), strip=st.integers(1, 20),
    shares=st.integers(1, 4),
)  # fmt: skip
def test_strips_hold_every_cell_once_and_show_what_is_beside_them(
    functions: ctypes.CDLL, data: st.DataObject, d: int, alignment: int, strip: int, shares: int
) -> None:
    size = [*data.draw(st.lists(st.integers(1, 4), min_size=d - 1, max_size=d - 1)), data.draw(st.integers(1, 40))]
    halo = Four(*data.draw(st.lists(st.integers(0, 2), min_size=d, max_size=d)))
    strips, arguments = ctypes.c_int64(), [ctypes.c_int64(n) for n in (alignment, strip, shares)]
    assert functions.wrong_strips(d, Four(*size), halo, *arguments, ctypes.byref(strips)) == 0
    assert strips.value <= -(-size[-1] // strip)
    if size[-1] > strip >= 16:  # of at least as many columns as lie aligned together
        assert strips.value > 1


# -- exchanges


def exchange(
    functions: ctypes.CDLL, case: Case, reach: int, order: int, *, expected: int = 0, shares: int = 1, fault: int = 0
) -> ExchangeResult:
    result = ExchangeResult()
    functions.exchange(
        case.dimensions, ctypes.byref(case.arguments()), reach, order, expected or reach, ctypes.c_int64(64),
        ctypes.c_int64(shares), fault, ctypes.byref(result),
    )  # fmt: skip
    return result


REACHES, ORDERS = st.sampled_from([FACES, EDGES, CORNERS]), st.sampled_from([AT_ONCE, BY_DIMENSION])


@settings(max_examples=200)
@given(case=cases(), reach=REACHES, order=ORDERS, shares=st.integers(1, 3))
def test_every_value_arrives_in_one_message_per_neighbour(
    functions: ctypes.CDLL, case: Case, reach: int, order: int, shares: int
) -> None:
    counts, why = cut(functions, case)
    assume(not why)
    result = exchange(functions, case, reach, order, shares=shares)
    assert (result.wrong, result.missing) == (0, 0), result.first
    if all(h > 0 for h in case.halo):
        apart = 1 if order == BY_DIMENSION else reach
        ways = [o for o in itertools.product((-1, 0, 1), repeat=case.dimensions) if 1 <= sum(map(abs, o)) <= apart]
        peers = [(r, neighbour(case, counts, r, o)) for r in range(case.ranks) for o in ways]
        assert result.messages == sum(peer not in (None, rank) for rank, peer in peers)


@pytest.mark.parametrize("ranks", [27, 31, 64, 97])
def test_many_ranks_and_large_primes(functions: ctypes.CDLL, ranks: int) -> None:
    for case in (
        Case((101, 5), (True, True), (1, 2), ranks),
        Case((7, 100, 4), (False, True, True), (1, 1, 1), ranks),
        Case((100, 3, 2, 3), (True, False, True, True), (1, 0, 1, 2), ranks),
    ):
        for order in (AT_ONCE, BY_DIMENSION):
            result = exchange(functions, case, CORNERS, order)
            assert (result.wrong, result.missing) == (0, 0), result.first


@given(case=cases(), reach=REACHES, order=ORDERS, fault=st.sampled_from([LOST, STALE, SWAPPED]))
def test_a_faulty_message_is_seen(functions: ctypes.CDLL, case: Case, reach: int, order: int, fault: int) -> None:
    assume(not cut(functions, case)[1])
    result = exchange(functions, case, reach, order, fault=fault)
    assert bool(result.wrong) == bool(result.applied)
    assert not result.wrong or b"is wrong" in result.first


@pytest.mark.parametrize("fault", [LOST, STALE, SWAPPED])
def test_each_fault_was_there_to_be_seen(functions: ctypes.CDLL, fault: int) -> None:
    result = exchange(functions, Case((6, 7, 8), (True, True, True), (1, 1, 1), 4), CORNERS, AT_ONCE, fault=fault)
    assert result.applied and result.wrong > 0


@pytest.mark.parametrize(("brought", "wanted"), [(FACES, EDGES), (FACES, CORNERS), (EDGES, CORNERS)])
@pytest.mark.parametrize("more", [False, True])
def test_missing_edges_and_corners_are_seen_and_so_is_what_nobody_asked_for(
    functions: ctypes.CDLL, brought: int, wanted: int, more: bool
) -> None:
    for case in (Case((6, 6, 6), (True,) * 3, (1, 1, 1), 8), Case((4, 4, 4, 4), (True,) * 4, (2,) * 4, 4)):
        reach, expected = (wanted, brought) if more else (brought, wanted)
        assert exchange(functions, case, reach, AT_ONCE, expected=expected).wrong > 0


@given(case=cases(), reach=REACHES, order=ORDERS)
def test_one_process_without_mpi_is_its_own_neighbour(
    functions: ctypes.CDLL, case: Case, reach: int, order: int
) -> None:
    alone = Case(case.extents, case.periodic, case.halo, 1)
    assume(not cut(functions, alone)[1])
    assert functions.alone(alone.dimensions, ctypes.byref(alone.arguments()), reach, order) == 0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (0, "a field of 3 x 4 cells does not belong to a block of 4 x 4"),
        (1, "a field's halo of 2 x 1 is wider than the domain supports: 1 x 1"),
        (2, "a program without MPI has no other ranks to exchange with"),
        (3, "the alignment of a field must divide 64 bytes, not 128"),
        (4, "no process grid of 100 ranks leaves blocks of 1 x 1 cells at least"),
    ],
)
def test_misuse_ends_the_program_with_one_line(functions: ctypes.CDLL, how: int, message: str) -> None:
    words = [sys.executable, "-ISc", f"import ctypes; ctypes.CDLL({functions._name!r}).misuse({how})"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == -signal.SIGABRT and done.stderr.startswith(f"grid: {message}")
    assert done.stderr.count("\n") == 1


@given(data=st.data(), d=st.integers(1, 4), bit=st.integers(0, 1 << 40))
def test_one_wrong_bit_anywhere_is_one_damage(functions: ctypes.CDLL, data: st.DataObject, d: int, bit: int) -> None:
    size = Four(*data.draw(st.lists(st.integers(1, 5), min_size=d, max_size=d)))
    halo = Four(*data.draw(st.lists(st.integers(0, 2), min_size=d, max_size=d)))
    assert functions.seen_damage(d, size, halo, ctypes.c_int64(bit)) == 1
