"""The drawings of the halo exchange: who wins where, who is alike, what is not there, all of it computed."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from msgspec.structs import replace

import chart_tree
import shipped
import synthetic_halo
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import States, Verified
from firstlight.model.plan import Placement
from firstlight.report import html, plots
from firstlight.report.frame import Drawing, View
from report_samples import view_of

strategies = shipped.module("halo", "strategies")

ONE_NODE = tuple(Placement(1, r, 1) for r in (1, 2, 4))
MANY_NODES = tuple(Placement(n, n * each, 1) for n in (1, 2, 4) for each in (1, 2))


@cache
def view(case: str = "plain") -> View:
    few = ("mpi_sendrecv", "mpi_shared_flags", "mpi_persistent")
    scene = {
        "plain": lambda: synthetic_halo.run(),
        "few launches": lambda: synthetic_halo.run(launches=3, noise=0.3),
        "one node": lambda: synthetic_halo.run(strategies=few, placements=ONE_NODE),
        "crowded": lambda: synthetic_halo.run(strategies=few, placements=(Placement(1, 4, 1),)),
        "many nodes": lambda: synthetic_halo.run(strategies=few, placements=MANY_NODES),
        "alone": lambda: synthetic_halo.run(strategies=few[:1], mpis=("mpich",)),
    }[case]()
    return view_of(judge(*scene), scene.workloads)


@cache
def drawings(case: str = "plain") -> dict[str, Drawing]:
    v = view(case)
    drawn = plots.draw(v, v.workloads["halo"])
    return {d.id.removeprefix("plot-halo-0-"): d for d in drawn}


def with_figures(figures: tuple[object, ...]) -> list[Drawing]:
    v = view()
    judgement: Judgement = replace(v.judgement, figures=figures)
    return plots.draw(View(judgement, v.workloads, v.heritage, v.palette), v.workloads["halo"])


def test_the_title_is_who_wins_where() -> None:
    drawn = drawings()
    assert drawn["0"].title == (
        "Open MPI: shared_flags is among the best up to N = 128 (up to 2.0 × over sendrecv); from N = 256 all are equal"
    )
    assert drawn["1"].title == (
        "MPICH: shared_flags and omp_flags are among the best up to N = 128 (up to 2.0 × over sendrecv); "
        "from N = 256 all are equal"
    )


def test_the_factor_of_the_nearer_of_two_states_is_called_the_least() -> None:
    def bimodal(f: object) -> object:
        if not isinstance(f, Verified) or f.identity.variant != "mpi_sendrecv":
            return f
        return replace(f, states=States(f.estimate.median, 1.2 * f.estimate.median, 6, 2))

    figures = tuple(map(bimodal, view().judgement.figures))
    drawn = {d.id.removeprefix("plot-halo-0-"): d for d in with_figures(figures)}
    assert " (at least 1.6 × over sendrecv where they differ)" in drawn["0"].title, drawn["0"].title
    lasts = {r[6] for r in drawn["winners"].rows}
    assert "≥ 2.0 ×" in lasts and "2.0 ×" not in lasts, lasts


def test_every_strategy_is_a_line_and_few_are_coloured_alike_in_all_drawings() -> None:
    first, second = (drawings()[k] for k in "01")
    for drawn in (first, second):
        assert len(drawn.data) == len(synthetic_halo.LATENCY)
        assert all(len(t["x"]) == len(synthetic_halo.SIZES) for t in drawn.data)
        assert all(any(t["error_y"]["array"]) for t in drawn.data)
    colours = [
        {t["name"]: t["line"]["color"] for t in d.data if t["line"]["color"] != "@ghost"} for d in (first, second)
    ]
    assert colours[0] == colours[1] and 3 <= len(colours[0]) <= 6
    assert len(set(colours[0].values())) == len(colours[0])
    assert colours[0]["sendrecv"] == "@ink" and "shared_flags" in colours[0]
    assert first.layout["yaxis"]["range"] == second.layout["yaxis"]["range"]


def test_names_at_the_lines_do_not_overlap() -> None:
    for one in (drawings()[k] for k in "01"):
        names = [a["text"] for a in one.layout["annotations"] if a["name"] == "direct"]
        labels = [e for e in chart_tree.of_class(chart_tree.tree(one), "label") if e.text in names]
        pixels = sorted(float(e.get("y", "")) for e in labels)
        assert len(labels) == len(names) >= 3 and all(b - a >= 12 for a, b in pairwise(pixels))


def test_the_table_of_winners_honours_those_that_are_alike() -> None:
    table = drawings()["winners"]
    assert table.data == [] and table.title.endswith("the same strategies win at every size")
    rows = {(r[0], r[1]): r for r in table.rows}
    assert len(rows) == 2 * len(synthetic_halo.SIZES)
    alone = rows["2", "Open MPI"]
    assert alone[2] == "shared_flags" and alone[5] == "1.3 × (omp_flags)" and alone[6] == "2.0 ×"
    assert rows["2", "MPICH"][2] == "shared_flags, omp_flags (alike)"
    assert rows["1024", "MPICH"][2] == "all 18 alike" and rows["1024", "MPICH"][5:] == ("–", "alike")


def test_with_few_launches_nobody_wins() -> None:
    drawn = drawings("few launches")
    assert "wins" not in drawn["0"].title and "no difference can be shown" in drawn["0"].title
    assert all("can be shown" in r[2] or "(alike)" in r[2] for r in drawn["winners"].rows)
    assert {r[4] for r in drawn["winners"].rows} == {"too few"} and {r[6] for r in drawn["winners"].rows} == {"–"}
    assert drawn["winners"].title == "The fastest through Open MPI and MPICH: no difference can be shown"


def test_what_is_not_there_is_said_with_the_reason() -> None:
    notes = drawings()["0"].notes
    assert "partitioned (Open MPI): it needs MPI 4; Open MPI 4.1.4 lacks it" in notes
    assert "caf_put: it needs coarrays over MPI" in notes
    assert not any("omp_flags" in n for n in notes)  # clang lacks what it needs, but gcc measured it
    assert drawings()["1"].notes == ()


def test_a_strategy_that_failed_is_in_the_table_and_the_note_and_never_drawn() -> None:
    from firstlight.analysis.verdict import Failed

    def fail(f: object) -> object:
        if isinstance(f, Verified) and f.identity.variant == "mpi_persistent" and f.identity.mpi == "openmpi":
            return Failed(f.identity, f.unit, f.better, "wrong corner", "check")
        return f

    drawn = with_figures(tuple(map(fail, view().judgement.figures)))
    assert "persistent (Open MPI): wrong corner" in drawn[0].notes
    assert "persistent" not in {t["name"] for t in drawn[0].data} and "persistent" in {t["name"] for t in drawn[1].data}
    assert sum("failed: wrong corner" in r[-1] for r in drawn[0].rows) == len(synthetic_halo.SIZES)


def test_a_size_with_one_strategy_is_no_contest() -> None:
    small = {"mpi_sendrecv": (2, 4), "mpi_persistent": (8, 16)}
    kept = [
        f for f in view().judgement.figures
        if f.identity.variant in small and dict(f.identity.parameters)["n"] in small[f.identity.variant]
    ]  # fmt: skip
    drawn = with_figures(tuple(kept))
    assert drawn[0].title == "Open MPI: no two strategies were measured at one size"
    assert {r[2] for r in drawn[2].rows} == {"sendrecv", "persistent"}
    assert drawn[2].title.endswith("no difference can be shown")


def test_equal_medians_of_few_launches_are_not_called_equal() -> None:
    few = [
        replace(f, estimate=replace(f.estimate, low=None, high=None, launches=f.estimate.launches[:1]))
        for f in view().judgement.figures
        if isinstance(f, Verified)
    ]
    assert with_figures(tuple(few))[0].title == "Open MPI: no difference can be shown at any N"


def test_what_was_never_launched_is_a_note_only_where_nothing_else_is_known() -> None:
    from firstlight.analysis.verdict import Unverified

    def unlaunched(f: object) -> object:
        large = isinstance(f, Verified) and dict(f.identity.parameters)["n"] > 4
        if isinstance(f, Verified) and (f.identity.variant == "mpi_waitany" or large):
            return Unverified(f.identity, f.unit, f.better, "never launched: the budget was spent")
        return f

    notes = with_figures(tuple(map(unlaunched, view().judgement.figures)))[0].notes
    assert "waitany: never launched: the budget was spent" in notes


def test_each_figure_is_in_one_table() -> None:
    drawn = drawings()
    assert len(drawn["0"].rows) + len(drawn["1"].rows) == len(view().judgement.figures)


def test_a_datatype_that_costs_is_told_with_its_factor() -> None:
    drawn = drawings()
    assert drawn["data-0"].title.startswith(
        "Open MPI: datatype compared with packed, 20 cases: slower in 10, up to 1.5 × (waitall, N = "
    )
    assert drawn["data-1"].title == ("MPICH: datatype compared with packed, 20 cases: no difference can be shown")
    (heat,) = drawn["data-0"].data
    shades = dict(zip(heat["y"], heat["z"], strict=True))
    assert set(shades) == {"waitall", "sendrecv"}
    assert set(shades["sendrecv"]) == {0.0} and min(shades["waitall"]) > 0.3
    assert all(text.startswith("= ") == (z == 0) for line, row in zip(heat["z"], heat["text"], strict=True)
               for z, text in zip(line, row, strict=True))  # fmt: skip
    row = next(r for r in drawn["data-0"].rows if r[0] == "waitall")
    assert row[1] == "datatype" and float(row[3]) == pytest.approx(1.5, abs=0.03) and "–" in row[4]


def test_more_processes_than_processors_are_open_and_told() -> None:
    drawn = drawings("one node")
    small = drawn["processes-0"]
    assert small.title.startswith("N = 2: flat from 2 to 4 processes (oversubscribed from 4 on)")
    assert len(small.data) == 2 and all(t["x"] == [2.0, 4.0] for t in small.data)
    assert all([s.endswith("-open") for s in t["marker"]["symbol"]] == [False, True] for t in small.data)
    assert "Open symbols" in small.caption
    assert drawn["processes-1"].title == "N = 1024: flat from 2 to 4 processes (oversubscribed from 4 on)"
    assert "2 processes" in drawn["0"].caption  # ranked where there are processors enough


def test_over_nodes_a_line_is_a_number_of_processes_a_node() -> None:
    small = drawings("many nodes")["processes-0"]
    assert [t["name"] for t in small.data] == [
        "MPICH, 1 per node", "MPICH, 2 per node", "Open MPI, 1 per node", "Open MPI, 2 per node",
    ]  # fmt: skip
    assert [t["x"] for t in small.data] == [[2.0, 4.0], [2.0, 4.0, 8.0]] * 2
    assert "MPICH, 2 per node lasts 1.3 × as long" in small.title


def test_crowded_exchanges_are_shown_and_not_ranked() -> None:
    drawn = drawings("crowded")
    assert drawn["0"].title.endswith("measured with more processes or threads than processors, so not ranked")
    assert len(drawn["0"].data) == 3 and "winners" not in drawn


def test_the_place_has_the_most_strategies_that_may_be_ranked() -> None:
    figures = [f for f in view("one node").judgement.figures if isinstance(f, Verified)]
    two, four = (strategies.Place(1, n) for n in (2, 4))
    some = [replace(f, oversubscribed=False) for f in figures if strategies.place(f.identity) in (two, four)]
    names = sorted({f.identity.variant for f in some})
    assert strategies.main_place(some) == four

    def crowded(f: Verified) -> Verified:
        return replace(f, oversubscribed=strategies.place(f.identity) == four and f.identity.variant != names[0])

    kept = [f for f in some if strategies.place(f.identity) == four or f.identity.variant in names[:2]]
    assert strategies.main_place([crowded(f) for f in kept]) == two


def test_one_strategy_alone_tells_its_time() -> None:
    drawn = drawings("alone")
    assert set(drawn) == {"0", "data-0"}
    assert drawn["0"].title.startswith("MPICH: sendrecv lasts 3.9") and "at N = 2 and 61." in drawn["0"].title


def test_winners_that_change_often_are_counted() -> None:
    v = view()
    rng = ("mpi_shared_flags", "mpi_persistent")

    def swapped(f: object) -> object:
        """Two strategies that take turns."""
        if not isinstance(f, Verified) or f.identity.variant not in rng:
            return f
        n = int(dict(f.identity.parameters)["n"])
        fast = (n.bit_length() + rng.index(f.identity.variant)) % 2 == 0
        m = 1.0 if fast else 1.2
        e = replace(
            f.estimate, median=m, low=m * 0.99, high=m * 1.01, launches=tuple(m * (1 + k / 1000) for k in range(8))
        )
        return replace(f, estimate=e)

    drawn = with_figures(tuple(map(swapped, v.judgement.figures)))
    assert drawn[0].title.startswith("Open MPI: shared_flags and persistent are among the fastest at 5 of 10 sizes; ")
    assert "sendrecv lasts up to " in drawn[0].title


def test_names_are_short_as_long_as_they_differ() -> None:
    assert strategies.short("mpi_put", ["mpi_put", "mpi_get"]) == "put"
    assert strategies.short("mpi_put", ["mpi_put", "put"]) == "mpi_put"
    assert strategies.short("mpi4_put", ["mpi_put", "mpi4_put"]) == "mpi4_put"
    assert strategies.short("omp_flags") == "omp_flags"


def test_the_page_has_the_table_of_winners_without_a_chart() -> None:
    v = view()
    page = html.render(v.judgement, v.workloads, v.heritage)
    table = page[page.index('id="plot-halo-0-winners-title"') :]
    table = table[: table.index("</figure>")]
    assert "shared_flags" in table and "canvas" not in table
    assert "Not shown: 3" in page
