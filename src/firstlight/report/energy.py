"""Energy on pages: what measured it, the power of the idle node, and how many launches were too short for it."""

from __future__ import annotations

from firstlight.analysis import Judgement
from firstlight.analysis.energy import coverage
from firstlight.core.units import percent, quantity


def sentence(judgement: Judgement) -> str:
    """Return one sentence on the energy of a run; "" if the run is of a firstlight that did not measure any."""
    energy = judgement.run.energy
    if energy is None:
        return ""
    if energy.meter is None:
        return f"energy is not available: {energy.why}"
    meter = energy.meter
    idle = "idle power not measured" if energy.idle is None else f"idle {quantity(energy.idle, 'W')}"
    text = (
        f"energy of {meter.covers}, measured with {meter.source}, updated every {quantity(meter.update, 's')}; {idle}"
    )
    covered = coverage(judgement.run, judgement.records)
    if covered.measured:
        text += f"; median error of a launch {percent(covered.error)}"
    without = covered.cases - covered.measured
    return text + (
        f"; {without} of {covered.cases} measured cases have no energy figure: {covered.why}" if without else ""
    )
