"""Program: build firstlight-map once without MPI, query it, and stop it with the best map so far."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from firstlight.commands.map.answer import Answer
from firstlight.core import reading
from firstlight.core.errors import INTERRUPTED, BuildError, UsageError
from firstlight.system import machine
from firstlight.system.process import guard
from firstlight.toolchain import native

_T = TypeVar("_T")
TARGET = "firstlight-map"
_FOLDERS = (
    "collectives/include", "collectives/algorithms", "collectives/src", "harness/src/json.cpp", "harness/src/json.hpp",
    "harness/include", "patterns", "network", "mapping",
)  # fmt: skip


class Best(msgspec.Struct, frozen=True):
    """The best map so far: what it comes from, its cost in bytes, and when it was found."""

    best: str
    maxima: int
    hop_bytes: int
    seconds: float


OnBest = Callable[[Best], None]


def build() -> Path:
    """Return the program, from the cache or newly built. Raises BuildError with the compiler's first error."""
    return native.make(TARGET, TARGET, _FOLDERS, machine.cache_directory(), native.compiler, building=native.announce)


def ask(program: Path, words: Sequence[str], on_best: OnBest = lambda best: None) -> Answer:
    """Return the program's answer; SIGINT and SIGTERM end the search with the best map so far (`interrupted`).

    Raises UsageError with the program's message if it rejects the request, BuildError for any other failure.
    """
    answer: Answer | None = None
    with tempfile.TemporaryFile() as errors, guard.environment() as variables:
        try:
            running = subprocess.Popen(
                [str(program), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                env=variables,
            )  # fmt: skip
        except OSError as error:
            raise BuildError(f"cannot start {program}: {error.strerror}; remove this file and try again") from error
        with running, _passing_on(running):
            assert running.stdout is not None
            try:
                for line in running.stdout:
                    if line.startswith(b'{"best"'):
                        on_best(_decode(line, Best))
                    elif line.strip():
                        answer = _decode(line, Answer)
            except BaseException:
                running.kill()
                raise
        errors.seek(0)
        messages = errors.read().decode("utf-8", "replace").strip().splitlines()
    last = messages[-1].removeprefix(f"{TARGET}: ") if messages else ""
    if running.returncode == 2:
        raise UsageError(last or f"{TARGET} does not accept this problem")
    if running.returncode not in (0, INTERRUPTED) or answer is None:
        how = f"signal {-running.returncode}" if running.returncode < 0 else f"status {running.returncode}"
        raise BuildError(f"{TARGET} ended with {how}: {last or 'no message'}")
    return answer


@contextmanager
def _passing_on(running: subprocess.Popen[bytes]) -> Iterator[None]:
    """Send SIGINT to the program for each SIGINT or SIGTERM to this process; Ctrl-C reaches both by their group."""
    before = {
        n: signal.signal(n, lambda number, _: running.send_signal(signal.SIGINT))
        for n in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _decode(line: bytes, kind: type[_T]) -> _T:
    try:
        return reading.json(line, kind)
    except reading.MalformedError as error:
        raise BuildError(f"the output of {TARGET} is invalid: {error}") from error
