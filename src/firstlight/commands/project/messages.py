"""Messages: the communication time of an application's step on a network, computed by the simulator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firstlight.core import formulas
from firstlight.core.errors import UsageError
from firstlight.core.roles import Model
from firstlight.execute.network import program, stages
from firstlight.execute.network.prediction import Prediction

Takes = Callable[[Model, Mapping[str, float], int, str, str], float]
"""Seconds of a step's messages from (model, numbers, ranks, topology, parameters)."""
_SHAPE = re.compile(r"([a-z]+):([1-9]\d{0,8}(?:x[1-9]\d{0,8})*)")
_INSIDE = {"tofu": 12}


def nodes(topology: str) -> int:
    """Return the number of nodes of a network whose axes state it. Raises UsageError."""
    found = _SHAPE.fullmatch(topology)
    if found is None:
        raise UsageError(f"--topology {topology!r}: write KIND:AxBxC, as torus:8x8x8, or flat:1024")
    kind, axes = found[1], [int(n) for n in found[2].split("x")]
    if kind == "hypercube":
        return 1 << min(axes[0], 40)
    product = _INSIDE.get(kind, 1)
    for n in axes:
        product *= n
    return product


def smaller(topology: str, points: int) -> list[str]:
    """Return up to `points` networks of this kind by halving the longest axis, smallest first, the whole one last."""
    kind, _, shape = topology.partition(":")
    axes = [int(n) for n in shape.split("x")]
    found = [topology]
    if kind not in ("flat", "torus", "mesh", "tofu", "hypercube"):
        return found
    while max(axes) > 1:
        longest = axes.index(max(axes))
        axes[longest] = axes[longest] - 1 if kind == "hypercube" else -(-axes[longest] // 2)
        found.append(f"{kind}:{'x'.join(map(str, axes))}")
    found.reverse()
    step = max(1, -(-len(found) // points))
    return found[(len(found) - 1) % step :: step]


def step_times(built: Path) -> Takes:
    """Return a function that computes the communication time of a step; it runs the program once per query."""
    known: dict[tuple[str, ...], float] = {}

    def takes(model: Model, numbers: Mapping[str, float], ranks: int, topology: str, machine: str) -> float:
        if ranks < 2:
            return 0.0
        times = max(formulas.value(model.repeats, numbers), 0.0)
        words = _words(model, numbers, ranks, topology, machine)
        key = tuple(words)
        if key not in known:
            known[key] = _answer(built, model, words)
        return times * known[key]

    return takes


def _words(model: Model, numbers: Mapping[str, float], ranks: int, topology: str, machine: str) -> list[str]:
    options = ["--topology", topology, *(["--machine", machine] if machine else [])]
    if model.stages:
        [one] = stages.read([f"step={model.filled(model.stages, numbers)}"])
        return ["stages", one.name, "--stages", one.text, *options]
    if model.pattern:
        values = [f"{name}={model.filled(text, numbers)}" for name, text in model.values.items()]
        return [*program.pattern_words(model.pattern, ranks, values, "predict"), *options]
    size = max(1, round(formulas.value(model.message, numbers)))
    group = round(formulas.value(model.group, numbers))
    where = topology if group >= ranks else _least(topology, group)
    question = program.Question(model.collective, (model.by or "all",), where, (size,), machine=machine)
    return question.words()


def _least(topology: str, group: int) -> str:
    """Return the smallest network of the kind with at least so many nodes; a flat one has exactly so many."""
    if topology.startswith("flat:"):
        return f"flat:{group}"
    return next(t for t in smaller(topology, 64) if nodes(t) >= group)


def _answer(built: Path, model: Model, words: Sequence[str]) -> float:
    """Return the time of the fastest algorithm. Raises UsageError if the network or the model refuses."""
    if model.collective and not model.by:
        able = [a.name for a in program.algorithms(built) if model.collective in a.collectives]
        words = [",".join(able) if word == "all" else word for word in words]
    found = [program.decode(line, Prediction) for line in program.ask(built, words)]
    times = [p.seconds for p in found if p.seconds is not None and p.usable]
    if not times:
        why = next((p.refused for p in found if p.refused), "no algorithm can")
        raise UsageError(f"{model.title}: {why}")
    return min(times)
