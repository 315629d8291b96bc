"""Trials of directives for devices: the device for which a compiler makes code, and whether that ran on one here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from firstlight.system.machine import Machine
from firstlight.toolchain import Absent, Offload
from firstlight.toolchain.host import CommandResult, Host
from firstlight.toolchain.probe_result import Compiler

WITHOUT_A_GPU = ("sm_75", "sm_80", "sm_70", "sm_53", "sm_35")
"""Architectures to try without one of NVIDIA's GPUs: later GPUs run their code; new tools reject the oldest."""
LATER = ("sm_90", "sm_89", "sm_86")


class Spelling(msgspec.Struct, frozen=True):
    """Flags that request code for a device."""

    device: str  # nvptx sm_75
    flags: tuple[str, ...]  # to compile and to link
    link_flags: tuple[str, ...] = ()


class Directives(NamedTuple):
    """Directives for devices in one compiler, and what a trial of them requires."""

    capability: str  # target, acc
    trial: str  # the source of a program that prints where its region ran: `device` or `host`
    spellings: Sequence[Spelling]
    plain: tuple[str, ...]  # flags for the host only
    missing: Absent  # if no spelling works


class _Answer(msgspec.Struct, frozen=True):
    """What a compiler offers and what it lacks. `lasting`: another trial would end the same.

    It is not if one took too long, or if a program failed: the caller's variables or limits may be the cause.
    """

    offload: Offload | None
    gap: Absent | None
    lasting: bool


def architectures(machine: Machine) -> list[str]:
    """Return the architectures to try, best first: up to the capability of the GPU here."""
    capability = machine.gpus[0].capability if machine.gpus else ""
    if not capability:
        return list(WITHOUT_A_GPU)
    most = int(capability.replace(".", ""))
    return sorted((a for a in (*WITHOUT_A_GPU, *LATER) if int(a[3:]) <= most), key=lambda a: -int(a[3:]))


def prove(host: Host, compiler: Compiler, d: Directives) -> tuple[Offload | Absent, ...]:
    """Return the first spelling whose program of `d.trial` prints where its region ran.

    If none does, the directives are compiled with the flags `d.plain`, and `d.missing` is returned, with the compiler's
    reason if it was tried. The result is remembered until the compiler, the GPUs here, NVIDIA's assembler or the
    spellings change.
    """
    tools = (compiler.cxx, host.which("ptxas"))
    key = f"offload {d.capability} {d.spellings} {d.plain} {host.machine.gpus} {host.identity(*tools)}"
    answer = host.memory.recall(key, _Answer)
    if answer is None:
        answer = _prove(host, compiler, d)
        if answer.lasting:
            host.memory.keep(key, answer)
    return tuple(found for found in (answer.offload, answer.gap) if found is not None)


def _prove(host: Host, compiler: Compiler, d: Directives) -> _Answer:
    reason, lasting = d.missing.why, True
    for spelling in d.spellings:
        command = [compiler.cxx, "-std=c++20", "-O2", *spelling.flags]
        outcome = host.trial(d.trial, ".cpp", command, spelling.link_flags)
        where = outcome.out.strip()
        if outcome.ok and where in ("device", "host"):
            ran = where == "device"
            found = Offload(d.capability, compiler.name, spelling.device, spelling.flags, spelling.link_flags, ran)
            return _Answer(found, None, lasting)
        reason = f"{' '.join(spelling.flags)}: {outcome.reason}"
        lasting &= _lasting(outcome)
    gap = msgspec.structs.replace(d.missing, why=reason)
    outcome = host.trial(d.trial, ".cpp", [compiler.cxx, "-std=c++20", *d.plain])
    if not outcome.ok:
        return _Answer(None, gap, lasting and _lasting(outcome))
    return _Answer(Offload(d.capability, compiler.name, "", d.plain), gap, lasting)


def _lasting(failure: CommandResult) -> bool:
    return failure.code != 124 and not failure.ran


def gcc_spellings(host: Host, compiler: Compiler, directives: str) -> list[Spelling]:
    """Return GCC's flags for NVIDIA's GPUs; none without the package of its second compiler."""
    second = _parts(host, compiler) / "accel/nvptx-none/mkoffload"
    if not second.exists() or not host.shows(second):
        return []
    words = (directives, "-foffload=nvptx-none")
    # The table of what is offloaded is not position independent.
    return [
        Spelling(f"nvptx {a}", (*words, f"-foffload-options=nvptx-none=-misa={a}"), ("-no-pie",))
        for a in architectures(host.machine)
    ]


def _parts(host: Host, compiler: Compiler) -> Path:
    """Return the folder of the programs that GCC consists of."""
    key = f"parts {host.identity(compiler.cxx)}"
    known = host.memory.recall(key, str)
    if known is None:
        known = host.run([compiler.cxx, "-print-prog-name=cc1plus"]).out.strip()
        host.memory.keep(key, known)
    return Path(known).parent
