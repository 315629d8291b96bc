"""Marked loops that would mean something else in a function of their own are compiled as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commands import needs
from firstlight.commands.loops import source

pytestmark = needs("tune")

FILE = """double f(int n, double *x) {{ double s = 0; {0}
#pragma tune precious
for (int i = 0; i < n; ++i) {{ {1} }}
return s; }}
"""


def in_a_file(before: str, inside: str, body: str) -> str:
    return before + "\n" + FILE.format(inside, body)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (in_a_file("double w[9];", "", "w[i] += x[i]; { double w = 2; s += w; }"), "w is declared again in the loop"),
        (in_a_file("int k;", "", "s += k; for (int k = 0; k < 3; ++k) s += x[k];"), "k is declared again in the loop"),
        (in_a_file("", "", "static int calls; s += x[i] * calls++;"), "declared in the loop"),
        (in_a_file("double w[9];", "", "extern double w[9]; s += w[i];"), "declared in the loop"),
        (
            in_a_file("int c; double fmod(double a, double b) { return ++c; }", "", "s += fmod(x[i], 2);"),
            "defined in this file",
        ),
        (in_a_file("typedef volatile int R; typedef R S; S r[9];", "", "s += r[i];"), "r has the unsupported type S"),
        (in_a_file("typedef _Atomic int R; R r[9];", "", "s += r[i];"), "r has the unsupported type R"),
        (in_a_file("typedef double T;", "typedef float T; T y[9];", "y[i] += x[i];"), "T is declared in the function"),
        (in_a_file("typedef double T;", "typedef float T; T t = 0;", "t += x[i];"), "T is declared in the function"),
        (in_a_file("enum { A };", "enum { A = 3 };", "s += A * x[i];"), "A is declared in the function"),
        ('__attribute__((optimize("O0"))) ' + in_a_file("", "", "s += x[i];"), "the attribute `optimize`"),
        (in_a_file('double f(int, double *) __attribute__((target("avx")));', "", "s += x[i];"), "attribute `target`"),
        ("[[clang::optnone]] " + in_a_file("", "", "s += x[i];"), "the attribute `optnone`"),
        (in_a_file("", "\n#pragma STDC FP_CONTRACT OFF\nint k;", "s += x[i];"), "move it before the function"),
        (in_a_file("", "\n#pragma clang fp reassociate(on)\nint k;", "s += x[i];"), "move it before the function"),
        (
            in_a_file("", "\n#pragma float_control(precise, off)\nint k;", "s += x[i];"),
            "move it before the function",
        ),
        (in_a_file("double t;", "", "t += x[i]; x[i] = t;"), "t may be an element of x"),
        (in_a_file("typedef double T; extern T t;", "", "x[i] = t;"), "t may be an element of x"),
        (in_a_file("static double t; double *g(void) { return &t; }", "", "t += x[i];"), "t may be an element of x"),
        (in_a_file("void g(double *);", "g(&s);", "s += x[i];"), "s may be an element of x"),
        (in_a_file("unsigned n_of;", "int *p = (int *)x;", "p[i] = n_of;"), "n_of may be an element of p"),
        (in_a_file("double t;", "char *c = (char *)x;", "c[i] = t;"), "t may be an element of c"),
        ('#line 7 "a.y"\n' + in_a_file("", "", "s += x[i];"), "the numbers that `#line`"),
        ('# 7 "a.y"\n' + in_a_file("", "", "s += x[i];"), "the numbers that `# 7`"),
        (in_a_file("", "", "s += x[i] * __COUNTER__;"), "the numbers that `__COUNTER__`"),
        ("double w[9] __attribute__((aligned(64)));\n" + in_a_file("", "", "s += x[i];"), "before the function"),
    ],
)
def test_a_loop_with_another_meaning_in_a_function_of_its_own_is_refused(code: str, why: str, tmp_path: Path) -> None:
    """The loop moves to a function before its own, with copies of its numbers: the program's result would change."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "m.c").write_text(code)
    read = source.read(tmp_path / "m.c", command=["gcc", "-O2"])
    assert read.loops == () and why in read.refused[0].why, read


@pytest.mark.parametrize(
    ("before", "inside", "body"),
    [
        ("", "", "{ double t = x[i]; s += t; } { double t = 2; s += t; }"),
        ("int i;", "", "s += x[i];"),
        ("static double t;", "", "t += x[i];"),
        ("double t;", "", "s += t * x[i];"),
        ("int t;", "", "x[i] = t;"),
        ("double t, w[9];", "", "w[i] = t;"),
        ("typedef double T; T w[9];", "typedef int U; U u = 0;", "s += w[i];"),
        ("int g(int target) { return target; }", "int optimize = 2;", "s += optimize * x[i];"),
        ("", "\n#pragma GCC ivdep\nfor (int k = 0; k < n; ++k) x[k] = 1;", "s += x[i];"),
        ("void g(double *);", "double t = 0; g(&t);", "s += x[i];"),
    ],
)
def test_what_only_resembles_these_is_understood(before: str, inside: str, body: str, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "m.c").write_text(in_a_file(before, inside, body))
    assert source.read(tmp_path / "m.c", command=["gcc", "-O2"]).refused == ()


SOLVER = """void send(double *);
void f(int n, double *x) {{ {0}
for (int step = 0; step < 9; ++step) {{ {1}
#pragma tune precious
for (int i = 0; i < n; ++i) {{ x[i] *= 2; s += x[i]; }}
{2} }}
{3} }}
"""


@pytest.mark.parametrize(
    ("parts", "understood"),
    [
        (("double s = 0;", "", "", "send(&s);"), True),
        (("", "double s = 0;", "send(&s);", ""), True),
        (("double s = 0;", "", "send(&s);", ""), False),
        (("static double s;", "", "", "send(&s);"), False),
        (("double s = 0; send(&s);", "", "", ""), False),
        (("double s = 0; again:", "", "", "send(&s); if (n) goto again;"), False),
    ],
)
def test_an_address_that_is_taken_after_the_loop_changes_nothing(
    parts: tuple[str, ...], understood: bool, tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "m.c").write_text(SOLVER.format(*parts))
    read = source.read(tmp_path / "m.c", command=["gcc", "-O2"])
    assert bool(read.loops) == understood and len(read.refused) == (not understood), read.refused
