"""Scaling of any workload: times and rates, sizes that count elements and sizes that count refinements."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

import synthetic_solver
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Estimate, Verified
from firstlight.core import heritage
from firstlight.model.catalogue import Sizes, Workload
from firstlight.report import plots
from firstlight.report.frame import Drawing, View
from firstlight.system.machine.cores import crowded
from report_samples import view_of


@pytest.fixture(scope="module")
def view() -> View:
    scene = synthetic_solver.run(ranks=(1, 2, 4))
    return view_of(judge(*scene), scene.workloads)


def drawings(view: View, figures: list[Verified], workload: Workload) -> dict[str, Drawing]:
    changed = View(
        replace(view.judgement, figures=tuple(figures)), {workload.name: workload}, view.heritage, view.palette
    )
    return {d.id.removeprefix("plot-fem2d-"): d for d in plots.draw(changed, workload)}


def figures(view: View) -> list[Verified]:
    return [f for f in view.judgement.figures if isinstance(f, Verified) and f.identity.metric == "time_to_tolerance"]


def scaled(view: View, sizes: Sizes | None = None) -> Workload:
    (bpx, _) = synthetic_solver.SCALING
    workload = view.workloads["fem2d"]
    return replace(workload, plots=(bpx,), sizes=sizes or workload.sizes)


def as_rate(f: Verified) -> Verified:
    e = f.estimate
    low, high = (None if v is None else 1 / v for v in (e.high, e.low))
    estimate = Estimate(1 / e.median, low, high, tuple(1 / v for v in e.launches), e.times)
    return replace(f, unit="1/s", better="higher", estimate=estimate)


def test_a_rate_rises_where_a_time_falls(view: View) -> None:
    times = drawings(view, figures(view), scaled(view))
    rates = drawings(view, [as_rate(f) for f in figures(view)], scaled(view))
    assert rates["0"].title == times["0"].title  # the gains
    assert re.search(r"^BPX, level = 7: 2 cores gain 1\.8 × with ", times["0"].title)
    falling, rising = (d["0"].data[0]["y"] for d in (times, rates))
    assert falling[0] == pytest.approx(4 * falling[-1]) and rising[-1] == pytest.approx(4 * rising[0])


def test_a_case_may_be_a_name(view: View) -> None:
    """A case that does not grow has no weak scaling; else the drawing is the same."""
    named = [
        replace(f, identity=replace(f.identity, parameters=(*f.identity.parameters, ("molecule", "benzene"))))
        for f in figures(view)
        if dict(f.identity.parameters)["level"] == 7
    ]
    bpx = scaled(view)
    of_name = replace(bpx, plots=(replace(bpx.plots[0], x="molecule"),))
    sized, drawn = drawings(view, figures(view), bpx)["0"], drawings(view, named, of_name)
    assert list(drawn) == ["0"] and [(t["x"], t["y"]) for t in drawn["0"].data] == [
        (t["x"], t["y"]) for t in sized.data
    ]
    assert drawn["0"].title == sized.title.replace("level = 7", "molecule = benzene")


def test_threads_beyond_the_cores_are_called_hardware_threads(view: View) -> None:
    run, here = view.judgement.run, figures(view)
    most = max(f.identity.placement.ranks * f.identity.placement.threads for f in here)

    def drawn(cores: int, cpus: int) -> tuple[str, str]:
        machine = replace(run.machine, cores=cores, cpus=tuple(range(cpus)))
        judgement = replace(view.judgement, run=replace(run, machine=machine))
        plain = [replace(f, oversubscribed=crowded(f.identity.placement.ranks, machine)) for f in here]
        some = drawings(replace_view(view, judgement), plain, scaled(view))["0"]
        return some.title, some.layout["xaxis"]["title"]["text"]

    assert drawn(2, 4)[0].startswith(f"BPX, level = 7: {most} hardware threads gain ")
    assert drawn(2, 4)[1] == drawn(2, 2)[1] == "threads (ranks x threads)"
    assert drawn(2, 2)[0].startswith("BPX, level = 7: 2 cores gain ")
    assert drawn(4, 4)[0].startswith("BPX, level = 7: 4 cores gain ") and drawn(4, 4)[1] == "cores (ranks x threads)"


def test_earlier_machines_stand_at_their_ranks(view: View) -> None:
    """Those of the same level that had several."""
    some = replace(view.heritage.entries[0], workload="fem2d", metric="time_to_tolerance", unit="s", better="lower")
    published = tuple(
        replace(some, ranks=ranks, value=value, parameters={"level": level})
        for ranks, value, level in ((8, 5.0, 7), (8, 6.0, 6), (1, 7.0, 7))
    )
    old = View(view.judgement, view.workloads, heritage.Heritage(published), view.palette)
    ghosts = [t for t in drawings(old, figures(view), scaled(view))["0"].data if t.get("legendgroup") == "ghosts"]
    assert [(t["x"], t["y"]) for t in ghosts] == [([8], [5.0])]


def replace_view(view: View, judgement: Judgement) -> View:
    return View(judgement, view.workloads, view.heritage, view.palette)


def test_weak_scaling_of_sizes_that_count_elements(view: View) -> None:
    """n = 1000 a core: the same share on 1, 2 and 4 cores is one line, whatever else was measured."""
    some = [f for f in figures(view) if dict(f.identity.parameters)["level"] == 6]

    def of(f: Verified) -> Verified:
        n = 1000 * f.identity.placement.ranks * f.identity.placement.threads
        return replace(f, identity=replace(f.identity, parameters=(("digits", 6), ("n", n), ("problem", "R"))))

    by_n = replace(scaled(view, Sizes("n", 8)), plots=(replace(scaled(view).plots[0], x="n"),))
    drawn = drawings(view, [of(f) for f in some], by_n)
    assert list(drawn) == ["0-weak"]
    line = next(t for t in drawn["0-weak"].data if t["name"] == "Open MPI, n = 1000 on 1 core")
    assert line["x"] == [1, 2, 4]
    kept = re.search(r"Open MPI keeps (\d+) % of its speed per core on 4 threads, more than", drawn["0-weak"].title)
    assert kept and int(kept[1]) == round(100 * line["y"][0] / line["y"][-1])
    rated = drawings(view, [as_rate(of(f)) for f in some], by_n)["0-weak"]
    slower = re.search(r"Open MPI keeps (\d+) % of its speed per core on 4 threads, more than", rated.title)
    assert slower and int(slower[1]) == pytest.approx(25 * line["y"][0] / line["y"][-1], abs=1)


def test_sizes_of_another_parameter_scale_strongly_only(view: View) -> None:
    assert list(drawings(view, figures(view), scaled(view, Sizes("m", 8)))) == ["0"]


def test_one_number_of_cores_draws_nothing(view: View) -> None:
    alone = [f for f in figures(view) if f.identity.placement.ranks * f.identity.placement.threads == 1]
    assert alone and drawings(view, alone, scaled(view)) == {}
