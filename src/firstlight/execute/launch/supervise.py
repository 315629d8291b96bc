"""Run one command to its end, or end it: nothing of it is left behind, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from firstlight.system.process import guard, tree
from firstlight.system.process.messages import Reader, send
from firstlight.system.process.outputs import Outputs, until
from firstlight.system.process.shm_leftovers import Leftovers, remove

SETTLE = 0.3
"""Seconds that the helpers of a launcher may live on after it ended by itself."""
NOTHING = Leftovers("", (), 0.0)
TAIL = 4096
"""Bytes of standard error and standard output that are kept: the last ones."""


class Ended(msgspec.Struct, frozen=True):
    """How a command ended. `status`: None when it timed out, negative for a signal. `left`: what it left behind.

    `removed`: files that it left outside of its temporary folder. `processors`: seconds of processors that it took.
    """

    status: int | None
    seconds: float
    stdout: bytes
    stderr: bytes
    left: tuple[str, ...]
    stuck: tuple[str, ...]
    removed: tuple[str, ...] = ()
    processors: float = 0.0


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    identity: str,
    timeout: float,
    cpu: int | None = None,
    grace: float = tree.GRACE,
    leftovers: Leftovers = NOTHING,
) -> Ended:
    """Run `command` for at most `timeout` seconds. Raises OSError when it cannot be started.

    After its end, for any reason, every remaining process of the launch is ended, whatever it did to escape: its keeper
    is the ancestor of all (`system/process/keeper.py`). KeyboardInterrupt ends them too and is raised again.
    `grace`: seconds between SIGTERM and SIGKILL for what has to be ended. `leftovers`: what is removed with the launch;
    its folder is made here.
    """
    request = {
        "command": list(command),
        "environment": dict(environment),
        "identity": identity,
        "cpus": sorted(os.sched_getaffinity(0)) if cpu is None else [cpu],
        "grace": grace,
    }
    root: tree.Process | None = None
    ended, seconds = False, 0.0
    control, theirs = socket.socketpair()
    reader = Reader(control)
    with control, contextlib.ExitStack() as stack:
        outputs = _piped(leftovers, theirs, stack)
        stack.callback(outputs.close)
        try:
            began = time.monotonic()
            send(control, request)
            started = reader.receive() or {}
            if "errno" in started:
                raise OSError(started["errno"], os.strerror(started["errno"]), started.get("path", command[0]))
            root = tree.read(started["pid"]) if "pid" in started else None
            until(reader.waits, None, [control], outputs=outputs, deadline=began + timeout)
            seconds = time.monotonic() - began
            ended = reader.waits()
        finally:  # also when Ctrl-C came before the command was started
            answer = _clean(control, reader, {"settle": SETTLE if ended else 0.0, "grace": grace})
        if answer is None:  # the keeper was killed, and the command died with it
            left, stuck = tree.end(identity, root, grace)
            names = sorted(p.name for p in left.values())
            removed = remove(leftovers)
            answer = {"status": -signal.SIGKILL, "left": names, "stuck": [p.name for p in stuck], "removed": removed}
        stdout, stderr = outputs.rest()
    names = answer["left"] if ended else []
    return Ended(
        status=answer["status"] if ended else None,
        seconds=seconds,
        stdout=stdout,
        stderr=stderr,
        left=tuple(names),
        stuck=tuple(answer["stuck"]),
        removed=tuple(answer["removed"]),
        processors=answer.get("processors", 0.0),
    )


def _piped(leftovers: Leftovers, theirs: socket.socket, stack: contextlib.ExitStack) -> Outputs:
    """Pass the keeper its ends of the pipes; the outputs read what the command prints.

    The command starts in the root folder: libraries read configuration from the current one (UCX reads `ucx.conf`).
    """
    folder = os.open("/", os.O_PATH | os.O_DIRECTORY)
    ends, readers = [], []
    try:
        for _ in range(2):
            reading, writing = os.pipe()
            ends.append(writing)
            readers.append(stack.enter_context(os.fdopen(reading, "rb", buffering=0)))
        guard.keep(leftovers, theirs.fileno(), ends[0], ends[1], folder)
    finally:
        theirs.close()
        for descriptor in (folder, *ends):
            os.close(descriptor)
    return Outputs(readers, TAIL)


def _clean(control: socket.socket, reader: Reader, order: dict[str, float]) -> dict[str, Any] | None:
    """Let the keeper end what is left, even if another Ctrl-C arrives. Return None if the keeper is gone."""
    interrupted: KeyboardInterrupt | None = None
    asked, answer = False, None
    while True:
        try:
            if not asked:
                send(control, order)
                asked = True
            answer = reader.receive()
            if answer is None or "left" in answer:
                break
        except OSError:
            break
        except KeyboardInterrupt as interrupt:
            interrupted = interrupt
    if interrupted:
        raise interrupted
    return answer
