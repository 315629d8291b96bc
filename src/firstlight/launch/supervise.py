"""Run one command to its end, or end it: nothing of it is left behind, whatever happens."""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from firstlight.process import tree
from firstlight.process.guard import watching
from firstlight.process.outputs import Outputs
from firstlight.process.outputs import ended as ended_in_time

SETTLE = 0.3
"""Seconds that the helpers of a launcher may live on after it ended by itself."""
TAIL = 4096
"""Bytes of standard error and standard output that are kept: the last ones."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class Ended(msgspec.Struct, frozen=True):
    """How a command ended. `status`: None when it timed out, negative for a signal. `left`: what it left behind."""

    status: int | None
    seconds: float
    stdout: bytes
    stderr: bytes
    left: tuple[str, ...]
    stuck: tuple[str, ...]


@functools.cache
def _prctl() -> Callable[[int, int], int]:
    function: Callable[[int, int], int] = ctypes.CDLL(None, use_errno=True).prctl
    return function


@functools.cache
def _become_subreaper() -> None:
    """Orphans of a launch come back to this process, not to process 1, so they can be waited for."""
    _prctl()(PR_SET_CHILD_SUBREAPER, 1)


def _child(cpu: int | None) -> Callable[[], None]:
    """What the child does before it becomes the command: die with firstlight, leave no core file, stay on its CPU."""
    parent, prctl, hard = os.getpid(), _prctl(), resource.getrlimit(resource.RLIMIT_CORE)[1]

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(127)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    return prepare


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    identity: str,
    timeout: float,
    cpu: int | None = None,
    grace: float = tree.GRACE,
) -> Ended:
    """Run `command` for at most `timeout` seconds. Raises OSError when it cannot be started.

    After the end, however it came, every process of the launch that is still there is ended. KeyboardInterrupt ends
    them too and goes on upwards. `grace`: seconds between SIGTERM and SIGKILL for what has to be ended. Call it from a
    thread that lives as long as the launch: the kernel ends the command when the thread that started it ends.
    """
    _become_subreaper()
    process: subprocess.Popen[bytes] | None = None
    root: tree.Process | None = None
    ended, seconds, left, stuck = False, 0.0, dict[int, tree.Process](), list[tree.Process]()
    with watching(identity):
        try:
            began = time.monotonic()
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_child(cpu),
            )
            root = tree.read(process.pid)  # not yet waited for, so it is there even if it has ended
            outputs = Outputs(process, TAIL)
            ended = ended_in_time(process.pid, outputs, began + timeout)
            seconds = time.monotonic() - began
        finally:  # also when Ctrl-C came before Popen returned: the mark finds what was started
            left, stuck = _clean(identity, root, SETTLE if ended else 0, grace)
            if process and process.pid not in {p.pid for p in stuck}:
                process.wait()
    stdout, stderr = outputs.rest()
    names = tuple(sorted(p.name for pid, p in left.items() if pid != process.pid)) if ended else ()
    return Ended(process.returncode if ended else None, seconds, stdout, stderr, names, tuple(p.name for p in stuck))


def _clean(
    identity: str, root: tree.Process | None, settle: float, grace: float = tree.GRACE
) -> tuple[dict[int, tree.Process], list[tree.Process]]:
    """End what is left; another Ctrl-C does not stop the cleaning half way.

    After a normal end a launcher's helpers may need a moment to end by themselves: `settle` seconds, for as long as
    there are any.
    """
    interrupted: KeyboardInterrupt | None = None
    deadline = time.monotonic() + settle
    while True:
        try:
            while time.monotonic() < deadline and tree.look(identity, root).alive:
                time.sleep(0.01)
            result = tree.end(identity, root, grace)
            break
        except KeyboardInterrupt as interrupt:
            interrupted, deadline = interrupt, 0
    if interrupted:
        raise interrupted
    return result
