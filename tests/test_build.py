"""Build: what belongs to the identity of an executable."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bench import toolchain
from firstlight.build import Options, _Tree
from firstlight.machine import parse
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
