"""Every command that reads a run also reads one that an attacker wrote."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from test_shell import HOSTILE as WORDS

import chart_tree
import synthetic
from commands import Captured, call
from firstlight.core import shell
from firstlight.core.errors import OK, REGRESSION, USAGE, UsageError
from firstlight.execute.launch import Outcome
from firstlight.model import catalogue
from firstlight.results import store
from firstlight.results.record import End, LaunchRecord, Run
from firstlight.results.store import lines
from firstlight.runner import job

EVIL = "=x'\"`$(id)\x1b[2J\x1b[31m\x07\r\x9b31m\x7f\u202egnp\u2066<script>alert(1)</script><!--"
FORBIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

replace = msgspec.structs.replace


def spoiled(run: Run) -> Run:
    """Return the run with EVIL in every text that is not a name."""
    machine = replace(run.machine, processor=EVIL, name=EVIL, governor=EVIL, warnings=(EVIL,), kernel=EVIL)
    toolbox = replace(
        run.toolbox,
        mpis=tuple(replace(m, label=EVIL, version=EVIL) for m in run.toolbox.mpis),
        toolchains=tuple(replace(t, version=EVIL) for t in run.toolbox.toolchains),
        absent=tuple(replace(a, what=EVIL, why=EVIL, fix=EVIL) for a in run.toolbox.absent),
    )
    return replace(
        run,
        machine=machine,
        toolbox=toolbox,
        state="budget",
        command=("rm", "-rf", EVIL),
        environment={"OMP_PLACES": EVIL, EVIL: EVIL},
        revision=EVIL,
        builds=tuple(b if b.ok else replace(b, error=EVIL) for b in run.builds),
        not_available=tuple(replace(a, what=EVIL, why=EVIL, fix=EVIL) for a in run.not_available),
        descriptions={k: replace(d, title=EVIL, verified=EVIL, cost=EVIL) for k, d in run.descriptions.items()},
    )


def spoiled_launch(record: LaunchRecord, run: Run) -> LaunchRecord:
    return replace(
        record,
        start=replace(record.start, run=run.id, command=(EVIL,)),
        launch=record.launch and replace(record.launch, flags=EVIL, counters=EVIL),
        cases=tuple(replace(c, parameters=c.parameters | {"op": EVIL}) for c in record.cases),
        checks=tuple(replace(c, what=EVIL) for c in record.checks),
        exit=replace(record.exit, stderr=EVIL, reason="" if record.exit.ok else EVIL),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results with the run `evil`, whose launches are all complete."""
    root = tmp_path_factory.mktemp("foreign") / "results"
    scene = synthetic.run(launches=6)
    few = [c for c in scene.run.cells if c.program.workload in ("dot", "pingpong")]
    run = spoiled(replace(scene.run, id="evil", cells=tuple(few)))
    with store.create(root, run) as made:
        for record in scene.records:
            if record.start.cell in {c.id for c in few}:
                write(made, spoiled_launch(record, run))
    return root.parent


def write(made: store.Store, record: LaunchRecord) -> None:
    part = made.begin(record.start)
    assert record.launch is not None
    body: list[object] = [record.launch]
    for case in record.cases:
        body += [case, *(x for x in (*record.samples, *record.checks, *record.counters) if x.case == case.case)]
    with part.open("ab") as file:
        file.write(b"".join(map(lines.encode, [*body, End(len(record.cases))])))  # type: ignore[arg-type]
    made.finish(part, Outcome((), True, record.exit.status, "", 0.3, 0.3, EVIL))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(catalogue, "roots", lambda: [])
    return folder / "results" / "evil"


COMMANDS = (
    ["report"], ["report", "--json"], ["check"], ["check", "--json"], ["figures"], ["figures", "--failed"],
    ["figures", "--json"], ["figures", "--csv"], ["figures", "--csv", "--launches"], ["compare", "evil", "evil"],
    ["compare", "evil", "evil", "--json"], ["export", "junit"],
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.full
def test_no_command_writes_a_control_character(here: Path, capsys: Captured, words: list[str]) -> None:
    code, out, err = call(capsys, *words)
    assert code in (OK, REGRESSION, 4), err
    assert out and "internal error" not in err
    assert not FORBIDDEN.search(out + err), FORBIDDEN.findall(out + err)
    if "--json" in words:
        assert json.loads(out) is not None
    if "junit" in words:
        assert ElementTree.fromstring(out).findall("testsuite")
    if "--csv" in words:
        table = list(csv.reader(io.StringIO(out)))
        assert not any(cell.startswith(("=", "@", "\t")) for line in table for cell in line)
        assert any(cell.startswith("'=x") for line in table for cell in line)
        medians = [line[table[0].index("median")] for line in table[1:]]
        assert any(map(str.strip, medians)) and all(float(m) > 0 for m in medians if m)


def test_the_page_holds_no_element_and_no_mark_of_others(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    workloads = {k: replace(w, title=EVIL, question=EVIL) for k, w in synthetic.run().workloads.items()}
    monkeypatch.setattr(catalogue, "load", lambda roots: workloads)
    assert call(capsys, "report")[0] == OK
    page = (here / "report.html").read_text()
    assert not FORBIDDEN.search(page) and "<script" not in page
    charts = chart_tree.of_page(page)
    assert any("alert(1)" in text for chart in charts.values() for text in chart_tree.words(chart))

    class Attributes(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            for name, value in attributes:
                assert not name.startswith("on"), (tag, name)
                if name in ("href", "src", "action"):
                    assert (value or "").startswith(("#", "data:", "https://")), (tag, name, value)

    Attributes().feed(page)
    assert "./fl -rf" in page.replace("&#39;", "'") and "rm -rf" not in page


ALTERED: dict[str, Callable[[Run], Run]] = {
    "run": lambda run: replace(run, id="x; rm -rf ~"),
    "workload": lambda run: with_program(run, workload="--results=/tmp"),
    "variant": lambda run: with_program(run, variant="../../x"),
    "toolchain": lambda run: with_program(run, toolchain="a b"),
    "library": lambda run: with_program(run, mpi="/../../../x"),
}


def with_program(run: Run, **names: str) -> Run:
    first, *others = run.cells
    return replace(run, cells=(replace(first, program=replace(first.program, **names)), *others))


@pytest.mark.parametrize("what", ALTERED)
def test_names_are_validated_where_they_are_read(here: Path, tmp_path: Path, capsys: Captured, what: str) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    altered = ALTERED[what](store.open(here).run())
    (copy / "run.json").write_bytes(msgspec.json.encode(altered))
    (copy / "launches").mkdir()
    for words in ("report", "figures", "check"):
        code, out, err = call(capsys, words, str(copy))
        assert code == (REGRESSION if words == "check" else USAGE)
        assert f"cannot name a {what}" in out + err and not FORBIDDEN.search(out + err)
    assert not (copy / "report.html").exists()


@pytest.mark.parametrize(
    "name", [w for w in WORDS if w and "/" not in w and not w.startswith("--") and shell.is_text(w)]
)
def test_a_directory_of_any_name(
    here: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The message is one line without control characters, and the offered command is for this directory."""
    copy = tmp_path / "results" / name
    copy.mkdir(parents=True)
    (copy / "launches").mkdir()
    (copy / "run.json").write_bytes((here / "run.json").read_bytes())
    (copy / "SHA256SUMS.sig").write_text("signed")
    monkeypatch.chdir(copy.parent)
    code, out, err = call(capsys, "report", "--", name)
    assert code == OK and not FORBIDDEN.search(out + err)
    assert shell.command("report", Path(name)) in err.replace(" --results . ", " ")


def test_a_job_is_not_named_after_a_directory_with_lines_of_its_own(tmp_path: Path) -> None:
    """The name appears in the job script."""
    with pytest.raises(UsageError, match="cannot name a job; rename the directory"):
        job.again(tmp_path / "x\n#SBATCH --account=other")
