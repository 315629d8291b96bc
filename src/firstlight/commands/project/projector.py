"""Project a run to another machine from its figures, the tables and the simulator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from firstlight import __version__
from firstlight.analysis import Judgement, checkpoints, disturbance, energy, formatting, loggops
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.roles import advice, measuring, played, players
from firstlight.analysis.verdict import Verified
from firstlight.commands.project import answer, machines, messages, node, scaling
from firstlight.commands.project.node import Rates
from firstlight.commands.project.scaling import MessageSpread, Place
from firstlight.core import formulas, networks
from firstlight.core.errors import UsageError
from firstlight.core.roles import APPLICATION, CHECKPOINT_TIME, MESSAGE, RESTART_TIME, Model
from firstlight.execute.network import program
from firstlight.model.catalogue import Workload
from firstlight.system.machine import rapl

POINTS = 5
"""Number of networks of a curve, including the whole one."""
_WATTS = re.compile(r"(\d+(?:\.\d+)?)\s*(k|M|G)?W", re.ASCII)
_TIMES = {None: 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
MOST_WATTS = 1e15
Progress = Callable[[str], None]


class ProjectionRequest(msgspec.Struct, frozen=True):
    """As written on the command line; None and "": not given."""

    nodes: int | None = None
    topology: str = ""
    node_class: str = ""
    year: int | None = None
    power: str = ""
    watts: str = ""
    machine: str = ""
    mpi: str | None = None
    simulated: int = 256
    mtbf: float | None = None
    checkpoint: float | None = None
    only: tuple[str, ...] = ()


def watts(text: str, option: str) -> float:
    """Parse a power such as `20MW` or `350 W`. Raises UsageError."""
    found = _WATTS.fullmatch(text.strip())
    if found is None or not 0 < (value := float(found[1]) * _TIMES[found[2]]) <= MOST_WATTS:
        raise UsageError(
            f"{option} {text[:60]!r}: write a power of at most {MOST_WATTS:g} W, such as 350W, 40kW or 20MW"
        )
    return value


def project(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    order: ProjectionRequest,
    progress: Progress = lambda line: None,
) -> answer.Projected:
    """Project the applications of a run. Raises UsageError with what is missing if this is impossible."""
    power = watts(order.power, "--power") if order.power else None
    own_watts = watts(order.watts, "--watts") if order.watts else None
    of = machines.named(order.node_class) if order.node_class else None
    topology, count = _network(order)
    intervals = _checkpoints(judgement, workloads, order, topology)
    apps = _applications(judgement, workloads, order.only)
    rates = node.rates(judgement)
    fits, then = _fits(of, order, power)
    machine = _machine(judgement, rates, of, order.year, then, own_watts)
    measured = _fitted(judgement, workloads, order.mpi)
    words, messages_from = _messages_by(order, measured)
    fitted = None if isinstance(measured, UsageError) else measured
    takes = messages.step_times(program.build())
    spread = MessageSpread(_launches(judgement, workloads) if words is None else ())
    comparisons = scaling.left_out(apps, rates, None if fitted is None else _by(takes, fitted, None), spread)
    there = _there(rates, apps, machine) if of else rates
    place = Place(rates, there, _by(takes, fitted, words), order.simulated, spread, machine.watts)
    found = []
    for app in apps:
        progress(app.model.title)
        found.append(_scaled(app, place, topology, judgement.run.machine.memory if of is None else then))
    stated = own_watts or (machine.watts if energy.most_power(judgement) is not None else None)
    if stated is not None and of is None and power is not None:
        fits = (_own_fits(stated, machine.flops, power),)
    return answer.Projected(
        firstlight=__version__,
        run=judgement.run.id,
        left_out=tuple(sorted(comparisons, key=lambda h: (h.application, h.kind, h.processes, h.program))),
        topology=topology,
        nodes=count,
        messages_from=messages_from,
        machine=machine,
        power=power,
        fits=fits,
        applications=tuple(found),
        notes=_notes(place, fitted, words, count),
        checkpoints=intervals,
        disturbed=disturbance.warning(f"run {judgement.run.id}", judgement),
    )


def _checkpoints(
    judgement: Judgement, workloads: Mapping[str, Workload], order: ProjectionRequest, topology: str
) -> checkpoints.Plan | None:
    """Return the intervals between checkpoints if a user requests them. Raises UsageError if no cost is known.

    A restart is assumed to last as long as the checkpoint that a user names.
    """
    if order.mtbf is None and order.checkpoint is None:
        return None
    whole, local = checkpoints.measured(judgement, workloads)
    if order.checkpoint is not None:
        whole, local = checkpoints.Level(order.checkpoint, order.checkpoint), None
    if whole is None:
        raise UsageError(
            f"run {judgement.run.id} has no verified time of a checkpoint; "
            f"{advice(workloads, (CHECKPOINT_TIME, RESTART_TIME))}; or set it with --checkpoint SECONDS"
        )
    nodes = [1, *(n for t in messages.smaller(topology, POINTS) if (n := messages.nodes(t)) > 1)]
    return checkpoints.plan(whole, local, order.mtbf or checkpoints.NODE_MTBF, nodes)


def _network(order: ProjectionRequest) -> tuple[str, int]:
    """Return the topology and its number of nodes. Raises UsageError if they contradict each other."""
    if order.nodes is None and not order.topology:
        raise UsageError(
            "the number of nodes is missing: add --nodes 1024, or a network such as --topology torus:8x8x8"
        )
    topology = order.topology or f"flat:{order.nodes}"
    if topology == "flat":
        topology = f"flat:{order.nodes}"
    count = messages.nodes(topology)
    if order.nodes is not None and order.nodes != count:
        raise UsageError(f"--nodes {order.nodes}, but --topology {topology} has {count}")
    if count < 1 or count > 1 << 24:
        raise UsageError(f"{count} nodes are more than {1 << 24}")
    return topology, count


def _applications(
    judgement: Judgement, workloads: Mapping[str, Workload], only: Sequence[str]
) -> list[node.Application]:
    found = node.applications(judgement, workloads)
    for name in only:
        if name not in {a.workload.name for a in found}:
            known = ", ".join(dict.fromkeys(a.workload.name for a in found)) or "none"
            raise UsageError(f"run {judgement.run.id} measured no application {name!r} that can be projected; {known}")
    if not found:
        raise UsageError(
            f"run {judgement.run.id} measured no application that can be projected; "
            f"`{measuring(workloads, (APPLICATION, MESSAGE), ('flops_64', 'bandwidth'))}` does"
        )
    return [a for a in found if not only or a.workload.name in only]


def _fits(
    of: machines.Class | None, order: ProjectionRequest, power: float | None
) -> tuple[tuple[machines.Fits, ...], machines.Node | None]:
    if of is None:
        if order.year is not None:
            raise UsageError("--year scales a class of nodes; add --class light")
        return (), None
    year, plan = of.year if order.year is None else order.year, machines.roadmap()
    then = machines.node(of, year, machines.MODELS[0], plan)
    if power is None:
        return (), then
    return tuple(machines.fits(of, year, model, plan, power) for model in machines.MODELS), then


def _own_fits(one: float, flops: float | None, power: float) -> machines.Fits:
    """Return what the node that was measured allows. It is not scaled, so both models of power are the same."""
    known = flops or 0.0
    here = machines.Node("simplistic", known, None, 0, one, one, 0, 0, 0, 1, 1, 1)
    most = int(power / one)
    peak = most * known
    return machines.Fits(
        "simplistic", most, 0, "power", most * one, peak, machines.EXA / peak if peak else float("inf"), here
    )


def _machine(
    judgement: Judgement,
    rates: Rates,
    of: machines.Class | None,
    year: int | None,
    then: machines.Node | None,
    own_watts: float | None,
) -> answer.Machine:
    here = judgement.run.machine
    if of is not None and then is not None:
        return answer.Machine(
            f"{of.title}, {year or of.year}", year or of.year, then.flops, then.bandwidth, own_watts or then.watts,
            "set by --watts" if own_watts else "scaled from its class", dict(machines.sources(of)),
            machines.standing(of, year or of.year, machines.roadmap()),
        )  # fmt: skip
    source = "set by --watts" if own_watts else "unknown; add --watts"
    found = own_watts
    if found is None and (most := energy.most_power(judgement)) is not None:
        found, source = most.estimate.median / most.identity.placement.nodes, _measured(judgement, most)
    elif found is None and (found := rapl.package_watts()) is not None:
        source = "RAPL's long-term limit for the processor packages of this machine, without memory and network"
    flops, moved = (rates.rate(name, here.cores, 1e15) for name in ("flops_64", "bandwidth"))
    return answer.Machine(f"the node that was measured: {here.processor}", None, flops, moved, found, source, {})


def _measured(judgement: Judgement, figure: Verified) -> str:
    """Return the source of measured watts, with what the meter covers."""
    meter = judgement.run.energy.meter if judgement.run.energy is not None else None
    covers = f", {meter.covers}" if meter is not None else ""
    return f"the highest power that this run measured{covers}: {formatting.name(figure.identity)}"


def _fitted(judgement: Judgement, workloads: Mapping[str, Workload], mpi: str | None) -> Fitted | UsageError:
    """Return the fit of the first library, or why the run has none."""
    try:
        return loggops.fitted(judgement, workloads, mpi)[0]
    except UsageError as error:
        return error


def _messages_by(order: ProjectionRequest, fitted: Fitted | UsageError) -> tuple[str | None, str]:
    """Return (parameters, their source); the parameters are None for the fitted ones. Raises UsageError."""
    if order.machine and order.machine != "fitted":
        if "=" in order.machine:
            return order.machine, "set by the user; the others are the model's defaults"
        network = networks.named(order.machine)
        return network.word, f"{network.title}, {networks.KINDS[network.kind]}"
    if isinstance(fitted, UsageError):
        raise UsageError(f"{fitted}; or name a network, such as --network hdr200 (./fl simulate networks)")
    place = "two processes on one node" if fitted.nodes == 1 else "two nodes"
    return None, f"{fitted.source}, between {place}"


def _by(takes: messages.Takes, fitted: Fitted | None, words: str | None) -> scaling.Messages:
    def taken(model: Model, numbers: dict[str, float], ranks: int, topology: str) -> float:
        assert words is not None or fitted is not None
        size = (
            formulas.value(model.message, numbers) if model.message else formulas.value(model.memory, numbers) / ranks
        )
        parameters = words if words is not None else fitted.at(min(size, 1 << 20)) if fitted else ""
        return takes(model, numbers, ranks, topology, parameters)

    return taken


def _launches(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[float]:
    """Return the times of message launches, each relative to its figure's median."""
    found = []
    for p in played(judgement.figures, players(workloads, MESSAGE), judgement.run.machine):
        whole = p.seconds()
        found += [x / whole for x in p.launches()] if whole else []
    return found


def _there(rates: Rates, apps: Sequence[node.Application], machine: answer.Machine) -> Rates:
    """Return the ceilings of the other node: those of this one, times its factors. Raises UsageError."""
    most = max(s.cores for a in apps for s in scaling.of_node(a))
    times = {}
    for what, name, value in (("flops", "flops_64", machine.flops), ("bytes", "bandwidth", machine.bandwidth)):
        mine = rates.rate(name, most, 1e15)
        if mine is None:
            raise UsageError(
                f"the run did not measure {name}, which a projection to another class of nodes requires; "
                f"see ./fl run -h"
            )
        times[what] = (value / mine) if value else 1.0
    return rates._replace(times=times)


def _scaled(
    app: node.Application, place: Place, topology: str, memory: float | machines.Node | None
) -> answer.Application:
    """Project weak scaling (every node has the largest measured problem, or one that fills its memory) and strong
    scaling (all nodes together have the problem that one node has in weak scaling).
    """
    some = scaling.of_node(app)
    largest = max(some, key=lambda s: s.memory)
    memory_used = largest.memory
    if app.model.filling:
        whole = memory.memory if isinstance(memory, machines.Node) else memory or 0.0
        memory_used = max(memory_used, app.model.filling * whole)
    application = answer.Application(
        app.model.title, f"{largest.workload}.{largest.variant}", largest.cores, largest.memory, (), ()
    )
    curve = [t for t in messages.smaller(topology, POINTS) if messages.nodes(t) > 1]
    try:
        alone = scaling.elements_for(app, largest, memory_used, 1)
        first = scaling.point(app, place, alone, "flat:1", None)
        weak, strong = [first], [first]
        for where in curve:
            n = messages.nodes(where)
            weak.append(
                scaling.point(app, place, scaling.elements_for(app, largest, n * memory_used, n), where, first.rate)
            )
            strong.append(scaling.point(app, place, alone, where, first.rate))
    except (UsageError, formulas.FormulaError) as error:
        return msgspec.structs.replace(application, refused=str(error))
    return msgspec.structs.replace(application, weak=tuple(weak), strong=tuple(strong))


def _notes(place: Place, fitted: Fitted | None, words: str | None, count: int) -> tuple[str, ...]:
    notes = [
        "assumed: an application reaches the same share of its ceilings as at the measured size, sends the same "
        "messages per step, and does not overlap them with computation",
        "not modelled: OS noise, file systems, other jobs on the network, and (without --mtbf) failures",
        "weak scaling: constant problem size per node; strong scaling: the problem of one node",
    ]
    if words is None and fitted is not None and fitted.nodes == 1:
        notes.append(
            "message times were measured within a node, where messages are faster than over a network; --network "
            "hdr200 selects a network"
        )
    if words is not None:
        notes.append(
            "published figures of a network have no interval, so intervals include only the scatter of the computation"
        )
    if count > place.simulated:
        notes.append(
            f"beyond {place.simulated} nodes (--simulate), message times are extrapolated with a power law from the "
            f"two largest simulated networks of this kind"
        )
    return tuple(notes)
