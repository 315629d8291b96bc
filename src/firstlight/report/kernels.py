"""Kernels: how the compiler translated the GPU kernels of a run's programs: a fact of the builds, not of the run."""

from __future__ import annotations

import msgspec

from firstlight.analysis.formatting import bare
from firstlight.core.units import count
from firstlight.results.record import Run

HEAD = ("program", "kernel", "made for", "registers", "spill stores", "spill loads", "stack", "shared memory")


class Kernels(msgspec.Struct, frozen=True):
    """`summary`: where the numbers come from, and whether there was a GPU; `rows`: columns as in `HEAD`."""

    summary: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def kernels(run: Run) -> Kernels | None:
    """Return each kernel once, whatever flags its processor code has; None if none was made for a GPU."""
    found: dict[tuple[str, ...], None] = {}
    for build in run.builds:
        for k in build.kernels:
            spent = (f"{k.spill_stores} B", f"{k.spill_loads} B", f"{k.stack} B", f"{k.shared} B")
            mpi = f", {build.program.mpi}" if build.program.mpi else ""
            row = (build.program.target + mpi, bare(k.name), bare(k.architecture), str(k.registers), *spent)
            found[row] = None
    if not found:
        return None
    text = (
        "The compiler reports registers and stack per thread, and shared memory per block. Spilled bytes are stored "
        "and loaded for lack of registers; each spill instruction in the code counts once. "
    )
    if not run.machine.gpus:
        text += "These values are from the build. The run had no GPU, so none of these kernels ran."
    return Kernels(f"{count(len(found), 'kernel')}. {text}".strip(), HEAD, list(found))
