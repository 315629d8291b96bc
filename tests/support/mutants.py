"""Make mutants: the timed code of workloads with one small change each, and the programs and cases that judge them.

universalmutator makes the changes, by rules on lines; the compiler of the ordinary build compiles the changed file with
the ordinary flags and links it with the ordinary harness and judge; the ordinary program judges it on small cases.
What compiles to the very bytes of the original is equivalent. What only changes the speed is listed, with the reason,
in `mutants.toml` of the workload's folder, beside the cases. All else that survives is a hole.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import io
import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

import native
import small_sizes
from firstlight import ROOT
from firstlight.model.catalogue import Variant, Workload, on_device
from firstlight.model.plan import Placement
from firstlight.toolchain.sources import Sources

RULES = ("universal.rules", "c_like.rules", "cpp.rules", str(Path(__file__).with_name("mutants.rules")))
CASES = "mutants.toml"
MOST = 5
"""Variants by which a header is judged at most: those that `first` names, then those without MPI."""


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
"""These statements have another effect if they are executed twice."""
_COUNTS = re.compile(r"; (\w+) < .*; \+\+\1\)")
_LEAVES = re.compile(r"\s*(return\b.*\S;|break;|continue;|case |default:|.*\breturn .*;)")


def mutants(file: Path) -> list[Mutant]:
    """Return all mutants of a file, each kind in an order by hash, the kinds alternately: the first N are the sample of
    N.
    """
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
    """Return the kind of a change that is worth compiling; "" if it changes no code or cannot be C++.

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
    """Return the tokens between the common begin and the common end."""
    a, b = _TOKEN.findall(was), _TOKEN.findall(now)
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return a, b


def _spaced(was: str, operator: str, now: str) -> bool:
    """Return whether the changed operator has a blank on both sides."""
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
    """Describe a change that no check can find, and why; without `now`, every change of this line."""

    file: str
    was: str
    reason: str
    now: str = ""

    def covers(self, mutant: Mutant) -> bool:
        same = mutant.file.name == self.file and mutant.was.strip() == self.was.strip()
        return same and (not self.now or mutant.now.strip() == self.now.strip())


class Cases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """List launches of the variants that match: each of `arguments` on each placement, ranks x threads. A launch is
    verified, or refused if the declaration expects it or a variant cannot do what others can.
    """

    arguments: tuple[str, ...]
    variants: tuple[str, ...] = ("*",)
    placements: tuple[str, ...] = ("1x1",)
    refused: bool = False


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Represent the content of mutants.toml. `first`: patterns of variants that judge headers first; `without`:
    excluded files with the reasons.
    """

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
    """Return the declared cases; without any, the small ones of the suites on a few placements."""
    fitting = [c for c in declared(workload).cases if any(fnmatchcase(variant.name, p) for p in c.variants)]
    if fitting:
        every = [(c, words, place) for c in fitting for words in c.arguments for place in c.placements]
        return [Case(_placement(place), tuple(words.split()), c.refused) for c, words, place in every]
    words = small_sizes.arguments(workload, variant.name)
    if "mpi" in variant.needs:
        return [Case(Placement(ranks=r), words) for r in (2, 3, 1, 4)]
    return [Case(Placement(threads=t), words) for t in ((1, 3) if "openmp" in variant.needs else (1,))]


def _placement(shape: str) -> Placement:
    ranks, threads = map(int, shape.split("x"))
    return Placement(ranks=ranks, threads=threads)


def judged(workload: Workload) -> list[Variant]:
    """Return the variants in C++ for processors that this machine can build; one is enough for several libraries."""
    tool = native.toolchain("base")
    assert tool is not None, "no gcc here"
    some = [
        v
        for v in workload.variants
        if not v.broken and not on_device(v.needs) and v.source.suffix == ".cpp" and not v.flags
    ]
    return [v for v in some if not v.name.startswith("peer_") and native.buildable(v, tool)]


def timed(workload: Workload) -> dict[Path, list[Variant]]:
    """Return the files that only variants include, with these variants: without the judge's own files."""
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


def selects(file: Path, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(file.name, p) for p in patterns)
