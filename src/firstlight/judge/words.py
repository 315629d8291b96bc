"""Numbers and lists as a reader wants them: three significant digits, sizes in powers of 1024, plain English."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from firstlight.judge.verdict import Identity
from firstlight.plan import Placement

_LONGEST = 60  # characters of a parameter's value


def digits(x: float, n: int = 3) -> str:
    """`n` significant digits, without an exponent between 1e-3 and 1e6: 0.312, 14.2, 1770, 2.5e-10, 1e7."""
    x = _float(x)
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    exponent = math.floor(math.log10(abs(float(f"{x:.{n - 1}e}"))))
    if -4 < exponent < 6:
        return f"{x:.{max(0, n - 1 - exponent)}f}" if exponent < n else f"{round(x, n - 1 - exponent):.0f}"
    mantissa, power = f"{x:.{n - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(power)}"


def _float(x: float) -> float:
    """Foreign records may hold integers beyond what a float can."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def factor(x: float) -> str:
    """A ratio: two digits are as many as a reader uses ("1.6", "12", "240")."""
    return digits(x, 2)


def size(n_bytes: float) -> str:
    """Bytes: 8 B, 32 KiB, 1 MiB, 1.53 GiB."""
    n_bytes = _float(n_bytes)
    if not math.isfinite(n_bytes):
        return f"{n_bytes} B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            break
        n_bytes /= 1024
    return f"{int(n_bytes) if n_bytes == int(n_bytes) else digits(n_bytes)} {unit}"


def value(name: str, v: int | float | str) -> str:
    """A parameter's value: sizes where the parameter is called bytes, digits for other numbers."""
    if isinstance(v, str):
        return v if len(v) <= _LONGEST else v[: _LONGEST - 1] + "…"
    if name == "bytes":
        return size(v)
    return digits(v) if isinstance(v, float) or v >= 100_000 else str(v)


def values(parameters: Iterable[tuple[str, int | float | str]]) -> str:
    """n = 1000, op = copy"""
    return ", ".join(f"{k} = {value(k, v)}" for k, v in parameters)


def listing(words: Sequence[str]) -> str:
    """a, b and c"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def where(placement: Placement) -> str:
    """2 ranks, 4 threads; empty for one core."""
    parts = []
    if placement.nodes > 1:
        parts.append(f"{placement.nodes} nodes")
    if placement.ranks > 1:
        parts.append(f"{placement.ranks} ranks")
    if placement.threads > 1:
        parts.append(f"{placement.threads} threads")
    return ", ".join(parts)


def name(identity: Identity) -> str:
    """One line that names a figure: dot.simd rate, n = 1000 (gcc-native, Open MPI ...)."""
    described = ", ".join(x for x in (values(identity.parameters), where(identity.placement)) if x)
    tools = identity.toolchain + (f", {identity.mpi}" if identity.mpi else "")
    metric = f" {identity.metric}" if identity.metric else ""
    return f"{identity.workload}.{identity.variant}{metric}" + (f", {described}" if described else "") + f" ({tools})"
