"""Compute every number in the sentences of a run's two pages again, from the exported figures.

    python tests/support/titles.py RUN [--figures FIGURES.json] [--terminal PAGE.txt]

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
import base64
import gzip
import json
import math
import re
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from firstlight import ROOT
from firstlight.core import confidence
from firstlight.core.units import duration
from recompute import BINARY, Figure, Run, agrees, compute, factor, spoken

BLOCKS = {"h1", "h2", "h3", "h4", "p", "li", "td", "th", "figcaption", "dd", "dt", "summary", "div", "title"}
VOID = {"meta", "link", "br", "line", "rect", "img", "input"}
STRICT = {"sentence", "number", "sure", "choose", "ceiling", "lead"}
RAISED = {ord(raised): f"^{digit}" for raised, digit in zip("²³⁴", "234", strict=True)}
NUMBER = re.compile(r"(?<![\w.^/:-])\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\w^]|\.\d)")


# --- the page ---------------------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """Represent text, and the source of its number if the page has one; `command`: text to be typed, with its own
    numbers.
    """

    text: str
    source: dict[str, str] | None = None
    command: bool = False


@dataclass
class Block:
    """Represent one title, sentence or cell; `path`: tag, class and id of its ancestors, and itself last."""

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
    """Collect every block of text in the page, in order."""

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
        attributes = {k: v or "" for k, v in attrs}
        if tag == "a" and "download" in attributes:
            self.download = gzip.decompress(base64.b64decode(attributes["href"].partition(",")[2]))
        if tag == "br" and self.open:
            self.open[-1].pieces.append(Piece(" "))
        if tag in VOID:
            return
        self.stack.append((tag, attributes.get("class", ""), attributes.get("id", "")))
        if tag == "data":
            self.source = attributes
            self.open[-1].pieces.append(Piece("", attributes))
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
    """Return whether all numbers of it must have a source: a title, a card, a finding, a warning, a cell to choose
    from.
    """
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
    """Return whether it is a cell of the rows of a chapter, or of the table of a user's commands."""
    return block.within("table", "rows") or block.within("table", "commands")


# --- the check --------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """Represent the number of sentences and numbers, and the disagreements."""

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
            if block.inside("compared"):  # speaks of two runs: `documented.py` computes it from `./fl compare --json`
                continue
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
            text = text.translate(RAISED)
            if any(text.lower().startswith(n) and not re.search(r"\d", text[len(n) :]) for n in self.names):
                self.outcome.allowed += len(NUMBER.findall(text)) or 1
            else:
                self._wrong(block, f"{text!r} is not a declared name")
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
        kind_shown, scale_shown = factor(unit.replace("µ", "u") or source["data-unit"])
        if not printed or kind != kind_shown:
            self._wrong(block, f"{text!r} is not in {given!r}")
        elif not agrees(printed, value * scale / scale_shown):
            self._wrong(block, f"{text!r} is {value * scale / scale_shown:.6g} by {formula}")
        else:
            self.outcome.computed += 1

    def _rest(self, block: Block, figures: list[Figure]) -> None:
        """Return the numbers for which the page names no source."""
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
        if name and any(k == name[1].lower() and str(v).startswith(found[0]) for k, v in parameters):
            return True
        if after.startswith(" bit"):
            return any(k in ("bits", "precision") and v == number for k, v in parameters)
        if block.within("div", "matrix") and after.startswith(" failed"):
            return number == self._failed_cells(block)
        if size := re.match(r" ([KMGT]?i?B)\b", after):
            by = BINARY.get(size[1], 0)
            return any(isinstance(v, int | float) and by and agrees(found[0], v / by) for _, v in parameters)
        return False

    def _failed_cells(self, block: Block) -> int:
        name = next((i for t, c, i in block.path if t == "div" and "matrix" in c.split()), "")
        inside = [b for b in self.page.blocks if b.inside(name) and b.path[-1][0] == "td"]
        return sum("hatched" in b.path[-1][1].split() for b in inside)

    def _by_kind(self, block: Block, text: str, found: re.Match[str]) -> bool:
        if re.match(r"(32|64)-bit arithmetic", text[found.start() :]):  # the name of a ceiling
            return True
        if text[: found.start()].endswith("effective "):  # results of a fit
            return True
        if block.path[-1][1] == "lead" or block.path[-1][0] == "h1":
            return found[0] in self._facts
        if text[found.start() :].startswith(confidence.TEXT) and "sure" in block.path[-1][1].split():
            return True
        versions = [self._versions(t) for t in self.run.run["toolbox"]["mpis"] + self.run.run["toolbox"]["toolchains"]]
        return any(found[0] in v for v in versions)

    @staticmethod
    def _versions(tool: dict[str, Any]) -> list[str]:
        return [str(tool.get("version", "")), ".".join(str(tool.get("version", "")).split(".")[:2])]

    @cached_property
    def _facts(self) -> set[str]:
        """Return every number that the head of a page may contain: date, duration, machine, versions."""
        run, machine = self.run.run, self.run.run["machine"]
        date = time.strftime("%d %b %Y %H:%M", time.localtime(run["started"])).lstrip("0")
        lasted = duration((run["finished"] or run["started"]) - run["started"])
        sizes = [float(machine["memory"]), *(float(c["size"]) for c in machine["caches"])]
        some = [date, lasted]
        some += [".".join(machine["kernel"].split(".")[:2]), machine["name"], machine["processor"]]
        some += [str(machine["cores"]), str(len(machine["numa"]) or 1), str(machine["sockets"])]
        some += [
            f"{size / by:.{d}f}".rstrip("0").rstrip(".") for size in sizes for by in BINARY.values() for d in (0, 1, 2)
        ]
        some += [a["name"] for a in (machine.get("hardware") or {}).get("arithmetic", ())]
        tools = run["toolbox"]
        some += [v for t in tools["toolchains"] + tools["mpis"] for v in self._versions(t)]
        some += [m["label"] for m in tools["mpis"]]
        if tools.get("cuda"):
            some.append(".".join(tools["cuda"]["label"].split(".")[:2]))
        return {n for text in some for n in [*NUMBER.findall(text), *text.replace(":", " ").split()]}


def same_figures(exported: list[dict[str, Any]], download: list[dict[str, Any]]) -> list[str]:
    """Return the differences between the exported figures and those in the page."""
    if len(exported) != len(download):
        return [f"{len(exported)} figures are exported, {len(download)} stand in the page"]
    keys = ("workload", "variant", "toolchain", "mpi", "parameters", "metric", "median", "low", "high", "verdict")
    differ = [k for k, (a, b) in enumerate(zip(exported, download, strict=True)) if any(a[x] != b[x] for x in keys)]
    return [f"figure {k} is another in the page than exported" for k in differ[:5]]


def terminal(text: str, page: Page) -> list[str]:
    """Return where the terminal page differs from the HTML page: rows, warnings, findings, counts."""
    lines = re.sub(r"\x1b\[\d*m", "", text).splitlines()
    flat = " ".join(" ".join(lines).split())
    cards: dict[str, list[str]] = {}
    title = ""
    for block in page.blocks:
        if block.within("li", "card"):
            title = block.text if block.path[-1][0] == "h3" else title
            cards.setdefault(title, []).append(block.text)
    wrong = []
    for title, texts in cards.items():
        value, unit = spoken(next((t for t in texts[1:] if re.match(r"\d", t)), "").rstrip(" ↑↓"))
        if not title or not value:
            continue
        interval = next((m[0] for t in texts[2:] if (m := re.match(r"[\d.e+-]+ – [\d.e+-]+", t))), "")
        printed = unit.replace("flop/s", "F/s").replace("µ", "u")
        wanted = f"{value} {printed}".strip(), interval.replace("–", "-")
        if not any(all(f" {w}" in line for w in wanted if w) for line in row(lines, title)):
            wrong.append(f"the terminal page's row {title!r} does not say {' and '.join(wanted)}: {row(lines, title)}")
    for block in page.blocks:
        own = any(w in block.text for w in ("diverged", "continue with"))  # the other page words it differently
        warns = block.within("ul", "warnings") and block.path[-1][0] == "li" and not own
        if warns and f"! {block.text}" not in flat:
            wrong.append(f"the terminal page does not warn: {block.text}")
    for block in page.blocks:
        if block.within("dl", "advice") and block.path[-1][0] == "dd":
            shown = " ".join(p.text for p in block.pieces if not p.command).replace("\u00a0", " ")
            if "".join(shown.split()) not in "".join(flat.split()):
                wrong.append(f"the terminal page's verdict has no: {block.text}")
    for block in page.blocks:
        if block.within("table", "commands") and block.path[-1][0] == "div":
            printed = [
                spoken(" ".join(p.text.replace("\u00a0", " ").split()))
                for p in block.pieces
                if p.source and "states" not in p.source["data-from"]
            ]
            if printed and not all(f"{value} {unit}".strip().replace("µs", "us") in flat for value, unit in printed):
                wrong.append(f"the terminal page's table has no: {block.text}")
    findings = [b.text for b in page.blocks if "sentence" in b.path[-1][1].split() and b.within("ol", "findings")]
    printed = len(re.findall(r"^  \d  \S", "\n".join(lines), flags=re.M))
    for k, sentence in enumerate(findings[:printed], 1):
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
    """Return the lines that begin with a row's title, which may continue on the next lines; its program follows it."""
    found = []
    for k, line in enumerate(lines):
        first = re.split(r"\s{2,}", line.strip())[0]
        rest = " ".join(" ".join(lines[k + 1 : k + 4]).split())
        goes_on = title.startswith(first) and rest.startswith(title[len(first) :].strip())
        if line.startswith("  ") and first and (goes_on or first.startswith(f"{title} (")):
            found.append(line)
    return found


def declared() -> list[str]:
    """Return the names of rows that the workloads of this checkout declare, and those of processors."""
    folder = ROOT / "workloads"
    found = [tomllib.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*/*/workload.toml")]
    listed = tomllib.loads((ROOT / "src/firstlight/system/machine/processors.toml").read_text(encoding="utf-8"))
    return [row["title"] for w in found for row in w.get("rows", ())] + [p["name"] for p in listed["processors"]]


def check(
    folder: Path, exported: list[dict[str, Any]] | None = None, shown: str = "", names: Iterable[str] = ()
) -> Outcome:
    """Check the pages of a run against its figures. `names`: declared elsewhere than in this checkout."""
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
    options = parser.parse_args()
    exported = json.loads(options.figures.read_bytes()) if options.figures else None
    outcome = check(options.run, exported, options.terminal.read_text(encoding="utf-8") if options.terminal else "")
    for wrong in outcome.mismatches:
        print(f"  {wrong}")
    print(outcome)
    return 1 if outcome.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
