"""Files of tuned collectives: tables, the formats that libraries read, and how libraries decide by them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import launches
import schedules
import turns
from firstlight.commands.tune import formats, preload
from firstlight.commands.tune.formats import rules as rules_file
from firstlight.commands.tune.formats import selection as selection_file
from firstlight.commands.tune.table import BLOCKWISE, LIBRARY, Rule, Table, ranges, table
from firstlight.core.errors import BuildError
from firstlight.system import mpi_families
from firstlight.toolchain import Mpi

COLLECTIVES = tuple(rules_file.NAMES)
choices = st.dictionaries(
    st.tuples(st.sampled_from([c for c in COLLECTIVES if c != "barrier"]), st.integers(2, 40)),
    st.dictionaries(
        st.integers(1, 1 << 17).map(lambda n: 8 * n), st.sampled_from(["ring", "tree", LIBRARY]), min_size=1, max_size=6
    ),
    max_size=6,
)
cases = st.tuples(st.sampled_from(COLLECTIVES), st.integers(1, 42), st.integers(0, 1 << 21))
WORDS = {(c, a): str(k + 1) for c in COLLECTIVES for k, a in enumerate(("ring", "tree"))}
FULL = {(c, a): f"MPIR_{selection_file.NAMES[c].capitalize()}_intra_{a}" for c in COLLECTIVES for a in ("ring", "tree")}
TREE: dict[str, Any] = {
    f"collective={own}": {
        "comm_type=intra": {"comm_size<8": {"algorithm=A": {}}, "comm_size=any": {"algorithm=B": {}}},
        "comm_type=inter": {"algorithm=C": {}},
    }
    for own in selection_file.NAMES.values()
}


def open_mpi_decides(text: str, collective: str, ranks: int, size: int) -> str:
    """Return the number that Open MPI reads from a rules file: the last rule whose ranks and size are not above the
    case's.
    """
    at = iter([int(n) for line in text.splitlines() for n in line.partition("#")[0].split()])
    chosen = "0"
    for _ in range(next(at)):
        mine = next(at) == rules_file.NAMES[collective][1]
        for _ in range(next(at)):
            from_ranks = next(at)
            for _ in range(next(at)):
                low, word, _, _ = next(at), next(at), next(at), next(at)
                if mine and from_ranks <= ranks and low <= size:
                    chosen = str(word)
    return chosen


def mpich_decides(node: Any, ranks: int, size: int) -> str:
    """Return the algorithm that MPICH selects from a branch: at each level the first key that applies."""
    values = {"comm_size": ranks, "avg_msg_size": size, "comm_type": 0}
    for key, inner in node.items():
        name, sign, bound = re.fullmatch(r"(\w+)(<=|<|=)(\w+)", key).groups()  # type: ignore[union-attr]
        if name == "algorithm":
            return str(bound)
        holds = bound in ("any", "intra") or {"<=": values[name] <= int(bound), "<": values[name] < int(bound)}[sign]
        if holds:
            return mpich_decides(inner, ranks, size)
    raise AssertionError("nothing holds")


@given(choices, cases)
def test_every_case_has_exactly_one_choice(chosen: Any, case: tuple[str, int, int]) -> None:
    found = table(chosen)
    collective, ranks, size = case
    fitting = [r for r in found.of(collective, ranks) if r.low <= size < r.high]
    assert len(fitting) <= 1
    assert found.choose(*case) == (fitting[0].algorithm if fitting else LIBRARY)


@given(choices)
def test_measured_sizes_get_what_was_chosen_and_nothing_is_chosen_beyond_them(chosen: Any) -> None:
    found = table(chosen)
    for (collective, ranks), points in chosen.items():
        for size, algorithm in points.items():
            assert found.choose(collective, ranks, size) == algorithm
        assert found.choose(collective, ranks, min(points) - 1) == LIBRARY
        assert found.choose(collective, ranks, max(points) + 1) == LIBRARY


@given(st.sampled_from(COLLECTIVES[:-1]), st.integers(2, 64), st.data())
def test_where_the_library_is_chosen_everywhere_the_table_is_empty(collective: str, ranks: int, data: Any) -> None:
    sizes = data.draw(st.lists(st.integers(0, 1 << 20), min_size=1))
    assert table({(collective, ranks): dict.fromkeys(sizes, LIBRARY)}) == Table()


@given(choices, cases)
def test_a_rules_file_decides_as_the_table(chosen: Any, case: tuple[str, int, int]) -> None:
    collective, ranks, size = case
    found = table(chosen)
    text = rules_file.rules(found, WORDS)
    counted = size * ranks if collective in BLOCKWISE else size
    wanted = found.choose(collective, ranks, size)
    assert open_mpi_decides(text, collective, ranks, counted) == WORDS.get((collective, wanted), "0")


@given(choices, cases)
def test_a_selection_file_decides_as_the_table(chosen: Any, case: tuple[str, int, int]) -> None:
    collective, ranks, size = case
    found = table(chosen)
    text = selection_file.selection(TREE, found, FULL)
    assert len(text.encode()) % 4096 != 0
    wanted = found.choose(collective, ranks, size)
    branch = json.loads(text)[f"collective={selection_file.NAMES[collective]}"]
    assert mpich_decides(branch, ranks, size) == FULL.get((collective, wanted), "A" if ranks < 8 else "B")


def test_a_rules_file_as_it_is_written() -> None:
    rules = Table((Rule("broadcast", 4, 1024, 4097, "ring"), Rule("alltoall", 4, 8, 65, "tree")))
    assert (
        rules_file.rules(rules, WORDS)
        == """2 # collectives
3 # alltoall
2 # numbers of ranks
4 # ranks
3 # sizes
0 0 0 0 # library
32 2 0 0 # tree
257 0 0 0 # library
5 # ranks
1 # sizes
0 0 0 0 # library
7 # bcast
2 # numbers of ranks
4 # ranks
3 # sizes
0 0 0 0 # library
1024 1 4 0 # ring
4097 0 0 0 # library
5 # ranks
1 # sizes
0 0 0 0 # library
"""
    )


def test_a_selection_file_as_it_is_written() -> None:
    rules = Table((Rule("broadcast", 4, 1024, 4097, "ring"), Rule("barrier", 2, 0, 1, "tree")))
    found = json.loads(selection_file.selection(TREE, rules, FULL))
    default = TREE["collective=bcast"]["comm_type=intra"]
    assert found["collective=bcast"]["comm_type=intra"] == {
        "comm_size<=3": default,
        "comm_size<=4": {
            "avg_msg_size<=1023": default,
            "avg_msg_size<=4096": {"algorithm=MPIR_Bcast_intra_ring": {}},
            "avg_msg_size=any": default,
        },
        "comm_size=any": default,
    }
    assert found["collective=barrier"]["comm_type=intra"] == {
        "comm_size<=1": default,
        "comm_size<=2": {"algorithm=MPIR_Barrier_intra_tree": {}},
        "comm_size=any": default,
    }
    assert found["collective=allreduce"] == TREE["collective=allreduce"]


def test_neighbouring_ranges_join_and_blocks_count_all_ranks() -> None:
    rules = [Rule("allgather", 4, 8, 64, "ring"), Rule("allgather", 4, 64, 128, "tree")]
    assert ranges(rules, 4, "allgather") == [(0, LIBRARY), (32, "ring"), (253, LIBRARY), (256, "tree"), (509, LIBRARY)]


def test_algorithms_of_open_mpi() -> None:
    listed = rules_file.listed(
        "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:0:ignore\n"
        "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:6:binomial\n"
        "mca:coll:tuned:param:coll_tuned_reduce_algorithm:enumerator:value:6:in-order_binary\n"
        "mca:coll:tuned:param:coll_tuned_scan_algorithm:enumerator:value:1:linear\n"
        "mca:coll:tuned:param:coll_tuned_bcast_algorithm_count:value:10\n"
    )
    assert listed == {"broadcast": [("0", "ignore"), ("6", "binomial")], "reduce": [("6", "in-order_binary")]}


def test_the_tree_is_read_out_of_a_library() -> None:
    tree = {
        "collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "collective=x" + 99 * "x": {"algorithm=Y": {}},
    }
    other = b'{"collective=bcast":{"composition=MPIDI_' + 200 * b"x" + b'":{}}}\0'
    data = b"\x7fELF\0" + other + json.dumps(tree, separators=(",", ":")).encode() + b"\0more"
    assert selection_file.built_in(data) == tree
    with pytest.raises(BuildError, match="no readable selection tree"):
        selection_file.built_in(other)


BROADCAST = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char* data = (char*)calloc(1, 1 << 20);
  MPI_Bcast(data, argc == 2 ? atoi(argv[1]) : 0, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
"""


@pytest.fixture
def broadcast(tmp_path: Path) -> Callable[[Mpi, Mapping[str, str], int], int]:
    """Run a broadcast of this many bytes on two ranks, with an environment; return its exit status."""

    def run(mpi: Mpi, environment: Mapping[str, str], size: int) -> int:
        program = tmp_path / mpi.name
        if not program.exists():
            source = tmp_path / "broadcast.cpp"
            source.write_text(BROADCAST)
            whole = os.environ | mpi.environment
            subprocess.run([mpi.cxx, str(source), "-o", str(program)], env=whole, check=True, capture_output=True)
        words = [*schedules.launcher(mpi, 2), str(program), str(size)]
        with turns.party(2):
            return launches.by_hand(words, {**mpi.environment, **environment}).returncode

    return run


def test_open_mpi_takes_the_rules_where_they_hold(
    mpis: tuple[Mpi, ...], tmp_path: Path, broadcast: Callable[[Mpi, Mapping[str, str], int], int]
) -> None:
    """An algorithm that does not exist ends the program exactly where the file chooses it."""
    some = [m for m in mpis if m.family == "openmpi"]
    if not some:
        pytest.skip("no Open MPI here")
    for mpi in some[:1]:
        file = tmp_path / "rules.conf"
        file.write_text(rules_file.rules(Table((Rule("broadcast", 2, 4096, 8193, "x"),)), {("broadcast", "x"): "99"}))
        status = {size: broadcast(mpi, rules_file.environment(file), size) for size in (4095, 4096, 8192, 8193)}
        assert [size for size, s in status.items() if s != 0] == [4096, 8192]
        assert any(s.algorithm == "binomial" for s in rules_file.settings(mpi, "broadcast", 2))


def test_mpich_takes_the_selection(
    mpis: tuple[Mpi, ...], tmp_path: Path, broadcast: Callable[[Mpi, Mapping[str, str], int], int]
) -> None:
    """MPICH works with its own tree and a branch of ours; with an algorithm that does not exist it does not start."""
    some = [m for m in mpis if m.family == "mpich"]
    if not some:
        pytest.skip("no MPICH here")
    for mpi in some[:1]:
        file = tmp_path / "selection.json"
        known = selection_file.settings(mpi, "broadcast", 2)
        assert "binomial" in [s.algorithm for s in known]
        words = {("broadcast", s.algorithm): s.word for s in known}
        for rule, word in ((known[0].algorithm, words["broadcast", known[0].algorithm]), ("x", "MPIR_Bcast_intra_x")):
            found = Table((Rule("broadcast", 2, 4096, 8193, rule),))
            file.write_text(
                selection_file.selection(selection_file.tree_of(mpi), found, words | {("broadcast", rule): word})
            )
            status = [broadcast(mpi, selection_file.environment(file), size) for size in (0, 4096, 65536)]
            assert (status == [0, 0, 0]) == (rule != "x"), status


@given(choices, cases)
def test_a_decision_table_decides_as_the_table(chosen: Any, case: tuple[str, int, int]) -> None:
    """The first line that fits decides, as native/collectives/preload/table.hpp describes."""
    collective, ranks, size = case
    found = table(chosen)
    first, *lines = preload.text(found).splitlines()
    assert first == "firstlight-collectives 1"
    decided = LIBRARY
    for line in lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, on, sizes, algorithm, segments = words
        low, high = map(int, sizes.split("-"))
        assert (int(segments), low <= high) == (0, True)
        if (name, int(on)) == (collective, ranks) and low <= size <= high:
            decided = algorithm
            break
    assert decided == found.choose(collective, ranks, size)


def test_every_format_that_a_family_names_is_there() -> None:
    for family in mpi_families.every():
        library = Mpi(family.name, family.name, family.label, "1", "system", "/c", None, (), "/l", {})
        found = formats.find(library)
        assert (found is None) == (not family.tuning)
        assert found is None or family.name in found.name(library)
