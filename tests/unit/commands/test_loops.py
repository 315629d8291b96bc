"""`tune loop`: candidates, changes, engines and the command; wrong candidates are rejected."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from commands import Captured, call, examples, needs
from firstlight import ROOT
from firstlight.commands.loops import (
    NotUnderstoodError,
    change,
    dispatch,
    emit,
    engines,
    judging,
)
from firstlight.commands.loops.trial import Bench, Compiler, compiler
from firstlight.commands.loops.tuner import TunedLoop
from firstlight.core.errors import UsageError
from killed import leaves_nothing_when_killed
from loops_samples import DOT, HEADER, MACRO, SHIFT, loops_of

pytestmark = needs("tune")


FLAGS = ("-O2", "-ffp-contract=off")


@pytest.fixture(scope="module")
def cc() -> Compiler:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return compiler("gcc", FLAGS)


@pytest.fixture(scope="module")
def benches(cc: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Bench]]:
    """Golden sides that several tests share."""
    found = {}
    for name, code in (("dot", DOT), ("shift", SHIFT), ("sum", DOT.replace("strict", "reassoc"))):
        read = loops_of(code)
        found[name] = Bench(read, read.loops[0], cc, tmp_path_factory.mktemp(name), computing=2)
        found[name].begin()
    yield found


def verified(bench: Bench, code: str, guarded: bool = True, restrict: bool = False) -> str | None:
    """Return the error of this code if it replaces the loop; None: no error."""
    piece = msgspec.structs.replace(dispatch.piece(bench.loop, "gcc"), code=code, restrict=restrict)
    path = bench.build([dispatch.Version(0, piece)], guarded)
    assert isinstance(path, Path), path
    return bench.verify(path)


SUM = "for (long i = {0}; i < {1}; ++i) s += x[i] * y[i];"


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        (
            "dot",
            "long i = 0; for (; i + 3 < n; i += 4) for (int l = 0; l < 4; ++l) s += x[i + l] * y[i + l];",
            "s is",
        ),  # no remainder
        ("dot", "double t = 0; for (long i = 0; i < n; ++i) t += x[i] * y[i]; s += t + 0.0;", "s is"),
        ("dot", "for (long i = n - 1; i >= 0; --i) s += x[i] * y[i];", "s is"),  # another order, and it is strict
        ("dot", SUM.format(0, "n + 1"), "touches"),
        ("dot", SUM.format(-1, "n"), "touches"),
        ("dot", "for (;;) s += 0 * x[0];", "hangs"),
        ("dot", SUM.format(0, "n") + " __builtin_trap();", "signal"),
        ("sum", SUM.format(0, "n") + " if (s != s) s = 1;", "NaN"),
        ("sum", SUM.format(0, "n") + " s *= 1 + 1e-9;", "s is"),
        ("shift", "for (int i = 0; i < n; ++i) y[i] = FACTOR * x[i] + 0.0;", "signed zeros"),
        ("shift", "for (int i = 0; i < n; ++i) { y[i] = FACTOR * x[i]; ((double *)x)[i] = 1; }", "x[0] is"),
        ("shift", "for (int i = n - 1; i >= 0; --i) y[i] = FACTOR * x[i];", None),
    ],
)
@pytest.mark.full
def test_a_wrong_candidate_is_found_wrong(benches: dict[str, Bench], name: str, code: str, why: str | None) -> None:
    found = verified(benches[name], code)
    assert found is None if why is None else found is not None and why in found, found


def test_another_order_is_right_where_the_pragma_allows_it(benches: dict[str, Bench]) -> None:
    assert verified(benches["sum"], "for (long i = n - 1; i >= 0; --i) s += x[i] * y[i];") is None


def test_overlapping_arrays_go_to_golden_by_a_check_and_without_it_are_wrong(benches: dict[str, Bench]) -> None:
    backwards = "for (int i = n - 1; i >= 0; --i) y[i] = FACTOR * x[i];"
    assert verified(benches["shift"], backwards) is None
    assert "overlaps" in (verified(benches["shift"], backwards, guarded=False) or "")


NEST = """void f(int n, double *a, const double *b, int m) {
#pragma tune precious trip(4:40) range(m, 3:9) extent(a, n * n) extent(b, n * n) fpmode(reassoc)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) { a[i * n + j] += b[j * n + i] * m; }
}
void g(long n, const double *x, double *y) { double s = 1;
#pragma tune precious trip(4:300) fpmode(reassoc)
  for (long i = 0; i < n; i++) { s += x[i]; y[i] = s; }
}
double h(long n, const double *x) { double s = 0, t = 1;
#pragma tune precious trip(4:300) fpmode(reassoc)
  for (long i = 0; i < n; i += 2) { s = x[i] > s ? x[i] : s; t += x[i + 1]; }
  return s + t; }
"""


@pytest.mark.parametrize(
    ("loop", "point"),
    [
        ("f", {"interchange": "j-i", "unroll": "4"}),
        ("f", {"tile": "8", "restrict": "yes"}),
        ("f", {"strip": "4", "prefetch": "16"}),
        ("g", {"scan": "8", "flags": "associative"}),
        ("g", {"prefetch": "16", "restrict": "yes"}),
        ("h", {"lanes": "8", "simd": "ivdep"}),
    ],
)
@pytest.mark.parametrize("path", ["gcc", "clang"])
@pytest.mark.full
def test_a_change_gives_another_loop_with_the_same_results(
    loop: str, point: dict[str, str], path: str, tmp_path: Path
) -> None:
    if shutil.which(path) is None:
        pytest.skip(f"needs {path}")
    read, cc = loops_of(NEST), compiler(path, FLAGS)
    bench = Bench(read, next(one for one in read.loops if one.name == loop), cc, tmp_path)
    bench.begin()
    golden = dispatch.piece(bench.loop, path)
    some = {name: value for name, value in point.items() if value in change.space(golden).get(name, ())}
    assert set(point) - set(some) <= ({"flags"} if path == "clang" else set())
    candidate = change.changed(golden, some)
    assert (candidate.code, candidate.restrict, candidate.attributes) != (golden.code, False, ())
    built = bench.build([dispatch.Version(0, candidate), dispatch.Version(100, None)])
    assert isinstance(built, Path), built
    assert bench.verify(built) is None


def test_changes_that_do_not_fit_are_not_offered() -> None:
    (loop,) = loops_of(DOT.replace("s += x[i] * y[i]", "s = x[i] * y[i] - s")).loops
    offered = change.space(dispatch.piece(loop, "gcc"))
    assert "lanes" not in offered and "scan" not in offered and "interchange" not in offered and "unroll" in offered
    with pytest.raises(NotUnderstoodError):
        change.changed(dispatch.piece(loop, "gcc"), {"lanes": "4"})


SPACE = {"tile": ("", "8", "16"), "unroll": ("", "2", "4", "8"), "flags": ("", "a")}


def valley(point: change.Point) -> float:
    """Best with tile 16 and unroll 4; the flag is rejected."""
    if point.get("flags"):
        return float("inf")
    return 1 - 0.3 * (point.get("tile") == "16") - 0.2 * (point.get("unroll") == "4") + 0.1 * (point.get("tile") == "8")


@pytest.mark.parametrize("name", ["greedy", "exhaustive", "random", "evolution"])
def test_an_engine_finds_what_is_best(name: str) -> None:
    if name == "evolution":
        pytest.importorskip("scipy")
    tried: dict[str, float] = {}

    def score(point: change.Point) -> float:
        assert all(value in SPACE[kind] for kind, value in point.items())
        tried[change.describe(point)] = value = valley(point)
        return value

    engines.find(name)(SPACE, score, Random(1))
    assert min(tried, key=lambda point: tried[point]) == "tile 16, unroll 4"
    assert name != "exhaustive" or len(tried) == 3 * 4 * 2 - 1


def test_an_engine_that_is_not_here_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("firstlight.commands.loops.engines.evolution.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"not available: .*pip install scipy"):
        engines.find("evolution")
    (tmp_path / "points.json").write_text('[{"unroll": "3"}]')
    with pytest.raises(UsageError, match="does not allow the change unroll 3"):
        engines.find(f"replay:{tmp_path / 'points.json'}")(SPACE, valley, Random(1))
    with pytest.raises(UsageError, match="no engine named"):
        engines.find("bayes")


def test_equal_times_are_not_called_faster() -> None:
    some = [1.0 + 0.01 * k for k in range(12)]
    assert judging.judged(some, some, 8).outcome != "better"
    assert judging.judged(some, [0.5 * x for x in some], 8).outcome == "better"
    assert judging.judged(some, [2 * x for x in some], 8).outcome == "worse"


@pytest.mark.full
def test_a_replayed_tuning_tells_what_it_tried(cc: Compiler, tmp_path: Path, capsys: Captured) -> None:
    """The fastest candidate depends on the machine: the test asserts that each candidate has its verdict."""
    file = tmp_path / "sum.c"
    file.write_text(DOT)
    (tmp_path / "points.json").write_text('[{"lanes": "4"}, {"unroll": "4"}]')
    engine = [
        "--engine",
        f"replay:{tmp_path / 'points.json'}",
        "--launches",
        "6",
        "--flags",
        " ".join(FLAGS),
        "--cc",
        "gcc",
    ]
    code, out, err = call(capsys, "tune", "loop", str(file), "--json", *engine)
    assert code == 0, err
    (outcome,) = msgspec.json.decode(out, type=list[TunedLoop])
    lanes, unrolled = outcome.tried
    assert lanes.wrong and "s is" in lanes.rejected and not lanes.ratios  # it reorders, and the loop is strict
    assert not unrolled.wrong and all(ratio > 0 for ratio in unrolled.ratios.values())
    assert bool(outcome.written) == (not outcome.why) == bool(emit.every(file))
    page = call(capsys, "tune", "loop", str(file), *engine)[1]
    assert "1 rejected as wrong" in page and "lanes 4" in page


def test_the_example_works_as_typed(
    cc: Compiler, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test only shortens its time."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("tuned"))
    monkeypatch.chdir(tmp_path)
    words = next(words for words in examples("tune", capsys) if words[1] == "loop")
    code, out, err = call(capsys, *words, "--budget", "1s", "--launches", "6")
    assert code == 0 and "dot" in out, err


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--loop", "dott"], "has no loop dott; it has dot"),
        (["--engine", "bayes"], "no engine named"),
        (["--cc", "/bin/false"], "does not accept"),
        (["--flags", "--no-such-flag"], "does not accept"),
        (["--budget", "x"], "budget"),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], why: str, cc: Compiler, tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "sum.c"
    file.write_text(DOT)
    code, _, err = call(capsys, "tune", "loop", str(file), *more)
    assert code in (2, 3) and why in err and err.count("\n") == 1, err


def test_a_reordering_of_an_array_behind_a_macro_is_wrong_where_it_is_strict(
    cc: Compiler, tmp_path: Path, capsys: Captured
) -> None:
    """Candidates must be verified with other values than zeros in the array, or a wrong candidate passes."""
    (tmp_path / "points.json").write_text('[{"lanes": "4"}]')
    (tmp_path / "h.h").write_text(HEADER)
    (tmp_path / "m.c").write_text(MACRO.format("#define W(i) w[i]", "", "", "s += W(i) * x[i];"))
    words = ["--engine", f"replay:{tmp_path / 'points.json'}", "--launches", "6", "--flags", "-O1", "--cc", "gcc"]
    code, out, err = call(capsys, "tune", "loop", str(tmp_path / "m.c"), "--json", *words)
    assert code == 0, err
    (outcome,) = msgspec.json.decode(out, type=list[TunedLoop])
    assert outcome.tried[0].wrong and "s is" in outcome.tried[0].rejected and not outcome.written


def test_kill_of_firstlight_leaves_no_child(tmp_path: Path) -> None:
    leaves_nothing_when_killed(tmp_path, "from firstlight.commands.loops import trial; trial.compiler(fake, ())")
