"""`simulate --network`: published networks, their sources and their parameters."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from firstlight.commands.shared import command_line
from firstlight.commands.simulate.answer import Simulated
from firstlight.core import networks
from firstlight.core.errors import UsageError


def simulate(*words: str) -> int:
    return command_line.call(["simulate", *words])


def test_every_network_has_sources_and_tells_one_model_at_least(capsys: pytest.CaptureFixture[str]) -> None:
    known = networks.load()
    assert {"hdr200", "slingshot11", "tofu", "aries", "loggopsim"} <= set(known)
    for name, network in known.items():
        assert network.name == name and network.sources() and all(s.strip() for s in network.sources())
        assert all(p.source and p.value > 0 for p in networks.vars_of(network).values())
    assert simulate("networks") == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "InfiniBand HDR (200 Gb/s), 2018: latency 600 ns, bandwidth" in output and "cited from memory" in output


@pytest.mark.parametrize("name", sorted(networks.load()))
@pytest.mark.native
def test_the_program_takes_every_network_on_a_topology_of_its_kind(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    network = networks.named(name)
    kind = network.topology.partition(":")[0]
    small = {"tofu": "2x2x2", "dragonfly": "4x4x2", "fattree": "4x4", "flat": "16"}[kind]
    words = ("--topology", f"{kind}:{small}", "--network", name, "--algorithm", "dissemination")
    assert simulate("collective", "barrier", *words) == 0
    output = capsys.readouterr().out.replace("\n    ", " ")
    assert f"({network.title}, {networks.KINDS[network.kind]})" in output


@pytest.mark.native
def test_a_network_by_name_takes_what_its_figures_say(capsys: pytest.CaptureFixture[str]) -> None:
    """On two ranks a barrier is one message: L + 2 o is the published latency; a byte lasts 1 / bandwidth."""
    words = ("--topology", "flat:2", "--network", "hdr200", "--json")
    assert simulate("collective", "barrier", *words) == 0
    short = msgspec.json.decode(capsys.readouterr().out, type=Simulated)
    assert [p.seconds for p in short.predictions if p.usable] == pytest.approx([600e-9] * 2)
    assert (
        simulate("collective", "broadcast", *words, "--bytes", "25MB", "--algorithm", "binomial", "--segments", "1")
        == 0
    )
    long = msgspec.json.decode(capsys.readouterr().out, type=Simulated)
    assert long.predictions[0].seconds == pytest.approx(1e-3, rel=1e-3)


def test_a_network_without_a_source_is_refused(tmp_path: Path) -> None:
    text = 'title = "T"\nyear = 2020\nkind = "vendor"\ntopology = "flat:2"\n[latency]\nvalue = 1e-6\nsource = ""\n'
    (tmp_path / "some.toml").write_text(text)
    with pytest.raises(UsageError, match="latency without a positive value and its source"):
        networks.load(tmp_path)


@pytest.mark.native
def test_a_part_of_an_interface_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("collective", "barrier", "--topology", "torus:2x2", "--network", "interfaces=2.5") == 2
    assert "'interfaces' should be a whole number, not '2.5'" in capsys.readouterr().err
    assert simulate("collective", "barrier", "--topology", "torus:2x2", "--network", "interfaces=256") == 2
    assert "'interfaces' should be a number from 1 to 255, not '256'" in capsys.readouterr().err


@pytest.mark.native
def test_parameters_have_units_and_a_place_where_they_are_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("collective", "barrier", "--topology", "flat:64") == 0
    output = capsys.readouterr().out.replace("\n    ", " ")
    assert "latency L 2.50 us, overhead o 1.50 us, gap g 1.00 us, gap G 6.00 ns/B (167 MB/s)" in output
    assert "(the default: the example of LogGOPSim, which describes no real machine)" in output
    assert simulate("collective", "barrier", "--topology", "torus:4x4", "--network", "overhead=300") == 0
    output = capsys.readouterr().out.replace("\n    ", " ")
    assert (
        "overhead per message 300 ns, bandwidth 5.00 GB/s, 4 interfaces per node (set by the user; the others are"
        in output
    )
