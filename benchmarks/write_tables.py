"""Write the tables of `benchmarks/*.toml` into the documents that contain their markers; README.md describes both."""

from __future__ import annotations

import datetime
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/*.md", "workloads/*/*/README.md")
BLOCK = re.compile(r"(<!-- benchmarks/(\S+)\.toml: (\S+) -->\n).*?(<!-- end -->)", re.S)
CODE, UNBROKEN = re.compile("`[^`]*`"), "\0"
PROCESSORS = ("AMD", "Intel")
"""Each table of measurements has columns of these; without measurements, one column states this."""


class Measured(msgspec.Struct, forbid_unknown_fields=True):
    """Contain figures of one machine; a row consists of the keys and the figures, both as the document shows them."""

    machine: str
    rows: list[list[str]]
    date: datetime.date | None = None
    software: str = ""


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """Describe a table; `rows` is for results that depend on no processor."""

    title: str
    keys: list[str]
    figures: list[str] = []
    measured: dict[str, Measured] = {}
    rows: list[list[str]] = []

    def __post_init__(self) -> None:
        """Check the lengths of rows. Raise ValueError."""
        width = len(self.keys) + len(self.figures)
        for row in (row for rows in (self.rows, *(m.rows for m in self.measured.values())) for row in rows):
            if len(row) != width:
                raise ValueError(f"{len(row)} cells instead of {width}: {row}")


def read(path: Path) -> dict[str, Table]:
    """Return the tables of a file by name. Raise msgspec.ValidationError, which a wrong row causes, too."""
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, Table])


def updated(text: str) -> str:
    """Return the text of a document with its tables written again from the data."""

    def block(found: re.Match[str]) -> str:
        table = read(ROOT / "benchmarks" / f"{found[2]}.toml")[found[3]]
        return f"{found[1]}{_caption(table)}\n{markdown(table)}{found[4]}"

    return BLOCK.sub(block, text)


def documents() -> Iterator[Path]:
    """Yield the documents that may contain tables."""
    for pattern in DOCUMENTS:
        yield from sorted(ROOT.glob(pattern))


def _caption(table: Table) -> str:
    """Return the title, and for each processor when and with what it was measured."""
    sentences = [table.title]
    for processor, measured in table.measured.items():
        day = f"{measured.date.day} {measured.date:%B %Y}" if measured.date else ""
        sentences.append(f"{processor}: {', '.join(filter(None, (day, measured.machine, measured.software)))}.")
    text = CODE.sub(lambda code: code[0].replace(" ", UNBROKEN), " ".join(sentences))
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False).replace(UNBROKEN, " ") + "\n"


def markdown(table: Table) -> str:
    """Join the rows of all processors by their keys."""
    wide = len(table.keys)
    missing = [] if table.rows else [name for name in PROCESSORS if name not in table.measured]
    head = [*table.keys, *(f"{name}: {figure}" for name in table.measured for figure in table.figures)]
    head += [f"{name}: not measured" for name in missing]
    by_key = [{tuple(row[:wide]): row[wide:] for row in measured.rows} for measured in table.measured.values()]
    blank = [""] * len(table.figures)
    lines = [head, ["---"] * len(head), *table.rows]
    for key in dict.fromkeys(key for rows in by_key for key in rows):
        figures = [cell for rows in by_key for cell in rows.get(key, blank)]
        lines.append([*key, *figures, *("" for _ in missing)])
    return "".join(_line(cells) for cells in lines)


def _line(cells: list[str]) -> str:
    if set(cells) == {"---"}:
        return f"|{'|'.join(cells)}|\n"
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n"


if __name__ == "__main__":
    for document in documents():
        before = document.read_text(encoding="utf-8")
        if (after := updated(before)) != before:
            document.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{document.relative_to(ROOT)}\n")
