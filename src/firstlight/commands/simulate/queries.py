"""Translate a simulation request into queries to the native program, and combine its answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import msgspec

from firstlight import __version__
from firstlight.analysis import loggops
from firstlight.analysis.loggops import Fitted
from firstlight.commands.simulate import iterations, shapes, stages, sweep
from firstlight.commands.simulate.answer import Simulated
from firstlight.core import networks
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import UsageError
from firstlight.core.naming import collective, must_be
from firstlight.core.networks import Network
from firstlight.core.units import parse_size, parse_sizes
from firstlight.execute.network import program
from firstlight.execute.network.prediction import Algorithm, Prediction
from firstlight.execute.network.program import Evaluator, Question
from firstlight.execute.network.stages import Stages

_OWN = {
    True: "the default: parameters of the K computer",
    False: "the default: the example of LogGOPSim, which describes no real machine",
}
_ANY_INTERFACE = (
    "the file names interfaces (nic). Flat networks use the named interfaces; on a network with links, a message uses "
    "the first free interface"
)
_SPREAD = (
    f"intervals ({loggops.LEVEL_TEXT}) are predictions from the fastest and the slowest launches of messages. They do "
    f"not include model errors, which `./fl simulate validate` shows"
)
_TOO_FEW = f"no interval: the run launched the ping-pong fewer than {LAUNCHES} times"
_NO_INTERVAL = "no interval: the parameters are not from a run on this machine; --network fitted provides an interval"
_BETTER = (
    "--network fitted uses the ping-pong of a run; --network NAME uses a real network (see ./fl simulate networks)"
)


class SimulationRequest(msgspec.Struct, frozen=True):
    """What the user requests, as written on the command line. `loads`: also the load of every link.

    `pattern`: the subject is a pattern, of so many `processes` (None: as many as nodes), with the values `given`.
    `stages`: instead of a subject, iterations that are described stage by stage.
    """

    subject: str
    topology: str | None = None
    sizes: str = "1MiB"
    algorithms: str = "all"
    segments: str = "auto"
    segment_bytes: str | None = None
    root: int = 0
    scale: str | None = None
    missing: str = ""
    machine: str = ""
    noise: str = ""
    evaluator: Evaluator = "auto"
    loads: bool = False
    pattern: bool = False
    processes: int | None = None
    given: tuple[str, ...] = ()
    stages: tuple[Stages, ...] = ()

    @property
    def file(self) -> bool:
        """Return whether the subject is a file with a schedule."""
        return not (self.pattern or self.stages) and (self.subject.endswith(".goal") or Path(self.subject).is_file())


Progress = Callable[[int, int], None]
"""Function that is called with (predictions made, predictions in total)."""


def simulate(
    order: SimulationRequest,
    fitted: Fitted | None = None,
    tails: Sequence[Fitted] = (),
    progress: Progress = lambda done, total: None,
) -> Simulated:
    """Predict every requested algorithm, size and topology; `fitted`: parameters from a run's ping-pong.

    `tails`: parameters from its fast and its slow launches, for the intervals.
    Raises UsageError for an unknown name, with the known ones, and BuildError if the program cannot be built.
    """
    fits = (fitted, *tails)

    def step(k: int) -> Progress:
        return lambda done, total: progress(k * total + done, len(fits) * total)

    found = _simulated(order, fitted, step(0))
    without = msgspec.structs.replace(order, loads=False)
    others = [_simulated(without, tail, step(k)).predictions for k, tail in enumerate(tails, 1)]
    if not others:
        return found
    spanned = tuple(_spanned(p, some) for p, *some in zip(found.predictions, *others, strict=True))
    return msgspec.structs.replace(found, predictions=spanned)


def _spanned(p: Prediction, others: Sequence[Prediction]) -> Prediction:
    """Return the prediction with the interval of its own time and of the others."""
    if p.seconds is None:
        return p
    low, high = loggops.ends(p.seconds, [x.seconds for x in others if x.seconds is not None])
    return msgspec.structs.replace(p, low=low, high=high)


def _simulated(order: SimulationRequest, fitted: Fitted | None, progress: Progress) -> Simulated:
    if order.stages:
        return _stages(order, fitted, progress)
    if order.pattern:
        return _pattern(order, fitted, progress)
    if order.file:
        return _goal(order, fitted)
    order = msgspec.structs.replace(order, subject=collective(order.subject))
    if order.topology is None:
        raise UsageError("the network is missing: add --topology tofu:24x18x16, torus:8x8x8 or flat:1024")
    wanted = (0,) if order.subject == "barrier" else tuple(parse_sizes(order.sizes))
    more = shapes.sweep(order.topology, order.scale) if order.scale else []
    machine = _machine(order, fitted)
    _notes(order, fitted, (order.topology, *more))  # refuses what the network does not define
    built = program.build()
    chosen = _algorithms(order, program.algorithms(built))
    predictions: list[Prediction] = []
    sweeps = [(order.topology, wanted), *((t, wanted[-1:]) for t in more if t != order.topology)]
    made = count(1)
    total = sum(len(some) for _, some in sweeps) * len(chosen)
    for place, some in sweeps:
        question = _question(order, chosen, place, machine, some)
        predictions += program.predict(built, question, lambda _: progress(next(made), total))
    topologies = tuple(dict.fromkeys((order.topology, *more)))
    return _together(order, fitted, topologies, () if order.subject == "barrier" else wanted, predictions)


def export(order: SimulationRequest, fitted: Fitted | None, file: Path | None) -> str:
    """Return the schedule in the GOAL language, of one algorithm for one size or of an iteration of a pattern.

    With `file`, write it there and return "".

    Raises UsageError as `simulate` does, and if the file cannot be written.
    """
    if order.topology is None and not order.pattern:
        raise UsageError(
            "the network is missing: add --topology, such as flat:64; a schedule may depend on the network's shape"
        )
    machine = _machine(order, fitted)
    if order.pattern:
        words = program.pattern_words(order.subject, order.processes, order.given, "goal")
        words += _option_words({"topology": order.topology or "", "machine": machine, "algorithm": _chosen(order)})
    else:
        order = msgspec.structs.replace(order, subject=collective(order.subject))
        wanted = (0,) if order.subject == "barrier" else tuple(parse_sizes(order.sizes))
        built = program.build()
        chosen = _algorithms(order, program.algorithms(built))
        if len(chosen) > 1 or len(wanted) > 1:
            raise UsageError(
                f"a file contains one schedule: select one --algorithm ({', '.join(chosen)}) and one of --bytes"
            )
        words = ["goal", "export", *_question(order, chosen, order.topology or "", machine, wanted).words()[1:]]
    to_file = [] if file is None else ["--output", str(file)]
    return b"".join(program.ask(program.build(), [*words, *to_file])).decode()


def _option_words(options: dict[str, str]) -> list[str]:
    return [word for name, value in options.items() if value for word in (f"--{name}", value)]


def _chosen(order: SimulationRequest) -> str:
    """Return the algorithm of each collective operation of a pattern, as allreduce=ring,...; "" for the default."""
    if order.algorithms == "all":
        return ""
    pairs = []
    for one in order.algorithms.split(","):
        name, sign, algorithm = one.partition("=")
        if not sign:
            raise UsageError(f"--algorithm {one!r} of a pattern: write COLLECTIVE=ALGORITHM, such as allreduce=ring")
        pairs.append(f"{collective(name)}={algorithm.strip()}")
    return ",".join(pairs)


def _pattern(order: SimulationRequest, fitted: Fitted | None, progress: Progress) -> Simulated:
    """Predict one iteration of a pattern on every requested network."""
    places, options = _iterated(order, fitted)
    built = program.build()
    predictions: list[Prediction] = []
    made = count(1)
    for place in places:
        words = program.pattern_words(order.subject, order.processes, order.given, "predict")
        words += [
            *_option_words({"topology": place, **options}),
            *(["--loads"] if not place.startswith("flat") else []),
        ]
        predictions += iterations.predict(built, words, lambda _: progress(next(made), len(places)))
    subject = f"an iteration of {order.subject}" + (f" ({', '.join(order.given)})" if order.given else "")
    found = _together(msgspec.structs.replace(order, subject=subject), fitted, places, (), predictions)
    return msgspec.structs.replace(found, notes=(*iterations.notes(predictions), *found.notes))


def _stages(order: SimulationRequest, fitted: Fitted | None, progress: Progress) -> Simulated:
    """Simulate each iteration that is described stage by stage, on every requested network."""
    places, options = _iterated(order, fitted)
    built = program.build()
    predictions: list[Prediction] = []
    made = count(1)
    total = len(places) * len(order.stages)
    for place in places:
        words = _option_words({"topology": place, **options})
        predictions += stages.predict(built, order.stages, words, lambda _: progress(next(made), total))
    order = msgspec.structs.replace(order, subject="an iteration")
    found = _together(order, fitted, places, (), predictions)
    return msgspec.structs.replace(found, notes=(*(s.written for s in order.stages), *found.notes))


def _iterated(order: SimulationRequest, fitted: Fitted | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the networks of an iteration and the program's options for each."""
    if order.topology is None:
        raise UsageError("the network is missing: add --topology tofu:24x18x16, torus:8x8x8 or flat:1024")
    more = shapes.sweep(order.topology, order.scale) if order.scale else []
    places = tuple(dict.fromkeys((order.topology, *more)))
    machine = _machine(order, fitted)
    _notes(order, fitted, places)
    options = {"machine": machine, "noise": order.noise, "evaluator": order.evaluator, "algorithm": _chosen(order)}
    return places, options


def _together(
    order: SimulationRequest,
    fitted: Fitted | None,
    topologies: tuple[str, ...],
    wanted: tuple[int, ...],
    predictions: Sequence[Prediction],
) -> Simulated:
    """Combine the predictions: sizes are swept on the first topology, the scale with the largest size."""
    named = [msgspec.structs.replace(p, topology=p.topology or topologies[0]) for p in predictions]
    first = [p for p in named if p.topology == topologies[0]] if topologies else named
    last = max((p.bytes for p in named), default=0)
    scaled = [p for p in named if p.bytes == last] if len(topologies) > 1 else []
    return Simulated(
        firstlight=__version__,
        subject=order.subject,
        topologies=topologies,
        bytes=wanted,
        machine=_machine(order, fitted),
        machine_from=_from(order, fitted, any(not t.startswith("flat") for t in topologies)),
        noise=order.noise,
        predictions=tuple(named),
        by_size=tuple(sweep.spans(sweep.lines(first))),
        by_scale=tuple(sweep.spans(sweep.lines(scaled, by_scale=True))),
        notes=_notes(order, fitted, topologies),
    )


def _network(order: SimulationRequest) -> Network | None:
    """Return the network that the request names; None if it has parameters or nothing."""
    return networks.named(order.machine) if order.machine and "=" not in order.machine else None


def _machine(order: SimulationRequest, fitted: Fitted | None) -> str:
    """Return the parameters for the program; "" for its own."""
    if fitted is not None:
        return fitted.word
    network = _network(order)
    return order.machine if network is None else network.word


def _from(order: SimulationRequest, fitted: Fitted | None, links: bool) -> str:
    if fitted is not None:
        return fitted.source
    network = _network(order)
    if network is not None:
        return f"{network.title}, {networks.KINDS[network.kind]}"
    return "set by the user; the others are the model's defaults" if order.machine else _OWN[links]


def _notes(order: SimulationRequest, fitted: Fitted | None, topologies: Sequence[str]) -> tuple[str, ...]:
    """Return notes on the parameters. Raises UsageError if the network lacks figures for a topology."""
    if fitted is not None:
        return (_SPREAD if fitted.spanned else _TOO_FEW, *fitted.separated)
    network = _network(order)
    if network is None:
        return (_NO_INTERVAL,) if order.machine else (_BETTER, _NO_INTERVAL)
    notes = [*network.sources(), _NO_INTERVAL]
    flat, linked = (any(t.startswith("flat") == f for t in topologies) for f in (True, False))
    if flat and not network.flat:
        raise UsageError(
            f"{network.name} describes links, not messages: use a topology with links, such as "
            f"--topology {network.topology}"
        )
    if linked and not network.linked:
        raise UsageError(f"{network.name} describes messages, not links: use it with --topology flat:P")
    if flat and network.latency is not None:
        notes.append("half of the latency counts as L, a quarter as each o; g is set to o")
    if linked and network.hop is None:
        notes.append("switch latency: not published, 100 ns assumed")
    return tuple(notes)


def _question(
    order: SimulationRequest, chosen: tuple[str, ...], place: str, machine: str, wanted: tuple[int, ...]
) -> Question:
    return Question(
        collective=order.subject,
        algorithms=chosen,
        topology=place,
        bytes=wanted,
        segments=_segments(order.segments),
        segment_bytes=None if order.segment_bytes is None else parse_size(order.segment_bytes),
        root=order.root,
        machine=machine,
        noise=order.noise,
        evaluator=order.evaluator,
        missing=order.missing,
        loads=order.loads,
    )


def _segments(text: str) -> str:
    if text != "auto" and not re.fullmatch(r"[1-9]\d{0,6}", text):
        raise UsageError(f"--segments {text!r}: write auto or a number of segments")
    return text


def _algorithms(order: SimulationRequest, known: Sequence[Algorithm]) -> tuple[str, ...]:
    """Return the requested algorithms; `all` means every algorithm of this collective. Raises UsageError."""
    able = [a.name for a in known if order.subject in a.collectives]
    if order.algorithms == "all":
        return tuple(able)
    names = tuple(dict.fromkeys(n.strip() for n in order.algorithms.split(",") if n.strip()))
    for name in names:
        must_be("algorithm", name, [a.name for a in known])
        if name not in able:
            raise UsageError(f"{order.subject} has no algorithm {name}; available: {', '.join(able) or 'none'}")
    if not names:
        raise UsageError(f"no algorithm is named; for {order.subject} there are {', '.join(able)}")
    return names


def _goal(order: SimulationRequest, fitted: Fitted | None) -> Simulated:
    """Predict a schedule from a file, which contains its sizes."""
    file = Path(order.subject)
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    _notes(order, fitted, (order.topology or "flat",))
    built = program.build()
    options = {
        "topology": order.topology or "",
        "machine": _machine(order, fitted),
        "noise": order.noise,
        "evaluator": order.evaluator,
    }
    predictions = program.predict_goal(built, file, _option_words(options))
    places = tuple(dict.fromkeys(p.topology for p in predictions))
    found = _together(order, fitted, places, (), predictions)
    notes = [_ANY_INTERFACE] if any(p.any_interface for p in predictions) else []
    notes += list(dict.fromkeys(_mismatched(p) for p in predictions if p.mismatches))
    return msgspec.structs.replace(found, notes=(*notes, *found.notes))


def _mismatched(p: Prediction) -> str:
    some = "1 message has" if p.mismatches == 1 else f"{p.mismatches} messages have"
    return f"{some} a different size from the receive; the size of the send counts. The first case is {p.mismatch}"
