"""The guard and its keepers: one small process for firstlight, and one more for each command that it launches.

The guard is started once; it sleeps until it receives an order for a keeper, which it forks. A keeper starts the
command and adopts every process below it that loses its parent (PR_SET_CHILD_SUBREAPER): a daemon that leaves its
session, its group and its environment still has the keeper among its ancestors in /proc. So the keeper finds all that
the command started. It ends them with the command, at firstlight's request, and when firstlight is gone (kill -9, out
of memory), which closes the keeper's socket. If a keeper itself is killed, the guard ends its processes.

Orders of firstlight to the guard: `+ identity` and `- identity` for marked processes that end with firstlight,
`hold FOLDER` and `free FOLDER` for temporary folders that are removed with it, and `keep LEFTOVERS` (shm_leftovers.py)
with the descriptors of a keeper: its socket, standard output, standard error, working directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from firstlight.system.process import tree
from firstlight.system.process.messages import Reader, send
from firstlight.system.process.outputs import ended, until
from firstlight.system.process.shm_leftovers import Leftovers, make, remove

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a batch system sends to all processes of a job. Only firstlight, or its end, decides which ones end."""
AFTERWARDS = 0.3
"""Seconds in which the guard searches again for marked processes: firstlight may have died between fork and exec."""

_prctl = ctypes.CDLL(None, use_errno=True).prctl


class Descriptors(NamedTuple):
    """The file descriptors that a keeper receives from firstlight."""

    control: int
    stdout: int
    stderr: int
    folder: int


class Guard:
    """The process that executes orders until firstlight is gone, and then ends all that firstlight had not released."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._watched: dict[str, None] = {}
        self._folders: dict[str, None] = {}
        self._keepers: dict[int, Leftovers] = {}
        self._before = {number: signal.getsignal(number) for number in DEAF}
        self._wake, woken = socket.socketpair()
        woken.setblocking(False)
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        for number in DEAF:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        self._woken = woken

    def serve(self) -> None:
        poll = select.poll()
        poll.register(self._orders, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake.fileno() in ready:
                self._wake.recv(4096)
                self._reap()
            if self._orders.fileno() in ready and not self._order():
                break
        self._orders.close()
        for identity in self._watched:
            deadline = time.monotonic() + AFTERWARDS
            while time.monotonic() < deadline:
                tree.end(identity)
                time.sleep(0.05)
        while self._keepers:  # each sees by itself that firstlight is gone
            self._wake.recv(4096)
            self._reap()
        for folder in self._folders:  # no process writes into it now
            remove(Leftovers(folder, (), 0.0))

    def _order(self) -> bool:
        """Execute one order; return False once firstlight is gone."""
        order, given, _, _ = socket.recv_fds(self._orders, 65536, len(Descriptors._fields))
        sign, _, what = order.decode().partition(" ")
        if sign == "+":
            self._watched[what] = None
        elif sign == "-":
            self._watched.pop(what, None)
        elif sign == "hold":
            self._folders[what] = None
        elif sign == "free":
            self._folders.pop(what, None)
        elif sign == "keep":
            leftovers = Leftovers(*json.loads(what))
            child = os.fork()
            if child == 0:
                self._become_keeper(Descriptors(*given), leftovers)
            self._keepers[child] = leftovers
        for descriptor in given:
            os.close(descriptor)
        return bool(order)

    def _become_keeper(self, given: Descriptors, leftovers: Leftovers) -> NoReturn:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (self._orders, self._wake, self._woken):
                one.close()
            for descriptor in given:
                os.set_inheritable(descriptor, False)
            os.setsid()
            _prctl(PR_SET_CHILD_SUBREAPER, 1)
            Keeper(given, leftovers, self._before).serve()
            status = 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        """Wait for ended child processes; end what a failed keeper left behind."""
        lost = []
        with contextlib.suppress(ChildProcessError):
            while (one := os.waitpid(-1, os.WNOHANG))[0]:
                leftovers = self._keepers.pop(one[0], None)
                if leftovers is not None and one[1] != 0:
                    lost.append(leftovers)
        if lost:
            tree.end(None, adopted=True, spare=frozenset(self._keepers))
        for leftovers in lost:
            remove(leftovers)


class Keeper:
    """The process that starts one command, reports its end, and ends all that it started."""

    def __init__(self, given: Descriptors, leftovers: Leftovers, before: Mapping[signal.Signals, Any]) -> None:
        self._given, self._leftovers, self._before = given, leftovers, before
        self._control = socket.socket(fileno=given.control)
        self._reader = Reader(self._control)

    def serve(self) -> None:
        request = self._reader.receive()
        if request is None or "command" not in request:  # interrupted before it was sent
            return
        try:
            make(self._leftovers)
        except OSError as error:
            remove(self._leftovers)  # those that were made before
            send(self._control, {"errno": error.errno, "path": error.filename})
            return
        root, failed = self._start(request)
        for descriptor in (self._given.stdout, self._given.stderr, self._given.folder):
            os.close(descriptor)
        order: dict[str, Any] | None = None
        with contextlib.suppress(OSError):  # firstlight is gone: below
            if failed:
                send(self._control, {"errno": failed})
            else:
                send(self._control, {"pid": root.pid, "started": root.started})
                if until(lambda: ended(root.pid), root.pid, [self._control], self._reader.waits):
                    send(self._control, {"ended": True})
            order = self._reader.receive()
        answer = self._end(request, root, order or {})
        with contextlib.suppress(OSError):
            send(self._control, answer)

    def _end(self, request: Mapping[str, Any], root: tree.Process, order: Mapping[str, Any]) -> dict[str, Any]:
        identity, grace = request["identity"], order.get("grace", request["grace"])
        deadline = time.monotonic() + order.get("settle", 0.0)
        while time.monotonic() < deadline and tree.look(identity, root, adopted=True).alive:
            time.sleep(0.01)
        left, stuck = tree.end(identity, root, grace, adopted=True)
        status = None
        if root.pid not in {p.pid for p in stuck}:
            status = os.waitstatus_to_exitcode(os.waitpid(root.pid, 0)[1])
        names = sorted(p.name for pid, p in left.items() if pid != root.pid)
        removed = remove(self._leftovers)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)  # of all below: each was waited for, by its parent or here
        return {
            "status": status,
            "processors": spent.ru_utime + spent.ru_stime,
            "left": names,
            "stuck": [p.name for p in stuck],
            "removed": removed,
        }

    def _start(self, request: Mapping[str, Any]) -> tuple[tree.Process, int]:
        """Start the command; return its process and the error number, 0 if the process became the command."""
        reader, writer = os.pipe()
        me = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                self._become(request, me)
            except OSError as error:
                os.write(writer, str(error.errno or errno.ENOEXEC).encode())
            finally:
                os._exit(127)
        os.close(writer)
        with open(reader, "rb") as answer:  # noqa: PTH123 (a descriptor)
            text = answer.read()
        root = tree.read(child)  # not yet waited for, so it is there even if it has ended
        assert root is not None
        return root, int(text or 0)

    def _become(self, request: Mapping[str, Any], parent: int) -> None:
        """Become the command: die with the keeper, leave no core file, and stay on the given CPUs."""
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(127)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        try:
            os.sched_setaffinity(0, request["cpus"])
        except OSError as error:  # as in some containers: the record shows where the program ran
            why = error.strerror or "the system refuses pinning"
            os.write(self._given.stderr, f"firstlight: not pinned to its CPUs (sched_setaffinity: {why})\n".encode())
        os.fchdir(self._given.folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((nothing, self._given.stdout, self._given.stderr)):
            os.dup2(descriptor, number)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        for number, handler in self._before.items():  # what nohup had ignored stays ignored
            signal.signal(number, signal.SIG_IGN if handler == signal.SIG_IGN else signal.SIG_DFL)
        words = request["command"]
        os.execvpe(words[0], words, request["environment"])


def main() -> None:
    """Run as a program, which receives its orders by standard input."""
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    guard = Guard(orders)
    print("watching", flush=True)
    os.dup2(0, 1)
    sys.stdout = sys.stderr
    guard.serve()
