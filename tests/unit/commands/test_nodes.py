"""Nodes side by side: who meets whom, which is not like the others, and the messages if nothing can be measured."""

from __future__ import annotations

import math
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
from commands import Captured, call
from firstlight.analysis import nodes
from firstlight.analysis.verdict import Estimate
from firstlight.commands.nodes import comparison, folder, page, requests, schedule
from firstlight.commands.nodes.comparison import Line, Value
from firstlight.commands.nodes.folder import NodesRun, Record
from firstlight.core import units
from firstlight.core.errors import RecordError, UsageError
from firstlight.core.units import significant


@given(st.integers(2, 40))
def test_in_rounds_of_disjoint_pairs_every_two_meet_once(n: int) -> None:
    rounds = schedule.rounds(n)
    assert len(rounds) == (n - 1 if n % 2 == 0 else n)
    for one in rounds:
        members = [k for pair in one for k in pair]
        assert len(members) == len(set(members)) == n - n % 2
    pairs = [pair for one in rounds for pair in one]
    assert sorted(pairs) == [(a, b) for a in range(n) for b in range(a + 1, n)]


def test_of_many_nodes_rounds_are_drawn() -> None:
    kept, left_out = schedule.sampled(100, seed=7)
    assert (len(kept), left_out) == (63, 36)
    assert kept == schedule.sampled(100, seed=7)[0] != schedule.sampled(100, seed=8)[0]
    assert all(one in schedule.rounds(100) for one in kept)


def equal(draw: random.Random, n: int, scatter: float) -> list[float]:
    return [math.exp(draw.gauss(0, scatter)) for _ in range(n)]


@pytest.mark.parametrize("n", [4, 5, 16])
@pytest.mark.parametrize("scatter", [0.01, 0.05, 0.2])
def test_equal_nodes_are_not_called_different(n: int, scatter: float) -> None:
    draw, looked_at, pages = random.Random(n), 10, 300
    named = sum(
        any(nodes.spread(equal(draw, n, scatter), [], looked_at).named for _ in range(looked_at)) for _ in range(pages)
    )
    assert named <= 0.05 * pages + 2.6 * math.sqrt(0.05 * 0.95 * pages)  # one in two hundred true 5 % exceed that


@pytest.mark.parametrize(("n", "factor", "least"), [(4, 4.0, 0.9), (8, 1.5, 0.95), (64, 1.2, 0.99)])
def test_a_node_that_gives_less_is_named(n: int, factor: float, least: float) -> None:
    draw, found, false = random.Random(n), 0, 0
    for _ in range(200):
        values = equal(draw, n, 0.02)
        values[2] /= factor
        named = nodes.spread(values, [], 10).named
        found += 2 in named
        false += named != (2,) and bool(named)
    assert found >= least * 200 and false <= 0.05 * 200


def test_what_launches_leave_unsure_is_allowed_for() -> None:
    values = [100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 70.0]
    sure = [Estimate(v, v * 0.99, v * 1.01, (v,) * 6) for v in values]
    unsure = [Estimate(v, v * 0.6, v * 1.6, (v,) * 6) for v in values]
    assert nodes.spread(values, sure).named == (6,)
    assert nodes.spread(values, unsure).named == ()


def test_of_few_nodes_none_is_named_and_no_value_is_no_spread() -> None:
    found = nodes.spread([1.0, 1.0, 9.0], [])
    assert (found.named, found.limit, found.centre, found.high) == ((), None, 1.0, 9.0)
    for wrong in ([], [1.0, 0.0]):
        with pytest.raises(ValueError, match="positive"):
            nodes.spread(wrong, [])


def line(values: dict[tuple[int, ...], float]) -> Line:
    some = tuple(Value(m, "-".join(map(str, m)), Estimate(v, v * 0.99, v * 1.01, (v,) * 6)) for m, v in values.items())
    return Line("network", "latency", "us", "lower", some, None)


HOSTS = [f"n{k}" for k in range(8)]


def test_the_farthest_figure_of_an_outlier_is_named_first() -> None:
    values = [{(k,): 10.0 + 0.01 * k for k in range(8)} | {(3,): slow} for slow in (20.0, 80.0)]
    lines = [comparison._judged(replace(line(one), title=t), 2) for one, t in zip(values, ("near", "far"), strict=True)]
    (outlier,) = comparison._outliers(HOSTS, lines, [], [], [])
    assert [text.partition(":")[0] for text in outlier.evidence] == ["far", "near"]


def test_a_slow_link_is_named_as_a_link_and_a_node_all_of_whose_links_are_slow_as_a_node() -> None:
    pairs = {pair: 1.0 + 0.01 * ((3 * pair[0] + pair[1]) % 5) for one in schedule.rounds(8) for pair in one}
    slow_link, slow_node = dict(pairs), {pair: 3.0 * v if 5 in pair else v for pair, v in pairs.items()}
    slow_link[2, 6] = 3.0
    found, ends = comparison._link(line(slow_link), 3)
    assert ([v.members for v in found.values if v.named], ends) == ([(2, 6)], [])
    found, ends = comparison._link(line(slow_node), 3)
    assert [(k, worse) for k, worse, _ in ends] == [(5, True)]
    shown = sorted(v.share for v in found.values if 5 in v.members and v.share is not None)
    assert f"to the other nodes: {significant(shown[3])} of the median pair" in ends[0][2], "as the cells tell it"
    assert found.spread is not None and found.spread.of == 21 and not found.spread.named
    assert comparison._link(line(pairs), 3)[1] == []


@pytest.mark.parametrize(
    ("n", "measured", "failed", "no_pairs", "message"),
    [
        (2, [(0, 1)], [], "", "1 pair of nodes: 1 measured"),
        (2, [], [(0, 1)], "", "1 pair of nodes: 0 measured, 1 attempted without a result"),
        (2, [], [], "no MPI library", "1 pair of nodes: 0 measured, 1 not available"),
        (3, [(0, 1)], [(1, 2)], "", "3 pairs of nodes: 1 measured, 1 attempted without a result, 1 not drawn"),
        (3, [(0, 1), (1, 0), (0, 1)], [], "", "3 pairs of nodes: 1 measured, 2 not drawn"),
        (4, [(0, 1)], [(0, 1), (2, 3)], "", "6 pairs of nodes: 1 measured, 1 attempted without a result, 4 not drawn"),
        (4, [], [], "", "6 pairs of nodes: 0 measured, 6 not drawn"),
        (64, [(0, k) for k in range(1, 64)], [], "", "2016 pairs of nodes: 63 measured, 1953 not drawn"),
        (1, [], [], "", ""),
        (3, [(0, 1), (0, 2), (1, 2)], [], "", "3 pairs of nodes: 3 measured"),
    ],
)
def test_every_pair_is_accounted_for(
    n: int, measured: list[tuple[int, int]], failed: list[tuple[int, int]], no_pairs: str, message: str
) -> None:
    good = replace(synthetic.judgement(1, 6, only=("latency",)), figures=())
    runs = [comparison.NodesResult(f"g{k}", pair, good, {}) for k, pair in enumerate(measured)]
    runs += [comparison.NodesResult(f"f{k}", pair, None, {}, "was lost") for k, pair in enumerate(failed)]
    found = comparison.nodes_of("x", [f"h{k}" for k in range(n)], runs, no_pairs)
    shown = " ".join(page.summary(found, 120).split())
    assert (message in shown) if message else ("of nodes: " not in shown)
    assert message in page.render(found, "0.1")


def test_only_what_is_as_on_the_median_node_is_said_to_be_as_elsewhere() -> None:
    even, uneven = {(k,): 1.0 + 0.01 * k for k in range(4)}, {(0,): 1e-4, (1,): 0.3, (2,): 1.0, (3,): 2.0}
    lines = [
        replace(comparison._judged(line(values), 1), title=title) for title, values in (("a", even), ("b", uneven))
    ]
    assert not any(value.named for one in lines for value in one.values), "the second is too uneven"
    assert comparison._as_others(lines, 0) == ["the same as on the other nodes: a"]
    assert comparison._as_others(lines[1:], 0) == []


def test_a_line_tells_how_far_from_the_others_one_must_lie() -> None:
    values = [10.0, 10.1, 9.9, 10.0]
    few, some, wild = ({(k,): v for k, v in enumerate(some)} for some in (values[:3], values, [1.0, 9.0, 80.0, 700.0]))
    texts = [page.describe_spread(comparison._judged(line(one), 1)) for one in (few, some, wild)]
    assert texts[0] == "10.0 us, 9.90 to 10.1 over 3 nodes"
    assert "from 1.1" in texts[1] and "too uneven" in texts[2]


def test_without_an_outlier_the_headline_names_the_difference_that_counts() -> None:
    values = [{(k,): v for k, v in enumerate((10.0, 10.1, 9.9, 10.0))}, {(k,): 10.0 + k for k in range(4)}]
    lines = tuple(comparison._judged(line(one), 1) for one in values)
    limits = [units.ratio(one.spread.limit) for one in lines if one.spread is not None and one.spread.limit is not None]
    nodes = comparison.Nodes("n", ("a", "b", "c", "d"), lines, (), (), (), {}, "", 0, 2, 0)
    assert (
        page.sentence(nodes)
        == f"4 nodes: no outlier; an outlier differs by at least {limits[0]} to {limits[1]}, depending on the figure"
    )
    one = msgspec.structs.replace(nodes, lines=lines[:1])
    assert page.sentence(one) == f"4 nodes: no outlier; an outlier differs by at least {limits[0]}"
    two = (comparison.Outlier(("a",), True, ()), comparison.Outlier(("b", "c"), True, ()))
    assert (
        page.sentence(msgspec.structs.replace(nodes, outliers=two)) == "4 nodes: a, link b - c differ from the others"
    )
    why = comparison.Outlier(("a",), True, ("memory: 9.00 GB/s, 0.52 of the median node (17.3 GB/s)", "latency: worse"))
    assert page.sentence(msgspec.structs.replace(nodes, outliers=(why,))).endswith("the others: " + why.evidence[0])
    assert page.sentence(msgspec.structs.replace(nodes, outliers=(why, two[1]))).endswith("; a: " + why.evidence[0])
    none = msgspec.structs.replace(nodes, lines=())
    assert "no figure was measured on 4 nodes" in page.sentence(none)


def record(tmp_path: Path, **changes: object) -> Path:
    rounds = ((NodesRun("node-001", (0,)), NodesRun("node-002", (1,))),)
    made = Record(folder.SCHEMA, 1.0, "0.1", ("./fl",), ("a", "b"), ("node",), (), "no MPI library", 0, 2, rounds)
    folder.write(tmp_path, msgspec.structs.replace(made, **changes))  # type: ignore[arg-type]
    return tmp_path


def test_a_folder_is_read_back_and_what_is_wrong_with_it_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not a measurement of nodes"):
        folder.read(tmp_path)
    assert folder.read(record(tmp_path)).hosts == ("a", "b")
    for changes, words in (
        ({"schema": 9}, "has schema 9"),
        ({"rounds": ((NodesRun("node-003", (2,)),),)}, "contains nodes that are not in the list"),
        ({"rounds": ((NodesRun("../x", (0,)),),)}, "contains nodes that are not in the list"),
    ):
        with pytest.raises(RecordError, match=words):
            folder.read(record(tmp_path, **changes))
    (tmp_path / folder.RECORD).write_text("{")
    with pytest.raises(RecordError, match=folder.RECORD):
        folder.read(tmp_path)


def test_what_was_not_measured_is_told_and_inconclusive(tmp_path: Path, capsys: Captured) -> None:
    code, out, _ = call(capsys, "nodes", str(record(tmp_path)))
    assert code == 4 and "node-001: not started" in out and "no MPI library" in out
    assert (tmp_path / folder.PAGE).is_file()
    code, out, _ = call(capsys, "nodes", str(tmp_path), "--json")
    decoded = msgspec.json.decode(out, type=comparison.Nodes)
    assert set(decoded.missing) == {"node-001", "node-002"} and decoded.code == code == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nodes", "nowhere"), "not a measurement of nodes"),
        (("run", "--each-node"), "./fl submit --nodes K --each-node"),
        (("run", "--at-once", "2"), "requires --each-node"),
        (("run", "--each-node", "--dry-run"), "omit --each-node"),
        (("submit", "--dry-run", "--system", "slurm", "--each-node", "--resume", "latest"), "submit its script again"),
    ],
)
def test_wrong_usage_is_one_line(words: tuple[str, ...], message: str, capsys: Captured) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1


def test_under_another_batch_system_it_is_not_available(tmp_path: Path) -> None:
    nodefile = tmp_path / "nodes"
    nodefile.write_text("a\nb\n")
    with pytest.raises(UsageError, match="not available under pbs"):
        requests.current_allocation({"PBS_JOBID": "1.server", "PBS_NODEFILE": str(nodefile)})
    job = {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-4]", "SLURM_NNODES": "4", "SLURMD_NODENAME": "n1"}
    assert requests.current_allocation(job).hosts == ("n1", "n2", "n3", "n4")
    with pytest.raises(UsageError, match="not a Slurm allocation of at least two nodes"):
        requests.current_allocation(job | {"FIRSTLIGHT_NODES": "n2,n3"})
