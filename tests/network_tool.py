"""The networks' native code under sanitizers, as tests ask it; see network_driver.cpp."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from firstlight import ROOT

GXX = shutil.which("g++")
NATIVE = ROOT / "native"
FLAGS = ("-std=c++20", "-O0", "-g0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Tool:
    """One process that answers all questions of a module."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words: object) -> dict[str, Any]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(map(str, words)) + "\n")
        stdin.flush()
        line = stdout.readline()
        assert line, f"the program ended with {self.process.wait()} at {words}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == 0


def build(folder: Path) -> Path:
    """Compiles the driver and the networks' sources, two at a time."""
    if GXX is None:
        pytest.skip("no g++ here")
    sources = [*sorted((NATIVE / "network" / "src").glob("*.cpp")), Path(__file__).with_name("network_driver.cpp")]
    include = [f"-I{NATIVE}/{room}/include" for room in ("network", "collectives")]

    def compiled(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        subprocess.run([str(GXX), *FLAGS, *include, "-c", source, "-o", target], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    program = folder / "network"
    subprocess.run([GXX, *FLAGS, *objects, "-o", program], check=True)
    return program
