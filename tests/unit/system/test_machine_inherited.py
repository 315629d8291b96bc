"""The attributes that programs inherit from the process that started firstlight are recorded, shown and compared."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis.environment import differences
from firstlight.report import method
from firstlight.system.machine import inherited, linux

_STAT = (
    "7 (a ) b (c) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 {nice} 1 0 5 9 9 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0"
)
_STAT += " 0 17 0 0 {policy} 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
_MAPS = "00400000 {} file=/usr/bin/python3 mapped=2 N0=2 kernelpagesize_kB=4\n00500000 default heap anon=1\n"
_THP = "sys/kernel/mm/transparent_hugepage/enabled"


def _root(folder: Path, nice: int = 0, policy: int = 0, memory: str = "default", huge: str = "1", slack: int = 50000,
          personality: int = 0) -> Path:  # fmt: skip
    for name, text in {
        "proc/self/timerslack_ns": f"{slack}\n",
        "proc/self/personality": f"{personality:08x}\n",
        "proc/self/stat": _STAT.format(nice=nice, policy=policy),
        "proc/self/numa_maps": _MAPS.format(memory),
        "proc/self/status": f"Name:\tpython\nTHP_enabled:\t{huge}\n",
        _THP: "always [madvise] never\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ()),
        ({"memory": "local"}, ()),
        ({"nice": 19}, ("nice 19",)),
        ({"nice": -5, "policy": 1}, ("nice -5", "scheduling policy fifo")),
        ({"policy": 5}, ("scheduling policy idle",)),
        ({"policy": 99}, ("scheduling policy 99",)),
        ({"memory": "interleave:0-1"}, ("memory policy interleave:0-1",)),
        ({"memory": "prefer (many):0,2"}, ("memory policy prefer (many):0,2",)),
        ({"memory": "bind=static:1"}, ("memory policy bind=static:1",)),
        ({"huge": "0"}, ("transparent huge pages disabled",)),
        ({"slack": 50_000_000}, ("timer slack 50.0 ms",)),
        ({"slack": 0}, ()),
        ({"personality": 0x40000}, ("personality 0x40000",)),
    ],
)
def test_what_a_shell_may_have_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda number: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert inherited.discover(_root(tmp_path, **given)) == expected
    assert inherited.discover(tmp_path / "nothing") == ()


def test_a_kernel_without_huge_pages_has_not_been_told_to_use_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda number: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    (_root(tmp_path, huge="0") / _THP).unlink()
    assert inherited.discover(tmp_path) == ()


_SHOW = (
    "from pathlib import Path; from firstlight.system.machine import inherited; print(inherited.discover(Path('/')))"
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nice", "-n", "7"), "nice "),
        (("chrt", "--batch", "0"), "scheduling policy batch"),
        (("prlimit", f"--as={3 << 30}"), "address space limited to 3 GiB"),
    ],
    ids=("nice", "chrt", "prlimit"),
)
def test_a_real_process_shows_what_it_was_started_with(words: tuple[str, ...], expected: str) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    done = subprocess.run([*words, sys.executable, "-c", _SHOW], capture_output=True, text=True, check=True)
    assert expected in done.stdout


def test_it_is_warned_of_recorded_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inherited, "discover", lambda root: ("nice 19", "memory policy bind:0"))
    machine = linux.describe(Path("/"), tmp_path)
    assert machine.inherited == ("nice 19", "memory policy bind:0")
    assert "started with memory policy bind:0, which programs inherit" in machine.warnings
    run = synthetic.run().run
    other = replace(run, machine=replace(run.machine, inherited=machine.inherited))
    assert list(differences(run, other)) == ["inherited settings: none in A, nice 19, memory policy bind:0 in B"]
    assert ("inherited settings", "nice 19, memory policy bind:0") in method.environment(other)
