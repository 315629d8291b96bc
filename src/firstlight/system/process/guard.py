"""The guard, from firstlight's side: it ends what runs if firstlight is killed with SIGKILL, and starts keepers.

The death of a launcher does not reach its ranks everywhere (prterun's ranks survive it), and no process can clean up
after its own SIGKILL. The guard sleeps until it is needed, so it does not slow a launch. It is started once (in about
30 ms), in a session of its own, so that Ctrl-C does not reach it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from firstlight.core.errors import FirstlightError
from firstlight.system.process import tree
from firstlight.system.process.shm_leftovers import Leftovers, make, remove

_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from firstlight.system.process import keeper; keeper.main()"

_lock = threading.Lock()
_guard: subprocess.Popen[bytes] | None = None
_orders: socket.socket | None = None
_watched: set[str] = set()


def _start() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the guard. Raises FirstlightError if it does not start: without it a launch could outlive firstlight."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(Path(__file__).resolve().parents[3])],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name != tree.MARK},  # part of no launch
            cwd="/",
        )
    assert process.stdout is not None
    with process.stdout as answer:
        if answer.readline() != b"watching\n":
            raise FirstlightError(
                f"cannot start a guard process with {sys.executable}: is this Python installation complete?"
            )
    return process, ours


def _tell(order: str, descriptors: Sequence[int] = ()) -> None:
    """Send one order; first start the guard if it died or was never there."""
    global _guard, _orders
    with _lock:
        if _guard is None or _orders is None or _guard.poll() is not None:
            if _orders is not None:
                _orders.close()
            _guard, _orders = _start()
        socket.send_fds(_orders, [order.encode()], descriptors)


@atexit.register
def _dismiss() -> None:
    """End the guard with this process: it stops when its socket is closed."""
    if _guard is not None and _orders is not None:
        _orders.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            _guard.wait(timeout=1)


def keep(leftovers: Leftovers, control: int, stdout: int, stderr: int, folder: int) -> None:
    """Request a keeper, which listens at `control` (see keeper.py). Raises FirstlightError if no guard starts."""
    _tell(f"keep {json.dumps(leftovers)}", (control, stdout, stderr, folder))


@contextlib.contextmanager
def watching(identity: str) -> Iterator[None]:
    """Ensure that processes with the mark `identity` do not outlive this process while the body runs."""
    _tell(f"+ {identity}")
    _watched.add(identity)
    try:
        yield
    finally:
        _watched.discard(identity)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            _tell(f"- {identity}")  # a guard that died watches nothing: the next launch starts another


@contextlib.contextmanager
def environment(given: Mapping[str, str] | None = None) -> Iterator[dict[str, str]]:
    """Yield the environment (default: our own) of a command that ends with this process, however this ends.

    The mark in it identifies all processes that the command starts. A mark that is already watched stays.
    """
    variables = dict(os.environ if given is None else given)
    if variables.get(tree.MARK) in _watched:
        yield variables
        return
    identity = f"command-{uuid.uuid4().hex}"
    with watching(identity):
        yield {**variables, tree.MARK: identity}


@contextlib.contextmanager
def scratch(prefix: str, place: Path | None = None) -> Iterator[Path]:
    """Yield a temporary folder that is removed at the end of the body, and when this process is killed.

    Raises OSError if it cannot be created. `place`: None: the system's folder for temporary files.
    """
    folder = Path(place or tempfile.gettempdir()).absolute() / f"{prefix}{uuid.uuid4().hex[:12]}"
    leftovers = Leftovers(str(folder), (), 0.0)
    _tell(f"hold {folder}")
    try:
        make(leftovers)
        yield folder
    finally:
        remove(leftovers)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            _tell(f"free {folder}")
