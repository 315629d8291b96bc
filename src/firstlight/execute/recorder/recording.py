"""Recording: run a command with the profiler's library before its MPI; streams, signals and status stay its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Self

from firstlight.core import caller
from firstlight.core.errors import UsageError
from firstlight.system.mpi_families import of
from firstlight.system.process import guard
from firstlight.toolchain import Mpi

FOLDER = "FIRSTLIGHT_PROFILE"


def words(command: Sequence[str], mpi: Mpi) -> list[str]:
    """Return the command to start: some launchers export only named variables to other nodes."""
    given = list(command)
    family = of(mpi.family)
    names = [name for launcher in family.launchers for name in (launcher, f"{launcher}.{family.name}")]
    for place, word in enumerate(given):
        if Path(word).name in names:
            return [*given[: place + 1], *family.export_options(["LD_PRELOAD", FOLDER]), *given[place + 1 :]]
    return given


def run(command: Sequence[str], mpi: Mpi, library: Path, folder: Path, to_stderr: bool = False) -> int:
    """Run `command` to its end; ranks write into `folder`. Return its status, negative for a signal.

    With `to_stderr` its standard output goes there. Raises UsageError if the command cannot be started.
    """
    with contextlib.ExitStack() as stack:
        path = library
        if re.search(r"[\s:]", str(library)):  # LD_PRELOAD is a list separated by blanks and colons
            path = stack.enter_context(guard.scratch("firstlight-")) / library.name
            path.symlink_to(library)
        before = os.environ.get("LD_PRELOAD")
        preload = f"{path}:{before}" if before else str(path)
        environment = {
            **caller.original(os.environ),
            **mpi.environment,
            "LD_PRELOAD": preload,
            FOLDER: str(folder.absolute()),
        }
        environment = stack.enter_context(guard.environment(environment))
        with _Signals() as signals:
            try:
                process = subprocess.Popen(
                    words(command, mpi), env=environment, stdout=sys.stderr.fileno() if to_stderr else None
                )
            except OSError as error:
                raise UsageError(f"cannot start {command[0]}: {error.strerror}") from error
            signals.go_to(process)
            return process.wait()


class _Signals:
    """Forwarding of signals: Ctrl-C reaches the command by itself, because it is in our group; others are passed on.

    The handlers are set before the command is started, so that no signal is lost: handlers, unlike what is ignored, do
    not pass to the command.
    """

    def __enter__(self) -> Self:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before = {n: signal.signal(n, self._take) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)}
        self._before[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def go_to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)
