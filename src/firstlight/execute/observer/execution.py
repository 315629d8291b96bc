"""One execution of an external command: start it, wait for it, and read the kernel's accounting at its end."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

TAIL = 1 << 20
"""Bytes of its output that are read: the last ones."""

OVERLAP = 1 << 16
"""Bytes by which two pieces of the output overlap."""


class Executed(NamedTuple):
    """What one execution used: `wall` and `cpu` in seconds (user and system, of all processes waited for below it).
    `memory`: the largest resident set of one of them in bytes, None if not known. The kernel counts the process that
    starts another as the beginning of that one, so a set smaller than the observer's is not visible.
    `undisturbed`: the share of its time in which its first thread did not wait for a processor that others had (1 if
    the kernel does not report it). `status`: negative for a signal.
    """

    wall: float
    cpu: float
    memory: float | None
    undisturbed: float
    status: int


class Files(NamedTuple):
    """The files of an execution: `out` replaces `{out}`, and receives its standard output if its words do not
    name it.
    """

    out: str
    stdout: str
    stderr: str


def files(folder: str, named: bool, wanted: bool) -> Files:
    """Return the output files. `named`: the command contains `{out}`. Unless `wanted`, its output is discarded then."""
    out = f"{folder}/out"
    shown = f"{folder}/stdout" if named else out
    return Files(out, shown if wanted or not named else os.devnull, f"{folder}/stderr")


def execute(words: list[str], environment: Mapping[str, str], where: Files) -> Executed:
    """Run the command and return what it used. Raises OSError if it cannot be started."""
    made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, where.stdout, made, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, where.stderr, made, 0o600),
    ]
    began = time.monotonic_ns()
    process = os.posix_spawnp(words[0], words, environment, file_actions=actions)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    wall = (time.monotonic_ns() - began) * 1e-9
    waited = _waited(process)
    _, ended, used = os.wait4(process, 0)
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Executed(
        wall=wall,
        cpu=used.ru_utime + used.ru_stime,
        memory=used.ru_maxrss * 1024.0 if used.ru_maxrss > mine else None,
        undisturbed=max(0.0, 1 - waited / wall),
        status=os.waitstatus_to_exitcode(ended),
    )


def peak_memory(words: list[str], environment: Mapping[str, str], where: Files) -> float | None:
    """Run the command once more and return its largest resident set in bytes, also if the observer's is larger.

    Returns None if the kernel does not report it.

    A shell starts it and ends, so that it becomes a child of the observer whose count began with the shell's own size.
    It waits for that end: otherwise the shell itself might collect the status of a command that ended before.
    """
    adopt = _adopting()
    if adopt is None:
        return None
    made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    process_file = where.stderr + ".process"
    gate, hold = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, gate, 4),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, where.stdout, made, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, where.stderr, made, 0o600),
        (os.POSIX_SPAWN_OPEN, 3, process_file, made, 0o600),
    ]
    adopt(True)
    try:
        try:
            starter = ["sh", "-c", '(read -r _ <&4; exec "$@" 3>&- 4<&-) & echo $! >&3', "sh", *words]
            os.waitpid(os.posix_spawn("/bin/sh", starter, environment, file_actions=actions), 0)
        finally:
            os.close(gate)
            os.close(hold)
        process = int(printed(process_file))
        _, _, used = os.wait4(process, 0)
    except (OSError, ValueError):
        return None
    finally:
        adopt(False)
        if os.path.lexists(process_file):
            os.unlink(process_file)  # noqa: PTH108
    return used.ru_maxrss * 1024.0


def _adopting() -> Callable[[bool], object] | None:
    """Return a function that makes this process adopt orphans below it, or no longer; None if that is impossible."""
    try:
        from ctypes import CDLL  # only here: its import is slower than all of this

        prctl = CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return lambda on: prctl(36, int(on), 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def _waited(process: int) -> float:
    """Return seconds for which its first thread was ready but had no processor; it has ended and is still there."""
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0


TICK = 0.02
"""Two changes of a file within this many seconds may have the same time."""


def state(path: str) -> tuple[int, ...] | None:
    """Return what changes if a plain file is written; None if there is none that can be read.

    The file is opened: a network file system reports the present state only then.
    """
    try:
        if not os.path.isfile(path):  # noqa: PTH113
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            found = os.fstat(file.fileno())
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def settled(path: str) -> tuple[int, ...] | None:
    """Return the state of a file, after the time within which another change might have the same time.

    That is a second if the file system stores whole seconds only.
    """
    found = state(path)
    if found is None:
        return None
    tick = TICK if found[3] % 1_000_000_000 else 1 + TICK
    time.sleep(min(max(TICK, found[3] * 1e-9 + tick - time.time()), tick))
    return found


def clear(where: Files) -> None:
    """Remove what an earlier execution left where the next one writes."""
    for path in where:
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            import shutil

            shutil.rmtree(path)
        elif path != os.devnull and os.path.lexists(path):
            os.unlink(path)  # noqa: PTH108


def shell(words: str, environment: Mapping[str, str], where: Files) -> int:
    """Run a command of a shell for the external command, and return its exit status."""
    return execute(["/bin/sh", "-c", words], environment, where).status


def printed(path: str) -> str:
    """Return what was written there, at most the last TAIL bytes; "" if there is no file."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL))
            return file.read(TAIL).decode("utf-8", "replace")
    except OSError:
        return ""


def contains(path: str, wanted: str) -> bool:
    """Return whether the file contains the text; False if there is no file."""
    sought = wanted.encode("utf-8", "surrogateescape")
    kept = b""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            while more := file.read(TAIL):
                if sought in kept + more:
                    return True
                kept = (kept + more)[-len(sought) :]
    except OSError:
        pass
    return False


def pieces(path: str) -> Iterator[str]:
    """Yield the file in pieces of about TAIL bytes, the last one first; nothing if there is no file.

    Each piece begins with a line, or with a word if a line is very long, and ends with the beginning of the next piece.
    So a match is complete in one of them unless it is longer than OVERLAP.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            end = os.fstat(file.fileno()).st_size
            while end > 0:
                begin = max(0, end - TAIL)
                file.seek(begin)
                data = file.read(end - begin)
                cut = (data.find(b"\n", 0, OVERLAP) + 1) or (data.find(b" ", 0, OVERLAP) + 1) if begin > 0 else 0
                yield data[cut:].decode("utf-8", "replace")
                end = begin + ((data.rfind(b"\n", 0, OVERLAP) + 1) or OVERLAP) if begin > 0 else 0
    except OSError:
        return


def last_line(*texts: str) -> str:
    """Return the last line with a word in the first text that has one."""
    for text in texts:
        lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))]
        if lines:
            return lines[-1][:300]
    return ""
