"""The tables of measurements in documents show the data of `benchmarks/`, and each ratio names its processor."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import msgspec
import pytest

import shipped
from firstlight import ROOT
from write_tables import BLOCK, Measured, Table, documents, markdown, read, updated

FILES = sorted((ROOT / "benchmarks").glob("*.toml"))
NUMBER = r"\d[\d,]*(?:\.\d+)?"
FIGURE = re.compile(
    rf"(?:{NUMBER}(?: to {NUMBER}| \({NUMBER} to {NUMBER}\)| \[{NUMBER}, {NUMBER}\]|(?:, {NUMBER})+)?)?"
)
RATIO = re.compile(r"\d (?:%|times\b|[GM]B/s|[GM]flop/s|[GM]cell/s)|\d\.\d+ (?:with|of)\b")


@pytest.mark.parametrize("document", list(documents()), ids=lambda path: str(path.relative_to(ROOT)))
def test_tables_are_those_of_the_data(document: Path) -> None:
    """After a change of the data, `python benchmarks/write_tables.py` writes the documents again."""
    text = document.read_text()
    assert updated(text) == text


def test_a_changed_number_is_written_again() -> None:
    text = (shipped.folder("spmv") / "README.md").read_text()
    changed = text.replace("| 2.10 |", "| 2.90 |")
    assert changed != text and updated(changed) == text


def test_every_table_is_in_one_document() -> None:
    tables = [(path.stem, name) for path in FILES for name in read(path)]
    shown = [found[1:3] for path in documents() for found in BLOCK.findall(path.read_text())]
    assert sorted(shown) == sorted(tables)


@pytest.mark.parametrize("name", shipped.workloads())
def test_measurements_of_workloads_are_data_and_name_the_processor(name: str) -> None:
    _, _, section = (shipped.folder(name) / "README.md").read_text().partition("\n## Measurements\n")
    text = BLOCK.sub("", section.partition("\n## ")[0])
    assert not re.search(r"^\|", text, re.M)
    unnamed = [p for p in text.split("\n\n") if RATIO.search(p) and not re.search(r"Xeon|EPYC", p)]
    assert unnamed == []


@pytest.mark.parametrize("path", [p for p in FILES if p.stem in shipped.workloads()], ids=lambda path: path.stem)
def test_figures_of_workloads_are_numbers(path: Path) -> None:
    """The README of `benchmarks/` lists the forms."""
    tables = read(path).values()
    cells = [c for t in tables for m in t.measured.values() for row in m.rows for c in row[len(t.keys) :]]
    assert cells and [cell for cell in cells if not FIGURE.fullmatch(cell)] == []


def test_rows_of_both_processors_are_joined_by_their_keys() -> None:
    amd = Measured("EPYC", [["8", "1.5", "2"], ["16", "1.6", ""]])
    intel = Measured("Xeon", [["16", "1.7", "3"]], date(2026, 11, 25))
    table = Table("Ratios.", ["n"], ["MKL", "BLIS"], {"AMD": amd, "Intel": intel})
    assert markdown(table).splitlines() == [
        "| n | AMD: MKL | AMD: BLIS | Intel: MKL | Intel: BLIS |",
        "|---|---|---|---|---|",
        "| 8 | 1.5 | 2 | | |",
        "| 16 | 1.6 | | 1.7 | 3 |",
    ]


def test_a_kind_of_processor_without_figures_is_a_column() -> None:
    table = Table("Ratios.", ["n"], ["MKL"], {"AMD": Measured("EPYC", [["8", "1.5"]])})
    assert markdown(table).splitlines()[0] == "| n | AMD: MKL | Intel: not measured |"


def test_a_row_of_wrong_length_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "spmv.toml"
    file.write_text('[rates]\ntitle = "Rates."\nkeys = ["n"]\nfigures = ["MKL"]\nrows = [["8", "1.5", "1.6"]]\n')
    with pytest.raises(msgspec.ValidationError, match=r"3 cells instead of 2: \['8', '1.5', '1.6'\]"):
        read(file)
