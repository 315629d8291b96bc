"""Shares: what a worker takes at a time, and in which order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import run_options
import shares

pytest_plugins = ["pytester"]


def test_a_share_is_what_stands_together_of_a_file() -> None:
    tests = ["a.py::one", "a.py::two[x]", "b.py::one", "a.py::three"]
    found = shares.shares(tests)
    assert list(found) == tests
    first, second, third, fourth = found.values()
    assert first == second and len({first, third, fourth}) == 3


def test_a_share_of_all_workloads_is_one_of_them() -> None:
    found = shares.shares(
        f"test_workloads.py::verifies[{name}]" for name in ("dot.serial-gcc", "dot.omp-gcc", "halo.mpi-gcc")
    )
    first, second, third = found.values()
    assert first == second != third


def distributed(pytester: pytest.Pytester) -> None:
    """Tests of that folder are handed out as those of this one."""
    here = Path(shares.__file__).parent
    pytester.makeconftest(
        f"""
        import sys
        sys.path.insert(0, {str(here)!r})
        import shares

        def pytest_xdist_make_scheduler(config, log):
            return shares.Shares(config, log)

        def pytest_collection_modifyitems(items):
            shares.first_the_long(items)
        """
    )


def test_what_is_long_begins_first_and_what_runs_alone_last(pytester: pytest.Pytester) -> None:
    """Workers begin tests in the order of the list, whatever file they stand in."""
    distributed(pytester)
    pytester.makeini("[pytest]\nmarkers =\n    alone\n    patient\n    native\n    faults\n    browser\n")
    marked = "import pytest, time\n"
    body = "def test_{0}():\n    with open({1!r}, 'a') as began:\n        began.write('{0} ')\n    time.sleep(0.05)\n"
    path = str(pytester.path / "began")
    for file, mark in (("alone", "alone"), ("short", ""), ("native", "native"), ("waits", "patient")):
        mark_line = f"pytestmark = pytest.mark.{mark}\n" if mark else ""
        tests = "".join(body.format(f"{file}{n}", path) for n in range(6))
        pytester.makepyfile(**{f"test_a{len(file)}_{file}": marked + mark_line + tests})
    done = pytester.runpytest_subprocess("-n", "2", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=24)
    began = [re.sub(r"\d", "", name) for name in (pytester.path / "began").read_text().split()]
    assert began.index("waits") < began.index("short") and began.index("native") < began.index("short")
    assert began.index("alone") > max(n for n, name in enumerate(began) if name in ("waits", "native"))


def test_who_ends_its_worker_is_begun_once_and_nobody_else_is_left_out(pytester: pytest.Pytester) -> None:
    distributed(pytester)
    pytester.makeini("[pytest]\nmarkers =\n    alone\n    patient\n    native\n    faults\n    browser\n")
    ends = "import os, pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_it(n):\n    if n == 3: os._exit(9)\n"
    pytester.makepyfile(test_ends=ends, test_others=ends.replace("3", "9"))
    done = pytester.runpytest_subprocess("-n", "2", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=15, failed=1)


def test_each_commit_runs_another_half_of_the_long_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"test_long.py::test[{n}]" for n in range(400)]
    assert all(map(run_options.due, tests))
    halves = []
    for commit in ("0123456789ab", "ba9876543210"):
        monkeypatch.setattr(run_options, "commit", commit)
        halves.append({test for test in tests if run_options.due(test)})
        assert 150 < len(halves[-1]) < 250
    assert 50 < len(halves[0] & halves[1]) < 150
