"""Run one command to its end, or end it: nothing of it is left behind, whatever happens."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from firstlight.launch import tree
from firstlight.launch.guard import watching

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


class _Tails:
    """The last bytes of a command's two outputs, read without ever making it wait."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        self.streams = (process.stdout, process.stderr)
        self.kept = {stream.fileno(): b"" for stream in self.streams}
        for descriptor in self.kept:
            os.set_blocking(descriptor, False)

    def read(self, descriptor: int) -> bool:
        """Take what is there (at most 64 KiB, so that a flood does not keep the deadline waiting); False at the end."""
        try:
            part = os.read(descriptor, 65536)
        except BlockingIOError:
            return True
        self.kept[descriptor] = (self.kept[descriptor] + part)[-TAIL:]
        return bool(part)

    def rest(self) -> tuple[bytes, bytes]:
        for descriptor in self.kept:
            for _ in range(64):  # more than a pipe can hold
                if not self.read(descriptor):
                    break
        for stream in self.streams:
            stream.close()
        stdout, stderr = self.kept.values()
        return stdout, stderr


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
            tails = _Tails(process)
            ended = _wait(process.pid, tails, began + timeout)
            seconds = time.monotonic() - began
        finally:  # also when Ctrl-C came before Popen returned: the mark finds what was started
            left, stuck = _clean(identity, root, SETTLE if ended else 0, grace)
            if process and process.pid not in {p.pid for p in stuck}:
                process.wait()
    stdout, stderr = tails.rest()
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


def _wait(pid: int, tails: _Tails, deadline: float) -> bool:
    """Read the outputs until the process ends (True, not yet waited for) or the deadline passes (False)."""
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        step = None
        try:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            selector.register(handle, selectors.EVENT_READ)
        except OSError:  # Linux before 5.3: look every 20 ms instead
            step = 0.02
        for descriptor in tails.kept:
            selector.register(descriptor, selectors.EVENT_READ)
        while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(min(left, step) if step else left):
                if key.fd in tails.kept and not tails.read(key.fd):
                    selector.unregister(key.fd)
    return True
