"""What a numerical library offers, proved by results: each capability is linked, run and its numbers compared.

The trials use the headers that variants use (native/harness/include/firstlight), with integers of 32 bits by value and
by reference. Behind a reference are other 32 bits, which a library with integers of 64 bits would read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from firstlight import ROOT
from firstlight.toolchain import Absent, Library, Offer
from firstlight.toolchain.host import CommandResult, Host
from firstlight.toolchain.linking import link_flags

OFFERS: tuple[Offer, ...] = get_args(Offer)
BLAS: tuple[Offer, ...] = ("blas1", "blas2", "blas3")
TITLES: dict[Offer, str] = {
    "blas1": "BLAS 1",
    "blas2": "BLAS 2",
    "blas3": "BLAS 3",
    "lapack": "LAPACK",
    "fft": "FFT",
    "sparse": "sparse matrices",
}

_INCLUDE = ROOT / "native" / "harness" / "include"
_TRIALS: dict[Offer, tuple[str, str]] = {
    "blas1": (
        '#include "firstlight/blas.hpp"\n'
        'extern "C" double FL_FORTRAN(ddot)(const int*, const double*, const int*, const double*, const int*);',
        "const double x[] = {1, 2, 3}, y[] = {4, 5, 6}; const int n[] = {3, 1 << 30}, one[] = {1, 1 << 30};"
        "return FL_CBLAS(ddot)(3, x, 1, y, 1) == 32 && FL_FORTRAN(ddot)(n, x, one, y, one) == 32;",
    ),
    "blas2": (
        '#include "firstlight/blas.hpp"',
        "const double a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 0, -1}; double y[] = {10, 20};"
        "FL_CBLAS(dgemv)(fl::blas::row_major, fl::blas::as_is, 2, 3, 2, a, 3, x, 1, 1, y, 1);"
        "return y[0] == 6 && y[1] == 16;",
    ),
    "blas3": (
        '#include "firstlight/blas.hpp"',
        "const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3, 4, 5, 6}; double c[] = {1, 0, 0, 1};"
        "FL_CBLAS(dgemm)(fl::blas::row_major, fl::blas::as_is, fl::blas::as_is, 2, 2, 3, 1, a, 3, b, 2, -1, c, 2);"
        "const float u[] = {1, 2, 3, 4}, v[] = {5, 6, 7, 8}; float w[] = {1, 0, 0, 1};"
        "FL_CBLAS(sgemm)(fl::blas::row_major, fl::blas::as_is, fl::blas::as_is, 2, 2, 2, 1, u, 2, v, 2, -1, w, 2);"
        "if (w[0] != 18 || w[1] != 22 || w[2] != 43 || w[3] != 49) return false;"
        "return c[0] == 21 && c[1] == 28 && c[2] == 49 && c[3] == 63;",
    ),
    "lapack": (
        '#include "firstlight/lapack.hpp"',
        "double a[] = {0, 2, 4, 0}, b[] = {8, 6}, s[] = {4, 2, 0, 5}; int pivots[4] = {}, info[] = {7, 0};"
        "const int n[] = {2, 1 << 30}, one[] = {1, 1 << 30};"
        "FL_FORTRAN(dgesv)(n, one, a, n, pivots, b, n, info);"
        "if (info[0] != 0 || b[0] != 3 || b[1] != 2) return false;"
        'FL_FORTRAN(dpotrf)("L", n, s, n, info, 1);'
        "return info[0] == 0 && s[0] == 2 && s[1] == 1 && s[3] == 2;",
    ),
    "fft": (
        '#include "firstlight/fft.hpp"',
        "alignas(16) std::complex<double> in[4], out[4], other[4];"
        "fftw_set_timelimit(1);"
        "auto* plan = fftw_plan_dft_1d(4, in, out, -1, 64); if (plan == nullptr) return false;"
        "for (int k = 0; k < 4; ++k) in[k] = {k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};"
        "fftw_execute(plan); fftw_execute_dft(plan, in, other); fftw_destroy_plan(plan);"
        "const std::complex<double> wanted[] = {{1, 1}, {0, -2}, {-1, 1}, {0, 0}};"
        "for (int k = 0; k < 4; ++k)"
        "  if (std::abs(out[k] - wanted[k]) > 1e-12 || std::abs(other[k] - wanted[k]) > 1e-12) return false;"
        "return true;",
    ),
    "sparse": (
        '#include "firstlight/sparse.hpp"',
        "int start[] = {0, 2, 3}, column[] = {0, 2, 1}; double value[] = {1, 2, 3}; const double x[] = {5, 7, 11};"
        "double y[] = {1, 1}; const fl::sparse::Product a(2, 3, start, column, value);"
        "return a.multiply(2, x, y) && y[0] == 54 && y[1] == 42;",
    ),
}


class Candidate(NamedTuple):
    """A library to be tested. `files`: to be linked, in this order, none for a header-only library.

    `expected`: what libraries of its kind offer. `version`: declarations and statements of C++ that print its version,
    the first dotted number that they print.
    """

    name: str
    label: str
    files: Sequence[Path]
    expected: Sequence[Offer]
    version: tuple[str, str]
    prefix: str = ""
    compile_flags: tuple[str, ...] = ()
    reference: bool = False


class _Answer(msgspec.Struct, frozen=True):
    """What is remembered: the version, what was proved, and why the rest was not."""

    version: str
    offers: tuple[Offer, ...]
    lacks: dict[Offer, str]


def format_offers(offers: Sequence[Offer]) -> str:
    """Return `BLAS 1-3, LAPACK`."""
    levels = ["BLAS 1-3"] if set(BLAS) <= set(offers) else [TITLES[offer] for offer in offers if offer in BLAS]
    return ", ".join([*levels, *(TITLES[offer] for offer in offers if offer not in BLAS)])


def prove(host: Host, candidate: Candidate) -> tuple[Library | str, list[Absent]]:
    """Return the library with what it offers, and what of `expected` it lacks; a reason if it offers nothing."""
    link = link_flags(candidate.files)
    key = f"library {candidate.name} {candidate.expected} {candidate.compile_flags} "
    key += host.identity(*candidate.files, host.cxx, *_headers())
    answer = host.memory.recall(key, _Answer)
    if answer is None:
        answer = _ask(host, candidate, link)
        if answer.offers:
            host.memory.keep(key, answer)
    if not answer.offers:
        where = " ".join([*map(str, candidate.files[:1]), *candidate.compile_flags])
        return f"{where}: {next(iter(answer.lacks.values()))}", []
    label = f"{candidate.label} {answer.version}".strip()
    fix = "use another library for these functions"
    gaps = [Absent(f"{TITLES[offer]} of {label}", reason, fix) for offer, reason in answer.lacks.items()]
    flags, reference = candidate.compile_flags, candidate.reference
    made = Library(candidate.name, label, flags, tuple(link), candidate.prefix, answer.offers, reference=reference)
    return made, gaps


def _ask(host: Host, candidate: Candidate, link: Sequence[str]) -> _Answer:
    """Test all offers together; if that fails, each alone."""
    outcome = _trial(host, candidate, candidate.expected, link)
    if outcome.ok:
        return _Answer(_version(outcome), tuple(candidate.expected), {})
    offers: list[Offer] = []
    lacks: dict[Offer, str] = {}
    version = ""
    for offer in candidate.expected:
        outcome = _trial(host, candidate, [offer], link)
        if outcome.ok:
            offers.append(offer)
            version = _version(outcome)
        else:
            lacks[offer] = _why(outcome)
    return _Answer(version, tuple(offers), lacks)


def _trial(host: Host, candidate: Candidate, offers: Sequence[Offer], link: Sequence[str]) -> CommandResult:
    declaration, version = candidate.version
    heads = dict.fromkeys(line for offer in offers for line in _TRIALS[offer][0].splitlines())
    lines = ["#include <cstdio>", *heads, declaration]
    lines += [f"static bool {offer}() {{ {_TRIALS[offer][1]} }}" for offer in offers]
    wrong = 'std::fputs("error: {}: a wrong result", stderr); return 1;'
    checks = [f"if (!{offer}()) {{ {wrong.format(TITLES[offer])} }}" for offer in offers]
    source = "\n".join([*lines, "int main() {", *checks, version, "}", ""])
    flags = ["-std=c++20", f"-I{_INCLUDE}", f"-DFL_SYMBOL_PREFIX={candidate.prefix}", *candidate.compile_flags]
    return host.trial(source, ".cpp", [host.cxx, *flags], link)


def _why(outcome: CommandResult) -> str:
    missing = re.search(r"undefined (?:reference to|symbol:) [`']?(\w+)", outcome.err)
    return f"the library has no {missing[1]}" if missing else outcome.reason


def _version(outcome: CommandResult) -> str:
    match = re.search(r"[0-9]+(?:\.[0-9]+)+", outcome.out)
    return match[0] if match else ""


def _headers() -> list[Path]:
    return [_INCLUDE / "firstlight" / f"{name}.hpp" for name in ("library", "blas", "lapack", "fft", "sparse")]
