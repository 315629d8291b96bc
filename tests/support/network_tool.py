"""Run the networks' native code for tests: under sanitizers (network_driver.cpp), and firstlight-simulate itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import drivers
import turns
from firstlight import ROOT

NATIVE = ROOT / "native"
DRIVER = Path(__file__).with_name("network_driver.cpp")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = (
    "-O0",
    "-g0",
    *SANITIZE,
    *(f"-I{NATIVE}/{room}/include" for room in ("network", "collectives")),
)
LOGGOPS = "L=2500,o=1500,g=1000,G=6,O=0,S=65535"


class Tool:
    """Represent one process that answers all questions of a module."""

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


def build(name: str = "network", own: Sequence[Path] = (DRIVER,), *flags: str) -> Path:
    """Build the program from `own` sources, which use the flags, and the networks', compiled once for all such."""
    networks = drivers.objects(sorted((NATIVE / "network" / "src").glob("*.cpp")), *FLAGS, ahead=drivers.STANDARD)
    driven = drivers.objects(own, *FLAGS, *flags, ahead=drivers.STANDARD)
    return drivers.linked(name, [*networks, *driven], *SANITIZE, *flags)


# --- the program itself


def run(simulator: Path, *words: object, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run the tool, which must end with `status`; None: with any status."""
    done = subprocess.run([simulator, *map(str, words)], capture_output=True, text=True, timeout=turns.PATIENCE)
    assert status in (done.returncode, None), done.stderr
    return done


def query(simulator: Path, *words: object) -> dict[str, Any]:
    (line,) = run(simulator, *words).stdout.splitlines()
    answer: dict[str, Any] = json.loads(line)
    return answer


def predict(simulator: Path, collective: str, algorithm: str, topology: str, *words: object) -> dict[str, Any]:
    task = ("--collective", collective, "--algorithm", algorithm, "--topology", topology)
    return query(simulator, "predict", *task, *words)
