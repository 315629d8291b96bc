"""Drawings of a workload's own: found by name, from the user's folders only, with errors that name the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight import ROOT
from firstlight.core.errors import UsageError
from firstlight.model import catalogue
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import own, plots
from firstlight.report.frame import View
from report_samples import sample, view_of

REPORT = """
from firstlight.analysis.formatting import listing
from firstlight.report.frame import HEAD, Drawing

from .parts import words

def dots(view, workload, plot, name):
    return [Drawing(name, words.title(workload), "How to read it.", HEAD, [])]

def wrong(view, workload, plot, name):
    return words.missing(view)
"""
PLOT = Plot("lengths", "n", "rate", "toolchain", subject="the scalar product")
WORDS = 'def title(workload):\n    return f"{workload.title} in dots"\n'


def view() -> View:
    return view_of(*sample())


def workload(root: Path, kind: str, report: str = REPORT) -> Workload:
    folder = root / "copy"
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    (folder / "report.py").write_text(report)
    (folder / "parts" / "words.py").write_text(WORDS)
    plot = Plot(kind, "n", "rate", "toolchain")
    return replace(view().workloads["dot"], name="copy", title="Copy", folder=folder, plots=(plot,))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIRSTLIGHT_WORKLOADS", str(tmp_path))
    return tmp_path


def test_a_function_of_the_folder_draws_its_kind(root: Path) -> None:
    (drawing,) = plots.draw(view(), workload(root, "dots"))
    assert (drawing.id, drawing.title) == ("plot-copy-0", "Copy in dots")


def test_two_folders_of_one_name_keep_their_own(root: Path) -> None:
    first, second = (workload(root / n, "dots", REPORT.replace("words.title", f"'{n}' + words.title")) for n in "ab")
    assert [plots.draw(view(), w)[0].title for w in (first, second)] == ["aCopy in dots", "bCopy in dots"]


def test_the_example_of_the_documentation_draws(root: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "workload-features.md").read_text(), re.S)
    dot = replace(workload(root, "lengths", example), name="dot", plots=(PLOT,))
    (drawing,) = plots.draw(view(), dot)
    assert re.search(r"^the scalar product reaches \d.* Gflop/s$", drawing.title)
    assert drawing.rows and len(drawing.data[0]["x"]) > 2
    nothing = replace(dot, plots=(replace(PLOT, metric="nothing"),))
    assert plots.draw(view(), nothing) == []


@pytest.mark.parametrize("kind", ["listing", "HEAD", "words", "_dots", "pie"])
def test_what_a_report_imports_is_no_kind(root: Path, kind: str) -> None:
    with pytest.raises(UsageError, match=f"unknown drawing '{kind}'.*staircase"):
        plots.draw(view(), workload(root, kind))


@pytest.mark.parametrize(
    ("kind", "report", "place"),
    [
        ("dots", "def dots(:\n", "report.py, line 1: SyntaxError"),
        ("dots", "import firstlight.nothing\n", "report.py, line 1: ModuleNotFoundError"),
        ("wrong", REPORT, "report.py, line 11: AttributeError"),
    ],
)
def test_an_error_is_one_line_that_names_the_file(root: Path, kind: str, report: str, place: str) -> None:
    with pytest.raises(UsageError) as caught:
        plots.draw(view(), workload(root, kind, report))
    assert str(caught.value).startswith(str(root / "copy" / place))
    assert "\n" not in str(caught.value)


def test_code_from_elsewhere_is_not_run(tmp_path: Path) -> None:
    """The folder is neither firstlight's nor named by the user, even if a Workload was made of it."""
    with pytest.raises(UsageError, match="FIRSTLIGHT_WORKLOADS"):
        plots.draw(view(), workload(tmp_path, "dots", "raise SystemExit\n"))


def test_an_error_of_our_own_is_not_blamed_on_the_folder(root: Path) -> None:
    with pytest.raises(ZeroDivisionError), own.errors_located(workload(root, "dots")):
        raise ZeroDivisionError


def test_every_kind_that_is_declared_is_drawn_by_somebody() -> None:
    for w in catalogue.load([ROOT / "workloads"]).values():
        for plot in w.plots:
            assert callable(plots.kind(plot.kind, w)), f"{w.name}: {plot.kind}"
