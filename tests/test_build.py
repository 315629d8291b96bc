"""Build: what belongs to the identity of an executable."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import toolchain
from firstlight import build
from firstlight.build import Options, _alone, _program_key, _Tree
from firstlight.catalogue import load, roots
from firstlight.machine import parse
from firstlight.plan import Program
from firstlight.toolchains import Toolbox


@pytest.mark.parametrize(("flags", "same"), [(("-O3", "-march=native"), False), (("-O2",), True)])
def test_executables_for_another_processor_are_others(
    monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], same: bool
) -> None:
    """A login node and a compute node may share one cache."""
    chain = replace(toolchain("gcc-x"), flags=flags)
    tree = _Tree(chain, None, Toolbox((chain,), (), (), ()), Options(), ())
    here = tree.signature()
    monkeypatch.setattr(parse, "instructions", lambda cpuinfo: "another processor")
    assert (tree.signature() == here) == same


@pytest.mark.parametrize("header", ["group/sum/sum.hpp", "group/shared.hpp"])
def test_a_header_that_changes_makes_another_program(header: str, tmp_path: Path) -> None:
    """Its own, or one that it shares with the workloads beside it."""
    folder = tmp_path / "group" / "sum"
    folder.mkdir(parents=True)
    (folder / "workload.toml").write_text('title = "sum"\nquestion = "how fast?"\n')
    for name in ("group/shared.hpp", "group/sum/sum.hpp", "group/sum/serial.cpp"):
        (tmp_path / name).write_text("// before\n")
    workloads = load([tmp_path])
    program = Program("sum", "serial", "gcc-x", None)
    before = _program_key(program, workloads["sum"], "", "")
    assert _program_key(program, workloads["sum"], "", "") == before
    (tmp_path / header).write_text("// after\n")
    assert _program_key(program, workloads["sum"], "", "") != before


def test_only_who_builds_the_same_tree_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that share a cache: each of their trees is built by one at a time, and the other finds what was made."""
    made: list[Program] = []

    def make(tree: _Tree, folder: Path, programs: Sequence[Program], jobs: int) -> dict[Program, str]:
        for program in programs:
            executable = folder / "bin" / program.target
            executable.parent.mkdir(parents=True, exist_ok=True)
            executable.write_text("#!/bin/sh\necho '{}'\n")
            executable.chmod(0o755)
            made.append(program)
        return {}

    monkeypatch.setattr(build, "_make", make)
    chains = (toolchain("gcc-x"), toolchain("gcc-y"))
    toolbox, workloads = Toolbox(chains, (), (), ()), load(roots())
    first, second = (Program("dot", "serial", chain.name, None) for chain in chains)
    tree = build._tree((first.toolchain, None), toolbox, Options())
    told, waits, release = [], threading.Event(), threading.Event()

    def hold() -> None:
        with _alone(tmp_path / "build" / f"{tree.name}-{tree.signature()}", lambda: None):
            waits.set()
            release.wait(60)

    def progress(done: int, total: int, text: str) -> None:
        told.append((done, total, text))
        if "waiting" in text:
            release.set()

    holder = threading.Thread(target=hold)
    holder.start()
    assert waits.wait(60)
    assert build.build([second], toolbox, workloads, tmp_path)[second].executable is not None
    assert build.build([first], toolbox, workloads, tmp_path, progress)[first].executable is not None
    holder.join()
    assert told == [(0, 1, "another firstlight builds in this cache: waiting for it"), (1, 1, "gcc-x")]
    assert made == [second, first]

    build.build([first], toolbox, workloads, tmp_path)
    assert made == [second, first]
