"""Every number in the titles, cards and findings of a run's pages is computed again; a corrupted one is found."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
import test_report_fdtd2d as pictures
import test_report_noise as noise

import energy_samples
import sums
import synthetic
import synthetic_halo
import synthetic_lattice
import synthetic_machine
import synthetic_solver
import titles
from firstlight.analysis import provenance
from firstlight.analysis.figures import judge
from firstlight.commands.report import reported
from firstlight.core import heritage
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report import export, html, terminal
from firstlight.results.record import End, LaunchRecord
from firstlight.results.store import lines
from firstlight.system.machine import Arithmetic, Hardware, Machine

SCENES = {
    "node": lambda: synthetic.run(),
    "drifting": lambda: synthetic.run(3, noise=0.02, drift=0.05),
    "nominal": lambda: synthetic.run(5, on=nominal(3.7e9, 25.6e9)),
    "above nominal": lambda: synthetic.run(5, on=nominal(2.6e9, 10e9)),
    "hidden clock": lambda: synthetic.run(5, on=nominal(None, None)),
    "few": lambda: synthetic.run(2, launches=3),
    "metered": lambda: energy_samples.metered(
        synthetic.run(1, 6, only=["dot", "stream"]), lambda record, case: 50.0 * case.threads**2
    ),
    "halo": lambda: synthetic_halo.run(placements=(Placement(1, 1, 1), Placement(1, 2, 1)), launches=6),
    "solver": lambda: synthetic_solver.run(launches=6),
    "lattice": lambda: synthetic_lattice.run(launches=6),
    "sums": lambda: sums.scene(6),
    "two states": lambda: two_states(),
    "detours": lambda: observed("detours", "looks", "stolen", noise.detouring, [("omp_selfish", None, 2)]),
    "fields": lambda: fields(),
    "quanta": lambda: observed(
        "quanta", "work", "noise", noise.working(0.05, 0.2), [("fixed_work", None, 1), ("mpi_fixed_work", "openmpi", 1)]
    ),
}


def nominal(clock: float | None, memory: float | None) -> Machine:
    """Return a machine with two cores of 16 operations per cycle."""
    units = Arithmetic("Zen 4", 2, 256, 2, clock=clock, clock_of="highest" if clock else "")
    return synthetic_machine.machine(hardware=Hardware((units,), memory))


def observed(
    kind: str, x: str, metric: str, edit: noise.Edit, variants: list[tuple[str, str | None, int]]
) -> synthetic.Scene:
    """Return a run of programs that observe OS noise, launch by launch."""
    cells = [
        (
            variant,
            mpi,
            Placement(1, 4 if mpi else 1, threads),
            [synthetic.Point({x: 100}, threads, {"operations": 100.0}, 0.0, 1e-4)],
        )
        for variant, mpi, threads in variants
    ]
    judgement, known = noise.judged(
        "noise", (noise.QUANTUM, *noise.NOISE), cells, (Plot(kind, x, metric, "variant"),), edit
    )
    return synthetic.Scene(judgement.run, judgement.records, known)


def fields() -> synthetic.Scene:
    """Return a run that contains pictures."""
    judgement, known = pictures.judgement()
    return synthetic.Scene(judgement.run, judgement.records, known)


def two_states() -> synthetic.Scene:
    """Return a run in which every third launch with messages lasts twice as long, in stretches."""
    scene = synthetic.run(4, 9)

    def slower(record: LaunchRecord) -> LaunchRecord:
        slow = record.launch is not None and record.launch.workload == "pingpong" and record.start.launch in (3, 4, 5)
        by = 2.0 if slow else 1.0
        return msgspec.structs.replace(
            record, samples=tuple(msgspec.structs.replace(s, wall=by * s.wall) for s in record.samples)
        )

    return scene._replace(records=tuple(map(slower, scene.records)))


def write(record: LaunchRecord, path: Path) -> None:
    """Write the lines of one launch, as a run stores them."""
    parts = [record.start, *([record.launch] if record.launch else []), *record.cases, *record.checks, *record.devices]
    parts += [*record.samples, *record.series, *record.fields, *record.counters]
    parts += [End(len(record.cases))] if record.complete else []
    path.write_bytes(b"".join(lines.encode(x) for x in [*parts, record.exit]))


@cache
def pages(name: str) -> tuple[bytes, dict[str, bytes], str, bytes, str, tuple[str, ...]]:
    """run.json, the launches, both pages, the exported figures, and the names that the scene's workloads declare."""
    scene = SCENES[name]()
    judgement = judge(*scene)
    page = html.render(judgement, scene.workloads, heritage.load())
    shown = terminal.summary(judgement, scene.workloads)
    exported = export.to_json(export.rows(judgement))
    names = tuple(r.title for w in scene.workloads.values() for r in w.rows)
    records = {f"{r.start.cell}.{r.start.launch:04d}": r for r in scene.records}
    return msgspec.json.encode(scene.run), records, page, exported.encode(), shown, names  # type: ignore[return-value]


def stored(name: str, folder: Path, change: tuple[str, str] = ("", "")) -> titles.Outcome:
    run, records, page, exported, shown, names = pages(name)
    (folder / "launches").mkdir()
    (folder / "run.json").write_bytes(run)
    for key, record in records.items():
        write(record, folder / "launches" / f"{key}.jsonl")  # type: ignore[arg-type]
    before, after = change
    assert before in page
    (folder / "report.html").write_text(page.replace(before, after, 1) if before else page, encoding="utf-8")
    return titles.check(folder, json.loads(exported), shown, names)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.full
def test_every_number_of_a_page_is_computed_again(name: str, tmp_path: Path) -> None:
    outcome = stored(name, tmp_path)
    assert outcome.mismatches == []
    assert outcome.computed > 10 and outcome.sentences > 8
    assert not re.search("[\ue000-\ue002]", pages(name)[2] + pages(name)[4])


def corrupted(text: str) -> str:
    """Return the same text with its last digit changed."""
    at = max(k for k, c in enumerate(text) if c.isdigit())
    return text[:at] + str((int(text[at]) + 5) % 10) + text[at + 1 :]


NUMBERS = re.compile(r'<data value="[^"]*" data-from="(?!name|a\.reason)[^"]*"[^>]*>([^<]*\d[^<]*)</data>')


@pytest.mark.parametrize("place", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_one_corrupted_number_is_found(place: float, tmp_path: Path) -> None:
    found = list(NUMBERS.finditer(pages("node")[2]))
    one = found[round(place * (len(found) - 1))]
    tail = one[0].replace(f">{one[1]}<", f">{corrupted(one[1])}<")
    before = pages("node")[2][one.start() - 200 : one.end()]
    outcome = stored("node", tmp_path, (before, before[: -len(one[0])] + tail))
    assert outcome.mismatches


def test_a_number_from_nowhere_is_found(tmp_path: Path) -> None:
    outcome = stored("node", tmp_path, ('<h3 id="plot-', '<h3>Three times 17.5 GB/s</h3><h3 id="plot-'))
    assert any("'17.5' comes from nowhere" in wrong for wrong in outcome.mismatches)


def test_another_figure_behind_a_title_is_found(tmp_path: Path) -> None:
    page = pages("node")[2]
    one = re.search(r'<p class="number"[^>]*><data value="[^"]*" data-from="a" data-unit="[^"]*" data-of="(\d+)"', page)
    assert one
    other = one[0].replace(f'data-of="{one[1]}"', f'data-of="{int(one[1]) + 1}"')
    assert stored("node", tmp_path, (one[0], other)).mismatches


def test_a_terminal_page_that_says_another_number_is_found(tmp_path: Path) -> None:
    assert stored("node", tmp_path).mismatches == []
    _, _, _, exported, shown, names = pages("node")
    median = re.search(r"^  memory latency\b.*?  +(\d\S*)", shown, flags=re.M)
    assert median
    spoiled = shown.replace(f" {median[1]} ", f" {corrupted(median[1])} ", 1)
    assert titles.check(tmp_path, json.loads(exported), spoiled, names).mismatches


@pytest.mark.parametrize(
    ("printed", "value", "right"),
    [
        ("9.8", 9.84, True), ("9.8", 9.86, False), ("1320", 1323.0, True), ("1320", 1326.0, False),
        ("1.08", 1.077, True),
        ("100", 100.2, True), ("0.806", 0.80612, True), ("2.5e-10", 2.51e-10, True), ("2.5e-10", 2.56e-10, False),
        ("0", 0.0, True), ("0", 1.0, False), ("16", 15.9, True), ("17", 15.9, False),
    ],
)  # fmt: skip
def test_digits_agree_with_what_they_round(printed: str, value: float, right: bool) -> None:
    assert titles.agrees(printed, value) is right


def test_findings_are_plain_text_in_json() -> None:
    scene = SCENES["node"]()
    answer = reported(judge(*scene), Path("report.html"))
    assert len(answer.findings) > 3 and msgspec.json.encode(answer)


def test_foreign_marks_are_no_sources() -> None:
    text = provenance.settle('a \ue000["1","",[]]\ue001 b \ue000not json\ue0019\ue002 c')
    assert not re.search("[\ue000-\ue002]", text) and text.sources == ()
    plain = provenance.settle(f"it is {provenance.number('1.5 ×', '3 / 2')} more")
    assert plain == "it is 1.5 × more" and plain[plain.sources[0].start : plain.sources[0].end] == "1.5 ×"
