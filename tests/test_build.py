"""Build: what belongs to the identity of an executable."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import toolchain
from firstlight.build import Options, _program_key, _Tree
from firstlight.catalogue import load
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
    (folder / "workload.toml").write_text('title = "sum"\nquestion = "how fast?"\nchapter = "node"\n')
    for name in ("group/shared.hpp", "group/sum/sum.hpp", "group/sum/serial.cpp"):
        (tmp_path / name).write_text("// before\n")
    workloads = load([tmp_path])
    program = Program("sum", "serial", "gcc-x", None)
    before = _program_key(program, workloads["sum"], "", "")
    assert _program_key(program, workloads["sum"], "", "") == before
    (tmp_path / header).write_text("// after\n")
    assert _program_key(program, workloads["sum"], "", "") != before
