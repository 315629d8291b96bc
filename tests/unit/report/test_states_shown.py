"""A figure whose launches fall into two states is marked as such wherever its number is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import many_runs
import synthetic
from commands import Captured, call
from documented import computed
from firstlight.analysis import Judgement
from firstlight.analysis.compare import compare
from firstlight.analysis.states import describe_states
from firstlight.analysis.verdict import Estimate, States, Verified
from firstlight.commands.nodes import comparison as compared_nodes
from firstlight.commands.nodes import page as nodes
from firstlight.commands.nodes.comparison import Line, Value
from firstlight.core import heritage
from firstlight.report import html
from firstlight.report.comparison import comparison
from firstlight.report.export.comparison import compared as export_of
from firstlight.report.export.junit import against, to_junit

TWO = States(0.154, 0.471, 8, 5)
STATES = "bimodal: 154 or 471 ns, 8 of 13 in the lower"


def bare(page: str) -> str:
    """Without the marks of sources, and with spaces that break."""
    return " ".join(re.sub(r"</?data[^>]*>", "", page).replace("\u00a0", " ").split())


def is_latency(figure: object) -> bool:
    return isinstance(figure, Verified) and figure.identity.workload == "pingpong" and figure.unit == "us"


@pytest.fixture(scope="module")
def both() -> tuple[Judgement, Judgement]:
    """Two runs that are equal but that in the second every latency of a message has two states."""
    a, b = (synthetic.judgement(seed, only=["pingpong"]) for seed in (1, 2))
    assert any(map(is_latency, b.figures))
    two = (replace(f, states=TWO) if isinstance(f, Verified) and is_latency(f) else f for f in b.figures)
    return a, replace(b, figures=tuple(two))


def test_two_runs_compared_name_both_states_whatever_the_outcome(both: tuple[Judgement, Judgement]) -> None:
    found = compare(*both)
    marked = [f for f in found.figures if f.b_states is not None]
    assert marked and all(f.a_states is None and f.two_states.endswith(f"{STATES[12:]} in B") for f in marked)
    text = bare(comparison(found, 160, everything=True, most=1000))
    assert text.count(f"{STATES[12:]} in B") == len(marked)
    assert not compare(both[0], both[0]).figures[0].two_states

    scene = synthetic.run(2, only=["pingpong"])
    page = html.render(both[1], scene.workloads, heritage.load(), found)
    section = page[page.index('id="compared"') : page.index('id="machine"')]
    assert bare(section).count(f'<br><span class="muted">{STATES}</span>') == len(marked)
    formulas = computed(section, msgspec.json.encode(export_of(found)).decode())
    assert sum(formula.endswith("b_states.upper") for formula in formulas) == len(marked)


def test_a_server_for_continuous_integration_is_told_both_states(both: tuple[Judgement, Judgement]) -> None:
    a, b = both
    some = sum(map(is_latency, b.figures))
    assert to_junit(b).count(STATES) == some and STATES not in to_junit(a)
    assert against(compare(a, b), b).count(f"{STATES[12:]} in B") == some


def test_a_history_names_both_states_of_the_newest_run(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path / "cache"))

    def in_stretches(scene: synthetic.Scene) -> synthetic.Scene:
        """Return a run in which every third launch lasts twice as long."""
        slow = [
            replace(r, samples=tuple(replace(s, wall=2 * s.wall) for s in r.samples)) if r.start.launch % 3 == 0 else r
            for r in scene.records
        ]
        return scene._replace(records=tuple(slow))

    for k in range(2):
        scene = synthetic.run(k, 9, only=("latency",))
        many_runs.write(in_stretches(scene) if k else scene, tmp_path / "runs", f"run{k}", synthetic.STARTED + k)
    page = tmp_path / "page.html"
    call(capsys, "history", str(tmp_path / "runs"), "--output", str(page))
    _, out, _ = call(capsys, "history", str(tmp_path / "runs"), "--json")
    newest = [f["points"][-1] for f in json.loads(out)["figures"]]
    marked = sum(point["upper"] is not None for point in newest)
    assert marked and bare(page.read_text()).count("</b>, bimodal: ") == marked
    formulas = computed(page.read_text(), out)
    assert sum("points[-1].lower" in formula for formula in formulas) == marked


def test_nodes_and_pairs_tell_both_states() -> None:
    some = [Value((k,), f"node-00{k}", Estimate(v, v, v, (v,) * 6)) for k, v in enumerate((0.154, 0.15, 0.16, 9.0))]
    some[3] = replace(some[3], states=TWO)
    line = compared_nodes._judged(Line("network", "latency", "us", "lower", tuple(some), None), 1)
    assert line.values[3].named and STATES in compared_nodes._evidence(line, line.values[3])
    assert "bimodal on 1 node" in nodes.describe_spread(line)
    assert nodes.whole(line.values[3], "us") == f"9.00 us, run node-003; bimodal: {describe_states(TWO, 'us')}"
    found = compared_nodes.Nodes("n", ("a", "b", "c", "d"), (line,), (), (), (), {}, "no MPI", 0, 1, 0)
    page = bare(nodes.render(found, "0"))
    assert page.count('<span class="muted">bimodal</span>') == 1 and STATES in page
