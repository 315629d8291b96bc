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
"""What most sources of a library of ours read: to read it is the larger half of compiling a small one."""


def objects(
    sources: Iterable[Path],
    *flags: str,
    compiler: str = "g++",
    environment: Mapping[str, str] | None = None,
    ahead: str = "",
) -> list[Path]:
    """An object of each source, in their order. Skips the test where there is no such compiler.

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
    """The program or library `name` made of objects and archives."""
    command = _command(compiler, *flags)
    made = FOLDER / f"{_digest(_version(command[0]), *command, *map(_content, parts))}-{name}"
    with _locked(made.name):
        if not made.exists():
            _make([*command, *map(str, parts)], made, environment or {})
    return made


def program(name: str, sources: Iterable[Path], *flags: str, ahead: str = "") -> Path:
    """The program made of sources."""
    return linked(
        name, objects(sources, *flags, ahead=ahead), *(flag for flag in flags if flag.startswith("-fsanitize"))
    )


def library(source: Path, *flags: str, others: Sequence[Path] = ()) -> ctypes.CDLL:
    """The functions of one source, called from Python; `others` are linked with it."""
    return ctypes.CDLL(str(linked(f"{source.stem}.so", objects([source, *others], "-fPIC", *flags), "-shared")))


def written(name: str, text: str) -> Path:
    """A source that a test makes up."""
    path = FOLDER / f"{_digest(text)}-{name}"
    with _locked(path.name):
        if not path.exists():  # its date tells whether what was compiled ahead is that of it
            path.write_text(text)
    return path


def _precompiled(text: str, command: Sequence[str]) -> Path:
    """A header with that text beside its compiled form, which GCC takes in its place where the flags are the same."""
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
    """The object of the source with all it includes as that is now; None where a header is gone."""
    if not all(map(os.path.exists, included)):
        return None
    return FOLDER / f"{_digest(_version(command[0]), *command, *included, *map(_content, included))}-{source.stem}.o"


def _command(compiler: str, *flags: str) -> tuple[str, ...]:
    """Skips the test where there is no such compiler."""
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"no {compiler} here")
    return (found, *flags)


@cache
def _version(compiler: str) -> str:
    """What an update changes."""
    file = Path(compiler).resolve()
    return f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}"


def _make(words: Sequence[str], made: Path, environment: Mapping[str, str]) -> None:
    """What the words make, which appears as a whole. Fails the test with the compiler's words."""
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
