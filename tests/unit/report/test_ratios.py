"""Ratios of commands: the lines that `./fl bench` prints after its page."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from commands import Captured, call
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core.errors import OK
from firstlight.model.plan import Placement
from firstlight.report import ratios


def figure(level: float, launches: int = 12, noise: float = 0.003, better: str = "lower") -> Verified:
    rng = random.Random(f"{level} {launches}")
    values = [level * rng.gauss(1, noise) for _ in range(launches)]
    times = [0.01 * k for k in range(launches)]
    identity = Identity("bench", "a", "as-it-is", None, Placement(), (), "time")
    found = Verified(identity, "s", "lower", estimate(values), 0.0, {"executions": 1.0}, None, 0.0)
    return replace(found, better=better, estimate=replace(found.estimate, times=tuple(times)))


@pytest.mark.parametrize(
    ("a", "b", "threshold", "shown", "outcome"),
    [
        (1.0, 1.1, 0.05, r"1\.(09\d*|1\d*) \[1\.\d+, 1\.\d+\]", "worse"),
        (1.1, 1.0, 0.05, r"0\.9\d+ \[0\.9\d+, 0\.9\d+\]", "better"),
        (1.0, 1.02, 0.05, r"1\.0\d+ \[1\.0\d+, 1\.0\d+\]", "same within 5 %"),
        (1.0, 1.02, 0.01, r"1\.0\d+ \[1\.0\d+, 1\.0\d+\]", "worse"),
        (1.0, 1.1, 0.2, r"1\.\d+ \[1\.\d+, 1\.\d+\]", "same within 20 %"),
        (1.0, 1.0, 0.05, r"1(\.00)? \[.*\]", "same within 5 %"),
    ],
)
def test_the_ratio_is_shown_with_its_interval_and_outcome(
    a: float, b: float, threshold: float, shown: str, outcome: str
) -> None:
    value, verdict = ratios.ratio(figure(a), figure(b), threshold)
    assert re.fullmatch(shown, value) and verdict == outcome


def test_of_what_is_better_where_higher_a_rise_is_better() -> None:
    assert ratios.ratio(figure(1.0, better="higher"), figure(1.2, better="higher"), 0.05)[1] == "better"


@pytest.mark.parametrize("launches", [1, 2, 3])
def test_too_few_launches_have_no_interval(launches: int) -> None:
    value, verdict = ratios.ratio(figure(1.0, launches), figure(2.0, launches), 0.05)
    assert value.endswith("[too few launches]") and verdict == "inconclusive"


def test_commands_are_compared_with_the_first_one_as_typed(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--sweep", "n=1,2", "--", "sleep", "0.0{n}", "--", "true", "{n}"]
    code, out, err = call(capsys, "bench", "--launches", "1", "--as", "r", "--threshold", "0.1", *words)
    assert code == OK, err
    for n in (1, 2):
        assert re.search(rf"true / sleep = [0-9.]+ \[too few launches\], wall time, n = {n}: inconclusive", out), out
    code, out, err = call(capsys, "bench", "--resume", "r", "--budget", "1s", "--threshold", "0.1")
    assert code == OK and "true / sleep = " in out, err
