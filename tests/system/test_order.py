"""Tests are selected and ordered as declared."""

from __future__ import annotations

import pytest

import run_options


def test_each_commit_runs_another_third_of_the_long_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"test_long.py::test[{n}]" for n in range(400)]
    assert all(map(run_options.due, tests))
    thirds = []
    for commit in ("0123456789ab", "ba9876543210"):
        monkeypatch.setattr(run_options, "commit", commit)
        thirds.append({test for test in tests if run_options.due(test)})
        assert 90 < len(thirds[-1]) < 180
    assert 15 < len(thirds[0] & thirds[1]) < 90
