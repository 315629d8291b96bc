"""Invented figures between processes: messages, exchanges with neighbours and iterations of patterns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import shipped
import synthetic_machine
from firstlight.analysis.verdict import Estimate, Figure, Identity, Limit, Verified
from firstlight.model.plan import Placement

WORKLOADS = shipped.workloads()


def figure(program: str, metric: str, parameters: dict[str, Any], us: float, **more: Any) -> Verified:
    workload, _, variant = program.partition(".")
    place, cost = more.pop("place", Placement(1, 2, 1)), more.pop("cost", {})
    launches = more.pop("launches", (us,) * 6)
    identity = Identity(workload, variant, "gcc-base", "mpich", place, tuple(sorted(parameters.items())), metric)
    return Verified(identity, "us", "lower", Estimate(us, us, us, launches), 0.0, cost, None, 0.0, **more)


def iteration(kernel: str, us: float, flow: float = 1000.0, sizes: str = "small", **more: Any) -> Figure:
    parameters = {"kernel": kernel, "sizes": sizes}
    return figure("patterns.mpi_nonblocking", "time", parameters, us, cost={"flow": flow}, **more)


def judgement(figures: list[Figure], copying: float = 0.0) -> Any:
    run = SimpleNamespace(id="here", machine=None, toolbox=synthetic_machine.mpich_alone())
    source = figures[0].identity
    limits = (Limit("copy_bandwidth", 1, 1e5, copying, copying, copying, True, source),) if copying else ()
    return SimpleNamespace(run=run, figures=tuple(figures), limits=limits)
