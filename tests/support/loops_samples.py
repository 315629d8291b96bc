"""Loops for tests of `tune loop`, and invented outcomes for its page: one kept with two compilers, one still golden."""

from __future__ import annotations

from pathlib import Path

from firstlight.commands.loops import source
from firstlight.commands.loops.judging import Judged, judged
from firstlight.commands.loops.source import Source
from firstlight.commands.loops.tuner import Kept, Tried, TunedLoop

CODE = """double sum(long n, const double *x) {
  double s = 0;
#pragma tune precious trip(4:300) fpmode(reassoc)
  for (long i = 0; i < n; ++i) { s += x[i]; }
  return s;
}
void twice(long n, const double *x, double *y) {
#pragma tune precious
  for (long i = 0; i < n; ++i) y[i] = 2 * x[i];
}
void odd(long n, double *x) {
#pragma tune precious
  while (n--) x[n] = 0;
}
"""
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


def loops_of(code: str, path: str = "a.c") -> Source:
    return source.read(Path(path), code.encode())


def read(path: str = "a.c") -> Source:
    return loops_of(CODE, path)


def outcomes(word: str = "", file: str = "a.c") -> list[TunedLoop]:
    """Yield outcomes; every text from a file or a compiler contains `word`."""
    loops = {one.name: one for one in read().loops}
    found = []
    for family, speed in (("gcc", 2.0), ("clang", 3.5)):
        rows = [_row(trip, speed, k, "lanes 8") for k, trip in enumerate((4, 35, 300))]
        rows[0] = _row(4, 1.0, 3, "golden")
        tried = [
            Tried({"lanes": "8"}, "lanes 8" + word, {4: 1.02, 35: 1 / speed, 300: 0.9 / speed}),
            Tried({"unroll": "3"}, "unroll 3" + word, rejected=f"4 turns: s is 2 instead of 1 {word}", wrong=True),
            Tried({"tile": "8"}, "tile 8", rejected=f"/home/somebody/a.c: no two loops {word}"),
        ]
        kept = [Kept(4, 34, "golden", ""), Kept(35, 300, "lanes 8" + word, f"double fl_s[8]; {word}")]
        loop = loops["sum"]
        found.append(
            TunedLoop(
                file, "sum", loop.line, f"{family} 1.2{word}", family, loop.hash, "2026-11-25",
                f"#pragma tune precious {word}", loop.text + word, tried, rows, kept, written=f"tuned/a.sum.{family}.c",
            )
        )  # fmt: skip
    loop = loops["twice"]
    loop_fields = ("#pragma tune precious", loop.text, [], [], [])
    why = f"no candidate is faster {word}"
    found.append(TunedLoop(file, "twice", loop.line, "gcc 1.2", "gcc", "changed", "2026-11-25", *loop_fields, why=why))
    return found


def _row(trip: int, speed: float, shift: int, candidate: str) -> Judged:
    golden = [1e-7 * trip * (1 + 0.001 * ((k * 7 + shift) % 12)) for k in range(12)]
    mine = [1e-7 * trip / speed * (1 + 0.001 * ((k * 5 + shift) % 12)) for k in range(12)]
    return judged(golden, mine, trip, candidate)
