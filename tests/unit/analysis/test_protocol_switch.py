"""A message that lasts much longer than a slightly smaller one is a finding, with the effect and what to do."""

from __future__ import annotations

from msgspec.structs import replace

import synthetic
from firstlight.analysis import Finding
from firstlight.analysis.findings import protocol_switch
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Verified


def switched(by: float) -> list[Finding]:
    """Return the findings where messages of Open MPI from 4 KiB on last so many times longer than of 4000 B."""
    judged = synthetic.judgement()
    some = [f for f in judged.figures if isinstance(f, Verified) and f.identity.metric == "latency"]
    like = next(f for f in some if f.identity.variant == "mpi_blocking" and f.identity.mpi == "openmpi")
    figures = []
    for size, time in ((2048, 1.0), (4000, 1.1), (4096, 1.1 * by), (8192, 1.2 * by)):
        e = estimate([time * (1 + 0.001 * k) for k in range(8)])
        figures.append(replace(like, identity=replace(like.identity, parameters=(("bytes", size),)), estimate=e))
    return protocol_switch.find(replace(judged, figures=tuple(figures)), synthetic.run().workloads)


def test_a_switch_of_the_protocol_names_the_size_the_effect_and_what_to_do() -> None:
    (found,) = switched(2.0)
    assert found.sentence == (
        "with Open MPI a message of 4096 B lasts 2.0 x as long as one of 4000 B (2.21 us instead of 1.10 us): the "
        "library probably changes its protocol between these sizes. Keep frequent messages below 4096 B, or send many "
        "of them as one. OMPI_MCA_btl_vader_eager_limit sets the limit within a node; a higher one needs more memory "
        "per process"
    )
    assert found.command == "./fl run pingpong.mpi_blocking --toolchain gcc-native --mpi openmpi"
    assert switched(1.2) == []
    assert not [f for f in synthetic.judgement().findings if f.rule == "protocol_switch"]
