"""Pages have no obstacles for readers: colours that vanish, labels that overlap, folders of a machine, hovering on a
phone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from firstlight.analysis import Judgement, formatting
from firstlight.analysis.absence import absences
from firstlight.analysis.hockney import Regime
from firstlight.core import heritage
from firstlight.report import html, method, palette, wording
from firstlight.report.export import junit
from firstlight.report.frame import AMOUNTS
from firstlight.report.plots import message
from firstlight.toolchain import Absent, Cuda, Offload
from report_samples import replace, sample

LEAST = 3.0  # WCAG 2.2, 1.4.11: what must be seen to understand a drawing, against what is beside it
CSS = (Path(html.__file__).parent / "templates/report.css").read_text(encoding="utf-8")


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def variables(dark: bool) -> dict[str, str]:
    """Return the page's own colours, light or dark."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, flags=re.S)
    found: dict[str, str] = {}
    for block in blocks[: 2 if dark else 1]:
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block))
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_of_the_palette_stands_out_from_both_grounds(dark: bool) -> None:
    page = variables(dark)
    for light, other in palette.DARK.items():
        for ground in ("paper", "raised"):
            assert contrast(other if dark else light, page[ground]) >= LEAST, (light, other, ground)
    for name in ("ink", "muted", "ghost", "good", "bad", "warn", "link"):
        assert min(contrast(page[name], page[ground]) for ground in ("paper", "raised")) >= LEAST, name
    assert len(set(palette.DARK.values())) == len(palette.DARK)


def test_the_largest_amounts_of_a_matrix_stand_out_from_both_papers() -> None:
    colours = [str(colour) for _, colour in AMOUNTS]
    for dark in (False, True):
        assert contrast(colours[-1], variables(dark)["paper"]) >= LEAST
    assert [luminance(c) for c in colours] == sorted(map(luminance, colours), reverse=True)


def test_every_line_and_marker_of_a_page_has_a_counterpart_in_the_dark() -> None:
    text = html.render(*sample(), heritage.load())
    charts = re.findall(r'<div class="canvas".*?</div>', text, flags=re.S)
    drawn = {c for chart in charts for c in re.findall(r' (?:fill|stroke)="([^"]*)"', chart)} - {"none"}
    assert len(drawn) > 4
    assert {c for c in drawn if c.startswith("#")} <= palette.DARK.keys()
    assert {c for c in drawn if not c.startswith("#")} <= {"var(--ink)", "var(--muted)", "var(--ghost)"}
    for light, dark in palette.DARK.items():
        assert f'[stroke="{light}"]{{stroke:{dark}}}' in text  # the small drawings of the cards


def test_labels_of_switches_leave_room_for_each_other() -> None:
    def fits(at: float) -> list[Regime]:
        return [Regime(1e-7, 1e-10, 8.0, at, 0.01, 5), Regime(1e-6, 2e-11, 2 * at, 1e6, 0.01, 5)]

    drawn: dict[str, Any] = {"shapes": [], "annotations": []}
    message._mark_switches(drawn, {"Open MPI": fits(4096), "MPICH": fits(8192)})
    first, last = drawn["annotations"]
    assert first["x"] < last["x"] and (first["xanchor"], last["xanchor"]) == ("right", "left")


def test_nothing_on_a_page_asks_to_hover_and_each_matrix_has_its_table() -> None:
    text = html.render(*sample(), heritage.load())
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    assert "Hover" not in visible
    matrices = re.findall(r'<div class="matrix.*?</details>', visible, flags=re.S)
    assert matrices and all("./fl run" in m[m.index("<details>") :] for m in matrices)


WORDS = ("stolen", "sooner", "moves faster", "fictitious", "party", "parties", "counterpart", "sites agree", "1.0 ×")


def test_a_page_speaks_the_words_of_its_field() -> None:
    pages = [html.render(*sample(seed), heritage.load()) for seed in (1, 2)]
    for page in pages:
        visible = re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S))
        assert [w for w in WORDS if re.search(rf"\b{re.escape(w)}", visible)] == []


def test_wide_tables_reflow_on_a_phone() -> None:
    text = html.render(*sample(), heritage.load())
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    for attributes, body in re.findall(r"<table([^>]*)>(.*?)</table>", visible, flags=re.S):
        if "stack" in attributes:
            cells = re.findall(r"<td[^>]*>", body)
            assert all("data-label" in c or "colspan" in c for c in cells)
    assert ".stack td[data-label]" in CSS


def here(judgement: Judgement) -> Judgement:
    cuda = Cuda("nvcc 13.0.88", "/usr/local/cuda/bin/nvcc", "/usr/bin/g++", "sm_75", ())
    target = Offload("target", "gcc", "nvptx sm_75", ("-fopenmp",))
    run = judgement.run
    lacks = (
        Absent("hypre", "/usr/lib/x86_64-linux-gnu/libHYPRE.so: it loads libmpi.so.40", "set HYPRE_DIR to its folder"),
        *(Absent(f"dot.fortran with clang-{s}", "it needs a Fortran compiler", "install one") for s in "abc"),
    )
    run = replace(
        run,
        toolbox=replace(run.toolbox, cuda=cuda, offloads=(target,)),
        not_available=lacks,
        command=("./fl", "run", "--results", "/home/me/base", "--quick"),
    )
    return replace(judgement, run=run)


def test_compilers_for_gpus_are_told_and_so_is_the_missing_gpu() -> None:
    judgement = here(sample()[0])
    assert "nvcc 13.0" in wording.tools(judgement.run)
    assert dict(method.environment(judgement.run))["for GPUs"] == "nvcc 13.0.88 and gcc (OpenMP on devices)"
    gpu = next(a for a in absences(judgement) if a.what == "GPU")
    assert "nvcc 13.0.88" in gpu.why and gpu.fix


def test_what_is_not_available_is_counted_alike_everywhere() -> None:
    judgement, workloads = here(sample()[0]), sample()[1]
    count = len(absences(judgement))
    suite = ElementTree.fromstring(junit.to_junit(judgement)).find("testsuite[@name='not available']")
    assert suite is not None and len(suite.findall("testcase")) == count == int(suite.get("skipped", "0"))
    text = re.sub(r"</?data[^>]*>", "", html.render(judgement, workloads, heritage.load()))
    assert f"<b>{count}</b>" in text


def test_no_folder_of_the_machine_stands_on_a_page() -> None:
    judgement, workloads = here(sample()[0]), sample()[1]
    text = html.render(judgement, workloads, heritage.load())
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    assert "libHYPRE.so" in visible
    assert "/usr/" not in visible and "/home/" not in visible
    assert "./fl run --quick" in visible


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/usr/lib/petsc/petscsys.h:99:6: error", "petscsys.h:99:6: error"),
        ("see https://example.org/a/b.html", "see https://example.org/a/b.html"),
        ("python3 -m venv '.fl/mpi/intel'", "python3 -m venv '.fl/mpi/intel'"),
        ("9.8 GB/s and 1/2", "9.8 GB/s and 1/2"),
        ("at '/opt/intel/lib/libmkl_rt.so'", "at 'libmkl_rt.so'"),
    ],
)  # fmt: skip
def test_bare_text_has_no_folders(text: str, kept: str) -> None:
    assert formatting.bare(text) == kept
