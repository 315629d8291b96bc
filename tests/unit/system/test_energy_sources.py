"""Sources of energy: recorded and invented trees of each, what a user may not read, and gauges that are read."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy_samples import DESKTOP, RANGE, SERVER, powercap, write
from firstlight.system import energy
from firstlight.system.energy import NOTHING, Counter, Source, command, dcmi, files, first
from firstlight.system.energy.files import FileGauge
from firstlight.system.energy.printed import WATTS, PrintedGauge

BATTERY = "sys/class/power_supply/BAT0"
HWMON = "sys/class/hwmon/hwmon0"
IDRAC = """
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 18 Watts
    Power reading state is:                   activated
"""


def source(root: Path) -> Source:
    found = energy.discover(root)
    assert found.source is not None, found
    return found.source


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make files whose name ends so unreadable, also for the root user, who runs the tests in some containers."""

    def make(ending: str) -> None:
        allowed = os.access

        def access(path: os.PathLike[str] | str, mode: int) -> bool:
            return not str(path).endswith(ending) and allowed(path, mode)

        monkeypatch.setattr(os, "access", access)

    return make


def test_a_machine_without_counters_has_one_reason(tmp_path: Path) -> None:
    found = energy.discover(tmp_path)
    assert (found.source, found.denied, found.energy.why) == (None, (), NOTHING)


def test_a_server_has_packages_and_memory_each_once(tmp_path: Path) -> None:
    found = source(powercap(tmp_path, SERVER))
    names = ["package-0", "package-1", "package-0 dram", "package-1 dram"]
    assert found.meter.counters == tuple(Counter(name, 1e-6, RANGE) for name in names)
    assert [files.number(path) for path in found.files] == [5_000_000, 7_000_000, 1_000_000, 2_000_000]
    assert (found.meter.source, found.meter.covers) == ("powercap", "2 processor packages and memory")


def test_parts_of_a_package_and_the_platform_around_it_are_not_added(tmp_path: Path) -> None:
    found = source(powercap(tmp_path, DESKTOP))
    assert [counter.name for counter in found.meter.counters] == ["package-0"]
    platform = source(powercap(tmp_path / "other", {"intel-rapl:1": ("psys", 9)}))
    assert platform.meter.covers == "the whole platform" and len(platform.files) == 1


def test_what_only_root_may_read_is_one_line_with_the_fix(tmp_path: Path, unreadable: Callable[[str], None]) -> None:
    powercap(tmp_path, SERVER)
    write(tmp_path, {f"{BATTERY}/type": "Battery", f"{BATTERY}/status": "Discharging", f"{BATTERY}/power_now": 9})
    unreadable("energy_uj")
    found = energy.discover(tmp_path)
    (denied,) = found.denied
    assert "only root has access" in str(denied) and "sudo chmod a+r" in str(denied) and "\n" not in str(denied)
    assert found.source is not None and found.source.meter.source == "battery"
    (tmp_path / BATTERY / "status").write_text("Charging\n")
    assert energy.discover(tmp_path).energy.why.count("; ") == 3  # two sources, each with its fix


def test_a_node_of_cray_is_preferred_to_its_processors(tmp_path: Path) -> None:
    write(powercap(tmp_path, SERVER), {"sys/cray/pm_counters/energy": "58049235 J 1420492233421553 us"})
    found = source(tmp_path)
    assert (found.meter.source, found.meter.update) == ("pm_counters", 0.1)
    assert files.number(found.files[0]) == 58049235 and found.meter.counters == (Counter("node", 1.0),)


def test_sockets_of_amd_count_and_their_cores_do_not(tmp_path: Path) -> None:
    tree = {"name": "amd_energy"}
    for k, label in enumerate(("Ecore000", "Ecore001", "Esocket0", "Esocket1"), 1):
        tree |= {f"energy{k}_input": str(1000 * k), f"energy{k}_label": label}
    found = source(write(tmp_path, {f"{HWMON}/{name}": content for name, content in tree.items()}))
    assert [counter.name for counter in found.meter.counters] == ["Esocket0", "Esocket1"]


def test_a_graphics_card_is_no_node(tmp_path: Path) -> None:
    write(tmp_path, {f"{HWMON}/name": "amdgpu", f"{HWMON}/power1_average": 9_000_000})
    assert energy.discover(tmp_path).source is None


def test_the_sensor_that_contains_the_others_is_read(tmp_path: Path) -> None:
    tree: dict[str, object] = {"name": "power_meter", "power1_average_interval": 50}
    for k, (label, watts) in enumerate((("Grace Power Socket 0", 90), ("Module Power Socket 0", 240)), 1):
        tree |= {f"power{k}_oem_info": label, f"power{k}_average": watts * 1_000_000, f"power{k}_input": 7}
    found = source(write(tmp_path, {f"{HWMON}/{name}": content for name, content in tree.items()}))
    assert found.gauge is not None and (reading := first(found.gauge, 5)) is not None and reading.watts == 240
    assert (found.meter.covers, found.files) == ("the whole node", ())


def test_a_battery_measures_only_while_it_discharges(tmp_path: Path) -> None:
    tree = {"type": "Battery", "status": "Discharging", "power_now": 11_250_000}
    write(tmp_path, {f"{BATTERY}/{name}": content for name, content in tree.items()})
    gauge = source(tmp_path).gauge
    assert gauge is not None and (reading := first(gauge, 5)) is not None and reading.watts == 11.25
    write(tmp_path, {f"{BATTERY}/status": "Full"})
    assert "unplug the charger" in energy.discover(tmp_path).energy.why


def test_ipmi_is_used_only_by_those_who_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unreadable: Callable[[str], None]
) -> None:
    tools = tmp_path / "bin"
    write(tmp_path, {"dev/ipmi0": "", "bin/ipmitool": f"#!/bin/sh\ncat <<'END'\n{IDRAC}END"})
    (tools / "ipmitool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    gauge = source(tmp_path).gauge
    assert gauge is not None and (reading := first(gauge, 10)) is not None and reading.watts == 220
    write(tmp_path, {"bin/ipmitool": "#!/bin/sh\necho DCMI is not supported; exit 1"})
    assert "reports no power" in energy.discover(tmp_path).energy.why
    unreadable("ipmi0")
    assert "only root has access" in energy.discover(tmp_path).energy.why
    assert dcmi.find(tmp_path / "elsewhere") is None


@pytest.mark.parametrize(
    ("words", "watts"),
    [("echo 350", 350.0), ("echo 350 W; sleep 60", 350.0), ("echo starting; echo 1.5e2W", 150.0)],
)
def test_the_command_of_the_site_comes_first(words: str, watts: float, tmp_path: Path) -> None:
    found = energy.discover(powercap(tmp_path, SERVER), words, 0.01)
    assert found.source is not None and found.source.meter.source == "site file"
    assert found.source.gauge is not None and (reading := first(found.source.gauge, 10)) is not None
    assert reading.watts == watts


def test_a_command_that_prints_no_power_is_reported_and_the_counters_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "FIRST", 0.5)
    found = energy.discover(powercap(tmp_path, SERVER), "echo no", 0.1)
    assert found.source is not None and found.source.meter.source == "powercap"
    assert [denied.what for denied in found.denied] == ["[energy] command of the site file"]


def readings(gauge: energy.Gauge, most: int) -> list[float]:
    """Return so many readings; then the descriptor ends the gauge's wait."""
    stop, write_end = os.pipe()
    found = []
    try:
        for reading in gauge.readings(stop):
            found.append(reading.watts)
            if len(found) == most:
                os.write(write_end, b"x")
            assert len(found) < most + 100
    finally:
        os.close(stop)
        os.close(write_end)
    return found


def test_a_command_that_ends_is_started_again_and_one_that_goes_on_is_ended(tmp_path: Path) -> None:
    again = readings(PrintedGauge(("sh", "-c", f"echo x >> {tmp_path}/starts; wc -l < {tmp_path}/starts"), 0.01), 3)
    assert again == [1.0, 2.0, 3.0]
    pid = tmp_path / "pid"
    on = readings(PrintedGauge(("sh", "-c", f"echo $$ > {pid}; while :; do echo 5; sleep 0.01; done"), 60), 3)
    assert on[:3] == [5.0] * 3 and not Path(f"/proc/{pid.read_text().strip()}").exists()


def test_a_file_that_vanishes_ends_the_readings(tmp_path: Path) -> None:
    file = tmp_path / "power_now"
    file.write_text("1000000\n")
    threading.Timer(0.05, file.unlink).start()
    found = readings(FileGauge((file,), 1e-6, 0.01), 10**6)
    assert set(found) == {1.0}


def test_a_gauge_that_never_prints_is_left_at_the_deadline() -> None:
    began = time.monotonic()
    assert first(PrintedGauge(("sleep", "60"), 1), 0.1) is None
    assert time.monotonic() - began < 30


@given(st.text(max_size=40))
def test_any_line_is_a_power_or_none(line: str) -> None:
    found = WATTS.fullmatch(line)
    assert found is None or float(found[1]) >= 0


@given(st.binary(max_size=64))
def test_any_file_is_a_number_or_none(content: bytes) -> None:
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        file.write(content)
        found = files.number(Path(file.name))
    assert found is None or 0 <= found < 10**18


def test_every_source_has_a_place_of_its_own() -> None:
    places = [kind.PLACE for kind in energy.every().values()]
    assert len(places) == 7 == len(set(places)) and places == sorted(places)
