"""Arithmetic and memory against nominal peaks: known, partly known, hidden, exceeded, not recorded; both pages."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

import synthetic
import synthetic_machine
from firstlight.analysis import nominal_peaks
from firstlight.analysis.figures import judge
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import States, Verified
from firstlight.core import heritage
from firstlight.model.catalogue import Bound, Provides
from firstlight.report import html, terminal, verdict
from firstlight.system.machine import Arithmetic, Hardware, Link

ZEN = Arithmetic("Zen 4", 2, 256, 2)
"""Two cores of 16 operations per cycle; the invented run measures 52 Gflop/s on one, 104 on two, 21 GB/s on two."""


def clocked(hertz: float | None, which: str = "highest", **changes: object) -> Arithmetic:
    return replace(ZEN, clock=hertz, clock_of=which if hertz else "", **changes)


def scene(*arithmetic: Arithmetic, memory: float | None = None, links: tuple[Link, ...] = (), **machine: object):
    found = Hardware(arithmetic, memory, links) if arithmetic else None
    return synthetic.run(only=("peak", "stream", "dot"), on=synthetic_machine.machine(hardware=found, **machine))


def line(*arithmetic: Arithmetic, **options) -> str:
    it = scene(*arithmetic, **options)
    return without_intervals(settle(nominal_peaks.sentence(judge(*it), it.workloads)))


def without_intervals(text: object) -> str:
    return re.sub(r" \([\d.]+ – [\d.]+\)", "", str(text))


def test_each_median_has_its_interval():
    it = scene(clocked(3.7e9), memory=25.6e9)
    text = str(settle(nominal_peaks.sentence(judge(*it), it.workloads)))
    assert re.search(r"52\.0 of 59\.2 Gflop/s \(88 %\) on one core \(5[0-2]\.\d – 5[23]\.\d\), 104 of", text), text
    assert len(re.findall(r"cores? \([\d.]+ – [\d.]+\)", text)) == 4


def test_known_peaks_show_a_share():
    assert line(clocked(3.7e9), memory=25.6e9) == (
        "arithmetic 52.0 of 59.2 Gflop/s (88 %) on one core, 104 of 118 Gflop/s (88 %) on 2 cores, nominal at the "
        "maximum clock, 3.70 GHz; memory 21.2 of 25.6 GB/s (83 %) on 2 cores, 14.3 GB/s on one core"
    )


def test_a_virtual_machine_that_hides_its_clock_has_no_nominal_peak():
    assert line(clocked(None)) == (
        "arithmetic 52.0 Gflop/s on one core, 104 Gflop/s on 2 cores (nominal unknown: the virtual machine hides the "
        "clock frequency); memory 21.2 GB/s on 2 cores, 14.3 GB/s on one core (nominal unknown: only root can read "
        "the memory speed)"
    )


def test_a_bimodal_bandwidth_shows_both_states():
    it = scene(clocked(3.7e9), memory=25.6e9)
    judgement = judge(*it)
    doubled = [
        replace(f, states=States(14.0, 28.0, 3, 5)) if isinstance(f, Verified) and f.unit == "GB/s" else f
        for f in judgement.figures
    ]
    text = settle(nominal_peaks.sentence(replace(judgement, figures=tuple(doubled)), it.workloads))
    assert re.search(
        r"\(83 %\) on 2 cores \([\d.]+ – [\d.]+; bimodal: 14\.0 or 28\.0 GB/s, 3 of 8 in the lower\), 14\.3", str(text)
    )


def test_more_than_nominal_is_no_share_and_is_explained():
    text = line(clocked(2.6e9, "base"))
    assert "arithmetic 52.0 Gflop/s (nominal 41.6 Gflop/s) on one core, 104 Gflop/s (nominal 83.2 Gflop/s)" in text
    assert "nominal at the base clock, 2.60 GHz: the actual clock was at least 3.25 GHz" in text
    assert "%" not in text.partition(";")[0]


def test_an_impossible_clock_is_not_believed():
    text = line(clocked(3.7e9, width=128, units=1), virtual=None)
    assert "no processor runs at that clock, so the system reports the wrong processor" in text
    hidden = line(clocked(None, width=128, units=1))
    assert "hides the clock frequency, and the system reports the wrong processor" in hidden


@pytest.mark.parametrize(("nominal", "shown"), [(51.9e9 / 16, "(100 %)"), (51.0e9 / 16, "nominal 51.0 Gflop/s")])
def test_half_a_percent_more_is_a_hundred(nominal, shown):
    assert shown in line(clocked(nominal))


def test_cores_that_are_not_listed_have_no_peak_together_with_the_others():
    small = Arithmetic(
        "", 1, unknown="this processor is not in the list of known processors", clock=3.9e9, clock_of="highest"
    )
    text = line(clocked(5.1e9, cores=1), small)
    assert "arithmetic 52.0 of 81.6 Gflop/s (64 %) on one core, nominal at the maximum clock, 5.10 GHz, 104" in text
    assert "104 Gflop/s on 2 cores (nominal unknown: this processor is not in the list of known processors)" in text
    assert "at least" not in text


def test_cores_with_several_clocks_add_up():
    text = line(clocked(5.7e9, cores=1), clocked(5.5e9, cores=1))
    assert "52.0 of 91.2 Gflop/s (57 %) on one core, 104 of 179 Gflop/s (58 %) on 2 cores" in text
    assert "nominal at the maximum clock of each core" in text


def test_the_clock_of_the_site_file_is_named():
    assert "nominal at the clock of the site file, 3.70 GHz" in line(clocked(3.7e9, "site"))


def test_more_than_the_memory_of_the_site_file_is_its_error():
    text = line(clocked(3.7e9), memory=16e9)
    assert "memory 21.2 GB/s (nominal 16.0 GB/s) on 2 cores, 14.3 GB/s on one core: the entry `memory`" in text


def test_the_figures_of_headlines_are_preferred():
    """A load moves more than a triad; the front page shows the triad, and so does this line."""
    it = scene(clocked(3.7e9), memory=25.6e9)
    stream, dot = it.workloads["stream"], it.workloads["dot"]
    triad = Provides("bandwidth", "bandwidth", {"op": "triad"}, by_working_set=True)
    rows = tuple(replace(row, headline=True) for row in stream.rows)
    known = it.workloads | {
        "stream": replace(stream, provides=(*stream.provides, triad), rows=rows),
        "dot": replace(dot, bounded_by=(*dot.bounded_by, Bound("bytes", "bandwidth"))),
    }
    judgement = judge(it.run, it.records, known)
    text = without_intervals(settle(nominal_peaks.sentence(judgement, known)))
    assert "memory 16.9 of 25.6 GB/s (66 %) on 2 cores, 11.5 GB/s on one core" in text
    page = terminal.summary(judgement, known, width=120).splitlines()
    rows_shown = [one for one in page if "memory bandwidth," in one]
    assert [re.search(r"[\d.]+ GB/s", row)[0] for row in rows_shown[:2]] == ["11.5 GB/s", "16.9 GB/s"]


def test_an_older_run_says_so_once():
    text = line()
    assert text.endswith("on one core (nominal unknown: an older firstlight recorded this run)")
    assert text.count("nominal unknown") == 1


def test_without_arithmetic_and_memory_there_is_no_line():
    it = synthetic.run(only=("dot", "latency"), on=synthetic_machine.machine(hardware=Hardware((clocked(3.7e9),))))
    assert nominal_peaks.sentence(judge(*it), it.workloads) == ""
    assert "hardware" not in [a.subject for a in verdict.verdict(judge(*it), it.workloads)]


def test_both_pages_show_the_same_line():
    it = scene(clocked(3.7e9), memory=25.6e9)
    judgement = judge(*it)
    (advice,) = [a for a in verdict.verdict(judgement, it.workloads) if a.subject == "hardware"]
    shown = " ".join(terminal.summary(judgement, it.workloads).split())
    assert f"hardware {advice.sentence}" in shown
    page = html.render(judgement, it.workloads, heritage.load())
    assert 'data-from="nominal_flops(1)"' in page and 'data-from="nominal_memory()"' in page
    assert 'data-from="1000000000.0 * a / nominal_flops(2)"' in page


def test_the_rate_of_links_is_shown_if_nodes_were_several():
    it = scene(clocked(3.7e9), links=(Link("InfiniBand 4X HDR", 200e9, 2),))
    judgement = judge(*it)
    assert "network" not in str(settle(nominal_peaks.sentence(judgement, it.workloads)))
    first = judgement.figures[0]
    placement = replace(first.identity.placement, nodes=2, ranks=2)
    far = replace(first, identity=replace(first.identity, placement=placement))
    several = replace(judgement, figures=(*judgement.figures, far))
    assert "; network: 2 links of 200 Gbit/s on a node" in str(settle(nominal_peaks.sentence(several, it.workloads)))
