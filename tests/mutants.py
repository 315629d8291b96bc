"""Mutants: the timed code of workloads with one small change each; does the check find it?

    ./fl test --mutants [WORKLOAD...] [--sample N]

universalmutator makes the changes, by rules on lines; the compiler of the ordinary build compiles the changed file with
the ordinary flags and links it with the ordinary harness and judge; the ordinary program judges it on small cases.
What compiles to the very bytes of the original is equivalent. What only changes the speed is listed, with the reason,
in `mutants.toml` of the workload's folder, beside the cases. All else that survives is a hole.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import io
import os
import queue
import re
import resource
import shutil
import subprocess
import sys
import uuid
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from time import monotonic

import msgspec

import native
from firstlight import ROOT
from firstlight.build import Commands, commands
from firstlight.catalogue import Variant, Workload, on_device
from firstlight.launch import launch
from firstlight.plan import Cell, Placement, Program
from firstlight.sources import Sources

RULES = ("universal.rules", "c_like.rules", "cpp.rules", str(Path(__file__).with_name("mutants.rules")))
FOLDER = native.CACHE / "mutants"
CASES = "mutants.toml"
MEMORY = 8 << 30
"""Bytes of addresses that a mutant may use."""
MOST = 5
"""Variants by which a header is judged at most: those that `first` names, then those without MPI."""
SHORTEST = 3.0
"""Seconds before a mutant is late; else ten times what the original takes."""


# --- which mutants there are


class Mutant(msgspec.Struct, frozen=True):
    """`file`, whose line `number` is `now` instead of `was`."""

    file: Path
    number: int
    was: str
    now: str
    kind: str
    key: str  # decides the order; it does not change when other lines do

    def text(self) -> str:
        lines = self.file.read_text().splitlines(keepends=True)
        lines[self.number - 1] = self.now + "\n"
        return "".join(lines)

    def diff(self) -> str:
        name = str(self.file.relative_to(ROOT))
        before = self.file.read_text().splitlines(keepends=True)
        after = self.text().splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, name, name, n=2))


_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|[\d.][\w.\']*|<<=|>>=|<=>|->|::|\+\+|--|[-+*/%<>=!&|^]=|<<|>>|&&|\|\||\S'
)
_OPERATORS = {"+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<", ">>"}
_ASSIGNING = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}
_NAMES = {"min", "max", "begin", "end", "true", "false", "any_of", "all_of", "none_of", "while", "if"}
_NO_CODE = re.compile(
    r"\s*(//|#|\[\[|FL_|(using|namespace|template|struct|class|enum|friend|static_assert|typedef|extern)\b|(public|private):)"
)
_DECLARES = re.compile(
    r"\s*(static |thread_local |constexpr |const |auto |alignas|[\w:]+(<.*>)?[*&]? \w+(\[.*\])?(;|\{| = |, \w+))"
)
_ADDS = re.compile(r"[-+*/|^]=|\+\+|--|swap|MPI_(I?[bsr]?[Ss]end|I?[Rr]ecv|Start|Accumulate)\b")
"""What done twice is not as done once."""
_COUNTS = re.compile(r"; (\w+) < .*; \+\+\1\)")
_LEAVES = re.compile(r"\s*(return\b.*\S;|break;|continue;|case |default:|.*\breturn .*;)")


def mutants(file: Path) -> list[Mutant]:
    """All of a file, each kind in an order by hash, the kinds in turn: the first N are the sample of N."""
    from universalmutator import mutator

    lines = file.read_text().splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        every = mutator.mutants_regexp(lines, ruleFiles=list(RULES), ignorePatterns=[])
    seen: Counter[str] = Counter()
    found: dict[str, dict[str, Mutant]] = {}
    name = file.relative_to(ROOT)
    for number, line in enumerate(lines, 1):
        seen[line] += 1
        for number_of, now, _, _ in every:
            if number_of != number:
                continue
            was, now = line.rstrip("\n"), now.rstrip("\n")
            if kind := sensible(was, now):
                key = hashlib.sha256(f"{name}\n{was}\n{seen[line]}\n{now}".encode()).hexdigest()
                found.setdefault(kind, {})[key] = Mutant(file, number, was, now, kind, key)
    queues = [[group[k] for k in sorted(group)] for _, group in sorted(found.items())]
    return [group[i] for i in range(max(map(len, queues), default=0)) for group in queues if i < len(group)]


def sensible(was: str, now: str) -> str:
    """The kind of a change that is worth compiling; "" where it changes no code or cannot be C++.

    Relies on clang-format: a binary operator has blanks on both sides, brackets of templates and * of pointers do not.
    """
    if _NO_CODE.match(was) or "\n" in now or was.strip() == now.strip() or now.strip() in ("", "/**/"):
        return ""
    if "/*" in now:
        whole = was.rstrip().endswith(";") and _balanced(was) and not _DECLARES.match(was) and not _LEAVES.match(was)
        dropped = now.strip() == f"/*{was.strip()}*/"
        return "statement dropped" if whole and dropped and not was.lstrip().startswith(("}", "else")) else ""
    if now.strip() == f"{was.strip()} {was.strip()}":
        whole = _balanced(was) and not _DECLARES.match(was) and not _LEAVES.match(was)
        whole = whole and "for (;" not in was and _ADDS.search(re.sub(r"for \(.*; .*; .*\) ", "", was)) is not None
        return "statement doubled" if whole and not was.lstrip().startswith(("}", "else")) else ""
    old, new = _different(was, now)
    if any(t.startswith('"') for t in (*old, *new)) or not _balanced_as(was, now):
        return ""
    if re.search(r"\b(0==1|1==1)\b", now) or now.replace("(!(", "((").replace("!", "") == was.replace("!", ""):
        return "condition"
    if len(old) == 1 and len(new) == 1:
        (a,), (b,) = old, new
        if (a, b) == ("<", "!=") and _COUNTS.search(was):
            return ""  # counting up by one meets the bound
        if a in _OPERATORS and b in _OPERATORS:
            return "operator" if f" {a} " in was and _spaced(was, a, now) else ""
        if (a in _ASSIGNING and b in _ASSIGNING) or {a, b} == {"++", "--"}:
            return "operator"
        if a in _NAMES and b in _NAMES:
            return "name"
        if _whole(a) and re.fullmatch(r"\d+", b):
            return "constant"
        return ""
    if old == ["-"] and new == []:
        return "sign"
    if len(old) == 1 and old[0] in ("+=", "-=") and new in (["=", "+"], ["=", "-"]):
        return "operator"
    if len(old) == 1 and _whole(old[0]):
        return "constant"
    if "".join(new) in ("+1", "-1") and old == [] and re.search(r"\[[^\[\]]+ [+-] 1\]", now):
        declared = re.match(r"\s*(static |const )*[\w:<>]+ \w+\[", was)
        return "" if declared else "index"
    if old == [] and (new[:2] == ["-", "("] or re.search(r"\(2 \* \d", now) or new[:1] == ["-"]):
        return "sign" if "2 *" not in now else "constant"
    if re.search(r"= -\(", now) and "= -(" not in was:
        return "sign"
    if sorted(_TOKEN.findall(was)) == sorted(_TOKEN.findall(now)):
        return "swapped"
    if re.search(r"\(\d+[+-]1\)", now) and not re.search(r"\w\(\d+[+-]1\)", now):
        return "constant"
    return ""


def _different(was: str, now: str) -> tuple[list[str], list[str]]:
    """The tokens between what begins and what ends both alike."""
    a, b = _TOKEN.findall(was), _TOKEN.findall(now)
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return a, b


def _spaced(was: str, operator: str, now: str) -> bool:
    """Whether the operator that changed has a blank on both sides."""
    at = next((i for i, (x, y) in enumerate(zip(was, now, strict=False)) if x != y), 0)
    starts = [m.start() for m in re.finditer(re.escape(operator), was) if m.start() - 1 <= at <= m.end()]
    return any(was[s - 1 : s] == " " == was[s + len(operator) : s + len(operator) + 1] for s in starts)


def _whole(token: str) -> bool:
    return re.fullmatch(r"\d+", token) is not None


def _balanced(line: str) -> bool:
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))


def _balanced_as(was: str, now: str) -> bool:
    return all(was.count(a) - was.count(b) == now.count(a) - now.count(b) for a, b in ("()", "[]", "{}"))


# --- by which programs and cases they are judged


class Listed(msgspec.Struct, frozen=True, rename={"now": "is"}, forbid_unknown_fields=True):
    """A change that no check can find, and why; without `now`, every change of this line."""

    file: str
    was: str
    reason: str
    now: str = ""

    def covers(self, mutant: Mutant) -> bool:
        same = mutant.file.name == self.file and mutant.was.strip() == self.was.strip()
        return same and (not self.now or mutant.now.strip() == self.now.strip())


class Cases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Launches of the variants that fit: each of `arguments` on each placement, ranks x threads; they are verified, or
    refused where that is said, or where a variant cannot do what others can."""

    arguments: tuple[str, ...]
    variants: tuple[str, ...] = ("*",)
    placements: tuple[str, ...] = ("1x1",)
    refused: bool = False


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What mutants.toml says. `first`: patterns of variants by which headers are judged first; `without`: files that
    are left alone, and why."""

    cases: tuple[Cases, ...] = ()
    equivalent: tuple[Listed, ...] = ()
    first: tuple[str, ...] = ()
    without: dict[str, str] = {}


def declared(workload: Workload) -> Declared:
    path = workload.folder / CASES
    return msgspec.toml.decode(path.read_bytes(), type=Declared) if path.exists() else Declared()


class Case(msgspec.Struct, frozen=True):
    place: Placement
    arguments: tuple[str, ...]
    refused: bool = False


def cases(workload: Workload, variant: Variant) -> list[Case]:
    """As declared; where nothing is, the small ones of the suites on a few placements."""
    fitting = [c for c in declared(workload).cases if any(fnmatchcase(variant.name, p) for p in c.variants)]
    if fitting:
        every = [(c, words, place) for c in fitting for words in c.arguments for place in c.placements]
        return [Case(_placement(place), tuple(words.split()), c.refused) for c, words, place in every]
    words = native.arguments(workload, variant.name)
    if "mpi" in variant.needs:
        return [Case(Placement(ranks=r), words) for r in (2, 3, 1, 4)]
    return [Case(Placement(threads=t), words) for t in ((1, 3) if "openmp" in variant.needs else (1,))]


def _placement(shape: str) -> Placement:
    ranks, threads = map(int, shape.split("x"))
    return Placement(ranks=ranks, threads=threads)


def judged(workload: Workload) -> list[Variant]:
    """Variants in C++ for processors, which this machine can build; of several libraries one is enough."""
    tool = native.toolchain("base")
    assert tool is not None, "no gcc here"
    some = [
        v
        for v in workload.variants
        if not v.broken and not on_device(v.needs) and v.source.suffix == ".cpp" and not v.flags
    ]
    return [v for v in some if not v.name.startswith("peer_") and native.buildable(v, tool)]


def timed(workload: Workload) -> dict[Path, list[Variant]]:
    """Files that only variants include, with these: the judge's own are no part of it."""
    sources, declares = Sources(), declared(workload)
    judge = sources.closure([workload.folder / f"{workload.name}.hpp"])
    found: dict[Path, list[Variant]] = {}
    for variant in judged(workload):
        for file in sorted(sources.closure([variant.source]) - judge):
            if file.is_relative_to(workload.folder.parent) and file.name not in declares.without:
                found.setdefault(file, []).append(variant)

    def order(variant: Variant) -> tuple[int, bool, str]:
        early = next((i for i, p in enumerate(declares.first) if fnmatchcase(variant.name, p)), len(declares.first))
        return early, "mpi" in variant.needs, variant.name

    return {file: sorted(variants, key=order)[:MOST] for file, variants in sorted(found.items())}


def asked_for(file: Path, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(file.name, p) for p in patterns)


# --- how one is built


class Kit(msgspec.Struct, frozen=True):
    """A variant, its program and how that is made."""

    variant: Variant
    program: Program
    how: Commands


def kits(workload: Workload, files: Sequence[str] = ()) -> dict[str, Kit]:
    """Of all variants that judge some mutant, built as they are."""
    tool = native.toolchain("base")
    assert tool is not None
    some = [file for file in timed(workload) if asked_for(file, files) and mutants(file)]
    judges = {v.name: v for file in some for v in timed(workload)[file]}
    wanted = {next(iter(native.programs(workload, v, tool))): v for v in judges.values()}
    made = commands(wanted, native.toolbox(), native.workloads, native.CACHE, native.STRICT)
    return {v.name: Kit(v, program, made[program]) for program, v in wanted.items()}


class Bench:
    """A copy of a chapter's folder by links, in which one file at a time is another; builds there."""

    def __init__(self, folder: Path, chapter: Path) -> None:
        self.folder, self.chapter = folder, chapter
        for file in [p for p in chapter.rglob("*") if p.suffix in (".hpp", ".cpp", ".h")]:
            link = folder / file.relative_to(chapter.parent)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(file)

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        place = self.folder / mutant.file.relative_to(self.chapter.parent)
        place.unlink()
        place.write_text(mutant.text())
        try:
            yield
        finally:
            place.unlink()
            place.symlink_to(mutant.file)

    def object(self, kit: Kit) -> bytes:
        """What the compiler makes of the variant here; b"" where it refuses."""
        source = kit.variant.source.relative_to(self.chapter.parent)
        made = self.folder / f"{kit.variant.name}.o"
        made.unlink(missing_ok=True)
        command = [*kit.how.compile, "-w", "-o", made.name, "-c", str(source)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=self.folder, env=kit.how.environment, capture_output=True, timeout=120)
        return made.read_bytes() if made.exists() else b""

    def program(self, kit: Kit) -> Path | None:
        made = self.folder / kit.program.target
        made.unlink(missing_ok=True)
        linking = kit.how.link.replace(kit.how.object, str(self.folder / f"{kit.variant.name}.o"))
        linking = linking.replace(f"-o {kit.how.output} ", f"-o {made} ")
        subprocess.run(
            linking, shell=True, cwd=kit.how.folder, env=kit.how.environment, capture_output=True, timeout=120
        )
        return made if made.exists() else None


# --- what becomes of one

CHECK, CRASH, LATE, STILLBORN, SAME, LISTED, SURVIVED = FATES = (
    "check", "crash", "time-out", "stillborn", "same code", "listed", "survived",
)  # fmt: skip
REFUSED = "refused"
"""A launch that the program does not want; where the original takes it, that finds the mutant."""


class Verdict(msgspec.Struct, frozen=True):
    mutant: Mutant
    fate: str
    by: str = ""  # the variant and the case that found it


class Trial:
    """The mutants of one workload."""

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
        self.original = {name: bench.object(kit) for name, kit in self.kits.items()}
        self.normal: dict[tuple[str, Case], float] = {}
        self.refused: set[tuple[str, Case]] = set()
        for name, kit in self.kits.items():
            program = bench.program(kit) if self.original[name] else None
            assert program is not None, f"{name} cannot be built as its tree does"
            for case in self.cases[name]:
                start = monotonic()
                ended, said = run(kit, program, case, 120, remembered=False)
                self.normal[name, case] = monotonic() - start
                assert ended in (REFUSED, REFUSED if case.refused else ""), f"{name} as it is, {case}: {ended} {said}"
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
        made = bench.object(kit)
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
    """How a launch ended: "" for verified, CHECK, CRASH, LATE, REFUSED; and a word about it."""
    seen = repr((hashlib.sha256(program.read_bytes()).hexdigest(), case, native.EFFORT))
    known = FOLDER / "known" / hashlib.sha256(seen.encode()).hexdigest()
    if remembered and known.exists():
        return known.read_text(), ""
    output = program.with_name(f"{uuid.uuid4().hex}.jsonl")
    cell = Cell("mutant", kit.program, case.place, case.arguments)
    outcome = launch(
        cell, program, native.toolbox(), output=output, timeout=patience, identity=uuid.uuid4().hex,
        machine=native.here, options=native.EFFORT,
    )  # fmt: skip
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
    """Of each file, in the order by hash, mutants until `count` of them say something of the check."""
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(jobs) as pool:
        for file, variants in timed(trial.workload).items():
            if not asked_for(file, trial.files):
                continue
            left = iter(mutants(file))
            telling, tried = 0, 0
            while telling < count and tried < 6 * count:
                some = [m for m, _ in zip(left, range(count - telling), strict=False)]
                if not some:
                    break
                tried += len(some)
                for verdict in pool.map(lambda m, v=tuple(variants): trial.judge(m, v), some):
                    verdicts.append(verdict)
                    telling += verdict.fate not in (STILLBORN, SAME, LISTED)
            own = [v for v in verdicts if v.mutant.file == file]
            print("\n".join(v.mutant.diff() for v in own if v.fate == SURVIVED), flush=True)
            print(f"  {file.relative_to(trial.workload.folder.parent)}: {summary(own)}", file=sys.stderr, flush=True)
    return verdicts


def summary(verdicts: Iterable[Verdict]) -> str:
    counts = Counter(v.fate for v in verdicts)
    return ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate]) or "no mutant"


def score(verdicts: Iterable[Verdict]) -> float:
    """The share found of those that can be found."""
    counts = Counter(v.fate for v in verdicts)
    found = counts[CHECK] + counts[CRASH] + counts[LATE]
    return found / (found + counts[SURVIVED]) if found + counts[SURVIVED] else 1.0


HEAD = ("workload", "mutants", "check", "crash", "time-out", "listed", "survived", "found", "same code", "stillborn")


def row(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    counts = Counter(v.fate for v in verdicts)
    told = sum(counts[f] for f in (CHECK, CRASH, LATE, LISTED, SURVIVED))
    numbers = (told, counts[CHECK], counts[CRASH], counts[LATE], counts[LISTED], counts[SURVIVED])
    return (name, *map(str, numbers), f"{100 * score(verdicts):.0f} %", str(counts[SAME]), str(counts[STILLBORN]))


def table(rows: Sequence[tuple[str, ...]]) -> str:
    wide = [max(len(r[i]) for r in (HEAD, *rows)) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, wide, strict=True)))
        for r in (HEAD, *rows)
    )


def limited() -> None:
    """A mutant that asks for all memory gets none."""
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
    asked = parser.parse_args(words)
    files: dict[str, list[str]] = {}
    for word in asked.workload or names():
        workload, _, file = word.partition("/")
        if workload not in native.workloads:
            parser.error(f"no workload {workload!r}; there are {', '.join(names())}")
        files.setdefault(workload, []).extend([file] if file else [])
    limited()
    rows, holes = [], 0
    for name, only in files.items():
        start = monotonic()
        print(f"{name}:", file=sys.stderr, flush=True)
        trial = Trial(native.workloads[name], asked.jobs, only)
        verdicts = sample(trial, asked.sample, asked.jobs)
        survivors = [v.mutant.diff() for v in verdicts if v.fate == SURVIVED]
        holes += len(survivors)
        if asked.survivors:
            (asked.survivors / f"{name}.txt").write_text("\n".join(survivors))
        rows.append(row(name, verdicts))
        print(f"{name}: {summary(verdicts)}; {monotonic() - start:.0f} s\n", flush=True)
    print(table(rows))
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
