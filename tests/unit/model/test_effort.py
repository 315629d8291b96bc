"""The additional lines of a variant over the serial one are counted from files, stored, exported, and drawn against its
speedup.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import chart_tree
import synthetic
import titles
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Verified
from firstlight.core import heritage, reading
from firstlight.execute.build import effort
from firstlight.execute.build.effort import Effort
from firstlight.model import catalogue
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Program
from firstlight.report import export, html, plots
from firstlight.report.frame import Drawing
from firstlight.results.record import Run
from firstlight.toolchain.sources import Sources
from report_samples import view_of

SERIAL = """// the plain loop
#include "sum.hpp"

void step(State& s) {
  for (int i = 0; i < s.n; ++i) s.y[i] += s.x[i];  /* in place */
}
"""
FILES = {
    "sum.hpp": "#pragma once\n#include <vector>\n",
    "tile.hpp": """#pragma once

/* a tile
   of it */
const char* text = "// no comment";
int width = 1'000;  // a comment
""",
    "serial.cpp": SERIAL,
    "omp.cpp": SERIAL.replace("  for", "#pragma omp parallel for \\\n    schedule(static)\n    for"),
    "omp_tiled.cpp": SERIAL.replace('"sum.hpp"', '"sum.hpp"\n#include "tile.hpp"\n#include "../shared.hpp"'),
    "cuda.cu": '#include "sum.hpp"\n__global__ void add() {}\nvoid step(State& s) {\nadd<<<1, 1>>>();\n}\n',
    "again.cpp": '#include "serial.cpp"\n',
    "fortran_serial.f90": "! plain\ninteger :: i\nprint *, '! kept'\n",
    "fortran_omp.f90": """integer :: i
!$omp parallel &
!$omp default(none)
print *, '! kept'  ! gone
!$omp end parallel
""",
}


@pytest.fixture
def workload(tmp_path: Path) -> catalogue.Workload:
    folder = tmp_path / "group" / "sum"
    folder.mkdir(parents=True)
    (folder / "workload.toml").write_text('title = "sum"\nquestion = "how fast?"\n')
    (folder.parent / "shared.hpp").write_text("int shared;\n")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return catalogue.load([tmp_path])["sum"]


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("serial", ("serial", 0, 0, 0)),
        ("omp", ("serial", 2, 0, 1)),  # the directive goes on in a second line; white space is not a change
        ("omp_tiled", ("serial", 2 + 3 + 1, 0, 0)),
        ("cuda", ("serial", 2, 1, 2)),
        ("again", ("serial", 1, 4, 0)),  # lines of the serial variant do not count
        ("fortran_serial", ("fortran_serial", 0, 0, 0)),
        ("fortran_omp", ("fortran_serial", 3, 0, 2)),
    ],
)
def test_lines_and_directives_are_counted_from_the_files(
    workload: catalogue.Workload, variant: str, expected: tuple[str, int, int, int]
) -> None:
    assert effort.effort(variant, workload, Sources()) == Effort(*expected)


def test_without_a_serial_variant_in_its_language_nothing_is_counted(workload: catalogue.Workload) -> None:
    others = tuple(v for v in workload.variants if v.name != "serial")
    programs = [Program("sum", v.name, "gcc-native") for v in others]
    found = effort.efforts(programs, {"sum": replace(workload, variants=others)})
    assert set(found) == {"sum.fortran_serial", "sum.fortran_omp"}


def test_a_file_that_nobody_wrote_is_not_counted(workload: catalogue.Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MOST_LINES", 5)
    assert effort.effort("serial", workload, Sources()) is not None
    assert effort.effort("omp", workload, Sources()) is None


def test_a_library_s_name_stands_for_the_variant_that_it_is_made_of() -> None:
    shipped = catalogue.load(catalogue.roots())
    found = effort.efforts([Program("dot", "blas_openblas", "gcc-native")], shipped)
    assert found["dot.blas_openblas"].added > 0


@pytest.mark.parametrize("spoiled", ["-1", "1e3", '"many"', "10000001"])
def test_a_record_with_a_count_that_is_none_is_refused(spoiled: str) -> None:
    good = '{"serial": "serial", "added": 1, "removed": 0, "directives": 0}'
    reading.json(good.encode(), Effort)
    with pytest.raises(reading.MalformedError):
        reading.json(good.replace('"added": 1', f'"added": {spoiled}').encode(), Effort)


# --- drawn ------------------------------------------------------------------------------------------------------------

PLOT = Plot("effort", "added", "rate", "variant", {"n": 1000}, subject="dot")


def judged(**changes: object) -> Judgement:
    run, records, workloads = synthetic.run(only=("dot",), launches=8)
    variants = {c.program.variant for c in run.cells}
    counted = {f"dot.{v}": Effort("serial", *((0, 0, 0) if v == "serial" else (len(v), 1, 2))) for v in variants}
    return judge(replace(run, **({"efforts": counted} | changes)), records, {"dot": dotted(workloads["dot"])})


def dotted(workload: catalogue.Workload) -> catalogue.Workload:
    return replace(workload, plots=(PLOT, replace(PLOT, x="directives")))


def drawn(judgement: Judgement) -> list[Drawing]:
    workloads = {"dot": dotted(synthetic.run(only=("dot",), launches=1).workloads["dot"])}
    html.render(judgement, workloads, heritage.load())
    return plots.draw(view_of(judgement, workloads), workloads["dot"])


def test_the_run_the_export_and_the_drawing_hold_the_same_count() -> None:
    judgement = judged()
    again = reading.json(msgspec.json.encode(judgement.run), Run)
    assert again.efforts == judgement.run.efforts
    rows = json.loads(export.to_json(export.rows(judgement)))
    assert {r["variant"]: r["effort"]["added"] for r in rows if r["effort"]} == {
        k.partition(".")[2]: e.added for k, e in again.efforts.items()
    }
    assert "effort.added" in export.to_csv(export.rows(judgement)).splitlines()[0]
    lines, directives = drawn(judgement)
    starts = {t["name"]: t["x"][0] for t in lines.data}
    assert starts == {r[0].partition(",")[0]: int(r[1]) for r in lines.rows}
    assert starts["serial"] == 0 and starts["simd"] == again.efforts["dot.simd"].added
    assert {t["name"]: t["x"][0] for t in directives.data}["simd"] == again.efforts["dot.simd"].directives


def test_gains_are_against_the_serial_variant_of_the_run_with_their_intervals() -> None:
    judgement = judged()
    best = {
        v: max(f.estimate.median for f in judgement.figures if isinstance(f, Verified) and key(f) == ("rate", v, 1000))
        for v in ("serial", "simd")
    }
    lines, _ = drawn(judgement)
    points = {t["name"]: t for t in lines.data}
    assert points["serial"]["y"] == [1.0]
    assert points["simd"]["y"][0] == pytest.approx(best["simd"] / best["serial"])
    assert points["simd"]["error_y"]["array"][0] > 0
    assert lines.title.startswith("Dot: ") and " gains " in lines.title
    assert chart_tree.tree(lines)


def key(figure: Verified | Failed) -> tuple[str, str, object]:
    i = figure.identity
    return i.metric, i.variant, dict(i.parameters).get("n")


def test_of_directives_the_title_speaks_of_variants_that_have_some() -> None:
    found = judged().run.efforts
    none = {name: replace(e, directives=0) for name, e in found.items()}
    _, directives = drawn(judged(efforts=none))
    assert directives.title.endswith("no variant with additional directives is faster than the serial variant")
    _, directives = drawn(judged(efforts=none | {"dot.simd": found["dot.simd"]}))
    assert (
        ": simd gains " in directives.title and "with 2 directives more, and the most per directive" in directives.title
    )
    assert {t["name"] for t in directives.data} > {"serial", "simd"}  # the others are drawn all the same


def test_a_figure_that_failed_has_no_point() -> None:
    judgement = judged()
    wrong = [
        Failed(f.identity, f.unit, f.better, "a wrong result") if f.identity.variant == "simd" else f
        for f in judgement.figures
    ]
    lines, _ = drawn(replace(judgement, figures=tuple(wrong)))
    assert "simd" not in {t["name"] for t in lines.data} and "simd" in lines.notes[0]


def test_where_nothing_was_counted_the_page_says_why_and_draws_nothing() -> None:
    lines, _ = drawn(judged(efforts={}))
    assert lines.data == [] and "did not count lines" in lines.title


def test_every_number_of_the_title_is_computed_again(tmp_path: Path) -> None:
    judgement = judged()
    workloads = {"dot": dotted(synthetic.run(only=("dot",), launches=1).workloads["dot"])}
    (tmp_path / "run.json").write_bytes(msgspec.json.encode(judgement.run))
    (tmp_path / "report.html").write_text(html.render(judgement, workloads, heritage.load()))
    outcome = titles.check(tmp_path)
    about = [w for w in outcome.mismatches if "Dot:" in w]
    assert not about and outcome.computed > 4, about
