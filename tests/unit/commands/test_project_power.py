"""The power of a projection is the run's measurement or the value on the command line."""

from __future__ import annotations

import synthetic
from energy_samples import metered
from firstlight.analysis import energy
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Verified
from firstlight.commands.project import projector


def test_a_projection_uses_the_most_power_that_was_measured() -> None:
    scene = synthetic.run(1, 8, only=["dot", "stream"], failed_build=False)
    judged = judge(*metered(scene, lambda _, case: 100.0 if case.threads == 1 else 300.0))
    most = energy.most_power(judged)
    powers = [f.estimate.median for f in judged.figures if isinstance(f, Verified) and f.identity.metric == "power"]
    assert most is not None and most.estimate.median == max(powers) > min(powers)
    rates = projector.node.rates(judged)
    machine = projector._machine(judged, rates, None, None, None, None)
    assert machine.watts == most.estimate.median
    assert machine.watts_from.startswith("the highest power that this run measured, 2 processor packages: ")
    assert projector._machine(judged, rates, None, None, None, 350.0).watts == 350.0
