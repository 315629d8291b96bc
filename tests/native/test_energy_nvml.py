"""NVML: an invented library with a known power. No real one was ever read."""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

import drivers
import synthetic
from firstlight.analysis import energy as analysis
from firstlight.results.record import Span
from firstlight.system import energy
from firstlight.system.energy import Meter, Source, nvml

pytestmark = pytest.mark.native

MEAN, SWING, PERIOD = 400.0, 100.0, 0.3
"""As in invented_nvml.cpp."""
UPDATE = 0.005
TRIES = 5
WATTS = Meter("NVML", "2 GPUs", UPDATE, part="devices")


def used(since: float, until: float) -> float:
    """Return the joules between two times of the monotonic clock."""
    w = 2 * math.pi / PERIOD
    return MEAN * (until - since) + SWING / w * (math.cos(w * since) - math.cos(w * until))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tree with NVIDIA's driver, whose library is the invented one."""
    library = drivers.library(Path(__file__).with_name("invented_nvml.cpp"), "-O1", "-Wall", "-Wextra", "-Werror")
    monkeypatch.setattr(nvml, "LIBRARY", library._name)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidiactl").touch()
    return tmp_path


def followed(gauge: nvml.NvmlGauge, seconds: float) -> list[energy.Reading]:
    stop, end = os.pipe()
    timer = threading.Timer(seconds, lambda: os.write(end, b"x"))
    timer.start()
    try:
        return list(gauge.readings(stop))
    finally:
        timer.join()
        os.close(stop)
        os.close(end)


def test_two_gpus_are_one_source_of_their_own_part(root: Path) -> None:
    found = energy.discover(root).source
    assert isinstance(found, Source)
    assert found.meter == Meter("NVML", "2 GPUs", nvml.UPDATE, part="devices")
    assert found.gauge is not None and (reading := energy.first(found.gauge, 5)) is not None
    assert MEAN - SWING <= reading.watts <= MEAN + SWING


@pytest.mark.parametrize("without", ["nothing", "energy"])
def test_the_energy_of_a_span_is_the_integral_of_the_power(
    root: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    """With the counters and, where these fail, with the present power. A busy machine may delay readings: one of five
    spans must be within 1 %.
    """
    monkeypatch.setenv("INVENTED_NVML", without)
    gpus = nvml.Gpus()
    assert gpus.counts == (without == "nothing") and len(gpus) == 2
    errors = []
    for _ in range(TRIES):
        began = time.monotonic()
        power = tuple((r.time, r.watts) for r in followed(nvml.NvmlGauge(gpus, UPDATE), 0.5))
        span = Span(0, began + 0.05, began + 0.45, 0.4, ((),), ((),))
        record = synthetic.run(1, 8, only=["dot"], failed_build=False).records[0]
        record = replace(record, spans=(span,), exit=replace(record.exit, power=power))
        found = analysis.measured(WATTS, record, 0)
        errors.append(found.joules / used(span.began, span.ended) - 1 if not isinstance(found, str) else math.inf)
        if abs(errors[-1]) < 0.01:
            break
    assert min(map(abs, errors)) < 0.01, errors


def test_a_gpu_that_fails_ends_the_readings(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = nvml.Gpus()
    monkeypatch.setenv("INVENTED_NVML", "power")
    assert followed(nvml.NvmlGauge(gpus, UPDATE), 0.01) == []


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("init", "nvmlInit_v2 returns 3"),
        ("none", "NVML lists 0 GPUs"),
        ("power", "nvmlDeviceGetPowerUsage returns 3"),
    ],
)
def test_what_fails_is_one_line_with_the_fix(root: Path, monkeypatch: pytest.MonkeyPatch, fault: str, why: str) -> None:
    monkeypatch.setenv("INVENTED_NVML", fault)
    found = energy.discover(root)
    assert found.source is None and [str(d).startswith(f"power of the GPUs: {why}; ") for d in found.denied] == [True]


def test_a_missing_library_is_one_line_and_without_a_driver_there_is_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvml, "LIBRARY", "libno-such-library.so.1")
    (denied,) = energy.discover(root).denied
    assert "libno-such-library.so.1" in str(denied) and "\n" not in str(denied)
    (root / "dev/nvidiactl").unlink()
    assert energy.discover(root).denied == ()


def test_reading_needs_less_than_a_thousandth_of_a_launch(root: Path) -> None:
    """The processor time of the readings of one second, of which a launch of that length has 10."""
    gpus = nvml.Gpus()
    gauge = nvml.NvmlGauge(gpus, 1e-3)
    began = time.thread_time()
    stop, end = os.pipe()
    try:
        count = len([*gauge.readings(stop, time.monotonic() + 0.2)])
    finally:
        os.close(stop)
        os.close(end)
    used_time = time.thread_time() - began
    assert count > 20 and used_time / count / nvml.UPDATE < 1e-3
