"""`tune loop`: pragmas, free names, hashes, changes and engines; wrong candidates are found wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Captured, call, examples, needs
from firstlight import ROOT
from firstlight.commands.loops import (
    NotUnderstoodError,
    Pragma,
    change,
    dispatch,
    emit,
    engines,
    judging,
    pragma,
    source,
)
from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.trial import Bench, Compiler, compiler, edges, points
from firstlight.commands.loops.tuner import TunedLoop
from firstlight.core.errors import UsageError
from killed import leaves_nothing_when_killed

pytestmark = needs("tune")

FLAGS = ("-O2", "-ffp-contract=off")
DOT = """double dot(long n, const double *x, const double *y) {
  double s = 0;
#pragma tune precious trip(4:300) fpmode(strict)
  for (long i = 0; i < n; ++i) { s += x[i] * y[i]; } /* here */
  return s;
}
"""
SHIFT = """#define FACTOR 3
void shift(int n, const double *x, double *y) {
#pragma tune precious trip(4:300)
  for (int i = 0; i < n; ++i) y[i] = FACTOR * x[i];
}
"""

words = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
pragmas = st.builds(
    Pragma,
    low=st.integers(0, 99),
    high=st.integers(99, 10**9),
    even=st.booleans(),
    not_pow2=st.booleans(),
    tolerance=st.floats(0, 0.5),
    reassoc=st.booleans(),
    extents=st.dictionaries(words, st.sampled_from(["n", "n * (m + 1)", "2*n"]), max_size=2),
    ranges=st.dictionaries(
        words,
        st.tuples(st.sampled_from(["uniform", "ascending"]), st.just("0"), st.sampled_from(["n - 1", "f(n)"])),
        max_size=2,
    ),
)


def format_pragma(p: Pragma) -> str:
    """As a user would write it."""
    parts = [
        "precious",
        f"trip({p.low}:{p.high})",
        f"tol(rel={p.tolerance!r})",
        f"fpmode({'reassoc' if p.reassoc else 'strict'})",
    ]
    parts += [word for word, there in (("even", p.even), ("not_pow2", p.not_pow2)) if there]
    parts += [f"extent({name}, {n})" for name, n in p.extents.items()]
    parts += [f"range({n},{' ascending ' if k == 'ascending' else ''}{a} : {b})" for n, (k, a, b) in p.ranges.items()]
    return " ".join(parts)


@given(pragmas)
def test_a_pragma_says_what_is_read_of_it(p: Pragma) -> None:
    assert pragma.parse(format_pragma(p)) == p


@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(st.sampled_from([*list("(),:= "), "precious", "trip", "tol", "range", "9"])).map("".join),
    )
)
def test_whatever_else_it_says_is_told_in_one_line(text: str) -> None:
    try:
        assert isinstance(pragma.parse(text), Pragma)
    except NotUnderstoodError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("trip(1:2)", "begin with `precious`"),
        ("precious trip(9:2)", "the lower first"),
        ("precious trip(1:2", "closing bracket"),
        ("precious even even", "given twice"),
        ("precious fpmode(fast)", "none of precious"),
        ("precious tol(abs=1)", "tol"),
    ],
)
def test_what_is_wrong_is_named(text: str, why: str) -> None:
    with pytest.raises(NotUnderstoodError, match=why.replace("(", r"\(")):
        pragma.parse(text)


def loops_of(code: str, path: Path = Path("a.c")) -> source.Source:
    return source.read(path, code.encode())


def test_free_names_have_the_types_of_their_declarations() -> None:
    code = """static const float g[8][4];
double f(int n, double (*a)[n], const double b[static n], size_t k, double *restrict w) { double s, *q; int i;
#pragma tune precious
  for (i = 0; i < n; i++) { s += b[i] * g[0][1] + a[i][2]; w[i] = k; }
  return s; }"""
    (loop,) = loops_of(code).loops
    declared = {p.name: p.declared() for p in loop.params}
    assert declared == {
        "i": "int *fl_i",
        "n": "int n",
        "s": "double *fl_s",
        "k": "size_t k",
        "b": "const double *b",
        "g": "const float (*g)[4]",
        "a": "double (*a)[n]",
        "w": "double *__restrict w",
    }


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("while (n) --n;", "is not a for loop"),
        ("for (i = 0; i < n; ++i) puts(s);", "puts() is called"),
        ("for (i = 0; i < n; ++i) if (x[i]) return;", "leaves the loop"),
        ("for (i = 0; i < n; ++i) *x = i;", "`*x` is not understood"),
        ("for (i = 0; i < n; ++i) x[i] = z[0] = 1;", "z is changed"),
        ("for (i = 0; i < n; ++i) v[i] = 0;", "array of pointers"),
    ],
)
def test_a_loop_that_is_not_understood_is_told_with_its_line(loop: str, why: str) -> None:
    code = f"void f(int n, double *x, double *v[4], char *s) {{ int i;\n#pragma tune precious\n{loop}\n}}\n"
    (refused,) = loops_of(code).refused
    assert refused.line == 2 and why in refused.why


def test_only_what_changes_the_loop_changes_its_hash() -> None:
    hashes = [
        loops_of(code).loops[0].hash for code in (SHIFT, SHIFT.replace("= 0; i", "=0;/**/  i"), "int z;\n" + SHIFT)
    ]
    assert len(set(hashes)) == 1
    edits = [
        ("FACTOR * x", "FACTOR + x"),
        ("FACTOR 3", "FACTOR 4"),
        ("const double", "const float"),
        ("4:300", "4:301"),
    ]
    others = {loops_of(SHIFT.replace(a, b)).loops[0].hash for a, b in edits}
    assert len(others) == len(edits) and hashes[0] not in others


@given(pragmas)
def test_trip_counts_to_time_and_to_verify_are_those_of_the_pragma(p: Pragma) -> None:
    assert all(p.takes(trip) for trip in points(p))
    tried = edges(p)
    assert not {t for t in range(p.low, min(p.high, p.low + 17) + 1) if p.takes(t)} - set(tried)
    assert p.low == 0 or any(not p.takes(t) for t in tried)


# ---- candidates ----


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
    """What is wrong with this code in the place of the loop; None: nothing."""
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


# ---- engines ----

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
    with pytest.raises(UsageError, match="takes no unroll 3"):
        engines.find(f"replay:{tmp_path / 'points.json'}")(SPACE, valley, Random(1))
    with pytest.raises(UsageError, match="no engine named"):
        engines.find("bayes")


def test_equal_times_are_not_called_faster() -> None:
    some = [1.0 + 0.01 * k for k in range(12)]
    assert judging.judged(some, some, 8).outcome != "better"
    assert judging.judged(some, [0.5 * x for x in some], 8).outcome == "better"
    assert judging.judged(some, [2 * x for x in some], 8).outcome == "worse"


# ---- the command ----


@pytest.mark.full
def test_a_replayed_tuning_tells_what_it_tried(cc: Compiler, tmp_path: Path, capsys: Captured) -> None:
    """Which is faster depends on the machine: what is asserted is that each candidate has its verdict."""
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
    """But for the time that it takes."""
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
        (["--cc", "/bin/false"], "does not take"),
        (["--flags", "--no-such-flag"], "does not take"),
        (["--budget", "x"], "budget"),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], why: str, cc: Compiler, tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "sum.c"
    file.write_text(DOT)
    code, _, err = call(capsys, "tune", "loop", str(file), *more)
    assert code in (2, 3) and why in err and err.count("\n") == 1, err


def test_the_examples_are_twelve_loops_that_are_understood() -> None:
    read = source.read(ROOT / "examples" / "tune" / "loops.c")
    assert len(read.loops) == 12 and read.refused == ()
    assert all(
        isinstance(dispatch.piece(loop, "clang"), Piece) and change.space(dispatch.piece(loop, "clang"))
        for loop in read.loops
    )


# ---- macros and headers ----

MACRO = """#include "h.h"
{0}
static double w[1000] = {{1}}, scale = 2;
static int calls;
int puts(const char *);
double f(int n, double *x) {{ double s = 0; struct pair {{ double a; }} p = {{3}};
{1}
#pragma tune precious trip(4:300) {2}
  for (int i = 0; i < n; ++i) {{ {3} }}
  return s + p.a; }}
"""
HEADER = """#define OFFSET(i) table[i]
#define THREE 3
extern double table[4096];
enum kind { FIRST, SECOND };
"""


def with_macro(tmp_path: Path, macro: str, body: str, before: str = "", clause: str = "") -> source.Source:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "h.h").write_text(HEADER)
    (tmp_path / "m.c").write_text(MACRO.format(macro, before, clause, body))
    return source.read(tmp_path / "m.c", command=["gcc", "-O2", "-DFROM_BUILD(i)=w[i]", "-g3"])


@pytest.mark.parametrize(
    ("macro", "body", "names", "shown"),
    [
        ("#define W(i) w[i]", "s += W(i) * x[i];", "n s w x", "w[i]"),
        ("#define ALL w", "s += ALL[i] * x[i];", "n s w x", "w[i]"),
        ("#define B(i) w[i]\n#define A(i) B(i)", "s += A(i);", "n s w", "w[i]"),
        ("", "s += OFFSET(i);", "n s table", "table[i]"),
        ("", "s += table[i] + SECOND;", "n s table", "SECOND"),
        ("#define SCALED (scale * 2)", "s += SCALED * x[i];", "n s scale x", "(scale * 2)"),
        ("#define COUNT calls++", "COUNT; s += x[i];", "calls n s x", "calls++"),
        ("#define SET(a, b) a = b", "SET(s, x[i]);", "n s x", "s = x[i]"),
        ("", "s += FROM_BUILD(i);", "n s w", "w[i]"),
        ("#define CAT(a, b) a##b", "s += CAT(sca, le);", "n s scale", "scale"),
        ("#define IT(i) x[(i)]", "IT(i) = 1;", "n x", "x[(i)] = 1"),
        ("#define IS_I i", "s += IS_I;", "n s", "s += i"),
        ("#define BODY s += x[i];", "BODY", "n s x", "s += x[i]"),
        ("#define real double", "real t = x[i]; s += t;", "n s x", "double t"),
        ("#define FACTOR 3", "s += FACTOR * x[i] + THREE;", "n s x", "FACTOR * x[i] + THREE"),
    ],
)
def test_names_behind_macros_are_those_of_the_loop(
    macro: str, body: str, names: str, shown: str, tmp_path: Path
) -> None:
    read = with_macro(tmp_path, macro, body)
    assert read.refused == ()
    assert sorted(p.name for p in read.loops[0].params) == sorted(names.split()) and shown in read.loops[0].text


@pytest.mark.parametrize(
    ("macro", "body", "before", "why"),
    [
        ("#define LOUD puts(0)", "LOUD;", "", "puts() is called"),
        ("#define END return s", "if (x[i]) END;", "", "leaves the loop"),
        ("#define A p.a", "s += A;", "", "copy members to local variables"),
        ("#define AT *x", "s += AT;", "", "write `x[0]`"),
        ("", "s += x[i];", "#pragma GCC ivdep", "another pragma stands before"),
        ("", "s += x[i];", '_Pragma("GCC unroll 4")', "another pragma stands before"),
        ("", "\n#pragma GCC unroll 4\nfor (int j = 0; j < 3; ++j) s += x[j];", "", "another pragma stands in the loop"),
        ("#define STOP } if (s) {", "s += 1; STOP", "", "not one for loop"),
        ("#define k (k + 1)", "s += k;", "#undef k\nint k = 1;", "means something else before the function"),
        ("#define GO goto out", "GO;", "", "leaves the loop"),
    ],
)
def test_what_a_macro_hides_is_refused_with_what_to_change(
    macro: str, body: str, before: str, why: str, tmp_path: Path
) -> None:
    read = with_macro(tmp_path, macro, body, before)
    assert read.loops == () and why in read.refused[0].why, read.refused


def test_pragmas_that_the_compiler_does_not_obey_and_conditions_are_left_out(tmp_path: Path) -> None:
    inner = "\n#pragma ivdep\n#pragma omp simd\nfor (int j = 0; j < 3; ++j)"
    inner += "\n#ifdef NO\ns += 1;\n#else\ns += x[j];\n#endif\n"
    (loop,) = with_macro(tmp_path, "", inner, "#pragma simd\n#pragma omp parallel for").loops
    assert "#" not in loop.text and "s += x[j]" in loop.text and "1" not in loop.text
    (tmp_path / "o.c").write_text(DOT.replace("  for", "#pragma ivdep\n  for"))
    assert len(source.read(tmp_path / "o.c", command=["gcc"]).loops) == 1
    (tmp_path / "o.c").write_text(DOT.replace("  for", "#pragma omp simd\n  for"))
    assert "another pragma" in source.read(tmp_path / "o.c", command=["gcc", "-fopenmp-simd"]).refused[0].why


def test_a_macro_that_changes_within_the_function_is_the_one_at_the_loop(tmp_path: Path) -> None:
    read = with_macro(tmp_path, "#define K 1", "s += K;", "#undef K\n#define K 2")
    assert "s += 2" in read.loops[0].text
    (tmp_path / "off.c").write_text(f"#if 0\n{DOT}\n#endif\n")
    assert "not compiled" in source.read(tmp_path / "off.c", command=["gcc"]).refused[0].why


def test_the_names_of_a_clause_are_bound_and_a_macro_of_a_header_changes_the_view(tmp_path: Path) -> None:
    views = set()
    for header in (HEADER, HEADER.replace("THREE 3", "THREE 4"), HEADER.replace("extern double", "extern float")):
        (tmp_path / "h.h").write_text(header)
        (tmp_path / "m.c").write_text(
            MACRO.format("#define MANY (calls + 1)", "", "extent(x, MANY)", "x[i] = THREE * table[i];")
        )
        (loop,) = source.read(tmp_path / "m.c", command=["gcc"]).loops
        assert "calls" in {p.name for p in loop.params}
        views.add(loop.view)
    assert len(views) == 3


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
