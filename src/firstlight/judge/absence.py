"""Absence: what this machine lacks and what was not planned for it, each once: one list for every page and export."""

from __future__ import annotations

from firstlight.judge.words import bare, listing
from firstlight.record import Run
from firstlight.toolchains import OFFLOADING, Absent

_WITH = " with "


def absences(run: Run) -> list[Absent]:
    """A program that lacks the same thing with several toolchains is one entry: `dot.x with gcc-base / gcc-fast`.

    No path of the machine stands in it.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for a in dict.fromkeys((*run.not_available, *run.toolbox.absent, *_devices(run))):
        program, _, toolchain = a.what.partition(_WITH)
        found.setdefault((program, bare(a.why), bare(a.fix)), []).append(toolchain)
    return [
        Absent(_WITH.join(x for x in (program, " / ".join(filter(None, toolchains))) if x), why, fix)
        for (program, why, fix), toolchains in found.items()
    ]


def _devices(run: Run) -> list[Absent]:
    """The GPU, where there is none but compilers for it."""
    some = compilers_for_devices(run)
    if run.machine.gpus or not some:
        return []
    verb = "compiles" if len(some) == 1 else "compile"
    return [Absent("GPU", f"none that a program may use; {listing(some)} {verb} for one", "run on a node with a GPU")]


def compilers_for_devices(run: Run) -> list[str]:
    """`nvcc 13.0.88`, `gcc (OpenACC, OpenMP on devices)`: what is here and makes code for a GPU."""
    cuda = run.toolbox.cuda
    by: dict[str, list[str]] = {}
    for offload in run.toolbox.offloads:
        if offload.device:
            by.setdefault(offload.compiler, []).append(OFFLOADING.get(offload.capability, offload.capability))
    return ([cuda.label] if cuda else []) + [f"{name} ({', '.join(sorted(what))})" for name, what in by.items()]
