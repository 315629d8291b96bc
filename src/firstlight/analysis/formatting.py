"""Format figures, parameters, placements and lists in plain English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from firstlight.analysis.verdict import Identity
from firstlight.core.units import binary, significant
from firstlight.model.plan import Placement
from firstlight.results.record import Run
from firstlight.results.store import documents

_LONGEST = 60  # characters of a parameter's value
_FOLDERS = re.compile(r"(?<![\w.:/$~{}-])/(?:[\w.+@-]+/)+(?=[\w.+@-])")


def value(name: str, v: int | float | str) -> str:
    """Format a parameter's value: a size if it is called bytes, digits for other numbers, the file name for a file.

    A whole number is never rounded: it must measure the same case if it is typed.
    """
    if isinstance(v, str):
        v = documents.shown(v)
        return v if len(v) <= _LONGEST else v[: _LONGEST - 1] + "…"
    if name == "bytes":
        return binary(v)
    short = significant(v)
    return short if isinstance(v, float) or (v >= 100_000 and float(short) == v) else str(v)


def values(parameters: Iterable[tuple[str, int | float | str]]) -> str:
    """Format parameters: `n = 1000, op = copy`."""
    return ", ".join(f"{k} = {value(k, v)}" for k, v in parameters)


def listing(words: Sequence[str]) -> str:
    """Join words in a list: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def where(placement: Placement) -> str:
    """Format a placement: `2 ranks, 4 threads`; empty for one core. GPUs are counted from 0, as drivers do."""
    parts = []
    if placement.nodes > 1:
        parts.append(f"{placement.nodes} nodes")
    if placement.ranks > 1:
        parts.append(f"{placement.ranks} ranks")
    if placement.threads > 1:
        parts.append(f"{placement.threads} threads")
    if placement.gpu is not None:
        parts.append(f"GPU {placement.gpu}")
    return ", ".join(parts)


def name(identity: Identity) -> str:
    """Return one line that names a figure: dot.simd rate, n = 1000 (gcc-native, Open MPI ...)."""
    described = ", ".join(x for x in (values(identity.parameters), where(identity.placement)) if x)
    tools = identity.toolchain + (f", {identity.mpi}" if identity.mpi else "")
    metric = f" {identity.metric}" if identity.metric else ""
    return f"{identity.workload}.{identity.variant}{metric}" + (f", {described}" if described else "") + f" ({tools})"


def mpi_label(run: Run, mpi: str) -> str:
    """Return `Open MPI 4.1.4` for `openmpi`; its name if the run does not describe it."""
    library = run.toolbox.mpi(mpi)
    return library.label if library else mpi


def mpi_name(run: Run, mpi: str) -> str:
    """Return `Open MPI`: the label without its version, if that identifies one library of the run only."""
    short = {m.name: m.label.removesuffix(m.version).strip() for m in run.toolbox.mpis}
    return short[mpi] if mpi in short and list(short.values()).count(short[mpi]) == 1 else mpi_label(run, mpi)


def bare(text: str) -> str:
    """Return the text without the folders of this machine: `/usr/lib/libHYPRE.so: ...` is `libHYPRE.so: ...`."""
    return _FOLDERS.sub("", text)
