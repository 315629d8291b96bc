"""Kill a process of firstlight that has started a program, and require that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from firstlight import ROOT
from firstlight.system.process import tree
from turns import await_

_STARTS = """
import os, sys
from pathlib import Path
from firstlight.system.process import bounded, guard
fake, place = sys.argv[1], Path(sys.argv[2])
"""


def living(word: str) -> Iterator[int]:
    """Return the processes whose command line contains `word`."""
    for pid, process in tree.table().items():
        with contextlib.suppress(OSError):
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes() and process.state not in "ZX":
                yield pid


def leaves_nothing_when_killed(tmp_path: Path, code: str) -> None:
    """Run `code`, which starts the program `fake`, and kill it: no child and no folder in `place` may be left."""
    place, fake, word = tmp_path / "place", tmp_path / "fake", f"{tmp_path}/outlives"
    place.mkdir()
    fake.write_text(f"#!/bin/sh\nsh -c 'sleep 1000; : {word}' &\nwait; : {word}\n")
    fake.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(place), "FIRSTLIGHT_CACHE": str(place), "PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen([sys.executable, "-c", _STARTS + code, str(fake), str(place)], env=environment)
    try:
        await_(lambda: list(living(word)) or started.poll() is not None, "the command")
        assert started.poll() is None
    finally:
        started.kill()
        started.wait()
    await_(lambda: not list(living(word)), "the end of the command")
    mine = {"source"}
    await_(lambda: not [p for p in place.iterdir() if p.is_dir() and p.name not in mine], "the end of its folder")
