"""Titles: every number in the sentences of a run's two pages, computed again from the figures that were exported.

    python tests/titles.py RUN [--figures FIGURES.json] [--terminal PAGE.txt]

RUN holds report.html, run.json and launches; FIGURES is what `./fl figures RUN --json` prints, else the download in the
page. Nothing of firstlight is imported: formulas, units and statistics are done again here. A number in a title, a
card, a finding, a warning or a matrix is

    computed    the page says from which figures and how (`data-from`): done again, and the digits compared
    context     a rank, a core, a parameter of a figure in the same sentence; a fact of run.json
    allowed     by kind: a date, a version, a declared name, the confidence of an interval, what a fit gives

and everything else is a mismatch. The terminal page must say what the HTML page says. Ends with status 1 after any.
"""

from __future__ import annotations

import argparse
import ast
import base64
import json
import math
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from statistics import median
from typing import Any

BLOCKS = {"h1", "h2", "h3", "h4", "p", "li", "td", "th", "figcaption", "dd", "dt", "summary", "div", "title"}
VOID = {"meta", "link", "br", "line", "rect", "img", "input"}
STRICT = {"sentence", "number", "sure", "choose", "ceiling", "lead"}
NUMBER = re.compile(r"(?<![\w.^/:-])\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\w^]|\.\d)")
PREFIXES = {p: 1000.0**k for k, p in enumerate(("p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -4)}
BINARY = {u: 1024.0**k for k, u in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
NOUNS = {"launch", "figure", "core", "node", "rank", "thread", "detour", "bit"}
PLAIN = {"", "×", "x", "times", "launches", *NOUNS, *(f"{n}s" for n in NOUNS)}


# --- the page ---------------------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """Text, and where its number comes from if the page says so; `command`: to be typed, with numbers of its own."""

    text: str
    source: dict[str, str] | None = None
    command: bool = False


@dataclass
class Block:
    """One title, sentence or cell; `path`: tag, class and id of what it stands in, itself last."""

    path: list[tuple[str, str, str]]
    pieces: list[Piece] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(p.text for p in self.pieces).replace("\u00a0", " ").split())

    def within(self, tag: str, word: str) -> bool:
        return any(t == tag and word in c.split() for t, c, _ in self.path)

    def inside(self, identifier: str) -> bool:
        return any(i == identifier for _, _, i in self.path)


class Page(HTMLParser):
    """Every block of text in the page, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[tuple[str, str, str]] = []
        self.open: list[Block] = []
        self.blocks: list[Block] = []
        self.source: dict[str, str] | None = None
        self.download = b""
        self.hidden = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {k: v or "" for k, v in attrs}
        if tag == "a" and "download" in told:
            self.download = base64.b64decode(told["href"].partition(",")[2])
        if tag == "br" and self.open:
            self.open[-1].pieces.append(Piece(" "))
        if tag in VOID:
            return
        self.stack.append((tag, told.get("class", ""), told.get("id", "")))
        if tag == "data":
            self.source = told
            self.open[-1].pieces.append(Piece("", told))
        self.hidden += tag in ("script", "style", "svg")
        if tag in BLOCKS:
            self.open.append(Block(list(self.stack)))
            self.blocks.append(self.open[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        while self.stack:
            top = self.stack.pop()[0]
            self.hidden -= top in ("script", "style", "svg")
            if top in BLOCKS:
                self.open.pop()
            if top == "data":
                self.source = None
            if top == tag:
                return

    def handle_data(self, data: str) -> None:
        if self.hidden or not self.open:
            return
        if self.source is not None:
            self.open[-1].pieces[-1].text += data
        else:
            self.open[-1].pieces.append(Piece(data, None, any(tag == "code" for tag, _, _ in self.stack)))


def strict(block: Block) -> bool:
    """Whether all numbers of it must be accounted for: a title, a card, a finding, a warning, a cell to choose from."""
    tag, classes, _ = block.path[-1]
    if any(t in ("pre", "footer", "nav") for t, _, _ in block.path):
        return False
    if any(t == "details" for t, _, _ in block.path) and not block.within("ol", "findings"):
        return False
    if tag in ("h1", "h2", "h3", "h4") or STRICT & set(classes.split()):
        return True
    if tag == "li":
        return any(block.within("ul", w) for w in ("verdict", "warnings")) or block.within("ol", "findings")
    cell = tag in ("td", "th") and not any(t == "thead" for t, _, _ in block.path)
    return cell and (block.within("div", "matrix") or (tag == "td" and block.within("table", "stack") and rows(block)))


def rows(block: Block) -> bool:
    """A cell of the rows of a chapter, which stand in no figure, in no list of what failed and of no method."""
    return not any(t == "figure" for t, _, _ in block.path) and any(i.startswith("chapter-") for _, _, i in block.path)


# --- what it was computed from ----------------------------------------------------------------------------------------


class Run:
    """The exported figures, run.json and the launches, as plain data."""

    def __init__(self, folder: Path, figures: list[dict[str, Any]], values: list[dict[str, Any]]) -> None:
        self.folder, self.rows = folder, figures
        self.values = [row.get("values") or [] for row in values]
        self.run: dict[str, Any] = json.loads((folder / "run.json").read_bytes())

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """One a launch: its lines by type."""
        found = []
        for path in sorted((self.folder / "launches").glob("*.jsonl")):
            record: dict[str, Any] = {}
            for text in path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                record.setdefault(line["type"], []).append(line)
            found.append(record)
        return found

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        return {c["id"]: c for c in self.run["cells"]}

    def matching(self, row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """The complete launches of a figure with its case, in the order of time."""
        for record in sorted(self.complete(), key=lambda r: r["start"][0]["time"]):
            cell = self.cells.get(record["start"][0]["cell"])
            if cell is None:
                continue
            program, place = cell["program"], cell["placement"]
            same = all(program.get(k) == row[k] for k in ("workload", "variant", "toolchain", "mpi"))
            if same and all(place.get(k, 1) == row["placement"].get(k, 1) for k in ("nodes", "ranks")):
                for case in record.get("case", ()):
                    threads = case["threads"] == row["placement"].get("threads", 1)
                    if threads and case["parameters"] == row["parameters"]:
                        yield record, case

    def complete(self) -> list[dict[str, Any]]:
        return [r for r in self.records if "launch" in r and "end" in r and r.get("exit", [{}])[0].get("ok")]

    # what formulas without figures ask for

    def count(self, what: str) -> int:
        if what == "absent":
            return len(self._absent())
        if what == "lost":
            return sum(not r.get("exit", [{}])[0].get("ok") or "end" not in r for r in self.records)
        return sum(row["verdict"] == what for row in self.rows)

    def _absent(self) -> set[tuple[str, ...]]:
        """By program, reason and help: toolchains that lack the same are one."""
        tools = self.run["toolbox"]
        listed = {
            (a["what"].partition(" with ")[0], a["why"], a["fix"]) for a in self.run["not_available"] + tools["absent"]
        }
        devices = tools.get("cuda") or any(o["device"] for o in tools.get("offloads", ()))
        return listed | ({("GPU",)} if devices and not self.run["machine"].get("gpus") else set())

    def scatter(self) -> list[float]:
        return [
            abs(v / row["median"] - 1)
            for row, values in zip(self.rows, self.values, strict=True)
            if row["verdict"] == "verified" and row["median"]
            for v in values
        ]

    @cached_property
    def _levels(self) -> list[tuple[float, float]]:
        """When each launch began, and its time relative to the other launches of its program."""
        found, walls = [], {}
        for record in self.complete():
            steps = {c["case"]: c["steps"] for c in record.get("case", ())}
            samples: dict[int, list[float]] = {}
            for s in record.get("sample", ()):
                if steps.get(s["case"], 0) > 0 and s["wall"] > 0:
                    samples.setdefault(s["case"], []).append(s["wall"] / steps[s["case"]])
            cell = record["start"][0]["cell"]
            mine = {(cell, case): median(v) for case, v in samples.items()}
            for key, wall in mine.items():
                walls.setdefault(key, []).append(wall)
            found.append((record["start"][0]["time"], mine))
        usual = {key: median(v) for key, v in walls.items() if len(v) > 1}
        relative = [(at, [wall / usual[k] for k, wall in mine.items() if k in usual]) for at, mine in found]
        return sorted((at, median(v)) for at, v in relative if v)

    def lasted(self) -> float:
        return self._levels[-1][0] - self._levels[0][0]

    def drift(self) -> float:
        ys = [100 * (y - 1) for _, y in self._levels]
        half = max(4, len(ys) // 40)
        smooth = [median(ys[max(0, k - half) : k + half + 1]) for k in range(len(ys))]
        return (max(smooth) - min(smooth)) / 100

    def diverged(self, complete: bool = False) -> int:
        some = self.complete() if complete else self.records
        return sum(not s["cpu"] >= 0.9 for r in some for s in r.get("sample", ()))

    def samples(self, complete: bool = False) -> int:
        return sum(len(r.get("sample", ())) for r in (self.complete() if complete else self.records))

    def counted(self, target: str, toolchain: str) -> list[float]:
        """Operations counted over operations declared, launch by launch, of programs of one rank."""
        shares = []
        for record in self.records:
            cell = self.cells.get(record["start"][0]["cell"])
            if cell is None or cell["placement"].get("ranks", 1) != 1 or cell["program"]["toolchain"] != toolchain:
                continue
            if f"{cell['program']['workload']}.{cell['program']['variant']}" != target:
                continue
            declared = {c["case"]: c["cost"].get("flops", 0.0) for c in record.get("case", ())}
            for c in record.get("counters", ()):
                work = declared.get(c["case"], 0.0) * c["steps"]
                if c.get("flops") is not None and work > 0:
                    shares.append(c["flops"] / work)
        return shares

    def cache(self, level: int) -> float:
        return float(next(c["size"] for c in self.run["machine"]["caches"] if c["level"] == level))


class Figure(float):
    """The median of a figure, to compute with; its other facts by attribute, its parameters by subscript."""

    row: dict[str, Any]
    run: Run
    place: int

    @classmethod
    def of(cls, run: Run, place: int) -> Figure:
        row = run.rows[place]
        made = cls(math.nan if row["median"] is None else row["median"])
        made.row, made.run, made.place = row, run, place
        return made

    @property
    def placement(self) -> dict[str, int]:
        p = {k: int(self.row["placement"].get(k, 1)) for k in ("nodes", "ranks", "threads")}
        return p | {"cores": p["ranks"] * p["threads"]}

    def fact(self, name: str) -> Any:
        if name in ("nodes", "ranks", "threads", "cores"):
            return self.placement[name]
        return self.row[name]

    def parameter(self, name: str) -> Any:
        return dict(self.row["parameters"])[name]

    # what only the records tell

    def cost(self, name: str) -> float:
        return float(next(self.run.matching(self.row))[1]["cost"][name])

    def working_set(self) -> float:
        return float(next(self.run.matching(self.row))[1]["working_set"])

    def windows(self) -> list[tuple[float, dict[str, list[float]]]]:
        """Of each launch with series: seconds of the last sample, the points of each series over all ranks."""
        found = []
        for record, case in self.run.matching(self.row):
            lines = [s for s in record.get("series", ()) if s["case"] == case["case"]]
            walls = [s["wall"] for s in record.get("sample", ()) if s["case"] == case["case"]]
            points: dict[str, list[float]] = {}
            for line in lines:
                points.setdefault(line["name"], []).extend(line["values"])
            if points and walls:
                found.append((walls[-1], points))
        return found

    def series(self, name: str) -> list[float]:
        return [x for _, points in self.windows() for x in points.get(name, ()) if 1e-6 < x < 1e12]

    @property
    def launches(self) -> list[float]:
        return self.run.values[self.place]

    def best(self) -> float:
        """The best launch, which is what a ceiling is taken from."""
        return max(self.launches) if self.row["better"] == "higher" else min(self.launches)

    def over_ranks(self, value: str, k: int) -> float:
        seen: dict[int, list[float]] = {}
        for n, (record, case) in enumerate(self.run.matching(self.row)):
            for s in record.get("sample", ()):
                if s["case"] == case["case"] and value in s.get("values", {}):
                    seen.setdefault(n, []).append(s["values"][value][k])
        return median(median(v) for v in seen.values())

    def share(self, phase: str, phases: list[str]) -> float:
        return self.over_ranks(f"phase.{phase}", 1) / sum(self.over_ranks(f"phase.{p}", 1) for p in phases)

    def diverged(self) -> float:
        some = [s["cpu"] for r, c in self.run.matching(self.row) for s in r.get("sample", ()) if s["case"] == c["case"]]
        return sum(not x >= 0.9 for x in some) / len(some)

    def steps(self, variant: str = "") -> list[float]:
        """Seconds of a step, launch by launch; of another variant of the same case."""
        row = self.row | {"variant": variant or self.row["variant"]}
        walls = [
            (median(s["wall"] for s in r.get("sample", ()) if s["case"] == c["case"]), c["steps"])
            for r, c in self.run.matching(row)
        ]
        return [wall / steps for wall, steps in walls]

    def kept(self, variant: str) -> float:
        """The speed that is left of that of a variant."""
        return math.exp(median(math.log(t) - math.log(s) for s in self.steps() for t in self.steps(variant)))

    def each_way(self, variant: str) -> float:
        """Bytes that are sent in a step, over the time that it takes longer than the variant's."""
        return self.cost("flow") / 2 / (median(self.steps()) - median(self.steps(variant)))

    def longest(self) -> float:
        _, points = self.windows()[-1]
        return max(zip(points["detour_length"], points["detour_at"], strict=True))[1]


def slow(figures: list[Figure], least: float) -> list[float]:
    """How many times slower than usual each launch of these figures was, of those that were so by `least`."""
    seen: dict[tuple[object, ...], list[float]] = {}
    for f in figures:
        if len(f.launches) < 2 or min(f.launches) <= 0:
            continue
        times = [record["start"][0]["time"] for record, _ in f.run.matching(f.row)]
        states = f.row.get("states") or {"lower": float(f), "upper": float(f)}
        program = tuple(f.row[k] for k in ("workload", "variant", "toolchain", "mpi")) + tuple(f.placement.values())
        for time_, value in zip(times, f.launches, strict=True):
            slower = value / states["lower"] if f.row["better"] == "lower" else states["upper"] / value
            seen.setdefault((time_, *program), []).append(slower)
    return [x for x in map(median, seen.values()) if x >= least]


def nearest(a: Figure, b: Figure) -> float:
    """How much larger a is than b by the nearer of their states."""
    both = [f.row.get("states") or {"lower": float(f), "upper": float(f)} for f in (a, b)]
    return min((both[0][k] / both[1][k] for k in ("lower", "upper")), key=lambda r: abs(math.log(r)))


def above(figures: list[Figure]) -> int:
    """Of pairs, how many have a first that is larger."""
    return sum(shift(a, b) > 1 for a, b in zip(figures[::2], figures[1::2], strict=True))


def shift(b: Figure, a: Figure) -> float:
    """How many times larger b is than a: the Hodges-Lehmann estimate over the launches."""
    x, y = (b.run.values[f.place] for f in (b, a))
    return math.exp(median(math.log(p) - math.log(q) for p in x for q in y))


def compute(run: Run, formula: str, figures: list[Figure]) -> Any:
    """The value of a formula: names of figures, their facts and parameters, arithmetic, the functions below."""
    functions: dict[str, Callable[..., Any]] = {
        "min": lambda *x: min(x if len(x) > 1 else x[0]), "max": lambda *x: max(x if len(x) > 1 else x[0]),
        "median": median, "log2": math.log2, "sum": sum, "len": len, "sorted": sorted, "shift": shift,
        "nearest": nearest, "best": Figure.best, "above": above, "diverged_of": Figure.diverged, "kept": Figure.kept,
        "each_way": Figure.each_way, "slow": slow,
        "with_states": lambda some: sum(bool(f.row.get("states")) for f in some),
        "cost": Figure.cost, "working_set": Figure.working_set, "series": Figure.series, "share": Figure.share,
        "over_ranks": Figure.over_ranks, "at_longest": Figure.longest,
        "window": lambda f: f.windows()[-1][0], "last": lambda f, name: f.windows()[-1][1][name],
        **{n: getattr(run, n) for n in
           ("count", "scatter", "lasted", "drift", "diverged", "samples", "counted", "cache")},
    }  # fmt: skip
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [*letters, *(x + y for x in letters for y in letters)]
    known: dict[str, Any] = {"each": figures, **dict(zip(names, figures, strict=False))}

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return known[node.id]
            case ast.List():
                return [value(x) for x in node.elts]
            case ast.Attribute():
                inner = value(node.value)
                return inner.fact(node.attr) if isinstance(inner, Figure) else inner[node.attr]
            case ast.Subscript():
                inner, key = value(node.value), value(node.slice)
                return inner.parameter(key) if isinstance(inner, Figure) else inner[key]
            case ast.BinOp(op=ast.Div()):
                return float(value(node.left)) / float(value(node.right))
            case ast.BinOp(op=ast.Mult()):
                return float(value(node.left)) * float(value(node.right))
            case ast.BinOp(op=ast.Add()):
                return value(node.left) + value(node.right)
            case ast.BinOp(op=ast.Sub()):
                return value(node.left) - value(node.right)
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                return functions[name](*map(value, node.args))
        raise ValueError(f"no formula: {ast.dump(node)}")

    return value(ast.parse(formula, mode="eval").body)


# --- digits -----------------------------------------------------------------------------------------------------------


def factor(unit: str) -> tuple[str, float]:
    """What a unit measures, and how much one of it is."""
    if unit in BINARY:
        return "bytes", BINARY[unit]
    for base in ("flop/s", "B/s", "bit/s", "flop/B", "s"):
        if unit.endswith(base) and unit.removesuffix(base) in PREFIXES:
            return base, PREFIXES[unit.removesuffix(base)]
    return ("", 1.0) if unit in PLAIN else ("", 0.01) if unit == "%" else (unit, 1.0)


def spoken(text: str) -> tuple[str, str]:
    """A printed number and its unit; a length of time in seconds."""
    text = " ".join(text.replace("\u00a0", " ").split())
    parts = re.findall(r"(\d+) (h|min|s)\b", text)
    if len(parts) > 1:
        return str(sum(int(n) * {"h": 3600, "min": 60, "s": 1}[u] for n, u in parts)), "s"
    found = re.fullmatch(r"([+-]?[\d.,]*\d(?:e[+-]?\d+)?)\s*(.*)", text)
    return (found[1].replace(",", ""), found[2]) if found else ("", text)


def agrees(printed: str, value: float) -> bool:
    """Whether the digits that are printed are those of the value, rounded to as many (an integer: to two or more)."""
    mantissa, _, power = printed.lstrip("+-").partition("e")
    shown = float(printed)
    if shown == 0 or not math.isfinite(value):
        return abs(value) < 0.5 * 10.0 ** -len(mantissa.partition(".")[2]) if math.isfinite(value) else False
    digits = len(mantissa.replace(".", "").lstrip("0"))
    several = {digits} if "." in mantissa or power else {digits, *(k for k in (2, 3) if k < digits)}
    for k in several:
        last = 10.0 ** (math.floor(math.log10(abs(shown))) - k + 1)
        whole = abs(shown / last - round(shown / last)) < 1e-6
        if whole and abs(shown - value) <= 0.5 * last * (1 + 1e-6):
            return True
    return False


# --- the check --------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """How many sentences and numbers there were, and what does not agree."""

    sentences: int = 0
    computed: int = 0
    context: int = 0
    allowed: int = 0
    mismatches: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        numbers = self.computed + self.context + self.allowed
        return (
            f"{self.sentences} sentences hold {numbers} numbers: {self.computed} computed again, {self.context} from "
            f"their context, {self.allowed} allowed by kind; {len(self.mismatches)} mismatches"
        )


class Check:
    def __init__(self, run: Run, page: Page, names: Iterable[str]) -> None:
        self.run, self.page, self.names = run, page, {n.lower() for n in names}
        self.outcome = Outcome()

    def all(self) -> Outcome:
        for block in self.page.blocks:
            must = strict(block)
            if not must and not any(p.source for p in block.pieces):
                continue
            before = self._numbers()
            figures = [f for p in block.pieces if p.source for f in self._figures(p.source)]
            for piece in block.pieces:
                if piece.source is not None:
                    self._computed(block, piece)
            if must:
                self._rest(block, figures)
            self.outcome.sentences += self._numbers() > before
        return self.outcome

    def _numbers(self) -> int:
        o = self.outcome
        return o.computed + o.context + o.allowed + len(o.mismatches)

    def _wrong(self, block: Block, why: str) -> None:
        self.outcome.mismatches.append(f"{why}: {block.text[:160]}")

    def _figures(self, source: dict[str, str]) -> list[Figure]:
        return [Figure.of(self.run, int(k)) for k in source.get("data-of", "").split()]

    def _computed(self, block: Block, piece: Piece) -> None:
        source = piece.source or {}
        formula, figures = source["data-from"], self._figures(source)
        text = " ".join(piece.text.replace("\u00a0", " ").split())
        if formula == "name":
            if any(text.lower().startswith(n) and not re.search(r"\d", text[len(n) :]) for n in self.names):
                self.outcome.allowed += len(NUMBER.findall(text)) or 1
            else:
                self._wrong(block, f"{text!r} is no declared name")
            return
        if formula == "fit":
            self.outcome.allowed += 1
            return
        if formula == "a.reason":
            if text == " ".join(str(figures[0].row["reason"]).split()):
                self.outcome.computed += len(NUMBER.findall(text)) or 1
            else:
                self._wrong(block, f"{text!r} is not the reason of that figure")
            return
        try:
            value = float(compute(self.run, formula, figures))
        except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError, StopIteration, SyntaxError) as e:
            self._wrong(block, f"{formula} cannot be computed ({e!r})")
            return
        printed, unit = spoken(text)
        of_figure = re.fullmatch(r"a(\.\w+)*", formula) and formula.split(".")[-1] in (
            "a", "low", "high", "ceiling", "lower", "upper"
        )  # fmt: skip
        given = figures[0].row["unit"] if of_figure else source["data-unit"]
        kind, scale = factor(given)
        kind_shown, scale_shown = factor(unit or source["data-unit"])
        if not printed or kind != kind_shown:
            self._wrong(block, f"{text!r} is not in {given!r}")
        elif not agrees(printed, value * scale / scale_shown):
            self._wrong(block, f"{text!r} is {value * scale / scale_shown:.6g} by {formula}")
        else:
            self.outcome.computed += 1

    def _rest(self, block: Block, figures: list[Figure]) -> None:
        """Numbers that the page gives no source for."""
        hidden = (" \x00 " if p.source is not None or p.command else p.text for p in block.pieces)
        text = "".join(hidden).replace("\u00a0", " ")
        if block.text in self.run.run["machine"]["warnings"]:
            self.outcome.context += len(NUMBER.findall(text))
            return
        for found in NUMBER.finditer(text):
            if self._in_context(block, text, found, figures):
                self.outcome.context += 1
            elif self._by_kind(block, text, found):
                self.outcome.allowed += 1
            else:
                self._wrong(block, f"{found[0]!r} comes from nowhere")

    def _in_context(self, block: Block, text: str, found: re.Match[str], figures: list[Figure]) -> bool:
        before, after = text[: found.start()], text[found.end() :]
        number = float(found[0].replace(",", "")) if found[0].count(".") < 2 else math.nan
        machine = self.run.run["machine"]
        if noun := re.match(r" (nodes?|ranks?|threads?|cores?|process(?:es|ors?)?|CPUs?)\b", after):
            kind = {"processes": "ranks", "process": "ranks"}.get(noun[1], noun[1].rstrip("s") + "s")
            here = [f.placement[k] for f in figures for k in f.placement if k == kind or kind in ("processors", "CPUs")]
            return number in here or number in (len(machine["cpus"]), machine["cores"])
        parameters = {(k.lower(), v) for f in figures for k, v in dict(f.row["parameters"]).items()}
        name = re.search(r"(\w+)(?: =)? $", before)
        shown = (v for k, v in parameters if name and k == name[1].lower() and isinstance(v, int | float))
        if any(v == number or (v >= 1e5 and agrees(found[0], v)) for v in shown):
            return True
        if after.startswith(" bit"):
            return any(k in ("bits", "precision") and v == number for k, v in parameters)
        if block.within("div", "matrix") and after.startswith(" failed"):
            return number == self._failed_cells(block)
        if size := re.match(r" ([KMGT]?i?B)\b", after):
            return any(v == number * BINARY.get(size[1], 0) for _, v in parameters)
        return False

    def _failed_cells(self, block: Block) -> int:
        name = next((i for t, c, i in block.path if t == "div" and "matrix" in c.split()), "")
        inside = [b for b in self.page.blocks if b.inside(name) and b.path[-1][0] == "td"]
        return sum("hatched" in b.path[-1][1].split() for b in inside)

    def _by_kind(self, block: Block, text: str, found: re.Match[str]) -> bool:
        if text[: found.start()].endswith("acts like "):  # what a fit gives
            return True
        if block.path[-1][1] == "lead" or block.path[-1][0] == "h1":
            return found[0] in self._facts
        if text[found.start() :].startswith("95 %") and "sure" in block.path[-1][1].split():
            return True
        versions = [self._versions(t) for t in self.run.run["toolbox"]["mpis"] + self.run.run["toolbox"]["toolchains"]]
        return any(found[0] in v for v in versions)

    @staticmethod
    def _versions(tool: dict[str, Any]) -> list[str]:
        return [str(tool.get("version", "")), ".".join(str(tool.get("version", "")).split(".")[:2])]

    @cached_property
    def _facts(self) -> set[str]:
        """Every number that the head of a page may say of its run: date, duration, machine, versions."""
        run, machine = self.run.run, self.run.run["machine"]
        date = time.strftime("%d %b %Y %H:%M", time.localtime(run["started"])).lstrip("0")
        seconds = round((run["finished"] or run["started"]) - run["started"])
        sizes = [float(machine["memory"]), *(float(c["size"]) for c in machine["caches"])]
        some = [date, f"{seconds} {seconds // 60} {seconds % 60} {seconds // 3600} {seconds // 60 % 60}"]
        some += [".".join(machine["kernel"].split(".")[:2]), machine["name"], machine["processor"]]
        some += [str(machine["cores"]), str(len(machine["numa"]) or 1), str(machine["sockets"])]
        some += [
            f"{size / by:.{d}f}".rstrip("0").rstrip(".") for size in sizes for by in BINARY.values() for d in (0, 1, 2)
        ]
        tools = run["toolbox"]
        some += [v for t in tools["toolchains"] + tools["mpis"] for v in self._versions(t)]
        some += [m["label"] for m in tools["mpis"]]
        if tools.get("cuda"):
            some.append(".".join(tools["cuda"]["label"].split(".")[:2]))
        return {n for text in some for n in [*NUMBER.findall(text), *text.replace(":", " ").split()]}


def same_figures(exported: list[dict[str, Any]], download: list[dict[str, Any]]) -> list[str]:
    """Where the exported figures and those in the page differ."""
    if len(exported) != len(download):
        return [f"{len(exported)} figures are exported, {len(download)} stand in the page"]
    keys = ("workload", "variant", "toolchain", "mpi", "parameters", "metric", "median", "low", "high", "verdict")
    differ = [k for k, (a, b) in enumerate(zip(exported, download, strict=True)) if any(a[x] != b[x] for x in keys)]
    return [f"figure {k} is another in the page than exported" for k in differ[:5]]


def terminal(text: str, page: Page) -> list[str]:
    """What the terminal page says otherwise than the HTML page: rows, warnings, findings, counts."""
    lines = re.sub(r"\x1b\[\d*m", "", text).splitlines()
    flat = " ".join(" ".join(lines).split())
    cards: dict[str, list[str]] = {}
    title = ""
    for block in page.blocks:
        if block.within("li", "card"):
            title = block.text if block.path[-1][0] == "h3" else title
            cards.setdefault(title, []).append(block.text)
    wrong = []
    for title, told in cards.items():
        value, unit = spoken(next((t for t in told[1:] if re.match(r"\d", t)), ""))
        if not title or not value:
            continue
        interval = next((m[0] for t in told[2:] if (m := re.match(r"[\d.e+-]+ – [\d.e+-]+", t))), "")
        wanted = f"{value} {unit.replace('flop/s', 'F/s')}".strip(), interval.replace("–", "-")
        if not any(all(f" {w}" in line for w in wanted if w) for line in row(lines, title)):
            wrong.append(f"the terminal page's row {title!r} does not say {' and '.join(wanted)}: {row(lines, title)}")
    for block in page.blocks:
        own = any(w in block.text for w in ("diverged", "go on with"))  # told in the other page otherwise
        warns = block.within("ul", "warnings") and block.path[-1][0] == "li" and not own
        if warns and f"! {block.text}" not in flat:
            wrong.append(f"the terminal page does not warn: {block.text}")
    findings = [b.text for b in page.blocks if "sentence" in b.path[-1][1].split()]
    told_there = len(re.findall(r"^  \d  \S", "\n".join(lines), flags=re.M))
    for k, sentence in enumerate(findings[:told_there], 1):
        if f" {k} {sentence}" not in flat:
            wrong.append(f"the terminal page's finding {k} is not: {sentence}")
    counts = lines and next((line for line in reversed(lines) if " verified" in line), "")
    for block in page.blocks:
        if block.within("ul", "verdict") and block.path[-1][0] == "li":
            number = re.match(r"\d+", block.text)
            if number and not re.search(rf"\b{number[0]}\b", counts or ""):
                wrong.append(f"the terminal page does not count {block.text!r}: {counts}")
    return wrong


def row(lines: list[str], title: str) -> list[str]:
    """The lines that begin with a row's title, which may go on in the next ones."""
    found = []
    for k, line in enumerate(lines):
        first = re.split(r"\s{2,}", line.strip())[0]
        rest = " ".join(" ".join(lines[k + 1 : k + 4]).split())
        if line.startswith("  ") and first and title.startswith(first) and rest.startswith(title[len(first) :].strip()):
            found.append(line)
    return found


def declared() -> list[str]:
    """The names of rows that the workloads of this checkout declare."""
    folder = Path(__file__).parent.parent / "workloads"
    found = [tomllib.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*/*/workload.toml")]
    return [row["title"] for w in found for row in w.get("rows", ())]


def check(
    folder: Path, exported: list[dict[str, Any]] | None = None, shown: str = "", names: Iterable[str] = ()
) -> Outcome:
    """The pages of a run against its figures. `names`: declared elsewhere than in this checkout."""
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    download: list[dict[str, Any]] = json.loads(page.download)
    run = Run(folder, exported if exported is not None else download, download)
    outcome = Check(run, page, [*declared(), *names]).all()
    if exported is not None:
        outcome.mismatches += same_figures(exported, download)
    if shown:
        outcome.mismatches += terminal(shown, page)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description="Compute every number in a run's titles again from its figures.")
    parser.add_argument("run", type=Path)
    parser.add_argument("--figures", type=Path)
    parser.add_argument("--terminal", type=Path)
    asked = parser.parse_args()
    exported = json.loads(asked.figures.read_bytes()) if asked.figures else None
    outcome = check(asked.run, exported, asked.terminal.read_text(encoding="utf-8") if asked.terminal else "")
    for wrong in outcome.mismatches:
        print(f"  {wrong}")
    print(outcome)
    return 1 if outcome.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
