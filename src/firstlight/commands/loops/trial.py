"""Trial: build, verify and time candidates, each execution in a process of its own that may crash or hang alone."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from firstlight import ROOT
from firstlight.commands.loops import NotUnderstoodError, Pragma
from firstlight.commands.loops.dispatch import Apart, Version
from firstlight.commands.loops.source import Marked, Source
from firstlight.commands.loops.unit import candidate, golden
from firstlight.core.errors import BuildError
from firstlight.system.process import bounded
from firstlight.toolchain.compiling import identify

DRIVER = ROOT / "native" / "loops"
PATIENCE = 600.0
"""Time limit in seconds for a compilation, and for an execution that may have to wait for other work."""
COMPUTING = 60
"""Seconds of CPU time for all cases of a candidate; a candidate that exceeds this hangs."""
HANGS = -24  # SIGXCPU
OVERLAPS = 2
"""Number of trip counts with which every pair of arrays is made to overlap."""
WIDTHS = (2, 4, 8, 16, 32, 64)
Place = Literal["malloc", "lines"]
PLACES: tuple[Place, ...] = ("malloc", "lines")
"""Where arrays are stored during timing: as malloc places them (for selecting candidates), or on cache lines."""


class Compiler(msgspec.Struct, frozen=True):
    """A C compiler with the flags of a build."""

    path: str
    family: str  # gcc, clang
    version: str
    flags: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.family} {self.version} {shlex.join(self.flags)}"


def compiler(path: str, flags: tuple[str, ...]) -> Compiler:
    """Identify a compiler. Raises BuildError for one that is neither GCC nor Clang."""
    try:
        done = bounded.run([path, *flags, "-dM", "-E", "-x", "c", "/dev/null"], timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{path} cannot be started: {getattr(error, 'strerror', None) or error}") from error
    if done.returncode != 0:
        raise BuildError(f"{path} does not accept {shlex.join(flags)}: {_first(done.stderr)}")
    who = identify(done.stdout)
    if who is None:
        raise BuildError(f"{path} is neither GCC nor Clang, and candidates use pragmas of these two")
    return Compiler(path, who[0], who[1], flags)


_PATHS = ("-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I", "-L", "-B", "--sysroot=", "-specs=", "@")


def whole_paths(flags: Sequence[str]) -> list[str]:
    """Return the flags with absolute paths of files and folders, for a compiler that runs in another folder."""
    found, option = list[str](), ""
    for flag in flags:
        if option or not (begins := next((p for p in _PATHS if flag.startswith(p)), "")):
            prefix, value = "", flag
        else:
            prefix, value = begins, flag[len(begins) :]
        named = (option or prefix) not in ("", "-include", "-imacros") or Path(value).exists()
        if value and (option or prefix) and named and value[0] not in "-=":
            value = value if value[0] == "/" else f"{Path.cwd()}/{value}"
        found.append(prefix + value)
        option = flag if not option and flag in _PATHS else ""
    return found


def _first(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")


class Bench:
    """One loop with one compiler: `folder` has the golden side, which is built once, and the candidates."""

    def __init__(self, source: Source, loop: Marked, cc: Compiler, folder: Path, computing: int = COMPUTING) -> None:
        self.source, self.loop, self.cc, self.folder, self.computing = source, loop, cc, folder, computing
        self._count = 0
        self._empty = folder / "empty"  # files that compilers and programs leave here are removed with it
        self._empty.mkdir(exist_ok=True)
        self._compiler = [str(Path(cc.path).absolute()) if os.sep in cc.path else cc.path, *whole_paths(cc.flags)]

    def begin(self) -> Path:
        """Build the golden side; return an executable whose candidate is golden. Raises NotUnderstoodError."""
        self._driver = self.folder / "driver.o"
        if (
            why := self._run([self._compiler[0], "-O2", "-c", str(DRIVER / "driver.c"), "-o", str(self._driver)])
        ) is not None:
            raise BuildError(f"the driver does not compile: {why}")
        if (why := self._compiled("golden", golden(self.source, self.loop, str(DRIVER / "driver.h")))) is not None:
            raise NotUnderstoodError(f"the loop does not compile in isolation: {why}")
        built = self.build([])
        if isinstance(built, str):
            raise NotUnderstoodError(f"the loop does not compile in isolation: {built}")
        if (why := self.verify(built)) is not None:
            raise NotUnderstoodError(f"no valid inputs were found: {why}")
        return built

    def build(self, versions: list[Version], guarded: bool = True, apart: Apart = "none") -> Path | str:
        """Return the executable of a candidate, or the reason why it cannot be built."""
        self._count += 1
        name = f"candidate{self._count}"
        try:
            text = candidate(self.source, self.loop, versions, str(DRIVER / "driver.h"), guarded, apart)
        except NotUnderstoodError as error:
            return str(error)
        if (why := self._compiled(name, text)) is not None:
            return f"does not compile: {why}"
        path = self.folder / name
        objects = [str(self._driver), str(self.folder / "golden.o"), str(self.folder / f"{name}.o")]
        loose = ["-Wl,--allow-multiple-definition", "-Wl,--unresolved-symbols=ignore-all", "-Wl,--gc-sections"]
        why = self._run([*self._compiler, *objects, "-o", str(path), *loose, "-lm"])
        return path if why is None else f"does not link: {why}"

    def _compiled(self, name: str, text: str) -> str | None:
        file = self.folder / f"{name}.c"
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        words = [*self._compiler, "-w", "-Dmain=fl_main_of_the_file", "-ffunction-sections"]
        return self._run(
            [
                *words,
                f"-iquote{self.source.path.parent.absolute()}",
                "-c",
                str(file),
                "-o",
                str(self.folder / f"{name}.o"),
            ]
        )

    def _run(self, words: list[str]) -> str | None:
        """Return None if the compilation succeeds; else its error. Raises BuildError if it cannot run to its end."""
        try:
            done = bounded.run(words, timeout=PATIENCE, folder=self._empty)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BuildError(f"{words[0]} cannot be run: {getattr(error, 'strerror', None) or error}") from error
        return None if done.returncode == 0 else _first(done.stderr)

    def verify(self, path: Path) -> str | None:
        """Return None if the candidate passes; else the defect."""
        pragma = self.loop.pragma
        trips = edges(pragma)
        words = [
            "verify",
            str(int(not pragma.reassoc)),
            repr(pragma.tolerance),
            str(OVERLAPS),
            str(self.computing),
            *map(str, trips),
        ]
        output = self._driven(path, words)
        how, _, why = output.partition(" ")
        return None if how == "ok" else why or output

    def time(self, path: Path, trip: int, seconds: float, place: Place = "malloc") -> float:
        """Return the seconds of one call, the median within one launch. Raises NotUnderstoodError."""
        output = self._driven(path, ["time", str(trip), repr(seconds), place])
        how, _, value = output.partition(" ")
        if how != "ns":
            raise NotUnderstoodError(f"the candidate cannot be timed: {value or output}")
        return float(value) * 1e-9

    def _driven(self, path: Path, words: list[str]) -> str:
        try:
            done = bounded.run([str(path), *words], timeout=PATIENCE, folder=self._empty)
        except subprocess.TimeoutExpired:
            return "wrong hangs"
        except OSError as error:
            hint = "set TMPDIR to a folder in which programs can run"
            raise BuildError(f"{path} cannot be started: {error.strerror}; {hint}") from error
        lines = done.stdout.splitlines()
        if done.returncode == HANGS:
            return "wrong hangs"
        return lines[-1] if done.returncode == 0 and lines else f"wrong: the test ends with status {done.returncode}"


def edges(pragma: Pragma) -> list[int]:
    """Return the trip counts to verify: both ends and their neighbours, and around each unroll and vector width.

    The first few and the last are tested with all contents, so candidates are made for them.
    """
    low, high = pragma.low, pragma.high
    near = [
        *range(low, low + 18),
        *(k for w in WIDTHS for m in (_above(low, w), _above(low + w, w)) for k in (m - 1, m, m + 1)),
    ]
    inside = [t for t in dict.fromkeys(near) if pragma.takes(t)]
    outside = [t for t in dict.fromkeys([0, 1, 2, 3, low - 1, high + 1, *near]) if t >= 0 and not pragma.takes(t)]
    ends = [t for t in range(high, max(low, high - 4) - 1, -1) if pragma.takes(t)][:2]
    return [*dict.fromkeys([*inside[:3], *inside[3:], *outside[:8], *reversed(ends)])]


def _above(low: int, width: int) -> int:
    return -(-low // width) * width


def points(pragma: Pragma, count: int = 3) -> list[int]:
    """Return trip counts to time, in equal factors from low to high: for each the nearest with candidates."""
    low, high = max(1, pragma.low), pragma.high
    found = []
    for k in range(count):
        one = round(low * (high / low) ** (k / (count - 1)))
        near = [t for d in range(65) for t in (one - d, one + d) if pragma.takes(t) and t > 0]
        found += near[:1]
    return list(dict.fromkeys(found))
