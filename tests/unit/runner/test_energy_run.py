"""Energy during a run: what is recorded at its beginning, how programs read counters, and how a gauge is read."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import bench as benches
from bench import Bench
from energy_samples import RANGE, powercap
from firstlight import runner
from firstlight.analysis.verdict import Verified
from firstlight.execute import observer
from firstlight.model.plan import ExternalCommand
from firstlight.results import store
from firstlight.results.record import MOST_READINGS, LaunchRecord, Run, Span
from firstlight.results.store import lines
from firstlight.runner import RunRequest, energy
from firstlight.runner.progress import Plain
from firstlight.system import energy as sources
from firstlight.system.energy import NOTHING, Counter, Denied, Discovered, Energy, Meter, Reading, Source

UPDATE = 1e-6
METER = Meter("invented", "the node", UPDATE, (Counter("node", 1e-6),))
GAUGE = Meter("invented gauge", "the node", 0.001)


class Rising:
    """Represent a gauge that reads 1, 2, 3, ... W as fast as it may, at most `most` of them."""

    def __init__(self, most: int = 10**6) -> None:
        self.most, self.read = most, 0

    def readings(self, stop: int, deadline: float | None = None) -> Iterator[Reading]:
        while self.read < self.most:
            self.read += 1
            yield Reading(time.monotonic(), float(self.read))
            if sources.waited(stop, time.monotonic() + 1e-4):
                return
            if deadline is not None and self.read >= 10:
                return


@pytest.fixture
def idling(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something instead of idling: the function is called when the node would be left idle."""

    def instead(function: Callable[[], object]) -> None:
        monkeypatch.setattr(energy.time, "sleep", lambda seconds: function())

    return instead


def advance(root: Path, zone: str, by: int) -> None:
    file = root / f"sys/class/powercap/{zone}/energy_uj"
    file.write_text(f"{(int(file.read_text()) + by) % RANGE}\n")


def test_counters_that_stand_still_are_left_out_and_the_idle_power_is_measured(
    tmp_path: Path, idling: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = powercap(tmp_path, {"intel-rapl:0": ("package-0", RANGE - 10), "intel-rapl:0:0": ("dram", 7)})
    clock = iter((100.0, 102.0))
    monkeypatch.setattr(energy.time, "monotonic", lambda: next(clock))
    idling(lambda: advance(root, "intel-rapl:0", 90_000_000))
    found, source = energy.begin(sources.discover(root))
    assert source is not None and found.meter == source.meter and found.idle == 45
    assert [counter.name for counter in source.meter.counters] == ["package-0"]
    assert energy.options(source) == ["--energy", str(root / "sys/class/powercap/intel-rapl:0/energy_uj")]


def test_a_machine_whose_counters_all_stand_still_has_no_meter(
    tmp_path: Path, idling: Callable[[Callable[[], object]], None]
) -> None:
    idling(lambda: None)
    found, source = energy.begin(sources.discover(powercap(tmp_path, {"intel-rapl:0": ("package-0", 0)})))
    assert source is None and found.meter is None and "never change" in found.why


def test_a_counter_that_vanishes_while_the_node_is_idle_is_left_out(
    tmp_path: Path, idling: Callable[[Callable[[], object]], None]
) -> None:
    root = powercap(tmp_path, {"intel-rapl:0": ("package-0", 5)})
    idling((root / "sys/class/powercap/intel-rapl:0/energy_uj").unlink)
    assert energy.begin(sources.discover(root))[1] is None


def test_the_idle_power_of_a_gauge_is_its_average() -> None:
    found, source = energy.begin(Discovered(Source(GAUGE, gauge=Rising()), ()))
    assert found == Energy(GAUGE, 5.5) and energy.options(source) == ["--energy", "times"]
    found, source = energy.begin(Discovered(Source(GAUGE, gauge=Rising(0)), ()))
    assert (found.meter, source) == (None, None) and "no reading" in found.why


def test_without_a_source_the_reason_is_recorded() -> None:
    assert energy.begin(Discovered(None, ())) == (Energy(why=NOTHING), None)
    denied = Denied("counters", "only root has access", "chmod")
    assert energy.begin(Discovered(None, (denied,)))[0].why == "counters: only root has access; chmod"
    assert energy.options(None) == []


def test_a_resumed_run_goes_on_with_the_meter_that_it_began_with_or_none(tmp_path: Path) -> None:
    zones = {"intel-rapl:0": ("package-0", 5), "intel-rapl:1": ("package-1", 5)}
    found = sources.discover(powercap(tmp_path, zones))
    assert found.source is not None
    one = replace(found.source.meter, counters=found.source.meter.counters[1:])
    again = energy.again(Energy(one, 40.0), found)
    assert again is not None and again.meter == one
    assert again.files == (tmp_path / "sys/class/powercap/intel-rapl:1/energy_uj",)
    for other in (METER, replace(one, update=1.0), replace(one, counters=(Counter("package-2", 1e-6, RANGE),))):
        assert energy.again(Energy(other), found) is None
    assert energy.again(None, found) is energy.again(Energy(one), Discovered(None, ())) is None


def test_a_gauge_is_read_during_the_launch_and_no_longer() -> None:
    gauge = Rising()
    with energy.read(Source(GAUGE, gauge=gauge)) as found:
        while len(found) < 5:
            time.sleep(1e-3)
    after = gauge.read
    time.sleep(0.02)
    assert gauge.read == after >= 5 and [watts for _, watts in found[:5]] == [1, 2, 3, 4, 5]
    with energy.read(Source(METER, (Path("energy"),))) as none:
        pass
    assert none == []


def test_a_long_launch_keeps_fewer_readings_from_its_beginning_to_its_end() -> None:
    gauge = Rising(5 * MOST_READINGS)
    with energy.read(Source(GAUGE, gauge=gauge)) as found:
        while gauge.read < 5 * MOST_READINGS:
            time.sleep(1e-3)
    watts = [power for _, power in found]
    assert len(found) <= MOST_READINGS and watts == sorted(watts)
    assert (watts[0], watts[-1]) == (1, 5 * MOST_READINGS)


def ran(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch, source: Source
) -> tuple[Run, list[LaunchRecord]]:
    recorded = Energy(source.meter, 40.0)
    monkeypatch.setattr(energy, "begin", lambda found: (recorded, source))
    result = runner.run(RunRequest(results=bench.results), progress)
    assert store.check(result.directory) == []
    kept = store.open(result.directory)
    figures = [f for f in result.judgement.figures if f.identity.metric == "power"]
    if source.files:
        assert figures and all(isinstance(f, Verified) for f in figures)
        medians = [f.estimate.median for f in figures if isinstance(f, Verified)]
        assert medians == pytest.approx([benches.POWER] * len(figures), rel=1e-2)
    return kept.run(), list(kept.records())


def test_a_run_records_its_meter_and_each_launch_its_spans(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, records = ran(bench, progress, monkeypatch, Source(METER, (tmp_path / "energy",)))
    assert run.energy == Energy(METER, 40.0)
    assert records and all(len(r.spans) == len(r.cases) and r.exit.power == () for r in records)
    assert all(str(tmp_path / "energy") in r.start.command for r in records)


def test_a_run_with_a_gauge_records_its_readings(
    bench: Bench, progress: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, records = ran(bench, progress, monkeypatch, Source(GAUGE, gauge=Rising()))
    assert records and all(r.exit.power and r.start.command[-2:] == ("--energy", "times") for r in records)


def test_a_run_without_a_meter_requests_nothing(bench: Bench, progress: Plain) -> None:
    result = runner.run(RunRequest(results=bench.results), progress)
    kept = store.open(result.directory)
    assert kept.run().energy == Energy(why=NOTHING)
    assert all("--energy" not in r.start.command and r.spans == () for r in kept.records())


@pytest.mark.parametrize(("nodes", "energy_of"), [("1", True), ("2", False)])
def test_an_external_command_has_a_span_per_execution_on_one_node(nodes: str, energy_of: bool, tmp_path: Path) -> None:
    counter, output = tmp_path / "energy", tmp_path / "record"
    counter.write_text("41 J\n")
    add_one = f"read n rest < {counter}; echo $((n + 1)) J > {counter}"
    external = msgspec.json.encode(ExternalCommand(("sh", "-c", add_one), str(tmp_path))).decode()
    words = ["--samples", "3", "--case-seconds", "60", "--energy", f"{counter},{tmp_path / 'missing'}"]
    words += ["--nodes", nodes, "--program", "a.b", "--external", external, "--output", str(output)]
    subprocess.run([sys.executable, "-I", "-S", observer.FOLDER, *words], check=True, timeout=60)
    spans = [line for raw in output.read_bytes().splitlines() if isinstance(line := lines.decode(raw), Span)]
    counts = [s.before[0][0] or 0 for s in spans]  # a further, untimed execution for the peak memory is in no span
    assert len(spans) == (3 if energy_of else 0) and counts == sorted(set(counts))
    assert all(s.after == ((count + 1, None),) for s, count in zip(spans, counts, strict=True))
    assert all(0 < s.wall <= s.ended - s.began for s in spans)
