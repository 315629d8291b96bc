"""The guard: one small process beside firstlight that ends the running launch when firstlight is killed with SIGKILL.

The death of a launcher does not reach its ranks everywhere (prterun's ranks survive it), and no process can clean up
after its own SIGKILL. The guard sleeps in a read on a pipe whose other end only firstlight holds, so it costs a launch
nothing: it is started once (about 20 ms), in a session of its own, so that Ctrl-C does not reach it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.process import tree

_lock = threading.Lock()
_guard: subprocess.Popen[bytes] | None = None


def _start() -> subprocess.Popen[bytes]:
    """Raises FirstlightError when the guard does not come up: without it a launch could outlive firstlight."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(tree.__file__).resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != tree.MARK},  # part of no launch
        cwd="/",
    )
    assert process.stdout is not None
    with process.stdout as answer:
        if answer.readline() != b"watching\n":
            raise FirstlightError(f"cannot start a guard process with {sys.executable}: is this Python complete?")
    return process


def _tell(order: str) -> None:
    """Send one order; a guard that died (or was never there) is started first."""
    global _guard
    with _lock:
        if _guard is None or _guard.poll() is not None:
            _guard = _start()
        assert _guard.stdin is not None
        _guard.stdin.write(order.encode())
        _guard.stdin.flush()


@contextlib.contextmanager
def watching(identity: str) -> Iterator[None]:
    """While the body runs, the launch `identity` does not outlive this process."""
    _tell(f"+ {identity}\n")
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):  # a guard that died watches nothing: the next launch starts another
            _tell(f"- {identity}\n")
