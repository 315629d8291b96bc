"""Patterns with any values: what is accepted is whole and adds up, what is not is refused in one line."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.core.errors import UsageError
from firstlight.execute.network.program import pattern_words
from network_tool import query, run


@lru_cache
def known(simulator: Path) -> tuple[dict[str, Any], ...]:
    return tuple(map(json.loads, run(simulator, "patterns").stdout.splitlines()))


def value(parameter: dict[str, Any], near: int) -> str:
    """Return a word, or a number from the least to a few times the usual: large ones take long to check."""
    if parameter["words"]:
        return str(parameter["words"][near % len(parameter["words"])])
    usual = min(int(parameter["value"]), 64)
    return str(min(parameter["least"] + near % (2 * usual + 4), parameter["most"]))


@settings(max_examples=40, deadline=None)
@given(which=st.integers(0, 1000), processes=st.integers(1, 48), near=st.lists(st.integers(0, 1000), max_size=8))
def test_any_values_make_a_whole_pattern_or_none(simulator: Path, which: int, processes: int, near: list[int]) -> None:
    some = known(simulator)
    pattern = some[which % len(some)]
    given = [f"{p['name']}={value(p, n)}" for p, n in zip(pattern["parameters"], near, strict=False)]
    request = (pattern["pattern"], "--processes", processes, *(("--parameters", ",".join(given)) if given else ()))
    done = run(simulator, "pattern", request[0], "check", *request[1:], status=None)
    if done.returncode != 0:
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("firstlight-simulate: ") and done.stdout == ""
        return
    assert json.loads(done.stdout) == {"why": ""}
    shown = query(simulator, "pattern", *request)
    for one in given:
        name, _, text = one.partition("=")
        assert shown["parameters"][name] == text
    lines = run(simulator, "pattern", request[0], "pairs", *request[1:]).stdout.splitlines()
    sums = {p["name"]: (sum(x[2] for x in p["pairs"]), sum(x[3] for x in p["pairs"])) for p in map(json.loads, lines)}
    phases = [p for p in shown["phases"] if p["together"] is None]
    assert sums == {p["name"]: (p["messages"], p["bytes"]) for p in phases}
    assert all(0 <= p["own"] <= p["bytes"] and p["repetitions"] >= 0 for p in phases)


@given(st.lists(st.text(max_size=12), max_size=4))
def test_values_reach_the_program_as_they_were_given(given: list[str]) -> None:
    if all("=" in one and "," not in one for one in given):
        command = pattern_words("lans", 8, given)
        assert command[:4] == ["pattern", "lans", "--processes", "8"]
        assert command[4:] == (["--parameters", ",".join(given)] if given else [])
    else:
        with pytest.raises(UsageError, match="-p NAME=VALUE for each"):
            pattern_words("lans", 8, given)
