"""An explained figure has the run's numbers, the limit that it is compared with, and its own loop."""

from __future__ import annotations

import json
import math
import random
import subprocess
from pathlib import Path
from statistics import median

import pytest
from msgspec.structs import replace

import many_runs
import synthetic
from commands import Captured, call
from firstlight.analysis import Judgement
from firstlight.analysis.explaining import considered, drifting, launches, limited, narrowing, shape
from firstlight.analysis.figures import judge
from firstlight.analysis.interval import estimate
from firstlight.analysis.states import states
from firstlight.analysis.verdict import Verified
from firstlight.commands.explain import page as explain
from firstlight.commands.explain.command import choose
from firstlight.core.errors import OK, REGRESSION, USAGE, UsageError
from firstlight.execute.build.assembly import Loop, hot_loop
from firstlight.model.catalogue import Workload


@pytest.fixture(scope="module")
def judged() -> tuple[Judgement, dict[str, Workload]]:
    scene = synthetic.run(1, 12)
    return judge(*scene), scene.workloads


def verified(judgement: Judgement) -> list[Verified]:
    return [f for f in judgement.figures if isinstance(f, Verified)]


def test_a_launch_s_value_is_the_median_of_the_samples_that_are_shown(
    judged: tuple[Judgement, dict[str, Workload]],
) -> None:
    judgement, _ = judged
    for figure in verified(judgement)[::17]:
        some = launches(judgement, figure)
        assert len(some) == len(figure.estimate.launches)
        for launch, value in zip(some, figure.estimate.launches, strict=True):
            assert median(launch.values) == pytest.approx(value)


def test_the_bound_that_binds_is_the_ceiling_that_the_figure_is_held_against(
    judged: tuple[Judgement, dict[str, Workload]],
) -> None:
    judgement, workloads = judged
    bounded = [f for f in verified(judgement) if f.ceiling is not None and not f.ceiling.own]
    assert len(bounded) > 20
    several = 0
    for figure in bounded:
        some = considered(judgement, figure, workloads)
        binding = [c for c in some if c.binds]
        assert len(binding) == 1 and binding[0] is some[0]
        assert figure.ceiling is not None and binding[0].resource == figure.ceiling.resource
        assert binding[0].value == pytest.approx(figure.ceiling.value)
        values = [c.value for c in some if c.value is not None]
        assert some[0].value == (min if figure.better == "higher" else max)(values)
        several += len(some) > 1
        assert figure.ceiling.resource in limited(figure, some)
    assert several


def test_what_has_no_ceiling_says_why(judged: tuple[Judgement, dict[str, Workload]]) -> None:
    judgement, workloads = judged
    source = next(f for f in verified(judgement) if f.ceiling is None and not considered(judgement, f, workloads))
    assert "no ceiling" in limited(source, [])
    bounded = next(f for f in verified(judgement) if f.ceiling is not None)
    without = replace(judgement, limits=())
    assert "was not measured" in limited(replace(bounded, ceiling=None), considered(without, bounded, workloads))


@pytest.mark.parametrize("n", [10, 13, 20, 40])
def test_launches_in_a_random_order_do_not_drift(n: int) -> None:
    r = random.Random(n)
    assert sum(drifting([r.gauss(1, 0.1) for _ in range(n)]) for _ in range(800)) <= 16


def test_launches_of_a_machine_that_changes_drift() -> None:
    r = random.Random(1)
    assert sum(drifting([1 + 0.01 * k + r.gauss(0, 0.03) for k in range(20)]) for _ in range(200)) >= 180
    wave = [math.sin(k / 4) + r.gauss(0, 0.1) for k in range(30)]
    assert drifting(wave) and not drifting([1.0] * 30) and not drifting([1.0, 2.0, 3.0])


def of(values: list[float], judged: tuple[Judgement, dict[str, Workload]]) -> Verified:
    return replace(verified(judged[0])[0], estimate=estimate(values), states=states(values))


def test_shapes_and_what_narrows_each(judged: tuple[Judgement, dict[str, Workload]]) -> None:
    r = random.Random(3)
    judgement = judged[0]
    two = of([144 * r.gauss(1, 0.01) if k % 3 else 475.0 for k in range(16)], judged)
    assert shape(two) == "two states" and "bimodal" in narrowing(judgement, two)[0]
    wandering = of([1.0 + 0.02 * k for k in range(20)], judged)
    assert shape(wandering) == "drifting" and "quiet machine" in narrowing(judgement, wandering)[0]
    few = of([1.0, 1.1, 1.05], judged)
    assert shape(few) == "too few launches" and narrowing(judgement, few)[-1].startswith("3 more launches")
    wide = of([r.gauss(1, 0.2) for _ in range(9)], judged)
    half = (wide.estimate.high - wide.estimate.low) / 2 / wide.estimate.median  # type: ignore[operator]
    wanted = math.ceil(9 * (half / judgement.run.precision) ** 2)
    assert shape(wide) == "one state" and f"about {wanted} launches" in narrowing(judgement, wide)[-1]


SOURCE = """
namespace thing {
double __attribute__((noinline)) dot(const double *x, const double *y, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}
long __attribute__((noinline)) sum(const long *x, long n) { long s = 0; for (long i = 0; i < n; ++i) s ^= x[i] + s; return s; }
}
double __attribute__((noinline)) other(const float *x, long n) { float s = 1; for (long i = 0; i < n; ++i) s *= x[i] + s; return s; }
int main(int n, char **) {
  double a[8] = {1}; long b[8] = {2}; float c[8] = {3};
  return thing::dot(a, a, n) + thing::sum(b, n) + other(c, n);
}
"""  # noqa: E501


@pytest.mark.native
@pytest.mark.parametrize(
    ("flags", "width"), [(["-O2", "-fno-tree-vectorize"], 64), (["-O3", "-ffast-math", "-mavx2"], 256)]
)
def test_the_loop_and_its_width_are_those_of_the_program(tmp_path: Path, flags: list[str], width: int) -> None:
    (tmp_path / "x.cpp").write_text(SOURCE)
    built = subprocess.run(["g++", *flags, "-o", tmp_path / "x", tmp_path / "x.cpp"], capture_output=True, text=True)
    if built.returncode != 0 and "-mavx2" in flags:
        pytest.skip("this compiler does not know AVX2")
    assert built.returncode == 0, built.stderr
    loop = hot_loop(tmp_path / "x", "thing::")
    assert isinstance(loop, Loop) and loop.function.startswith("thing::dot") and loop.width == width
    assert loop.arithmetic >= 1 and "j" in loop.lines[-1]
    from_main = hot_loop(tmp_path / "x", "^main$")  # it calls all of them
    assert isinstance(from_main, Loop) and (from_main.width, from_main.arithmetic) >= (width, loop.arithmetic)
    assert str(hot_loop(tmp_path / "x", "thing::sum")).startswith("not available: no loop of the program")
    assert str(hot_loop(tmp_path / "x.cpp")).startswith("not available: objdump")


def test_without_objdump_the_loop_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert hot_loop(Path("/bin/true")) == "not available: objdump is not on PATH; install binutils"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explain")
    many_runs.write(synthetic.run(1, 8), place, "one", synthetic.STARTED)
    return place


def test_the_numbers_of_the_pages_are_those_of_figures_json(results: Path, capsys: Captured) -> None:
    page = results / "page.html"
    words = ["dot.simd", "rate", "n", "=", "1000", "gcc-native", "--run", "one", "--results", str(results)]
    code, out, _ = call(capsys, "explain", *words, "--output", str(page))
    assert code == OK
    _, output, _ = call(capsys, "explain", *words, "--json")
    explained = json.loads(output)
    _, table, _ = call(capsys, "figures", "one", "--results", str(results), "--json", "--launches")
    row = next(r for r in json.loads(table) if explained["identity"].items() <= r.items())
    for key in ("median", "low", "high"):
        assert explained["estimate"][key] == row[key]
    assert explained["estimate"]["launches"] == row["values"] and explained["of_ceiling"] == row["of_ceiling"]
    assert f"{row['median']:.3g} Gflop/s" in out and f"{100 * row['of_ceiling']:.0f} % of its ceiling" in out
    assert "not available" in out and "./fl" not in out.split("repeat it")[0]
    (repeat,) = (line for line in out.splitlines() if line.startswith("  ./fl run --results "))
    assert repeat.endswith(" dot.simd --toolchain gcc-native") and len(repeat) > 80  # to be copied: not wrapped
    text = page.read_text()
    assert 'data-from="a / a.ceiling"' in text and 'id="explain-time"' in text


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["dot.smid"], USAGE, "did you mean"),
        (["zzz"], USAGE, " one` lists them"),
        (["rate"], USAGE, "figures match 'rate'; add more words: "),
        (["dot.kahan", "rate", "gcc-fast", "1000"], REGRESSION, "dot.kahan rate, n = 1000 (gcc-fast): failed: "),
        (["dot", "--run", "nothing"], USAGE, "no run named 'nothing'"),
        (["dot.simd", "rate", "--output", "/nowhere/x.html"], USAGE, "there is no folder /nowhere"),
    ],
)
def test_what_cannot_be_explained_is_one_line(
    results: Path, capsys: Captured, words: list[str], status: int, why: str
) -> None:
    code, out, err = call(
        capsys, "explain", *(words if "--run" in words else [*words, "--run", "one"]), "--results", str(results)
    )
    assert (code, out, len(err.splitlines())) == (status, "", 1) and why in err, err


def test_a_word_of_a_name_is_meant_as_it_stands(judged: tuple[Judgement, dict[str, Workload]]) -> None:
    figure = verified(judged[0])[0]
    some = [
        replace(figure, identity=replace(figure.identity, variant=v, metric=m))
        for v in "ab"
        for m in ("time", "cpu_time")
    ]
    assert choose(some, ["time", f"{figure.identity.workload}.b"]) is some[2]
    assert choose(some, ["time", ".b"]) is some[2], "a part beside a word"
    assert choose(some, ["cpu", ".a"]) is some[1], "a part of one"
    with pytest.raises(UsageError, match="2 figures match 'time'; add more words"):
        choose(some, ["time"])


def test_every_launch_is_in_the_table_behind_the_drawing(judged: tuple[Judgement, dict[str, Workload]]) -> None:
    judgement, workloads = judged
    figure = verified(judgement)[0]
    explanation = explain.explain(judgement, figure, workloads, "not available: no cache")
    drawn = explain.drawings(explanation)
    assert len(drawn[0].rows) == sum(len(x.samples) for x in explanation.launches)
    assert explain.drawings(replace(explanation, launches=())) == []
