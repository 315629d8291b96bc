"""Launch: start one program according to its placement, supervise it, and report in one sentence how it ended."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.core.units import binary, count
from firstlight.execute.launch import scratch, supervise
from firstlight.execute.launch.environment import compose, settings
from firstlight.execute.launch.invocation import Here, Invocation, Launcher
from firstlight.execute.launch.launcher import find, here
from firstlight.execute.launch.started import started
from firstlight.execute.launch.supervise import Ended
from firstlight.model.catalogue import needs, on_device
from firstlight.model.plan import Cell, ExternalCommand, Placement
from firstlight.system.machine import SHARED_LEAST, Machine, allocation, gpus, shared_memory, starts_nothing
from firstlight.system.machine.storage import new_folder
from firstlight.system.mpi_families import NodeCapacity
from firstlight.toolchain import Mpi, Toolbox


class Outcome(msgspec.Struct, frozen=True):
    """How a launch ended. `ok`, `status`, `reason`, `seconds`, `load`, `stderr` and `left` are those of record.Exit.

    `processors`: seconds of this machine's processors that it took, 0 where that is not known (its keeper was killed).
    `power`: what the caller read from a gauge meanwhile, as in record.Exit.
    """

    command: tuple[str, ...]
    ok: bool
    status: int | None
    reason: str
    seconds: float
    load: float
    stderr: str
    stdout: str = ""
    left: int = 0
    processors: float = 0.0
    power: tuple[tuple[float, float], ...] = ()


class Command(NamedTuple):
    """A launch that can be started. `words`: its whole command line, as recorded and as it can be repeated by hand."""

    words: tuple[str, ...]
    cell: Cell
    executable: Path
    output: Path
    machine: Machine
    mpi: Mpi | None
    launcher: Launcher
    invocation: Invocation
    storage: Mapping[str, Path]


def command(
    cell: Cell,
    executable: Path,
    toolbox: Toolbox,
    *,
    output: Path,
    machine: Machine,
    options: Sequence[str] = (),
    storage: Mapping[str, Path] = {},
) -> Command:
    """Compose a launch whose program appends its record to `output`.

    `options` are passed to the program after the cell's arguments (`--samples 5`). `--threads` is added if the
    placement has more than one thread and the cell does not name threads itself. `storage` lists directories by target;
    the launch makes a new folder in each and removes it. Raises UsageError when the MPI library of the cell is not in
    the toolbox or no launcher file is there for it.
    """
    mpi, launcher = _launcher(cell, toolbox)
    invocation = _invocation(cell, mpi, launcher, machine)
    folders = {name: new_folder(place) for name, place in storage.items()}
    options = [*options, *(word for name, folder in folders.items() for word in ("--storage", f"{name}={folder}"))]
    words = _words(cell, executable, output, options, invocation, toolbox.emulator)
    return Command(words, cell, executable, output, machine, mpi, launcher, invocation, folders)


def launch(command: Command, timeout: float, identity: str) -> Outcome:
    """Run one launch to its end, at most `timeout` seconds.

    Whatever happens (a hang, an abort, Ctrl-C, kill -9 of this process), no process of the launch survives it.
    `identity` must be unique on this machine. Raises KeyboardInterrupt after the launch was ended; the outcome reports
    everything that the program does wrong.
    """
    words, cell, executable, output, machine, mpi, launcher, invocation, storage = command
    leftovers = scratch.expected_leftovers(mpi, machine)._replace(storage=tuple(map(str, storage.values())))
    own = invocation.environment | _runtimes(cell, mpi) | scratch.variables(leftovers, mpi)
    if cell.placement.gpu is not None:
        own |= gpus.alone(cell.placement.gpu, machine.gpus)
    environment = compose(cell.placement, identity, own, cell.external)
    try:
        with _abandoning(launcher) as over:
            ended = supervise.run(
                words,
                environment,
                identity=identity,
                timeout=timeout,
                cpu=invocation.cpu,
                grace=invocation.grace,
                leftovers=leftovers,
            )
            over(ended.status is not None)
    except OSError as error:
        reason = f"cannot start {words[0]}: {error.strerror}"
        if error.errno == errno.EACCES and Path(words[0]).is_file() and starts_nothing(Path(words[0])):
            reason += "; the file system is mounted noexec: set FIRSTLIGHT_CACHE to a folder on another file system"
        if error.filename == leftovers.folder:
            reason = f"cannot create the temporary folder {leftovers.folder}: {error.strerror}"
        for name in (name for name, folder in storage.items() if error.filename == str(folder)):
            reason = f"target {name}: cannot create a folder: {error.strerror}"
        return Outcome(words, False, None, reason, 0.0, os.getloadavg()[0], "")
    stderr = _text(ended.stderr, machine)
    stdout = _text(ended.stdout, machine)
    number = None if ended.status is None else launcher.signal_of(ended.status, f"{stderr}\n{stdout}")
    noun = "program" if mpi is None else "rank"
    message = _last_message(stderr, executable)
    reason = _reason(ended, number, message, timeout, flaw=flaw(output), noun=noun)
    free = shared_memory()
    if reason and mpi is not None and free is not None and free < SHARED_LEAST * cell.placement.per_node:
        reason += f"; /dev/shm has only {binary(free)} free, and ranks on a node share memory in it"
    failed_by_itself = ended.status is not None and number is None
    if reason and mpi is not None and failed_by_itself and (own_settings := settings(mpi)):
        reason += f"; your shell sets {', '.join(own_settings)}"
    if ended.left:
        stderr += f"firstlight: ended {len(ended.left)} processes left behind: {', '.join(ended.left)}\n"
    if ended.removed:
        names = _text(", ".join(Path(path).name for path in ended.removed).encode(), machine)
        stderr += f"firstlight: removed {len(ended.removed)} shared files left behind: {names}\n"
    return Outcome(
        command=words,
        ok=not reason,
        status=ended.status,
        reason=reason,
        seconds=ended.seconds,
        load=os.getloadavg()[0],
        stderr=stderr,
        stdout=stdout,
        left=len(ended.left),
        processors=ended.processors,
    )


def flaw(output: Path) -> str:
    """Return what a launch file is instead of a record, "" if its last whole line is the program's `end` line.

    The program can put anything in its place: pipes and links are not followed, and nothing waits.
    """
    try:
        descriptor = os.open(output, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return "no record"
    except OSError as error:  # a link, a socket, a file that was made unreadable
        kind = _kind(output)
        return f"{kind} instead of its record" if kind else f"an unreadable record ({error.strerror})"
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return f"{_kind(output) or 'something else'} instead of its record"
    with open(descriptor, "rb") as file:  # noqa: PTH123 (a descriptor)
        file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
        tail = file.read(4096)
    try:
        line = reading.json(tail[:-1].rpartition(b"\n")[2], object) if tail.endswith(b"\n") else None
    except reading.MalformedError:
        line = None
    return "" if isinstance(line, dict) and line.get("type") == "end" else "an incomplete record"


PIECE = 30_000
"""Characters of an external command in one word: with up to four bytes each, they stay below the limit of Linux."""

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _kind(path: Path) -> str:
    """Return the kind of the file, "" for a regular file or nothing."""
    try:
        return _KINDS.get(stat.S_IFMT(path.lstat().st_mode), "")
    except OSError:
        return ""


def _launcher(cell: Cell, toolbox: Toolbox) -> tuple[Mpi | None, Launcher]:
    name = cell.program.mpi
    if name is None:
        return None, find("direct")
    mpi = toolbox.mpi(name)
    if mpi is None:
        raise UsageError(f"{cell.program.key}: MPI library {name!r} is no longer installed; see `./fl doctor`")
    if mpi.starter and Path(mpi.starter[0]).name != "srun":
        return mpi, started(mpi.starter)
    return mpi, find("srun" if mpi.starter else mpi.family)


def _invocation(cell: Cell, mpi: Mpi | None, launcher: Launcher, machine: Machine) -> Invocation:
    """Return the invocation. Raises UsageError for too few nodes or GPUs: some launchers would wait, or start fewer."""
    if cell.placement.nodes > machine.nodes:
        has = count(machine.nodes, "node")
        raise UsageError(
            f"{cell.id} needs {cell.placement.nodes} nodes, but can use only {has}; see ./fl submit --nodes"
        )
    if cell.placement.gpu is not None and cell.placement.gpu >= len(machine.gpus):
        has = count(len(machine.gpus), "GPU")
        raise UsageError(f"{cell.id} needs GPU {cell.placement.gpu} (counted from 0), but can use only {has}")
    if cell.external is not None:
        return _of_external(cell.external, cell.placement, mpi, launcher, machine)
    invocation = launcher.invocation(mpi, cell.placement, here(machine))
    devices = getattr(launcher, "devices", None)
    if devices is None or not machine.gpus or not on_device(needs(cell.program.variant)):
        return invocation  # a program for GPUs that finds none refuses by itself, in its own words
    return msgspec.structs.replace(invocation, prefix=invocation.prefix + devices(cell.placement, len(machine.gpus)))


def _of_external(
    external: ExternalCommand, placement: Placement, mpi: Mpi | None, launcher: Launcher, machine: Machine
) -> Invocation:
    """Build the invocation of an external command. A launcher that must not bind its processes sees no cores."""
    invocation = launcher.invocation(mpi, placement, here(machine) if external.bound else Here(NodeCapacity(0, 0)))
    if external.bound:
        return invocation
    environment = {n: v for n, v in invocation.environment.items() if not n.startswith("OMP_")}
    return msgspec.structs.replace(invocation, environment=environment, cpu=None)


@contextlib.contextmanager
def _abandoning(launcher: Launcher) -> Iterator[Callable[[bool], None]]:
    """Call the launcher's `abandon` after the body, unless the launch ended by itself: ranks may run on other nodes."""
    by_itself = [False]
    try:
        yield by_itself.append
    finally:
        abandon = getattr(launcher, "abandon", None)
        if abandon is not None and not by_itself[-1]:
            abandon()


def _runtimes(cell: Cell, mpi: Mpi | None) -> dict[str, str]:
    """Return the variables of the runtimes that the program's name requires (OpenSHMEM, coarrays)."""
    extras = mpi.extras if mpi is not None and cell.external is None else {}
    wanted = [extras[need].environment for need in needs(cell.program.variant) if need in extras]
    return {name: value for environment in wanted for name, value in environment.items()}


def _words(
    cell: Cell,
    executable: Path,
    output: Path,
    options: Sequence[str],
    invocation: Invocation,
    emulator: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the words. The observer starts an external command's launcher, to time all that its user waits for."""
    if cell.external is None:
        return invocation.prefix + emulator + _program(cell, executable, output, options)
    place = cell.placement
    values = {"program": cell.program.target, "ranks": place.ranks, "nodes": place.nodes, "threads": place.threads}
    external = msgspec.json.encode(cell.external).decode()
    words = [sys.executable, "-I", "-S", str(executable.absolute()), *cell.arguments, *options]
    words += [word for name, value in values.items() for word in (f"--{name}", str(value))]
    words += [word for k in range(0, len(external), PIECE) for word in ("--external", external[k : k + PIECE])]
    return (*words, "--output", str(output.absolute()), "--", *(invocation.prefix if cell.external.launched else ()))


def _program(cell: Cell, executable: Path, output: Path, options: Sequence[str]) -> tuple[str, ...]:
    words = [str(executable.absolute()), *cell.arguments, "--output", str(output.absolute()), *options]
    if cell.placement.threads > 1 and "--threads" not in words:
        words += ["--threads", str(cell.placement.threads)]
    return tuple(words)


def _last_message(stderr: str, executable: Path) -> str:
    """Return the line to show: the program's own (`PROGRAM: message`), not a launcher's; else the last with text."""
    lines = [line.strip() for line in stderr.splitlines() if re.search(r"\w", line)]
    own = [line.partition(f"{executable.absolute()}: ")[2] for line in lines]
    return next((message for message in own if message), lines[-1] if lines else "no message")


def _reason(ended: Ended, number: int | None, message: str, timeout: float, *, flaw: str, noun: str) -> str:
    """Return one sentence, empty if the launch ended by itself with status 0 or 1 and a complete record.

    `number` is the signal that the launcher reported, `message` the last line of output, `flaw` what there is instead
    of a record that ends with its end line.
    """
    if ended.stuck:
        return f"could not be killed: {', '.join(ended.stuck)} still running (waiting in the kernel)"
    if ended.status is None:
        return f"timed out after {timeout:g} s and was killed"
    if number is None and ended.status < 0:
        number = -ended.status  # the launcher itself
    if number is not None:
        return f"{noun} aborted: signal {number} ({_signal_name(number)})"
    if ended.status in (0, 1):
        return f"ended with status {ended.status} and {flaw}: {message}" if flaw else ""
    kind = {2: "rejected its arguments", 3: "could not run here"}.get(ended.status, "ended by itself")
    return f"{kind} (status {ended.status}): {message}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _text(data: bytes, machine: Machine) -> str:
    """Return what was printed, without the names of the nodes (launchers print them) and without control characters."""
    text = "".join(c if c == "\n" or c.isprintable() else " " for c in data.decode("utf-8", "replace"))
    node = os.uname().nodename
    others = (name for name in allocation.discover().hosts if name in text) if machine.batch else ()
    for name in sorted({node, node.partition(".")[0], *others} - {""}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", machine.name, text)
    return text
