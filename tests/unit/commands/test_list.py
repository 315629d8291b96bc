"""`list`: workloads by chapter, details by name, and what it must not load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import Bench
from commands import Captured, call
from firstlight import ROOT
from firstlight.core.errors import OK
from firstlight.model import catalogue
from firstlight.model.catalogue import Variant
from firstlight.system.machine import gpus


def test_list_is_light_and_complete(bench: Bench, capsys: Captured) -> None:
    code, out, _ = call(capsys, "list")
    assert code == OK
    assert out.index("Node\n") < out.index("  dot ") and "kahan" not in out
    assert "Scalar product. " in (details := call(capsys, "list", "dot")[1]) and "  kahan" in details
    code, out, _ = call(capsys, "list", "dot.serial", "--json")
    assert [v["name"] for w in json.loads(out) for v in w["variants"]] == ["serial"]


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (["list"], {"numpy", "scipy", "psutil", "archspec", "jinja2"}),
        (["--help"], {"firstlight.model", "firstlight.results.record", "firstlight.system", "firstlight.toolchain"}),
    ],
)
def test_imports_nothing_heavy(tmp_path: Path, words: list[str], unused: set[str]) -> None:
    """`list` and the help are fast because they load none of the large modules."""
    script = (
        f"import sys; from firstlight.commands.shared import command_line; code = command_line.call({words});"
        f"heavy = {unused} & sys.modules.keys();"
        "sys.exit(f'loaded {heavy}' if heavy or code else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_list_puts_what_this_machine_cannot_run_last(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    dot = catalogue.load(catalogue.roots())["dot"]
    cuda = Variant("cuda", Path("cuda.cu"), ("cuda",), False)
    device = replace(dot, name="device", variants=(cuda,), title="A device")
    monkeypatch.setattr(catalogue, "load", lambda roots: {"device": device, "dot": dot})
    for gpus_here, order in (((), ["dot", "device"]), ((object(),), ["device", "dot"])):
        monkeypatch.setattr(gpus, "discover", lambda root, found=gpus_here: found)
        lines = call(capsys, "list")[1].splitlines()
        assert [line.split()[0] for line in lines[1:3]] == order
        assert ("A device (not here: requires a GPU)" in lines[2]) == (not gpus_here)
