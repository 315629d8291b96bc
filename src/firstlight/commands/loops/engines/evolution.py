"""Evolution: search with SciPy's differential evolution over the indices of the values (R. Storn and K. Price,
J. Global Optim. 11 (1997) 341).
"""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from random import Random

from firstlight.commands.loops.engines import Score, Space

REJECTED = 1e3  # what a rejected candidate counts, for differences of infinities are not numbers


def missing() -> str:
    """Return the command that installs SciPy; "" if it is installed."""
    return "" if find_spec("scipy") else f"{sys.executable} -m pip install scipy"


def search(space: Space, score: Score, random: Random) -> None:
    from scipy.optimize import differential_evolution  # type: ignore[import-untyped,unused-ignore]

    known: dict[tuple[int, ...], float] = {}

    def value(x: list[float]) -> float:
        key = tuple(round(v) for v in x)
        if key not in known:
            point = {name: values[k] for (name, values), k in zip(space.items(), key, strict=True) if values[k]}
            found = score(point) if point else 1.0
            known[key] = found if math.isfinite(found) else REJECTED
        return known[key]

    bounds = [(0, len(values) - 1) for values in space.values()]
    whole = [True] * len(bounds)
    differential_evolution(
        value, bounds, integrality=whole, popsize=4, maxiter=50, polish=False, rng=random.randrange(1 << 30)
    )
