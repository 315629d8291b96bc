"""The steps of `tests/on_gpu.py` in their order, and their results. Only the standard library."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ("CMakeLists.txt", "cmake", "native", "src", "workloads", "tests/support")
"""The programs depend on these files."""
RECORD = "/the/record.jsonl"
"""This word stands for the file of the record in the arguments of a launch (tests/support/gpu_programs.py)."""
SANITIZERS = ("memcheck", "racecheck")
SANITIZER_FOUND = 86


@dataclass(frozen=True)
class Step:
    """Represent one command. `key`: all inputs of its result. `limit`: seconds."""

    name: str
    key: str
    words: tuple[str, ...]
    limit: float
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """Represent how a step ended, with the reason: `passed`, `failed`, or `refused` (the program states what it lacks).

    A launch of a wrong variant is `accepted` if its check holds and larger sizes follow.
    """

    key: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0


class Plan:
    """Represent the steps in their order, as far as they are known from the results of earlier ones."""

    def __init__(self, folder: Path, given: argparse.Namespace, sources: str, sanitizer: str | None) -> None:
        self.folder, self.given, self.sources, self.sanitizer = folder, given, sources, sanitizer
        self.cache = Path(os.environ.get("FIRSTLIGHT_CACHE") or ROOT / ".fl").absolute()
        self.run = "-".join(["gpu", sources[:8], *given.workload])

    def steps(self, results: Results) -> Iterator[Step]:
        """Yield each step. The caller runs it before it requests the next, which may depend on the output."""
        environment, listing = self._environment(), self._helper("list", 60.0)
        yield environment
        yield listing
        if not (results.done(environment) and results.done(listing)):
            return
        programs: list[dict[str, Any]] = []
        listed = self._selected(self.output(listing))
        for workload in listed:
            building = self._helper(f"build {workload}", 300.0)
            yield building
            made = self.output(building) if results.done(building) else []
            for program in made:
                yield from self._checks(program, results)
            programs += made
        if runs := [f"{w}.{v}" for w, names in listed.items() for v in names if self._runs(v)]:
            yield self.measure(runs)
        for tool in SANITIZERS if self.sanitizer else ():
            for program in programs:
                yield from self._watched(program, tool)

    def _selected(self, every: dict[str, list[str]]) -> dict[str, list[str]]:
        wanted = self.given.workload or every
        return {name: variants for name, variants in every.items() if name in wanted}

    def _runs(self, variant: str) -> bool:
        return not self.given.emulated or "emulated" in variant

    def _environment(self) -> Step:
        words = ["./fl", "setup", "kernel_launch.call", "--toolchain", "*-base"]
        wheels = self.given.wheelhouse
        words += ["--offline", "--wheelhouse", str(wheels.resolve())] if wheels else []
        key = f"{self.cache} {hashed((ROOT / 'pyproject.toml').read_bytes())}"
        return Step("environment", key, tuple(words), 400.0)

    def _helper(self, what: str, limit: float) -> Step:
        emulated = ["--emulated"] if self.given.emulated else []
        path = f"{ROOT / 'src'}:{ROOT / 'tests/support'}"
        words = [self._python(), "-P", "tests/support/gpu_programs.py", *what.split(), *emulated]
        return Step(what, f"{self.sources} {emulated}", tuple(words), limit, {"PYTHONPATH": path})

    def _python(self) -> str:
        kinds = sorted(self.cache.glob("venv*/bin/python"))
        return str(kinds[0]) if kinds else str(self.cache / "venv/bin/python")

    def _checks(self, program: dict[str, Any], results: Results) -> Iterator[Step]:
        """Yield the launches of a program; of a wrong variant until one is rejected."""
        count = len(program["trials"])
        for number, words in enumerate(program["trials"], 1):
            step = self._launch(f"check {program['name']} {number} of {count}", program, words, 60.0)
            yield step
            result = results.of(step)
            if result and result.outcome == "passed":
                return

    def _launch(self, name: str, program: dict[str, Any], words: list[str], limit: float) -> Step:
        placed = tuple(str(self.file(name, "jsonl")) if word == RECORD else word for word in words)
        return Step(name, program["sha256"], placed, limit, program["environment"])

    def _watched(self, program: dict[str, Any], tool: str) -> Iterator[Step]:
        """Yield the program under a tool of compute-sanitizer. Wrong variants are excluded."""
        name = f"{tool} {program['name']}"
        for words in [] if program["broken"] else program["trials"]:
            at = words.index(program["executable"])
            options = ["--tool", tool, "--error-exitcode", str(SANITIZER_FOUND), "--log-file", self.file(name, "log")]
            own = [str(self.sanitizer), *map(str, options)]
            yield self._launch(name, program, [*words[:at], *own, *words[at:]], 120.0)

    def measure(self, selected: list[str]) -> Step:
        """Return the run of these variants, or its continuation."""
        results = self.folder / "results"
        words = ["./fl", "run", "--results", str(results), "--budget", f"{self.given.budget:.0f}s"]
        if (results / self.run / "run.json").exists():
            words += ["--resume", self.run]
        else:
            words += [*selected, "--full" if self.given.emulated else "--standard", "--as", self.run]
            words += ["--launches", "1"] if self.given.emulated else []
        return Step(
            "measure", f"{self.sources} {selected} {self.given.budget}", tuple(words), self.given.budget + 240.0
        )

    def figures(self) -> Step:
        words = ("./fl", "figures", self.run, "--json", "--results", str(self.folder / "results"))
        return Step("figures", self.sources, words, 120.0)

    def output(self, step: Step) -> Any:
        """Return what a step printed, as JSON; {} if it printed none."""
        try:
            return json.loads(self.file(step.name, "out").read_bytes())
        except (OSError, ValueError):
            return {}

    def file(self, name: str, kind: str) -> Path:
        return self.folder / "steps" / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)}.{kind}"


def hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest() -> str:
    """Return the hash of all sources."""
    every = hashlib.sha256()
    for name in SOURCES:
        place = ROOT / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                every.update(f"{path.relative_to(ROOT)} {hashed(path.read_bytes())}\n".encode())
    return every.hexdigest()


class Results:
    """Represent the results of all calls, one file per step, replaced as a whole: a kill loses only the step in
    progress.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def of(self, step: Step) -> Result | None:
        """Return the result of a step with the present sources."""
        try:
            found = Result(**json.loads(self.plan.file(step.name, "json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return found if found.key == step.key else None

    def keep(self, step: Step, result: Result) -> None:
        path = self.plan.file(step.name, "json")
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(result)))
        part.replace(path)

    def done(self, step: Step) -> bool:
        result = self.of(step)
        return result is not None and result.outcome != "failed"
