"""Program: firstlight-simulate, built once without MPI and kept in the cache by content; and its calls."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from firstlight.core import reading
from firstlight.core.errors import BuildError, UsageError
from firstlight.execute.network.prediction import Algorithm, Prediction
from firstlight.system import machine
from firstlight.system.process import guard
from firstlight.toolchain import native

_T = TypeVar("_T")
OnLine = Callable[[bytes], None]
Evaluator = Literal["auto", "maxplus", "rounds", "events"]
TARGET = "firstlight-simulate"
_FOLDERS = ("collectives/include", "collectives/algorithms", "collectives/src", "network", "patterns")


def build() -> Path:
    """Return the program, from the cache or built now. Raises BuildError with the compiler's first error."""
    return native.make(TARGET, TARGET, _FOLDERS, machine.cache_directory(), native.compiler, building=native.announce)


def algorithms(program: Path) -> tuple[Algorithm, ...]:
    """Return every algorithm that is there."""
    return tuple(decode(line, Algorithm) for line in ask(program, ["list"]))


class Question(msgspec.Struct, frozen=True):
    """What to predict. `bytes`: of the message, or of a rank's block; words of `machine` and `noise` as key=value."""

    collective: str
    algorithms: tuple[str, ...]
    topology: str
    bytes: tuple[int, ...]
    segments: str = "auto"
    segment_bytes: int | None = None
    root: int = 0
    machine: str = ""
    noise: str = ""
    evaluator: Evaluator = "auto"
    missing: str = ""
    loads: bool = False

    def words(self) -> list[str]:
        """Return the command line of `firstlight-simulate predict`."""
        options = {
            "collective": self.collective,
            "algorithm": ",".join(self.algorithms),
            "topology": self.topology,
            "bytes": ",".join(map(str, self.bytes)),
            "segments": self.segments,
            "root": str(self.root) if self.root else "",
            "segment-bytes": "" if self.segment_bytes is None else str(self.segment_bytes),
            "machine": self.machine,
            "noise": self.noise,
            "evaluator": self.evaluator,
            "missing": self.missing,
        }
        given = [word for name, value in options.items() if value for word in (f"--{name}", value)]
        return ["predict", *given, *(["--loads"] if self.loads else [])]


def predict(program: Path, question: Question, on_line: OnLine = lambda line: None) -> list[Prediction]:
    """Return the predictions, in the order of the program. Raises UsageError with its message if it refuses."""
    return [decode(line, Prediction) for line in ask(program, question.words(), on_line)]


def predict_goal(program: Path, file: Path, words: Sequence[str]) -> list[Prediction]:
    """Return the predictions for a schedule in a GOAL file."""
    return [decode(line, Prediction) for line in ask(program, ["goal", "predict", str(file), *words])]


def predict_schedule(program: Path, text: str, topology: str, parameters: str) -> Prediction:
    """Return the prediction for one schedule in the GOAL language. Raises as `ask`."""
    with guard.scratch("firstlight-simulate-") as folder:
        file = folder / "schedule.goal"
        file.write_text(text)
        [found] = predict_goal(program, file, ["--topology", topology, "--machine", parameters])
    return found


def pattern_words(name: str, processes: int | None, given: Iterable[str] = (), *more: str) -> list[str]:
    """Return the command line for a pattern of communication. Raises UsageError for a value that has a comma.

    Without `processes` there are as many as the network has nodes.
    """
    values = list(given)
    for one in values:
        if "," in one or "=" not in one:
            raise UsageError(f"-p {one!r}: write -p NAME=VALUE for each parameter")
    parameters = ["--parameters", ",".join(values)] if values else []
    many = [] if processes is None else ["--processes", str(processes)]
    return ["pattern", name, *more, *many, *parameters]


def ask(program: Path, words: Iterable[str], on_line: OnLine = lambda line: None) -> list[bytes]:
    """Return the lines that the program prints; call `on_line` with each as it comes, because large networks are slow.

    Raises UsageError with the program's own message if it ends with 2, BuildError for any other failure.
    """
    lines: list[bytes] = []
    with tempfile.TemporaryFile() as errors, guard.environment() as variables:
        try:
            with subprocess.Popen(
                [str(program), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=variables
            ) as running:
                assert running.stdout is not None
                try:
                    for line in running.stdout:
                        if line.strip():
                            lines.append(line)
                            on_line(line)
                except BaseException:
                    running.kill()
                    raise
        except OSError as error:
            raise BuildError(f"cannot start {program}: {error.strerror}; remove this file and try again") from error
        errors.seek(0)
        messages = errors.read().decode("utf-8", "replace").strip().splitlines()
    last = messages[-1].removeprefix(f"{TARGET}: ") if messages else ""
    if running.returncode == 2:
        raise UsageError(last or "firstlight-simulate does not accept this problem")
    if running.returncode != 0:
        how = f"signal {-running.returncode}" if running.returncode < 0 else f"status {running.returncode}"
        raise BuildError(f"firstlight-simulate ended with {how}: {last or 'no message'}")
    return lines


def decode(line: bytes, kind: type[_T]) -> _T:
    """Parse a line of the program. Raises BuildError if it is malformed."""
    try:
        return reading.json(line, kind)
    except reading.MalformedError as error:
        raise BuildError(f"the output of firstlight-simulate is invalid: {error}") from error
