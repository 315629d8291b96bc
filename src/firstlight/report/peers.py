"""Peers: other programs that measure the same quantity as a figure, and the command that starts each, if present."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from firstlight.analysis.explaining import Launched
from firstlight.analysis.verdict import Verified
from firstlight.core import shell
from firstlight.core.roles import (
    COLLECTIVE,
    EXECUTION,
    EXECUTION_CPU,
    EXECUTION_MEMORY,
    MEMORY_ACCESS,
    MESSAGE,
    OF_COMMANDS,
    VECTOR_ADDITION,
)
from firstlight.model.catalogue import Workload
from firstlight.model.plan import ExternalCommand
from firstlight.results.record import Run

PEERS: dict[str, tuple[tuple[str, ...], ...]] = {
    MESSAGE: (("osu_latency",), ("IMB-MPI1", "PingPong")),
    VECTOR_ADDITION: (("stream_c.exe",), ("stream",)),
    MEMORY_ACCESS: (("lat_mem_rd",),),
    COLLECTIVE: (("IMB-MPI1",),),
    EXECUTION: (("hyperfine", "--shell=none"), ("perf", "stat", "--repeat=10")),
    EXECUTION_CPU: (("perf", "stat", "--repeat=10", "--event=task-clock"),),
    EXECUTION_MEMORY: (("time", "--format=%M KiB"),),
}
"""Programs that measure the same quantity, with their arguments, by the role of a figure."""
PREPARED = {"hyperfine": "--prepare", "perf": "--pre"}
"""The option by which a program starts a shell's command before each execution that it measures."""

OUT = "/tmp/firstlight-out"
"""The value of `{out}` in a command for copying: without an execution there is no file of its own."""


class Peer(msgspec.Struct, frozen=True):
    """Another program for the same quantity: its command, or the reason why there is none ("not available: ...")."""

    program: str
    command: str
    why: str


def peers(figure: Verified, workloads: Mapping[str, Workload], run: Run, some: Sequence[Launched]) -> list[Peer]:
    """Return other programs that measure what the figure measures, if its workload declares its role.

    `some`: its launches. A peer of an external command starts the command line of the last of them.
    """
    workload, i = workloads.get(figure.identity.workload), figure.identity
    found = []
    for role in workload.roles if workload is not None else ():
        mine = role.metric == i.metric and any(fnmatchcase(i.variant, pattern) for pattern in role.variants)
        for program, *arguments in PEERS.get(role.role, ()) if mine else ():
            if shutil.which(program) is None:
                found.append(Peer(program, "", f"not available: {program} is not on PATH"))
            elif role.role in OF_COMMANDS:
                command = _of_external(program, arguments, run, some)
                found.append(Peer(program, command, "" if command else "not available: no launch recorded its command"))
            else:
                ranks = ("mpiexec", "-n", str(i.placement.ranks)) if i.placement.ranks > 1 else ()
                found.append(Peer(program, shell.line((*ranks, program, *arguments)), ""))
    return found


def _of_external(program: str, arguments: Sequence[str], run: Run, some: Sequence[Launched]) -> str:
    """Return a command that measures the external command in its folder with its environment and launcher, or "".

    The program's own option executes the preparation, or a shell does so once if there is no such option.
    """
    start = some[-1].record.start if some else None
    external = next((c.external for c in run.cells if start is not None and c.id == start.cell), None)
    if start is None or external is None:
        return ""
    words = [word.replace("{out}", OUT) for word in (*_launcher(external, start.command), *external.command)]
    prepare, options = external.prepare.replace("{out}", OUT), [*arguments]
    before: list[tuple[str, ...]] = [("cd", external.folder)]
    if prepare and program in PREPARED:
        options.append(f"{PREPARED[program]}={prepare}")
    elif prepare:
        before.append(("sh", "-c", prepare))
    # A program that accepts the command as one word; the others end their options here.
    measured = [shlex.join(words)] if program == "hyperfine" else ["--", *words]
    settings = [f"{name}={value}" for name, value in sorted(external.environment.items())]
    return " && ".join(map(shell.line, [*before, ("env", *settings, program, *options, *measured)]))


def _launcher(external: ExternalCommand, command: Sequence[str]) -> Sequence[str]:
    """Return the launcher's arguments in a recorded command: those after the observer's own."""
    if not external.launched or "--output" not in command:
        return ()
    return command[command.index("--output") + 3 :]
