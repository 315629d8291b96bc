"""A six-direction exchange over one to six network interfaces of a node, on a torus and on Tofu: how many rounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec
import pytest

from commands import needs
from firstlight.commands.shared import command_line
from network_tool import run

pytestmark = pytest.mark.usefixtures("simulator")

BYTES = 1 << 20
BANDWIDTH = 5e9
ROUND = BYTES / BANDWIDTH
"""Seconds in which an interface sends one message."""
SHAPES = {"torus:4x3x5": (4, 3, 5), "tofu:2x2x2": (4, 6, 4)}
"""Topologies, with the torus that their ranks form."""


def neighbours(shape: tuple[int, ...]) -> Iterator[list[int]]:
    """Yield the neighbours of each rank in the six directions; the first axis is the fastest."""
    steps = [tuple(sign * (axis == d) for axis in range(3)) for d in range(3) for sign in (1, -1)]
    for z, y, x in product(*(range(n) for n in reversed(shape))):
        places = [tuple((c + s) % n for c, s, n in zip((x, y, z), step, shape, strict=True)) for step in steps]
        yield [a + shape[0] * (b + shape[1] * c) for a, b, c in places]


def exchange(shape: tuple[int, ...], pieces: int, *, in_turn: bool = True) -> str:
    """Write an exchange as GOAL: each message in this many pieces, the first piece of all directions before the second
    of any.
    """
    order = [(d, k) for k in range(pieces) for d in range(6)]
    if not in_turn:
        order.sort()
    text = [f"num_ranks {shape[0] * shape[1] * shape[2]}"]
    for rank, some in enumerate(neighbours(shape)):
        text.append(f"rank {rank} {{")
        text += [f"send {BYTES // pieces}b to {some[d]} tag {d * pieces + k} nic {d % 4}" for d, k in order]
        text += [f"recv {BYTES // pieces}b from {some[d ^ 1]} tag {d * pieces + k} nic {d % 4}" for d, k in order]
        text.append("}")
    return "\n".join(text) + "\n"


def rounds(simulator: Path, file: Path, text: str, topology: str, interfaces: int, more: str = "") -> float:
    """Return the time of the exchange in times of one message, without hops and overheads."""
    file.write_text(text)
    machine = f"overhead=0,hop=0,bandwidth={BANDWIDTH},interfaces={interfaces}{more}"
    done = run(simulator, "goal", "predict", file, "--topology", topology, "--machine", machine)
    prediction = msgspec.json.decode(done.stdout)
    assert prediction["verdict"]["correct"] and prediction["evaluator"] == "events"
    return float(prediction["seconds"]) / ROUND


@pytest.mark.parametrize("topology", SHAPES)
def test_six_directions_over_four_interfaces_take_one_and_a_half_rounds(
    simulator: Path, topology: str, tmp_path: Path
) -> None:
    """In two pieces each: twelve halves over four interfaces, three one after the other, 20 GB/s out of a node."""
    for interfaces, wanted in ((1, 6), (2, 3), (4, 1.5)):
        took = rounds(simulator, tmp_path / "x.goal", exchange(SHAPES[topology], 2), topology, interfaces)
        assert took == pytest.approx(wanted, rel=1e-12)
        assert 6 * BYTES / (took * ROUND) == pytest.approx(interfaces * BANDWIDTH, rel=1e-12)


@pytest.mark.parametrize("topology", SHAPES)
def test_whole_messages_over_four_interfaces_take_two_rounds(simulator: Path, topology: str, tmp_path: Path) -> None:
    """Two of them must wait for an interface, and leave two interfaces idle in the second round."""
    whole = exchange(SHAPES[topology], 1)
    assert rounds(simulator, tmp_path / "x.goal", whole, topology, 4) == pytest.approx(2, rel=1e-12)
    assert rounds(simulator, tmp_path / "x.goal", whole, topology, 3) == pytest.approx(2, rel=1e-12)


@needs("simulate")
def test_names_of_interfaces_that_do_not_count_are_told(
    simulator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a network with links the one that is free first is taken; without links those that are named."""
    file = tmp_path / "named.goal"
    file.write_text(exchange((4, 3, 5), 1))
    for topology, expected in (("torus:4x3x5", True), ("flat:60", False)):
        assert command_line.call(["simulate", "collective", str(file), "--topology", topology]) == 0
        output = " ".join(capsys.readouterr().out.split())
        assert ("uses the first free interface" in output) is expected
    file.write_text(re.sub(r" nic \d", "", exchange((4, 3, 5), 1)))
    assert command_line.call(["simulate", "collective", str(file), "--topology", "torus:4x3x5"]) == 0
    assert "free first" not in capsys.readouterr().out


def test_halves_one_after_the_other_on_a_link_gain_nothing(simulator: Path, tmp_path: Path) -> None:
    """Both halves of a message use the same link: four interfaces send two messages, then wait for links."""
    text = exchange((4, 3, 5), 2, in_turn=False)
    assert rounds(simulator, tmp_path / "x.goal", text, "torus:4x3x5", 4) == pytest.approx(2, rel=1e-12)


def test_interfaces_of_the_k_computer_are_its_published_ones() -> None:
    from firstlight.core import networks

    assert "interfaces=4" in networks.named("tofu").word
