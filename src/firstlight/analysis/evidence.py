"""Evidence: what the launches of a run show about one case, gathered over launches and cells, complete and lost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, NamedTuple

from msgspec.structs import replace

from firstlight.analysis import energy
from firstlight.analysis.verdict import DISTURBED, Identity
from firstlight.core.errors import USAGE
from firstlight.core.units import significant
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.description import Metric
from firstlight.results.record import PHASE, Case, Check, Devices, Launch, LaunchRecord, Refused, Reported, Run, Sample
from firstlight.system.energy import Meter

VALUE: Final = "value"
REPORTED: Final = "told"
"""Forms of a metric that was observed, not work over time."""
UNDISTURBED = 0.9  # CPU time over wall time below which a sample is marked as disturbed
NOTICED = 0.02  # of a run's samples: pages report it if more of them are disturbed


def diverged(records: Iterable[LaunchRecord]) -> tuple[int, int]:
    """Return the number of disturbed samples in complete launches (low CPU time), and the number of all samples."""
    samples = [s for r in records if r.complete for s in r.samples]
    return sum(not s.cpu >= UNDISTURBED for s in samples), len(samples)


def unfit(run: Run, records: Iterable[LaunchRecord]) -> bool:
    """Return whether something else used the processors in so many samples that the figures support no conclusion.

    It never is with external commands, which are then compared by their CPU time, nor on an emulated processor.
    """
    some, samples = diverged(records)
    return bool(samples) and some / samples >= DISTURBED and not run.brought and not run.machine.emulated


class Subject(NamedTuple):
    """What was measured, before a metric is chosen: the key that gathers launches."""

    program: Program
    placement: Placement
    parameters: tuple[tuple[str, int | float | str], ...]

    def identity(self, metric: str) -> Identity:
        p = self.program
        return Identity(p.workload, p.variant, p.toolchain, p.mpi, self.placement, self.parameters, metric)


class Timing(NamedTuple):
    """One launch of one case: start time, median sample, declared work, and observed values."""

    time: float
    wall: float
    steps: int
    cost: dict[str, float]
    values: dict[str, float]  # the largest over ranks, median over samples


@dataclass
class Evidence:
    """All evidence on one subject. `wrong`: sentences of failed checks; `lost`: why launches did not finish."""

    subject: Subject
    timings: list[Timing] = field(default_factory=list)
    working_set: float = 0.0
    quantities: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    unchecked: int = 0
    samples: int = 0
    disturbed: int = 0
    crowded: bool = False  # several ranks used one device
    lost: list[str] = field(default_factory=list)
    observed: set[str] = field(default_factory=set)
    incomplete: int = 0
    refused: str = ""  # the program's own reason not to run this case
    dated: bool = True  # whether it is known when each launch began

    @property
    def diverged(self) -> float:
        return self.disturbed / self.samples if self.samples else 0.0

    def applies(self, metric: Metric) -> bool:
        """Return whether the metric applies.

        If nothing was observed because nothing was timed, every value is missing.
        """
        if self.refused and not self.samples:
            return metric.form not in energy.FORMS
        if metric.form in (VALUE, REPORTED):
            return metric.quantity in self.observed or not self.samples
        if metric.form in energy.FORMS and energy.OF_POWER not in self.observed:
            return False
        if metric.form == energy.METERED:
            return True
        if cost_of(metric.phase, self.quantities).get(metric.quantity, 0.0) == 0:
            return False
        return not metric.phase or PHASE + metric.phase in self.observed or not self.samples


def gather(run: Run, records: Iterable[LaunchRecord]) -> tuple[dict[Subject, Evidence], list[str]]:
    """Return the evidence by subject, in the order of the plan, and one sentence for every lost launch."""
    by_cell: dict[str, list[LaunchRecord]] = defaultdict(list)
    for record in records:
        by_cell[record.start.cell].append(record)
    old = replaced(one for some in by_cell.values() for one in some)
    meter = run.energy.meter if run.energy is not None else None
    found: dict[Subject, Evidence] = {}
    lost: list[str] = []
    for cell in run.cells:
        for record in sorted(by_cell.pop(cell.id, ()), key=lambda r: (r.start.time, r.start.launch)):
            reason = why_lost(cell, record)
            if reason and not refused(record):
                lost.append(f"{cell.id}, launch {record.start.launch}: {reason}")
            _take(found, cell, record, reason, record.start.preview and cell.id in old, meter)
    lost += [f"{name}: {len(them)} launch files without a planned cell" for name, them in by_cell.items()]
    for evidence in found.values():
        evidence.timings.sort(key=lambda t: t.time)
    return found, lost


def replaced(records: Iterable[LaunchRecord]) -> frozenset[str]:
    """Return the cells whose preview launches are replaced: as many launches of the rounds have ended well since.

    Preview launches fill the first page before the other programs are built, so they do not alternate with the
    launches that they would be compared with.
    """
    launches = Counter((r.start.cell, r.start.preview) for r in records if r.exit.ok and r.complete)
    cells = {name for name, preview in launches if preview}
    return frozenset(name for name in cells if launches[name, False] >= launches[name, True])


def refused(record: LaunchRecord) -> str:
    """Return what the program needs and did not get (its message when it ended with status 2), or ""."""
    if record.exit.ok or record.exit.status != USAGE or record.cases or record.refused:
        return ""
    return record.exit.reason.partition("(status 2): ")[2] or record.exit.reason or "the program refused its arguments"


def lacks_device(run: Run, cell: Cell) -> bool:
    """Return whether this cell's program runs its steps on a GPU, and no GPU of this machine is known."""
    described = run.descriptions.get(cell.program.target)
    return not run.machine.gpus and described is not None and described.device != ""


def why_lost(cell: Cell, record: LaunchRecord) -> str:
    """Return why this launch has no usable values; "" if it has."""
    if not record.exit.ok:
        return record.exit.reason or f"ended with status {record.exit.status}"
    if not record.complete:
        return "the record is incomplete"
    if record.launch is None:
        return "the program did not describe itself"
    if record.launch.workload != cell.program.workload:
        return f"the program reports the workload {record.launch.workload}"
    if record.launch.ranks != cell.placement.ranks:
        return f"started as {cell.placement.ranks} ranks, but each process saw {record.launch.ranks}"
    if record.exit.status == 1 and all(c.ok for c in record.checks):
        return "the program reports a failed verification (status 1) that its record does not show"
    return ""


def _take(
    found: dict[Subject, Evidence],
    cell: Cell,
    record: LaunchRecord,
    reason: str,
    is_replaced: bool = False,
    meter: Meter | None = None,
) -> None:
    """Add a launch to the evidence of its cases. Of a launch that is replaced only the checks count."""
    samples: dict[int, list[Sample]] = defaultdict(list)
    checks: dict[int, list[Check]] = defaultdict(list)
    for sample in record.samples:
        samples[sample.case].append(sample)
    for check in record.checks:
        checks[check.case].append(check)
    for case in record.cases:
        subject = subject_of(cell, case)
        evidence = found.setdefault(subject, Evidence(subject))
        wrong = [c for c in checks[case.case] if not c.ok]
        evidence.wrong += [c.what if cell.external is not None and not c.tolerance else sentence(c) for c in wrong]
        for devices in (d for d in record.devices if d.case == case.case):
            off_device = [one for one in devices.devices if one.place != "device"]
            if off_device and all(c.ok for c in checks[case.case]):
                evidence.wrong.append(
                    f"rank {off_device[0].rank} did not run on a device, but its checks do not show this"
                )
            evidence.crowded |= _crowded(devices, record.launch)
        if not evidence.quantities:
            evidence.quantities, evidence.working_set = case.cost, case.working_set
        if reason:
            evidence.lost.append(reason)
            evidence.incomplete += record.exit.ok and not record.complete
            continue
        evidence.unchecked += not checks[case.case]
        if is_replaced:
            continue
        evidence.samples += len(samples[case.case])
        evidence.disturbed += sum(not s.cpu >= UNDISTURBED for s in samples[case.case])
        walls = [s.wall for s in samples[case.case]]
        wall = median(walls) if walls and all(map(math.isfinite, walls)) else math.nan
        if reported := [line for line in record.reported if line.case == case.case]:
            _take_reported(evidence, record, case, reported)
            continue
        values = _values(samples[case.case]) | _energy(meter, record, case)
        evidence.observed |= values.keys()
        evidence.timings.append(Timing(record.start.time, wall, case.steps, case.cost, values))

    for line in record.refused:
        subject = subject_of(cell, line)
        found.setdefault(subject, Evidence(subject)).refused = line.why


def _take_reported(evidence: Evidence, record: LaunchRecord, case: Case, reported: Sequence[Reported]) -> None:
    """Add what another tool reported: each of its executions counts as a launch does."""
    evidence.samples += len(reported)
    for line in reported:
        evidence.wrong += filter(None, [line.failed])
        evidence.dated &= line.began is not None
        evidence.observed |= line.values.keys()
        time = record.start.time if line.began is None else line.began
        evidence.timings.append(Timing(time, math.nan, case.steps, case.cost, line.values))


def _crowded(devices: Devices, launch: Launch | None) -> bool:
    """Return whether two ranks of a node had the same device."""
    nodes = {binding.rank: binding.node for binding in launch.binding} if launch is not None else {}
    taken = [(nodes.get(one.rank, 0), one.address) for one in devices.devices]
    return len(set(taken)) < len(taken)


def _values(samples: list[Sample]) -> dict[str, float]:
    """Return the median over samples of the maximum over ranks, for every value that all samples have."""
    names = set(samples[0].values).intersection(*(s.values for s in samples)) if samples else set()
    return {name: median(s.values[name][2] for s in samples) for name in sorted(names)}


def _energy(meter: Meter | None, record: LaunchRecord, case: Case) -> dict[str, float]:
    """Return the power and the energy of a case; {} if they were not measured."""
    found = "" if meter is None else energy.measured(meter, record, case.case)
    if isinstance(found, str):
        return {}
    return {energy.OF_POWER: found.watts, energy.OF_ENERGY: found.joules}


def subject_of(cell: Cell, case: Case | Refused) -> Subject:
    """Return the subject that a case of a launch of that cell measures."""
    p = cell.placement
    p = p if p.threads == case.threads else replace(p, threads=case.threads)
    return Subject(cell.program, p, tuple(sorted(case.parameters.items())))


def sentence(check: Check) -> str:
    """Return the result of a check in words, with the error and the tolerance."""
    error = "not finite" if check.error is None else f"error {significant(check.error)}"
    return f"{check.what} ({error}, allowed {significant(check.tolerance)})"


def cost_of(phase: str, cost: Mapping[str, float]) -> dict[str, float]:
    """Return the part of a step's cost that belongs to the phase; the cost of the whole step if there is no phase."""
    if not phase:
        return {name: amount for name, amount in cost.items() if "." not in name}
    return {name.removeprefix(f"{phase}."): x for name, x in cost.items() if name.startswith(f"{phase}.")}


def may_be_missing(run: Run, workload: str, metric: Metric) -> bool:
    """Return whether launches may omit it, such as the memory of an external command about as small as its observer."""
    return metric.form in energy.FORMS or any(
        one.name == workload and (metric.form == VALUE or one.reporter is not None) for one in run.brought
    )


def launch_value(metric: Metric, timing: Timing) -> float:
    """Return the metric of one launch. Raises ValueError with the cause if the result is not a positive number.

    An observed value may be 0.
    """
    if metric.form in (VALUE, REPORTED, energy.METERED):
        return _observed(metric, timing)
    if metric.form in energy.FORMS:
        watts, value = timing.values.get(energy.OF_POWER, 0.0), launch_value(energy.base(metric), timing)
        if not watts > 0:
            raise ValueError(f"the record is not usable: the power of {metric.name} was not measured")
        return value * watts if metric.form == energy.JOULES else value / watts
    try:
        cost, steps = cost_of(metric.phase, timing.cost).get(metric.quantity, 0.0), float(timing.steps)
        what, wall = ("wall time", timing.wall) if not metric.phase else _in_phase(metric.phase, timing)
        for name, amount in (("steps", steps), (metric.quantity, cost), (what, wall)):
            if not (math.isfinite(amount) and amount > 0):
                raise ValueError(f"the record is not usable: {name} is {significant(amount)}")
        work = cost * steps
        value = metric.scale * (wall / work if metric.form == "time" else work / wall)
    except (OverflowError, ZeroDivisionError):
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"the record is not usable: {metric.name} is not a positive number")
    return value


def _in_phase(phase: str, timing: Timing) -> tuple[str, float]:
    """Return a phase's name and its seconds in a sample. Raises ValueError if it was not timed or exceeds the step."""
    seconds = timing.values.get(PHASE + phase)
    if seconds is None:
        raise ValueError(f"the record is not usable: the phase {phase} was not timed")
    inside = seconds * timing.steps
    if inside > (1 + 1e-9) * timing.wall:
        raise ValueError(f"the record is not usable: the phase {phase} is longer than the step")
    return f"time in the phase {phase}", inside


def _observed(metric: Metric, timing: Timing) -> float:
    found = timing.values.get(metric.quantity)
    if found is None:
        raise ValueError(f"the record is not usable: {metric.quantity} was not observed")
    value = metric.scale * found
    if not 0 <= value < math.inf:
        raise ValueError(f"the record is not usable: {metric.name} is {significant(value)}")
    return value
