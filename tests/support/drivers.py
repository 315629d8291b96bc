"""Native drivers of tests, compiled once for all of them: objects are kept by the content of what they include."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

import turns

FOLDER = turns.FOLDER / "drivers"
AT_ONCE = 2
"""Sources that one worker compiles at the same time."""


_READ = "algorithm array cmath cstdint functional memory span string utility vector"
STANDARD = "".join(f"#include <{name}>\n" for name in _READ.split())
"""Most sources of a library include these: their parsing is the larger part of compiling a small source."""


def objects(
    sources: Iterable[Path],
    *flags: str,
    compiler: str = "g++",
    environment: Mapping[str, str] | None = None,
    ahead: str = "",
) -> list[Path]:
    """Return an object of each source, in their order. Skip the test if there is no such compiler.

    `ahead`, headers of the system, is compiled once for all of them.
    """
    command = _command(compiler, "-std=c++20", *flags)
    if ahead:
        command += ("-include", str(_precompiled(ahead, command)))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda source: _object(source, command, environment or {}), sources))


def linked(
    name: str, parts: Sequence[Path], *flags: str, compiler: str = "g++", environment: Mapping[str, str] | None = None
) -> Path:
    """Link the program or library `name` from objects and archives."""
    command = _command(compiler, *flags)
    made = FOLDER / f"{_digest(_version(command[0]), *command, *map(_content, parts))}-{name}"
    with _locked(made.name):
        if not made.exists():
            _make([*command, *map(str, parts)], made, environment or {})
    return made


def program(name: str, sources: Iterable[Path], *flags: str, ahead: str = "") -> Path:
    """Build the program from sources."""
    return linked(
        name, objects(sources, *flags, ahead=ahead), *(flag for flag in flags if flag.startswith("-fsanitize"))
    )


def library(source: Path, *flags: str, others: Sequence[Path] = ()) -> ctypes.CDLL:
    """Load the functions of one source for calls from Python; `others` are linked with it."""
    return ctypes.CDLL(str(linked(f"{source.stem}.so", objects([source, *others], "-fPIC", *flags), "-shared")))


def written(name: str, text: str) -> Path:
    """Write a source that a test invents."""
    path = FOLDER / f"{_digest(text)}-{name}"
    with _locked(path.name):
        if not path.exists():  # its date shows whether the precompiled form belongs to it
            path.write_text(text)
    return path


def _precompiled(text: str, command: Sequence[str]) -> Path:
    """Write a header with that text and its compiled form, which GCC uses instead if the flags are the same."""
    header = written(f"{_digest(_version(command[0]), *command)}-ahead.hpp", text)
    made = header.with_name(f"{header.name}.gch")
    with _locked(made.name):
        if not made.exists():
            _make([*command, "-x", "c++-header", str(header)], made, {})
    return header


def _object(source: Path, command: Sequence[str], environment: Mapping[str, str]) -> Path:
    key = f"{_digest(_version(command[0]), *command, str(source))}-{source.stem}"
    rule, answer = FOLDER / f"{key}.d", FOLDER / f"{key}.o"
    contents = FOLDER / f"{key}.json"
    with _locked(key):
        made = _kept(command, json.loads(contents.read_text()), source) if contents.exists() else None
        if made is None or not made.exists():
            _make([*command, "-MMD", "-MF", str(rule), "-c", str(source)], answer, environment)
            read = rule.read_text().replace("\\\n", " ").partition(": ")[2].split()
            included = [name.removesuffix(".gch") for name in read]
            made = _kept(command, included, source)
            assert made is not None, f"{source} changed while it was compiled"
            answer.replace(made)
            contents.write_text(json.dumps(included))
    return made


def _kept(command: Sequence[str], included: Sequence[str], source: Path) -> Path | None:
    """Return the object of the source with the present content of all its headers; None if a header is missing."""
    if not all(map(os.path.exists, included)):
        return None
    return FOLDER / f"{_digest(_version(command[0]), *command, *included, *map(_content, included))}-{source.stem}.o"


def _command(compiler: str, *flags: str) -> tuple[str, ...]:
    """Return the compiler's command line; skip the test if there is no such compiler."""
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"no {compiler} here")
    return (found, *flags)


@cache
def _version(compiler: str) -> str:
    """Return the values that an update changes."""
    file = Path(compiler).resolve()
    return f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}"


def _make(words: Sequence[str], made: Path, environment: Mapping[str, str]) -> None:
    """Run a command whose file appears as a whole. Fail the test with the compiler's message."""
    part = made.with_name(f"{made.name}.part")
    done = subprocess.run([*words, "-o", str(part)], env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    part.replace(made)


def _content(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _locked(name: str) -> FileLock:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FileLock(FOLDER / f"{name}.lock")
