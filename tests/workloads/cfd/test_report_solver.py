"""The drawings of an elliptic solver: methods, pace, scaling and R1's table, all of it computed from the figures."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

import chart_tree
import shipped
import synthetic_solver
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core import heritage
from firstlight.core.units import percent
from firstlight.model.plan import Placement
from firstlight.report import export, html, observed, plots
from firstlight.report.frame import Drawing, View
from report_samples import view_of

methods = shipped.module("fem2d", "methods")
tolerance = shipped.module("fem2d", "tolerance")
pace = shipped.module("fem2d", "pace")

CASES = {
    "plain": lambda: synthetic_solver.run(),
    "quick": lambda: synthetic_solver.run(variants=synthetic_solver.FEW, levels=(6,), stream=False),
    "crowded": lambda: synthetic_solver.run(ranks=(1, 2, 4)),
    "few launches": lambda: synthetic_solver.run(launches=3, noise=0.3),
    "all crowded": lambda: synthetic_solver.run(variants=("mpi",), ranks=(4,), mpis=("mpich",)),
}


@cache
def view(case: str = "plain") -> View:
    scene = CASES[case]()
    return view_of(judge(*scene), scene.workloads)


def named(v: View) -> dict[str, Drawing]:
    drawn = plots.draw(v, v.workloads["fem2d"])
    names = {"plot-fem2d-1": "scaling-bpx", "plot-fem2d-2": "scaling-multigrid"}
    return {
        next((d.id.replace(k, n) for k, n in names.items() if k in d.id), d.id.removeprefix("plot-fem2d-0-")): d
        for d in drawn
    }


@cache
def drawings(case: str = "plain") -> dict[str, Drawing]:
    return named(view(case))


def traces(drawn: Drawing) -> dict[str, dict[str, object]]:
    return {t["name"]: t for t in drawn.data if t.get("name")}


def test_the_fastest_method_is_named_with_what_the_others_take() -> None:
    alone, both = drawings()["tolerance-0"], drawings()["tolerance-1"]
    assert alone.title.startswith("Time to tolerance on 1 core: multigrid needs ")
    assert " at level 7, " in alone.title and "BPX 3.0 ×" in alone.title and "hypre 3.0 ×" in alone.title
    assert both.title.startswith("Time to tolerance on 2 cores: multigrid needs 205 ms at level 7")
    assert set(traces(both)) == {"BPX", "multigrid", "hypre"}
    assert traces(alone)["BPX"]["x"] == [66049, 263169, 1050625, 4198401]


def test_earlier_machines_stand_beside_one_core_with_their_year() -> None:
    ghosts = [t for t in drawings()["tolerance-0"].data if t.get("legendgroup") == "ghosts"]
    entries = heritage.load().matching("fem2d", "time")
    assert sorted(y for t in ghosts for y in t["y"]) == sorted(e.value for e in entries) and len(entries) > 10
    assert all(len(t["x"]) == len(t["y"]) == len(t["hovertext"]) and "(2007)" in t["hovertext"][0] for t in ghosts)
    labels = [t["text"][0] for t in ghosts if t["text"][0]]
    assert labels[0] == "CHiC (2007)" and all(label.endswith(" (2007)") for label in labels)
    named = "; ".join(label.removesuffix(" (2007)") for label in labels).split("; ")
    assert sorted(named) == sorted({e.machine.partition(",")[0] for e in entries})
    assert not [t for t in drawings()["tolerance-1"].data if t.get("legendgroup") == "ghosts"]


def test_few_launches_tell_no_method_from_another() -> None:
    title = drawings("few launches")["tolerance-0"].title
    assert "do not differ measurably" in title and "as long" not in title


def test_the_pace_is_held_against_the_ceiling_of_the_card() -> None:
    """One figure has one share: on the front page, in the drawing, in tables, and in `figures --json`."""
    drawn = drawings()["pace"]
    (whole,) = [
        f
        for f in view().judgement.figures
        if isinstance(f, Verified)
        and (f.identity.variant, f.identity.metric) == ("one_pass", "time_to_tolerance")
        and dict(f.identity.parameters)["level"] == 7
    ]
    assert whole.of_ceiling is not None and 0.5 < whole.of_ceiling < 1
    share = percent(whole.of_ceiling)
    assert drawn.title.startswith("one_pass needs 6.0")
    assert f" ns per unknown and iteration at level 7, {share} of its ceiling" in drawn.title
    assert any(
        f"{share} of bandwidth" in text for t in drawings()["tolerance-0"].data for text in t.get("hovertext", ())
    )
    assert [row for row in drawings()["tolerance-0"].rows if row[0].startswith("fem2d.one_pass") and share in row]
    (row,) = export.rows(replace(view().judgement, figures=(whole,)))
    assert row.of_ceiling == whole.of_ceiling
    (model,) = [t for name, t in traces(drawn).items() if name.startswith("ceiling")]
    (line,) = [t for name, t in traces(drawn).items() if name == "one_pass"]
    assert model["y"][-1] / line["y"][-1] == pytest.approx(whole.of_ceiling, rel=1e-3)
    assert model["y"][0] < model["y"][-1], "what lies in a cache has a ceiling of its own"
    caches = [a["text"] for a in drawn.layout["annotations"]]
    assert caches == ["L3 32 MiB"]
    assert {f"{name}" for name in traces(drawn)} >= {"one_pass", "serial", "assembled", "multigrid"}


def test_without_a_measured_bandwidth_there_is_no_ceiling_and_the_caption_says_how_to_get_it() -> None:
    drawn = drawings("quick")["pace"]
    assert not [name for name in traces(drawn) if name.startswith("ceiling")]
    assert "./fl run stream fem2d" in drawn.caption and "ceiling" not in drawn.title
    assert set(drawings("quick")) == {"tolerance-0", "pace"}


def test_strong_scaling_is_drawn_against_the_ideal() -> None:
    drawn = drawings()["scaling-bpx"]
    assert drawn.title.startswith("BPX, level = 7: 2 cores gain 1.8 × with ")
    assert drawn.title.endswith(" and 1.5 × with MPICH")
    lines = traces(drawn)
    (ideal,) = [t for name, t in lines.items() if name.startswith("ideal")]
    assert ideal["x"] == [1, 2] and ideal["y"][0] == pytest.approx(2 * ideal["y"][1])
    assert set(lines) - {ideal["name"]} == {"threads", "Open MPI", "MPICH"}
    assert lines["Open MPI"]["y"][1] == pytest.approx(ideal["y"][0] / 1.8, rel=0.01)


def test_weak_scaling_follows_a_level_more_on_four_times_the_cores() -> None:
    assert "scaling-bpx-weak" not in drawings()
    drawn = drawings("crowded")["scaling-bpx-weak"]
    assert "Open MPI keeps 45 % of its speed per core on 4 threads, more than there are processors" in drawn.title
    line = next(t for name, t in traces(drawn).items() if name.startswith("Open MPI"))
    assert line["name"] == "Open MPI, level = 6 on 1 core"
    assert line["x"] == [1, 4] and line["marker"]["symbol"][1].endswith("-open")
    assert "Open symbols" in drawn.caption


def test_shares_span_the_ranks_and_the_table_is_that_of_the_report() -> None:
    drawn = drawings()["shares"]
    assert drawn.title == (
        f"Communication is 3.0 % of the time at level 7 ({drawn.title.split('(')[1].split(';')[0]}; 2.0 % to 5.0 % "
        "over the ranks), 3.0 % at level 4"
    )
    line = traces(drawn)["Open MPI, 1x2x1"]
    assert line["y"] == [pytest.approx(3)] * 4
    assert line["error_y"]["array"] == [pytest.approx(2)] * 4
    assert line["error_y"]["arrayminus"] == [pytest.approx(1)] * 4
    rows = {(r[0], r[1], r[2]): r for r in drawn.rows}
    mine = rows["mpi_assembled, gcc-native, mpich", "1x2x1", "7"]
    assert mine[3:6] == ("4 198 401", "44", "400 ms") and mine[7:] == ("2.0 %", "3.0 %", "5.0 %")
    assert rows["mpi, gcc-native, mpich", "1x2x1", "7"][5] == "–"
    assert rows["peer_hypre, gcc-native, mpich", "1x2x1", "7"][7:] == ("–", "–", "–")
    chic = rows["CHiC, Opteron 2.6 GHz, InfiniBand (2007)", "16x4x1", "9"]
    assert chic[3:] == ("67 125 249", "44", "1.75 s", "11.3 s", "–", "5.0 %", "–")


def test_oversubscribed_only_is_shown_and_not_ranked() -> None:
    drawn = drawings("all crowded")
    assert set(drawn) == {"shares"}
    assert all("oversubscribed" in r[1] for r in drawn["shares"].rows if r[0].startswith("mpi"))


def test_values_over_the_ranks_are_medians_of_what_was_observed() -> None:
    v = view()
    f = next(f for f in v.judgement.figures if f.identity.variant == "mpi" and f.identity.placement.ranks == 2)
    assert observed.over_ranks(v, f, "communication_share") == pytest.approx(synthetic_solver.SHARE)
    assert observed.over_ranks(v, f, "nothing") is None


def test_every_figure_is_in_the_first_table_and_what_failed_is_never_drawn() -> None:
    v = view()
    times = [f for f in v.judgement.figures if f.identity.metric == "time_to_tolerance"]
    assert len(drawings()["tolerance-0"].rows) == len(times)

    def fail(f: object) -> object:
        bad = isinstance(f, Verified) and f.identity.variant in ("multigrid", "mpi_multigrid")
        return Failed(f.identity, f.unit, f.better, "wrong node", "check") if bad else f

    judgement = replace(v.judgement, figures=tuple(map(fail, v.judgement.figures)))
    drawn = named(View(judgement, v.workloads, v.heritage, v.palette))
    assert "multigrid" not in traces(drawn["tolerance-0"])
    assert sum("failed: wrong node" in r[-1] for r in drawn["tolerance-0"].rows) == 4 * (1 + 4)


def test_nothing_verified_draws_nothing() -> None:
    v = view()
    nothing = replace(v.judgement, figures=())
    assert plots.draw(View(nothing, v.workloads, v.heritage, v.palette), v.workloads["fem2d"]) == []


@pytest.mark.parametrize("case", CASES)
def test_drawings_are_plain_data_and_the_page_renders(case: str) -> None:
    assert all(chart_tree.words(chart_tree.tree(d)) for d in drawings(case).values() if d.data)
    page = html.render(view(case).judgement, view(case).workloads, heritage=view(case).heritage)
    assert "plot-fem2d-0-" in page


@pytest.mark.parametrize(
    ("variant", "method"),
    [("one_pass", "BPX"), ("mpi_omp", "BPX"), ("mpi_multigrid", "multigrid"), ("peer_petsc", "petsc")],
)
def test_variants_belong_to_methods(variant: str, method: str) -> None:
    assert methods.method(variant) == method


def test_a_placement_shows_the_ranks_of_the_fullest_node() -> None:
    assert [methods.shape(Placement(2, n, 4)) for n in (2, 3, 4)] == ["2x1x4", "2x2x4", "2x2x4"]


def test_published_times_are_sorted_and_labelled_in_one_unit() -> None:
    v, workload = view(), view().workloads["fem2d"]

    def in_other_units(unit: str, factor: float) -> View:
        def converted(e: heritage.Entry) -> heritage.Entry:
            changed = e.metric == "time" and e.workload == "fem2d" and e.machine == "hpcLine"
            return replace(e, value=e.value * factor, unit=unit) if changed else e

        return View(
            v.judgement, v.workloads, replace(v.heritage, entries=tuple(map(converted, v.heritage.entries))), v.palette
        )

    first, second = in_other_units("s", 1.0), in_other_units("ms", 1000.0)
    assert list(tolerance.earlier(first, workload, "s")) == list(tolerance.earlier(second, workload, "s"))
    labels = [
        [t["text"][0] for t in named(some)["tolerance-0"].data if t.get("legendgroup") == "ghosts"]
        for some in (first, second)
    ]
    assert labels[0] == labels[1] and any(labels[0])


def test_unknowns_are_the_published_ones() -> None:
    for entry in heritage.load().matching("fem2d", "communication_share"):
        assert methods.unknowns(int(entry.parameters["level"])) == entry.parameters["unknowns"]
