"""Trials of compilers: identity, C++20, flag sets, OpenMP, and the Fortran compiler of the same version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.toolchain import Absent, FlagSet, Toolchain, vendors
from firstlight.toolchain.host import CommandResult, Host
from firstlight.toolchain.probe_result import Compiler

_WHO = "compiler {}"

CXX = """#include <bit>
#include <concepts>
#include <cstdio>
#include <span>
template <std::floating_point T> T sum(std::span<const T> x) { T s = 0; for (T v : x) s += v; return s; }
int main() { const double x[3] = {1, 2, 3}; std::printf("%g\\n", sum<double>(x)); return sum<double>(x) == 6 ? 0 : 1; }
"""

_OPENMP = """#include <omp.h>
#include <cstdio>
int main() { int n = 0, t = 0;
#pragma omp parallel num_threads(2) reduction(+:n) reduction(max:t)
{ n += 1; t = omp_get_num_threads(); }
std::printf("%d\\n", n); return n == t && n >= 1 ? 0 : 1; }
"""

_FORTRAN = """program trial
  use, intrinsic :: iso_c_binding, only: c_double
  implicit none
  real(c_double) :: x(3) = [1.0_c_double, 2.0_c_double, 3.0_c_double]
  if (dot_product(x, x) /= 14.0_c_double) error stop 1
end program
"""


_LENGTH = """#include <cstdio>
#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
int main() { std::printf("%d\\n", 8 * static_cast<int>(svcntb())); }
#else
int main() { std::puts("0"); }
#endif
"""


def identify(macros: str) -> tuple[str, str] | None:
    """Return (family, version) from predefined macros; None for one that is neither GCC nor Clang (see `vendors`).

    A name proves nothing: `g++` is Clang on some systems, and Intel's and NVIDIA's compilers define __GNUC__ too.
    """
    values = dict(re.findall(r"^#define (\w+) (.*)$", macros, re.MULTILINE))
    if any(name in values for name in ("__INTEL_LLVM_COMPILER", "__INTEL_COMPILER", "__NVCOMPILER", "__ibmxl__")):
        return None
    family, names = ("clang", ("__clang_major__", "__clang_minor__", "__clang_patchlevel__"))
    if "__clang__" not in values:
        family, names = ("gcc", ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))
    parts = [values.get(name, "") for name in names]
    return (family, ".".join(parts)) if all(part.isdigit() for part in parts) else None


def family_compilers(host: Host, family: str, default: str, versioned: str) -> tuple[list[Compiler], list[Absent]]:
    """Return all compilers of a family: `default`, or else the newest, has the family's name, others add a version.

    `versioned` is a regular expression of names such as g++-13. Those that fail the C++20 trial are absent.
    """
    named = host.which(default)
    candidates = ([named] if named else []) + host.matching(versioned)
    known: dict[str, Path] = {}
    for path in candidates:
        found = who(host, path)
        if found is not None and found[0] == family:
            known.setdefault(found[1], path)
    newest_first = sorted(known, key=_ordered, reverse=True)
    if named and (found := who(host, named)) and found[0] == family:
        newest_first.remove(found[1])
        newest_first.insert(0, found[1])
    good: list[Compiler] = []
    bad: list[Absent] = []
    for version in newest_first:
        name = f"{family}-{version.split('.')[0]}" if good else family
        if any(c.name == name or c.version.split(".")[0] == version.split(".")[0] for c in good):
            continue  # a second patch level of one major version
        outcome = knows_cxx20(host, known[version])
        if outcome.ok:
            good.append(Compiler(name=name, family=family, version=version, cxx=str(known[version])))
        else:
            fix = "install a version with C++20 and its standard library (gcc 11, clang 14 or newer)"
            bad.append(Absent(f"{family} {version}", f"{known[version]}: {outcome.reason}", fix))
    return good, bad


def knows_cxx20(host: Host, cxx: Path, flags: Sequence[str] = ()) -> CommandResult:
    """Return the result of a trial: it compiles C++20 with its standard library, and runs the program."""
    words = [str(cxx), *flags, "-std=c++20"]
    return proved(host, " ".join(("C++20", *flags, host.identity(cxx))), CXX, ".cpp", words)


def fortran_of(host: Host, compiler: Compiler, names: Sequence[str]) -> tuple[str, str] | None:
    """Return (path, version) of the first working Fortran compiler of `names` with the C++ compiler's major version."""
    beside = Path(compiler.cxx).parent
    for name in names:
        for path in dict.fromkeys((beside / name, host.which(name))):
            if path is None or not path.exists() or not host.shows(path):
                continue
            key = f"fortran {host.identity(path)}"
            version = host.memory.recall(key, str)
            if version is None:
                version = version_in(host.run([path, "--version"]).out) or ""
                if not version or not host.trial(_FORTRAN, ".f90", [path]).ok:
                    continue
                host.memory.keep(key, version)
            if version.split(".")[0] == compiler.version.split(".")[0]:
                return str(path), version
    return None


def version_in(text: str) -> str | None:
    """Return the version in the first line of `--version`: the last dotted number outside parentheses."""
    first = re.sub(r"\([^)]*\)", " ", text.split("\n", 1)[0])
    found = re.findall(r"(?<![\w.])([0-9]+(?:\.[0-9]+)+)", first)
    return found[-1] if found else None


def toolchains_of(
    host: Host, compiler: Compiler, flag_sets: Mapping[FlagSet, Sequence[tuple[str, ...]]] | None = None
) -> tuple[list[Toolchain], list[Absent]]:
    """Return the compiler with each flag set that it accepts without a warning and whose program runs here."""
    openmp, absent = _openmp(host, compiler)
    toolchains = []
    for flag_set, spellings in (vendors.flags(compiler.family) if flag_sets is None else flag_sets).items():
        flags, reason = _first_accepted(host, compiler, spellings)
        name = f"{compiler.name}-{flag_set}"
        if flags is None:
            absent.append(Absent(name, reason, f"use another flag set or another version of {compiler.name}"))
            continue
        flags = _with_length(host, compiler, flags)
        toolchains.append(
            Toolchain(
                name=name,
                compiler=compiler.name,
                flag_set=flag_set,
                version=compiler.version,
                cxx=compiler.cxx,
                flags=flags,
                openmp=openmp,
                fortran=compiler.fortran,
                fortran_version=compiler.fortran_version,
                strict=vendors.strict(compiler.family),
                binutils=compiler.binutils,
            )
        )
    return toolchains, absent


def proved(host: Host, key: str, source: str, suffix: str, command: Sequence[str | Path]) -> CommandResult:
    """Run a trial, unless it succeeded before. A failed trial is repeated: its cause may have been repaired."""
    remembered = host.memory.recall(key, CommandResult)
    if remembered is not None:
        return remembered
    outcome = host.trial(source, suffix, command)
    if outcome.ok:
        host.memory.keep(key, outcome)
    return outcome


def who(host: Host, path: Path) -> tuple[str, str] | None:
    """Return (family, version) of a C++ compiler from a vendor's version output, else from its macros, or None."""
    key = _WHO.format(host.identity(path))
    known = host.memory.recall(key, tuple[str, str])
    if known is not None:
        return known
    version = host.run([path, "--version"])
    known = vendors.parse_version(version.out) if version.ok else None
    if known is None:
        outcome = host.run([path, "-dM", "-E", "-x", "c++", "/dev/null"])
        known = identify(outcome.out) if outcome.ok else None
    if known is not None:
        host.memory.keep(key, known)
    return known


def _first_accepted(
    host: Host, compiler: Compiler, spellings: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...] | None, str]:
    """Return the first spelling that compiles without any warning and runs; else None and the reasons."""
    key = f"flags {spellings} {host.identity(compiler.cxx)}"
    known = host.memory.recall(key, tuple[str, ...])
    if known is not None:
        return known, ""
    reasons = []
    for flags in spellings:
        outcome = host.trial(CXX, ".cpp", [compiler.cxx, "-std=c++20", "-Werror", *flags])
        if outcome.ok:
            host.memory.keep(key, flags)
            return flags, ""
        reasons.append(f"{' '.join(flags)}: {outcome.reason}")
    return None, "; ".join(reasons)


def _with_length(host: Host, compiler: Compiler, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Add the length of the vectors here to flags that allow SVE.

    Otherwise code for ceilings, whose vectors have a fixed width, is narrower than loops that a compiler vectorises.
    """
    if host.machine.architecture != "aarch64":
        return flags
    identity = host.identity(compiler.cxx)
    length = proved(host, f"vector length {flags} {identity}", _LENGTH, ".cpp", [compiler.cxx, *flags])
    bits = length.out.strip()
    fixed = (*flags, f"-msve-vector-bits={bits}")
    if not length.ok or not bits.isdecimal() or bits == "0":
        return flags
    taken = proved(host, f"flags {fixed} {identity}", CXX, ".cpp", [compiler.cxx, "-std=c++20", "-Werror", *fixed])
    return fixed if taken.ok else flags


def _openmp(host: Host, compiler: Compiler) -> tuple[tuple[str, ...], list[Absent]]:
    reason = ""
    for flags in vendors.openmp(compiler.family):
        key = f"openmp {flags} {host.identity(compiler.cxx)}"
        outcome = proved(host, key, _OPENMP, ".cpp", [compiler.cxx, *flags])
        if outcome.ok:
            return flags, []
        reason = reason or outcome.reason
    major = compiler.version.split(".")[0]
    package = "libgomp1" if compiler.family == "gcc" else f"libomp-{major}-dev"
    return (), [host.absent(f"OpenMP for {compiler.name}", reason, apt=package, dnf="libgomp libomp-devel")]


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
