"""Drawings have titles that agree with the data, fits that recover known values, and tables of every figure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from firstlight.analysis.figures import judge
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core.errors import UsageError
from firstlight.core.units import quantity
from firstlight.model.catalogue import Plot
from firstlight.report import answers, plots, sentence
from firstlight.report.frame import Drawing, View
from firstlight.report.plots import spread, staircase
from report_samples import sample, view_of


def view() -> View:
    return view_of(*sample())


def drawings(workload: str) -> list[Drawing]:
    v = view()
    return plots.draw(v, v.workloads[workload])


def test_title_of_the_staircase_is_its_message() -> None:
    (drawing,) = drawings("dot")
    assert drawing.title.startswith(
        "The scalar product: at n = 1000 (L1) base is 1.9 × worse; the others are equal; at n = 10000 (L2), "
        "n = 1e6 (L3) and n = 1e7 (memory)"
    )
    assert drawing.title.endswith("all are equal")


def test_title_of_a_single_line_tells_the_levels() -> None:
    (drawing,) = drawings("latency")
    assert drawing.title.startswith("Latency of a load is 1.6") and drawing.title.endswith("ns in memory")


@pytest.mark.parametrize("sizes", [1, 2])
def test_a_line_in_one_level_has_its_ends_in_the_title(sizes: int) -> None:
    v = view()
    plot = Plot("staircase", "n", "rate", "toolchain", subject="rate")
    some = [f for f in v.judgement.figures if isinstance(f, Verified) and f.identity.variant == "serial"]
    small = next(f for f in some if dict(f.identity.parameters) == {"n": 1000})
    line = {float(n): replace(small, identity=replace(small.identity, parameters=(("n", n),))) for n in (1000, 1100)}
    title = settle(staircase._title(v, plot, {"gcc-base": dict(list(line.items())[:sizes])}))
    assert re.fullmatch(
        r"Rate is [\d.]+ Gflop/s at n = 1000" + (r" and [\d.]+ Gflop/s at n = 1100" if sizes == 2 else ""), title
    )


def test_titles_of_messages_name_the_lower_latency_and_the_higher_bandwidth() -> None:
    latency, bandwidth = drawings("pingpong")
    assert "MPICH is 1.5 × lower for 8 B messages" in latency.title
    assert "Open MPI is 1.6 × higher for 4 MiB messages" in bandwidth.title


def test_cache_levels_are_marked_where_the_working_set_outgrows_them() -> None:
    (drawing,) = drawings("dot")
    marked = {a["text"]: 10 ** a["x"] for a in drawing.layout["annotations"]}
    assert marked["L1 32 KiB"] == pytest.approx(32 * 1024 / 16)
    assert marked["L3 32 MiB"] == pytest.approx(32 * 2**20 / 16)


def test_every_figure_of_a_plot_is_in_its_table_also_failed_ones() -> None:
    v = view()
    (drawing,) = drawings("dot")
    measured = [f for f in v.judgement.figures if f.identity.workload == "dot"]
    assert len(drawing.rows) == len(measured)
    assert any(r[-1].startswith("failed: ") for r in drawing.rows)


def test_a_failed_figure_is_never_drawn() -> None:
    (drawing,) = drawings("dot")
    assert "kahan" not in json.dumps([t.get("hovertext", "") for t in drawing.data if "fast" in t.get("name", "")])


def test_earlier_machines_are_ghosts_with_their_year() -> None:
    latency, bandwidth = drawings("pingpong")
    for drawing, count in ((latency, 3), (bandwidth, 3)):
        ghosts = [t for t in drawing.data if t.get("legendgroup") == "ghosts"]
        assert len(ghosts) == count and all("1996" in t["hovertext"][0] for t in ghosts)
    assert sum("2003" in str(t.get("hovertext")) for t in drawings("stream")[0].data) == 4


def test_roofline_draws_the_measured_limits() -> None:
    drawing = drawings("peak")[0]
    assert re.match(r"Peak.*: 52.*; memory supplies 14", drawing.title)
    assert {r[1] for r in drawing.rows} >= {"L1", "L2", "L3", "memory"}


def rooflines(v: View) -> Drawing:
    return plots.draw(v, v.workloads["peak"])[0]


def test_roofs_are_what_figures_are_held_against() -> None:
    """One function makes the roofs and the ceilings: a share of bandwidth is one of the roof of that level."""
    v = view()
    drawing = rooflines(v)
    roofs = {r[1]: r for r in drawing.rows if r[0].endswith("bandwidth")}
    count = 0
    for f in v.judgement.figures:
        if not isinstance(f, Verified) or f.ceiling is None or f.ceiling.resource != "load_bandwidth":
            continue
        if f.identity.placement.threads == 1 and not f.ceiling.own:
            assert quantity(8 * f.ceiling.value, "GB/s") == roofs[v.place(f)][3]
            count += 1
    assert count
    shares = [row[4] for row in drawing.rows if row[0] == "dot"]
    assert shares and all("% of " in share for share in shares)


def test_points_in_32_bits_have_their_own_roof_or_no_share() -> None:
    v = view()
    half = tuple(replace(b, ceiling="flops_32") if b.quantity == "flops" else b for b in v.workloads["dot"].bounded_by)
    workloads = dict(v.workloads) | {"dot": replace(v.workloads["dot"], bounded_by=half)}
    run, records = v.judgement.run, v.judgement.records
    both = rooflines(View(judge(run, records, workloads), workloads, v.heritage, v.palette))
    assert [r[0] for r in both.rows if r[0].startswith("flops")] == ["flops_64", "flops_32"]
    labels = [a["text"] for a in both.layout["annotations"]]
    assert [x for x in labels if x.startswith("64 bit 5")] and [x for x in labels if x.startswith("32 bit 10")]
    assert not [a["text"] for a in rooflines(v).layout["annotations"] if a["text"].startswith("32 bit")]

    peak = workloads["peak"]
    workloads |= {"peak": replace(peak, provides=tuple(p for p in peak.provides if p.ceiling != "flops_32"))}
    lacking = rooflines(View(judge(run, records, workloads), workloads, v.heritage, v.palette))
    assert "The flop rate in 32 bit was not measured, so no share " in lacking.caption
    assert all(row[4] == "–" for row in lacking.rows if row[0] == "dot")


def test_an_unknown_kind_is_a_clear_error() -> None:
    v = view()
    odd = replace(v.workloads["dot"], plots=(Plot("piechart", "n", "rate", "toolchain"),))
    with pytest.raises(UsageError, match="unknown drawing 'piechart'"):
        plots.draw(v, odd)


def test_drift_of_a_quiet_run_says_that_the_machine_held_still() -> None:
    drawing = spread.drift(view())
    assert drawing is not None and drawing.title.startswith("The machine was steady")
    assert len(drawing.rows) == len(view().judgement.records)


def test_what_cannot_be_told_apart_is_not_called_equal() -> None:
    sure, _ = sample()
    unsure, _ = sample(1, 3)
    named: dict[str, str] = {}
    for name, judgement in (("sure", sure), ("unsure", unsure)):
        figures = [
            f
            for f in judgement.figures
            if isinstance(f, Verified) and f.identity.variant == "serial" and dict(f.identity.parameters) == {"n": 1000}
        ]
        some = [f for f in figures if f.identity.toolchain in ("gcc-native", "gcc-fast")]
        found = sentence.outcome("L1", some, lambda f: f.identity.toolchain)
        assert found is not None
        named[name] = settle(sentence.compared([found]))
    assert named == {"sure": "at L1 gcc-fast wins by 4.7 ×", "unsure": "at L1 no difference can be shown"}


def test_a_single_size_makes_no_staircase() -> None:
    v = view()
    one = tuple(f for f in v.judgement.figures if dict(f.identity.parameters).get("n") == 1000)
    alone = View(replace(v.judgement, figures=one), v.workloads, v.heritage, v.palette)
    assert plots.draw(alone, v.workloads["dot"]) == []


def test_a_sweep_over_a_parameter_tells_how_far_it_falls() -> None:
    v = view()
    by_op = Plot("staircase", "n", "bandwidth", "op", subject="bandwidth")
    drawing = plots.draw(v, replace(v.workloads["stream"], plots=(by_op,)))[0]
    assert drawing.title.startswith("Bandwidth falls 9.8 × from 140 GB/s in L1 to ")
    assert drawing.title.endswith("in memory (op = load) · 1 core")
    assert {"load", "triad", "copy"} <= {t["name"] for t in drawing.data if "name" in t}


def fall_of(keep: Callable[[int, str], bool]) -> str:
    """Return the title of the fall over the operations of stream, from the figures of these sizes and operations."""
    v = view()
    by_op = Plot("staircase", "n", "bandwidth", "op", subject="bandwidth")
    some = [f for f in v.judgement.figures if f.identity.workload == "stream"]
    kept = tuple(f for f in some if keep(*(dict(f.identity.parameters)[name] for name in ("n", "op"))))
    alone = View(replace(v.judgement, figures=kept), v.workloads, v.heritage, v.palette)
    return plots.draw(alone, replace(v.workloads["stream"], plots=(by_op,)))[0].title


def test_both_ends_of_a_fall_are_on_one_line_that_has_both_ends() -> None:
    title = fall_of(lambda n, op: n < 10**6 or op == "triad")
    assert title.endswith("in memory (op = triad) · 1 core")


def test_a_fall_ends_at_the_last_place_that_one_line_shares_with_the_first() -> None:
    title = fall_of(lambda n, op: op == ("copy" if n < 10**6 else "triad"))
    assert re.fullmatch(r"Bandwidth falls .+ × from .+ in L1 to .+ in L[23] \(op = copy\) · 1 core", title)


def stream_at(*ns: int, threads: int | None = None) -> View:
    """Return the sample with those sizes of stream alone; `threads`: thin out only the figures with this many."""
    v = view()
    kept = tuple(
        f
        for f in v.judgement.figures
        if f.identity.workload == "stream"
        and (threads not in (None, f.identity.placement.threads) or dict(f.identity.parameters)["n"] in ns)
    )
    return View(replace(v.judgement, figures=kept), v.workloads, v.heritage, v.palette)


def test_few_sizes_of_more_threads_are_in_the_table_of_the_first_drawing() -> None:
    v = view()
    stream = v.workloads["stream"]
    sizes = {
        k: sorted({dict(f.identity.parameters)["n"] for f in v.judgement.figures
                   if f.identity.workload == "stream" and f.identity.placement.threads == k})
        for k in (1, 2)
    }  # fmt: skip
    assert len(sizes[1]) > 2 and len(sizes[2]) > 2
    assert len(plots.draw(v, stream)) == 2
    thinned = stream_at(*sizes[2][:2], threads=2)
    (drawing,) = plots.draw(thinned, stream)
    assert drawing.title.endswith("· 1 core")
    assert any("2 threads" in row[1] for row in drawing.rows)
    (plot,) = stream.plots
    assert len(drawing.rows) == len(thinned.selected(stream, plot))


def test_a_line_of_one_size_is_in_the_table_alone() -> None:
    v = view()
    by_op = Plot("staircase", "n", "bandwidth", "op", subject="bandwidth")
    kept = tuple(
        f
        for f in v.judgement.figures
        if f.identity.workload == "stream" and {("op", "copy"), ("n", 10_000)} & set(f.identity.parameters)
    )
    lone = View(replace(v.judgement, figures=kept), v.workloads, v.heritage, v.palette)
    drawing = plots.draw(lone, replace(v.workloads["stream"], plots=(by_op,)))[0]
    assert {t["name"] for t in drawing.data if t["mode"] != "none"} >= {"copy"}
    assert all(len(t["x"]) > 1 for t in drawing.data) and "in the table alone" in drawing.caption
    assert any("op = triad" in " ".join(row) for row in drawing.rows) and "(op = copy)" in drawing.title


def test_levels_of_one_kind_of_machine_share_a_label() -> None:
    ghosts = [t for t in drawings("stream")[0].data if t.get("legendgroup") == "ghosts"]
    shown = [word for t in ghosts for word in t["text"] if word]
    assert len(ghosts) == 4 and shown == ["Pentium III 400–800 MHz (2003)", "Pentium 4 (2003)"]


def test_two_cores_with_two_figures_make_no_roofline() -> None:
    v = view()
    both = plots.draw(v, v.workloads["peak"])
    few = tuple(f for f in v.judgement.figures if f.identity.placement.threads * f.identity.placement.ranks == 1)
    alone = plots.draw(View(replace(v.judgement, figures=few), v.workloads, v.heritage, v.palette), v.workloads["peak"])
    assert len(both) == 2 and len(alone) == 1
    assert f"{both[1].title}; too few figures exist" in alone[0].caption


def test_no_difference_at_both_ends_is_said_once() -> None:
    v = view()
    alike = tuple(_with_launches_of_mpich(f, v) for f in v.judgement.figures)
    same = View(replace(v.judgement, figures=alike), v.workloads, v.heritage, v.palette)
    latency, bandwidth = plots.draw(same, v.workloads["pingpong"])
    for drawing in (latency, bandwidth):
        assert re.fullmatch(
            r"(MPICH and Open MPI|Open MPI and MPICH) are equal, from .+ at 8 B to .+ at 4 MiB", drawing.title
        )
    for better, wide, start in (
        (1.1, 1.3, r"No significant difference between .+ and .+, from"),
        (1.2, 1.3, r"The launches of .+ and .+ differ too much for a choice, from"),
        (1.1, 3.0, r"The launches of .+ and .+ differ too much for a choice, from"),
    ):
        unsure = tuple(_spread_wide(f, better, wide) for f in alike)
        unknown = View(replace(v.judgement, figures=unsure), v.workloads, v.heritage, v.palette)
        assert all(re.match(start + r" .+ at 8 B to", d.title) for d in plots.draw(unknown, v.workloads["pingpong"]))


def _with_launches_of_mpich(f: Figure, v: View) -> Figure:
    if not isinstance(f, Verified) or f.identity.mpi != "openmpi":
        return f
    twin = next((g for g in v.judgement.figures if g.identity == replace(f.identity, mpi="mpich")), None)
    return replace(f, estimate=twin.estimate) if isinstance(twin, Verified) else f


def _spread_wide(f: Figure, better: float, wide: float) -> Figure:
    """Return Open MPI with a better median, but with launches up to `wide` times below and above it."""
    if not isinstance(f, Verified) or f.identity.mpi != "openmpi":
        return f
    m = f.estimate.median * better
    launches = tuple(m * wide ** (k / 3.5 - 1) for k in range(8))
    return replace(f, estimate=replace(f.estimate, median=m, low=m / wide, high=m * wide, launches=launches))


def test_the_size_where_another_library_leads_most_is_named() -> None:
    v = view()
    last = 4 * 2**20
    some = tuple(
        _with_launches_of_mpich(f, v) if dict(f.identity.parameters).get("bytes") == last else f
        for f in v.judgement.figures
    )
    latency, bandwidth = plots.draw(
        View(replace(v.judgement, figures=some), v.workloads, v.heritage, v.palette), v.workloads["pingpong"]
    )
    for title, way in ((latency.title, "lower"), (bandwidth.title, "higher")):
        assert re.fullmatch(
            rf".+: MPICH is .+ {way} for 8 B messages .+; Open MPI is .+ {way} for 1 MiB messages .+; all are equal .+",
            title,
        ), title


def test_the_caption_tells_the_fit_and_the_switch() -> None:
    v = view()
    alike = tuple(_switching(f) for f in v.judgement.figures)
    latency = plots.draw(
        View(replace(v.judgement, figures=alike), v.workloads, v.heritage, v.palette), v.workloads["pingpong"]
    )[0]
    assert re.search(
        r"up to 4 KiB α = 500 ns, 1/β = 3.33 GB/s, .+; from 32 KiB α = 20.0 us, 1/β = 10",
        latency.caption,
    ), latency.caption
    assert sum(a["text"].startswith("fit changes, ") for a in latency.layout["annotations"]) == 1


def _switching(f: Figure) -> Figure:
    """Return times of two regimes for every message."""
    if not isinstance(f, Verified) or f.identity.metric != "latency":
        return f
    m = float(dict(f.identity.parameters).get("bytes", 0))
    t = 0.5 + 3e-4 * m if m <= 16384 else 20.0 + 1e-4 * m
    return replace(f, estimate=replace(f.estimate, median=t))


def test_data_that_fit_the_reported_cache_are_not_in_memory() -> None:
    """Neighbours left one core a small part of L3 for a while; the launches of this line had more of it."""
    v = stream_at(1000, 10_000, 100_000, 10**6)
    caches = v.judgement.hierarchy
    small = replace(caches, levels=(*caches.levels[:-1], replace(caches.levels[-1], acts=4e6)))
    by_op = Plot("staircase", "n", "bandwidth", "op", subject="bandwidth")
    view_of_less = View(replace(v.judgement, levels=small), v.workloads, v.heritage, v.palette)
    assert {view_of_less.place(f) for f in answers.verified(v.judgement.figures)} >= {"memory"}
    for drawing in plots.draw(view_of_less, replace(v.workloads["stream"], plots=(by_op,))):
        assert "memory" not in drawing.title, drawing.title
