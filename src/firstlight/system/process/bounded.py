"""Bounded: a short command (a compiler, a probe, a query to a batch system), and what to do if it does not end.

It runs in its own session with its own mark, so its child processes can be distinguished from the user's programs. They
end with it if it runs too long, if its output is endless, and if firstlight is interrupted or killed.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.core.errors import FirstlightError
from firstlight.system.process import guard, interrupts, tree
from firstlight.system.process.outputs import Outputs, ended, until

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL: a launcher ends its ranks, also those on other nodes, only upon SIGTERM."""
MOST = 16 << 20
"""Bytes of each output that are kept: no expected output is longer."""


def run(
    words: Sequence[str],
    *,
    timeout: float | None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    data: bytes | None = None,
    merge: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `words` to their end, for at most `timeout` seconds (None: without a limit).

    Their input is `data`, or nothing. With `merge`, standard error goes to standard output, in its order.
    Raises OSError if they cannot be started or print more than MOST, and subprocess.TimeoutExpired; all processes that
    they started have then been ended. Without a time-out (a build) the last MOST bytes are kept.
    The function returns once the command has ended by itself, even if another process keeps its output open.
    """
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        source: int = subprocess.DEVNULL
        if data is not None:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(data)
            file.seek(0)
            source = file.fileno()
        environment = stack.enter_context(guard.environment(environment))
        with interrupts.held() as waiting:
            process = subprocess.Popen(
                words,
                env=environment,
                cwd=folder,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merge else subprocess.PIPE,
                start_new_session=True,
            )
            root = tree.read(process.pid)  # not yet waited for, so it is there even if it has ended
            outputs = Outputs([stream for stream in (process.stdout, process.stderr) if stream is not None], MOST)
            stack.callback(outputs.close)

        def flood() -> bool:
            return timeout is not None and outputs.overflowed

        try:
            waiting.deliver()
            deadline = None if timeout is None else began + timeout
            if not until(lambda: ended(process.pid), process.pid, (), flood, outputs, deadline) and not flood():
                raise subprocess.TimeoutExpired(list(words), timeout or 0.0)
            if flood():
                raise OSError(errno.EFBIG, f"printed more than {MOST >> 20} MiB and was ended")
        except BaseException:
            _, stuck = tree.end(None, root, GRACE)
            if process.pid not in {p.pid for p in stuck}:
                process.wait()
            raise
        process.wait()
        texts = [part.decode("utf-8", "replace") for part in outputs.rest()]
    if flood():  # counts what was left in the pipe
        raise OSError(errno.EFBIG, f"printed more than {MOST >> 20} MiB")
    return subprocess.CompletedProcess(list(words), process.returncode, texts[0], "" if merge else texts[1])


def output(words: Sequence[str], *, timeout: float = 10.0, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a query; "" if there is no such command, or if it fails or does not end."""
    if shutil.which(words[0]) is None:
        return ""
    try:
        done = run(words, timeout=timeout, environment=environment)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def answer(
    words: Sequence[str], *, timeout: float, environment: Mapping[str, str] | None = None, hint: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `words` as `run` does. Raises FirstlightError, in one line that names them, if they fail to run or to end.

    `hint`: what the user can do then.
    """
    try:
        return run(words, timeout=timeout, environment=environment)
    except subprocess.TimeoutExpired:
        why = f"no answer within {timeout:g} s"
    except OSError as error:
        why = error.strerror or str(error)
    raise FirstlightError(f"{' '.join(words[:2])}: {why}" + (f"; {hint}" if hint else ""))
