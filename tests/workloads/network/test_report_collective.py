"""The drawing of global sums shows the fastest algorithm by size, models of the same run, and rates as algorithm
bandwidth.
"""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import shipped
import sums
from firstlight.analysis.figures import judge
from firstlight.analysis.hockney import Regime
from firstlight.analysis.verdict import Failed, Figure, Verified
from firstlight.model.plan import Placement
from firstlight.report import plots
from firstlight.report.frame import Drawing, View
from report_samples import view_of

bandwidth, routes = (shipped.module("vector_sum", m) for m in ("bandwidth", "routes"))
Addition, Link = routes.Addition, routes.Link

ANY = ("mpi_allreduce", "mpi_rabenseifner")  # routes for any number of processes


def view(**options: object) -> View:
    scene = sums.scene(**options)  # type: ignore[arg-type]
    return view_of(judge(*scene), scene.workloads)


def drawings(**options: object) -> tuple[Drawing, Drawing]:
    """(time, rate) of the one placement that there is."""
    v = view(**options)
    time, rate = plots.draw(v, v.workloads["vector_sum"])
    return time, rate


def one(alpha: float, beta: float, gamma: float) -> Link:
    return Link((Regime(alpha, beta, 0.0, 1e9, 0.0, 9),), (Addition(1e6, gamma, 1),), "add")


@given(st.integers(0, 10), st.floats(8, 1e9), st.floats(1e-7, 1e-4), st.floats(1e-11, 1e-8), st.floats(1e-11, 1e-8))
def test_models_in_closed_form(d: int, m: float, alpha: float, beta: float, gamma: float) -> None:
    link, p = one(alpha, beta, gamma), 1 << d
    share = (p - 1) / p
    assert routes.cube(link, p, m) == pytest.approx(d * (alpha + m * beta + m * gamma))
    assert routes.rabenseifner(link, p, m) == pytest.approx(2 * d * alpha + 2 * share * m * beta + share * m * gamma)


def test_models_where_p_is_no_power_of_two() -> None:
    link = one(1e-6, 1e-9, 1e-10)
    assert routes.cube(link, 6, 1e6) is None
    four = routes.rabenseifner(link, 4, 1e6)
    assert four is not None
    assert routes.rabenseifner(link, 6, 1e6) == pytest.approx(four + 2e-6 + 2e6 * 1e-9 + 1e6 * 1e-10)


def test_each_message_takes_the_regime_of_its_size() -> None:
    regimes = (Regime(1e-6, 1e-9, 0.0, 4096.0, 0.0, 5), Regime(5e-6, 1e-10, 16384.0, 1e6, 0.0, 5))
    link = Link(regimes, (Addition(100.0, 1e-10, 1), Addition(1e6, 1e-9, 1)), "add")
    assert link.message(8000) == pytest.approx(9e-6) and link.message(8400) == pytest.approx(5.84e-6)
    assert link.gamma(64.0) == 1e-10 and link.gamma(1e5) == 1e-9  # nearest to three times the vector


def test_the_link_is_measured_in_the_same_run() -> None:
    v = view()
    j = v.judgement
    found = routes.link(j, v.workloads, "openmpi", Placement(ranks=2))
    assert isinstance(found, Link)
    assert found.regimes[0].alpha == pytest.approx(0.45e-6, rel=0.05)
    assert 1 / found.regimes[0].beta == pytest.approx(9.8e9, rel=0.05)
    assert found.operation == "stream's add" and {a.cores for a in found.additions} == {1, 2}
    add = [
        f
        for f in j.figures
        if isinstance(f, Verified)
        and f.identity.workload == "stream"
        and (dict(f.identity.parameters)["op"], f.identity.placement.threads) == ("add", 2)
        and dict(f.identity.parameters)["n"] == 1_000_000
    ]
    best = max(f.estimate.median for f in add)  # GB/s of two cores, 24 bytes an addition
    assert found.gamma(8e6 / 2) == pytest.approx(24 / 8 / (1e9 * best / 2))


def test_additions_of_all_cores_are_preferred_where_they_are_near() -> None:
    alone, together = Addition(1e4, 1e-10, 1), Addition(3e6, 3e-9, 2)
    link = Link(one(1e-6, 1e-9, 1.0).regimes, (alone, Addition(1e6, 1e-9, 1), together), "triad")
    assert link.gamma(1e6 / 3) == 3e-9  # of two cores that share the memory, though one core was measured closer
    assert link.gamma(1e4 / 3) == 1e-10  # two cores were measured in memory only


def test_between_nodes_the_pingpong_of_one_node_says_nothing() -> None:
    v = view()
    reason = str(routes.link(v.judgement, v.workloads, "openmpi", Placement(nodes=2, ranks=2)))
    assert "no ping-pong of Open MPI" in reason and "`./fl run pingpong --mpi openmpi` measures it" in reason


def test_the_title_says_who_wins_where_and_where_that_changes() -> None:
    time, _ = drawings(factors={("mpich", "mpi_cube"): 0.5}, large_only={("openmpi", "mpi_rabenseifner"): 0.5})
    assert re.fullmatch(
        r"An allreduce, 2 ranks: up to 8 KiB MPICH recursive doubling is fastest \(.+ us at 8 KiB, .+ × ahead\); "
        r"from 512 KiB on Open MPI Rabenseifner is fastest \(.+ us at 8 MiB, .+ × ahead\)",
        time.title,
    ), time.title


def test_the_title_of_one_winner_and_of_equals() -> None:
    time, _ = drawings(factors={("openmpi", "mpi_allreduce"): 0.6}, mpis=["openmpi"], variants=ANY)
    assert time.title.startswith("An allreduce, 2 ranks: at every size Open MPI allreduce is fastest (")
    time, _ = drawings(mpis=["openmpi"], variants=ANY)
    assert re.search(r"at every size (all are equal|no difference can be shown) \(", time.title), time.title
    time, _ = drawings(launches=3, factors={("openmpi", "mpi_allreduce"): 0.6}, mpis=["openmpi"], variants=ANY)
    assert re.search(r": at every size no difference can be shown \(", time.title), time.title
    time, _ = drawings(mpis=["openmpi"], variants=["mpi_allreduce"])
    assert re.fullmatch(r"An allreduce, 2 ranks: Open MPI allreduce lasts .+ at 128 B and .+ at 8 MiB", time.title)


def test_many_changes_of_the_lead_are_counted() -> None:
    v = view(mpis=["openmpi"], variants=ANY)
    turns = {16: 0.5, 1024: 2.0, 65536: 0.5, 1 << 20: 2.0}

    def turned(f: Figure) -> Figure:
        n = dict(f.identity.parameters).get("n")
        if not isinstance(f, Verified) or (f.identity.variant, f.identity.metric) != ("mpi_allreduce", "time"):
            return f
        e, by = f.estimate, turns[int(str(n))]
        launches = tuple(x * by for x in e.launches)
        return replace(f, estimate=replace(e, median=e.median * by, launches=launches))

    j = replace(v.judgement, figures=tuple(turned(f) for f in v.judgement.figures))
    time = plots.draw(View(j, v.workloads, v.heritage, v.palette), v.workloads["vector_sum"])[0]
    assert re.fullmatch(
        r"An allreduce, 2 ranks: at 128 B Open MPI allreduce is fastest \(.+\); in between the lead changes 3 times; "
        r"at 8 MiB Open MPI Rabenseifner is fastest \(.+\)",
        time.title,
    ), time.title


def test_who_shares_the_lead_somewhere_is_among_the_fastest() -> None:
    time, _ = drawings(mpis=["openmpi"], variants=(*ANY, "mpi_cube"), large_only={("openmpi", "mpi_allreduce"): 1.5})
    assert re.fullmatch(
        r"An allreduce, 2 ranks: at 128 B Open MPI recursive doubling is fastest \(.+ × ahead\); "
        r"from 8 KiB on Open MPI Rabenseifner is among the fastest \(.+ at 8 MiB\)",
        time.title,
    ), time.title
    line = next(t for t in time.data if t["name"] == "Open MPI Rabenseifner")
    assert f"({line['y'][-1] / 1000:.2f} ms at 8 MiB" in time.title  # its own figure


def test_a_line_a_library_and_route_with_models_beside_them() -> None:
    time, rate = drawings()
    names = [t["name"] for t in time.data]
    for mpi in ("MPICH", "Open MPI"):
        assert {f"{mpi} {v}" for v in ("allreduce", "recursive doubling", "Rabenseifner")} <= set(names)
        assert {f"model, {mpi} {v}" for v in ("recursive doubling", "Rabenseifner")} <= set(names)
    assert not any("allreduce" in n for n in names if n.startswith("model"))
    dashes = {t["name"].split()[-1]: t["line"]["dash"] for t in time.data if t["name"].startswith("model")}
    assert dashes == {"doubling": "dash", "Rabenseifner": "dashdot"}
    by_metric = dict(zip(("time", "rate"), (time, rate), strict=True))
    for metric, drawing in by_metric.items():
        model = next(t for t in drawing.data if t["name"] == "model, Open MPI recursive doubling")
        line = next(t for t in drawing.data if t["name"].startswith("Open MPI recursive doubling"))
        at = model["y"][-1] / line["y"][-1]
        assert 0.4 < (1 / at if metric == "rate" else at) < 1.2  # STREAM in memory adds slower than the truth here


def test_rate_and_time_of_a_model_obey_the_formula() -> None:
    time, rate = drawings(ranks=4)
    t, r = (next(x for x in d.data if x["name"] == "model, MPICH Rabenseifner") for d in (time, rate))
    for size, microseconds, rate_drawn in zip(t["x"], t["y"], r["y"], strict=True):
        assert rate_drawn == pytest.approx(1e-9 * size / (1e-6 * microseconds))


def test_a_rate_is_drawn_as_algorithm_bandwidth_and_is_bytes_over_time_for_every_route() -> None:
    time, rate = drawings(ranks=4)
    assert (time.folded, rate.folded) == (False, True)  # it shows the same data once more
    assert rate.layout["yaxis"]["title"]["text"] == "algorithm bandwidth (GB/s), higher is better"
    assert "the bytes of the vector over the time of its sum" in rate.caption
    assert not any("Mbit" in cell or "Gbit" in cell for row in rate.rows for cell in row)
    for line in (t for t in time.data if t["name"].startswith(("MPICH", "Open MPI"))):
        same = next(t for t in rate.data if t["name"] == line["name"])
        for size, microseconds, drawn in zip(line["x"], line["y"], same["y"], strict=True):
            assert drawn == pytest.approx(1e-9 * size / (1e-6 * microseconds), rel=1e-3)  # medians
        assert all(e >= 0 for e in (*same["error_y"]["array"], *same["error_y"]["arrayminus"]))


def test_what_failed_keeps_its_reason_as_bandwidth() -> None:
    failed = Failed(view().judgement.figures[0].identity, "Mbit/s", "higher", "element 3 is wrong")
    assert bandwidth.of(failed, 8.0).reason == failed.reason


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        (["stream"], "has no ping-pong of MPICH in three sizes or more"),
        (["pingpong"], "measured no addition; no workload here has the role vector_addition"),
    ],
)
def test_without_the_parameters_there_is_no_model_and_the_caption_says_why(beside: list[str], why: str) -> None:
    for drawing in drawings(beside=beside):
        assert "MPICH: no model, this run " in drawing.caption and why in drawing.caption
        assert not any(t["name"].startswith("model") for t in drawing.data)


def test_the_cube_has_no_model_where_it_does_not_exist() -> None:
    time, _ = drawings(ranks=3, variants=ANY)
    assert {t["name"] for t in time.data if t["name"].startswith("model")} == {
        "model, MPICH Rabenseifner",
        "model, Open MPI Rabenseifner",
    }


def test_every_figure_and_every_model_is_in_the_table() -> None:
    v = view()
    time, _ = plots.draw(v, v.workloads["vector_sum"])
    measured = [f for f in v.judgement.figures if (f.identity.workload, f.identity.metric) == ("vector_sum", "time")]
    models = [r for r in time.rows if r[0].startswith("model, ")]
    assert len(time.rows) == len(measured) + len(models)
    assert len(models) == 2 * 2 * len(sums.LENGTHS) and all(len(r) == len(time.head) for r in time.rows)
    assert all("measured" in r[-1] for r in models)


def test_a_failed_route_is_not_drawn_but_told() -> None:
    scene = sums.scene(mpis=["openmpi"])
    wrong = tuple(
        replace(r, checks=tuple(replace(c, ok=False, what="element 3 is wrong") for c in r.checks))
        if "mpi_cube" in r.start.cell
        else r
        for r in scene.records
    )
    j = judge(scene.run, wrong, scene.workloads)
    time, _ = plots.draw(view_of(j, scene.workloads), scene.workloads["vector_sum"])
    assert not any("cube" in t["name"] for t in time.data)
    assert any(r[-1].startswith("failed: ") and "mpi_cube" in r[0] for r in time.rows)


def test_more_ranks_than_processors_make_no_drawing() -> None:
    v = view(ranks=8)
    assert plots.draw(v, v.workloads["vector_sum"]) == []


def test_earlier_machines_of_as_many_processes_or_the_fewest() -> None:
    time, rate = drawings()
    ghosts = [t for t in rate.data if t.get("legendgroup") == "ghosts"]
    assert len(ghosts) == 2 and not any(t.get("legendgroup") == "ghosts" for t in time.data)
    chic = next(t for t in ghosts if "CHiC" in t["hovertext"][0])
    assert all("16 processes" in h for t in ghosts for h in t["hovertext"])
    assert {round(y * 2 * 4 / 2**17 * 1e9) for y in chic["y"]} == {9309, 1862, 10240, 9525, 1837, 11703, 10180}
    assert set(chic["x"]) == {2**24, 2**26} and sum(bool(t) for t in chic["text"]) == 1
    assert math.isclose(max(chic["y"]), 0.1917, rel_tol=1e-3)  # GB/s; 9309 Mbit/s are 16 MiB in 0.110 s
    assert any(math.isclose(y, 2**24 / 0.110 * 1e-9, rel_tol=3e-3) for y in chic["y"])
    assert any("9309 Mbit/s" in h or "9.31 Gbit/s" in h for h in chic["hovertext"])
    text = " ".join(chic["hovertext"])
    assert "Open MPI, cube (2007)" in text and "MVAPICH, allreduce (2007)" in text
