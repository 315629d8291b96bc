"""Run trials of a sample of mutants and report the survivors.

    ./fl test --mutants [WORKLOAD...] [--sample N]

The ordinary program of a variant, made of the changed file, is launched on small cases. What the compiler does not take
(or not in time) shows nothing, nor does a mutant with exactly the bytes of the original.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import queue
import resource
import shutil
import subprocess
import sys
import uuid
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from time import monotonic

import msgspec

import launches
import native
from firstlight.execute.launch import Outcome, command, launch
from firstlight.model.catalogue import Variant, Workload
from firstlight.model.plan import Cell
from mutant_builds import Bench, Kit, kits
from mutants import Case, Mutant, cases, declared, judged, mutants, selects, timed

FOLDER = native.CACHE / "mutants"
MEMORY = 8 << 30
"""Bytes of addresses that a mutant may use."""
SHORTEST = 3.0
"""A mutant is late after this many seconds, or after ten times the time of the original."""

CHECK, CRASH, LATE, STILLBORN, SAME, LISTED, SURVIVED = FATES = (
    "check", "crash", "time-out", "stillborn", "same code", "listed", "survived",
)  # fmt: skip
REFUSED = "refused"
"""The program refuses such a launch; if the original accepts it, the launch finds the mutant."""


class Verdict(msgspec.Struct, frozen=True):
    mutant: Mutant
    fate: str
    by: str = ""  # the variant and the case that found it


class Trial:
    """Represent the mutants of one workload."""

    def __init__(self, workload: Workload, jobs: int, files: Sequence[str] = ()) -> None:
        self.workload, self.files = workload, files
        self.kits = kits(workload, files)
        self.listed = declared(workload).equivalent
        self.cases = {name: cases(workload, kit.variant) for name, kit in self.kits.items()}
        self.benches: queue.Queue[Bench] = queue.Queue()
        place = FOLDER / f"{workload.name}.{os.getpid()}"
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        for number in range(jobs):
            self.benches.put(Bench(place / str(number), workload.folder.parent))
        bench = self.benches.get()
        self.original = {name: bench.original(kit) for name, kit in self.kits.items()}
        self.normal: dict[tuple[str, Case], float] = {}
        self.refused: set[tuple[str, Case]] = set()
        for name, kit in self.kits.items():
            program = bench.program(kit)
            assert program is not None, f"{name} does not link as its tree links it"
            for case in self.cases[name]:
                start = monotonic()
                ended, why = run(kit, program, case, 120, remembered=False)
                self.normal[name, case] = monotonic() - start
                assert ended in (REFUSED, REFUSED if case.refused else ""), f"{name} as it is, {case}: {ended} {why}"
                if ended == REFUSED:
                    self.refused.add((name, case))
            assert any((name, case) not in self.refused for case in self.cases[name]), f"{name} refuses every case"
        self.benches.put(bench)

    def judge(self, mutant: Mutant, variants: Sequence[Variant]) -> Verdict:
        """By one variant after the other, until one finds it."""
        bench = self.benches.get()
        try:
            with bench.changed(mutant):
                fates = set()
                for variant in variants:
                    found = self._by(bench, self.kits[variant.name])
                    if found.fate not in (SAME, STILLBORN, SURVIVED):
                        return msgspec.structs.replace(found, mutant=mutant)
                    if found.fate == STILLBORN:
                        return Verdict(mutant, STILLBORN)
                    fates.add(found.fate)
                if SURVIVED not in fates:
                    return Verdict(mutant, SAME)
                return Verdict(mutant, LISTED if any(entry.covers(mutant) for entry in self.listed) else SURVIVED)
        finally:
            self.benches.put(bench)

    def _by(self, bench: Bench, kit: Kit) -> Verdict:
        nobody: Mutant = None  # type: ignore[assignment]
        try:
            made = bench.object(kit)
        except subprocess.TimeoutExpired:
            made = b""
        if not made:
            return Verdict(nobody, STILLBORN)
        if made == self.original[kit.variant.name]:
            return Verdict(nobody, SAME)
        program = bench.program(kit)
        if program is None:
            return Verdict(nobody, STILLBORN)
        for case in self.cases[kit.variant.name]:
            patience = max(SHORTEST, 10 * self.normal[kit.variant.name, case])
            ended, _ = run(kit, program, case, patience)
            if case.refused and not ended:
                ended = CHECK  # the program's check of its arguments
            if ended and (ended != REFUSED or (kit.variant.name, case) not in self.refused):
                by = f"{kit.variant.name} on {case.place.ranks}x{case.place.threads}, {' '.join(case.arguments)}"
                return Verdict(nobody, CRASH if ended == REFUSED else ended, by)
        return Verdict(nobody, SURVIVED)


def run(kit: Kit, program: Path, case: Case, patience: float, remembered: bool = True) -> tuple[str, str]:
    """Return how a launch ended ("" for verified, CHECK, CRASH, LATE, REFUSED), and a word about it."""
    seen = repr((hashlib.sha256(program.read_bytes()).hexdigest(), case, native.EFFORT))
    known = FOLDER / "known" / hashlib.sha256(seen.encode()).hexdigest()
    if remembered and known.exists():
        return known.read_text(), ""
    output = program.with_name(f"{uuid.uuid4().hex}.jsonl")
    cell = Cell("mutant", kit.program, case.place, case.arguments)

    def once() -> Outcome:
        output.unlink(missing_ok=True)
        ready = command(cell, program, native.toolbox(), output=output, machine=native.here, options=native.EFFORT)
        return launch(ready, patience, uuid.uuid4().hex)

    outcome = launches.settled(once)
    output.unlink(missing_ok=True)
    if outcome.status is None:
        ended = LATE
    elif outcome.ok:
        ended = "" if outcome.status == 0 else CHECK
    else:
        ended = REFUSED if outcome.status == 2 else CRASH
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(ended)
    return ended, outcome.reason or outcome.stderr[-300:]


# --- the sample and its table


def sample(trial: Trial, count: int, jobs: int) -> list[Verdict]:
    """Try mutants of each file, in the order of their hashes, until `count` of them show something about the check."""
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(jobs) as pool:
        for file, variants in timed(trial.workload).items():
            if not selects(file, trial.files):
                continue
            left = iter(mutants(file))
            conclusive, tried = 0, 0
            while conclusive < count and tried < 6 * count:
                some = [m for m, _ in zip(left, range(count - conclusive), strict=False)]
                if not some:
                    break
                tried += len(some)
                for verdict in pool.map(lambda m, v=tuple(variants): trial.judge(m, v), some):
                    verdicts.append(verdict)
                    conclusive += verdict.fate not in (STILLBORN, SAME, LISTED)
            own = [v for v in verdicts if v.mutant.file == file]
            print("\n".join(v.mutant.diff() for v in own if v.fate == SURVIVED), flush=True)
            print(f"  {file.relative_to(trial.workload.folder.parent)}: {summary(own)}", file=sys.stderr, flush=True)
    return verdicts


def summary(verdicts: Iterable[Verdict]) -> str:
    counts = Counter(v.fate for v in verdicts)
    return ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate]) or "no mutant"


def score(verdicts: Iterable[Verdict]) -> float:
    """Return the share of mutants found among those that can be found."""
    counts = Counter(v.fate for v in verdicts)
    found = counts[CHECK] + counts[CRASH] + counts[LATE]
    return found / (found + counts[SURVIVED]) if found + counts[SURVIVED] else 1.0


HEAD = ("workload", "mutants", "check", "crash", "time-out", "listed", "survived", "found", "same code", "stillborn")


def row(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    counts = Counter(v.fate for v in verdicts)
    counted = sum(counts[f] for f in (CHECK, CRASH, LATE, LISTED, SURVIVED))
    numbers = (counted, counts[CHECK], counts[CRASH], counts[LATE], counts[LISTED], counts[SURVIVED])
    return (name, *map(str, numbers), f"{100 * score(verdicts):.0f} %", str(counts[SAME]), str(counts[STILLBORN]))


def table(rows: Sequence[tuple[str, ...]]) -> str:
    wide = [max(len(r[i]) for r in (HEAD, *rows)) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, wide, strict=True)))
        for r in (HEAD, *rows)
    )


def limited() -> None:
    """Limit the memory, so that a mutant that requests all of it fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))


@cache
def names() -> list[str]:
    return sorted(name for name, w in native.workloads.items() if judged(w))


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./fl test --mutants", description=__doc__)
    parser.add_argument("workload", nargs="*", help="all workloads where none is named; a file of one as WORKLOAD/FILE")
    parser.add_argument("--sample", type=int, default=8, metavar="N", help="mutants a file (default 8)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="so many at once")
    parser.add_argument("--survivors", type=Path, metavar="FOLDER", help="write there what survived, as diffs")
    return parser


def main(words: Sequence[str]) -> int:
    parser = options()
    arguments = parser.parse_args(words)
    files: dict[str, list[str]] = {}
    for word in arguments.workload or names():
        workload, _, file = word.partition("/")
        if workload not in native.workloads:
            parser.error(f"no workload {workload!r}; there are {', '.join(names())}")
        files.setdefault(workload, []).extend([file] if file else [])
    limited()
    if arguments.survivors:
        arguments.survivors.mkdir(parents=True, exist_ok=True)
    rows, holes = [], 0
    for name, only in files.items():
        start = monotonic()
        print(f"{name}:", file=sys.stderr, flush=True)
        trial = Trial(native.workloads[name], arguments.jobs, only)
        verdicts = sample(trial, arguments.sample, arguments.jobs)
        survivors = [v.mutant.diff() for v in verdicts if v.fate == SURVIVED]
        holes += len(survivors)
        if arguments.survivors:
            (arguments.survivors / f"{name}.txt").write_text("\n".join(survivors))
        rows.append(row(name, verdicts))
        print(f"{name}: {summary(verdicts)}; {monotonic() - start:.0f} s\n", flush=True)
    print(table(rows))
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
