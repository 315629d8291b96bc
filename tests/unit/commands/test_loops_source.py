"""`tune loop`: what is read of a source file: pragmas, free names, hashes and macros."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import needs
from firstlight import ROOT
from firstlight.commands.loops import (
    NotUnderstoodError,
    Pragma,
    change,
    dispatch,
    pragma,
    source,
)
from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.trial import edges, points
from loops_samples import DOT, HEADER, MACRO, SHIFT, loops_of

pytestmark = needs("tune")


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
    """Format a pragma as a user would write it."""
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
        ("precious trip(1:2", "closing parenthesis"),
        ("precious even even", "occurs twice"),
        ("precious fpmode(fast)", "not one of precious"),
        ("precious tol(abs=1)", "tol"),
    ],
)
def test_what_is_wrong_is_named(text: str, why: str) -> None:
    with pytest.raises(NotUnderstoodError, match=why.replace("(", r"\(")):
        pragma.parse(text)


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
        ("while (n) --n;", "does not precede a for loop"),
        ("for (i = 0; i < n; ++i) puts(s);", "puts() is called"),
        ("for (i = 0; i < n; ++i) if (x[i]) return;", "leaves the loop"),
        ("for (i = 0; i < n; ++i) *x = i;", "`*x` is not understood"),
        ("for (i = 0; i < n; ++i) x[i] = z[0] = 1;", "z changes in the loop"),
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


def test_the_examples_are_twelve_loops_that_are_understood() -> None:
    read = source.read(ROOT / "examples" / "tune" / "loops.c")
    assert len(read.loops) == 12 and read.refused == ()
    assert all(
        isinstance(dispatch.piece(loop, "clang"), Piece) and change.space(dispatch.piece(loop, "clang"))
        for loop in read.loops
    )


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
        ("#include <assert.h>", "assert(x[i] >= 0); s += x[i];", "", "compile with -DNDEBUG"),
        ("#define A p.a", "s += A;", "", "copy members to local variables"),
        ("#define AT *x", "s += AT;", "", "write `x[0]`"),
        ("", "s += x[i];", "#pragma GCC ivdep", "another pragma precedes"),
        ("", "s += x[i];", '_Pragma("GCC unroll 4")', "another pragma precedes"),
        ("", "\n#pragma GCC unroll 4\nfor (int j = 0; j < 3; ++j) s += x[j];", "", "the loop contains another pragma"),
        ("#define STOP } if (s) {", "s += 1; STOP", "", "not a single for loop"),
        ("#define k (k + 1)", "s += k;", "#undef k\nint k = 1;", "has another meaning before the function"),
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
    assert "exclude the loop from compilation" in source.read(tmp_path / "off.c", command=["gcc"]).refused[0].why


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
    read = with_macro(tmp_path, "#define MANY n", "x[i] = 1;", "#undef MANY\n#define MANY calls", "extent(x, MANY)")
    assert "has another meaning before the function" in read.refused[0].why
