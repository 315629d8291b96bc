"""The exports: JUnit XML that a server accepts for any run, and a check that ReFrame itself runs."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
import turns
from firstlight import ROOT
from firstlight.analysis import Judgement
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import Estimate, Failed, States, Unverified, Verified
from firstlight.commands.shared.command_line import call
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.model.catalogue.brought import Brought
from firstlight.report import verdict
from firstlight.report.export import figures
from firstlight.report.export.junit import NOT_AVAILABLE, to_junit
from firstlight.report.export.reframe import to_reframe
from firstlight.runner import exit_status
from firstlight.toolchain import Absent

# What the schema of Jenkins' xUnit plugin (junit-10) allows: attributes (in capitals what must be there), children.
SCHEMA: dict[str, tuple[str, set[str]]] = {
    "testsuites": ("name time tests failures errors", {"testsuite"}),
    "testsuite": (
        "NAME TESTS FAILURES ERRORS group time skipped timestamp hostname id package file log url",
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": ("", {"property"}),
    "property": ("NAME VALUE", set()),
    "testcase": ("NAME time classname group", {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": ("type message", set()),
    "error": ("type message", set()),
    "skipped": ("type message", set()),
    "system-out": ("", set()),
    "system-err": ("", set()),
}


def checked(document: str) -> ElementTree.Element:
    """Return the root of a document that follows the schema."""
    root = ElementTree.fromstring(document)
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, children = SCHEMA[element.tag]
        names = attributes.split()
        assert set(element.keys()) <= {name.lower() for name in names}, element.tag
        assert {name.lower() for name in names if name.isupper()} <= set(element.keys()), element.tag
        assert {child.tag for child in element} <= children, element.tag
        assert re.fullmatch(r"\d*(\.\d*)?", element.get("time", "")), element.get("time")
    return root


@cache
def invented() -> Judgement:
    return synthetic.judgement()


@cache
def dot() -> Workload:
    return catalogue.load(catalogue.roots())["dot"]


@pytest.fixture
def judgement() -> Judgement:
    return invented()


def test_every_case_of_every_program_is_a_test_with_its_verdict(judgement: Judgement) -> None:
    root = checked(to_junit(judgement))
    cases = {
        (i.workload, i.variant, i.toolchain, i.mpi, i.placement, i.parameters)
        for i in (figure.identity for figure in judgement.figures)
    }
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) - {NOT_AVAILABLE} == {case[0] for case in cases}
    tests = [test for name, suite in suites.items() if name != NOT_AVAILABLE for test in suite.findall("testcase")]
    assert len(tests) == len(cases)
    assert len({(test.get("classname"), test.get("name")) for test in tests}) == len(cases)

    def case_of(figure: Verified | Failed | Unverified) -> tuple[object, ...]:
        i = figure.identity
        return (i.workload, i.variant, i.toolchain, i.mpi, i.placement, i.parameters)

    wrong = [case_of(f) for f in judgement.figures if isinstance(f, Failed)]
    reds = [c.get("classname") for c in root.iter("testcase") if c.find("failure") is not None]
    assert set(reds) == {"dot.fortran_loop"}  # which no compiler builds; dot.kahan is right with other flags
    assert int(root.get("failures", "")) == len(reds) and root.get("errors") == "0"
    assert int(root.get("tests", "")) == len(root.findall(".//testcase"))
    messages = [e.get("message", "") for e in root.findall(".//skipped")]
    messages = [t for t in messages if "expected, a finding about" in t]
    assert len(messages) == len(set(wrong)) - len(reds)
    assert all(
        re.match(r"expected, a finding about \S+-fast \(correct with gcc-base and \d+ more\): ", t) for t in messages
    )


def of_variants(judgement: Judgement, *variants: str) -> Judgement:
    """Return a run of only these variants of dot."""
    run = judgement.run
    cells = tuple(c for c in run.cells if c.program.workload == "dot" and c.program.variant in variants)
    builds = tuple(b for b in run.builds if b.program.workload == "dot" and b.program.variant in variants)
    figures = (f for f in judgement.figures if f.identity.workload == "dot" and f.identity.variant in variants)
    return replace(judgement, run=replace(run, cells=cells, builds=builds), figures=tuple(figures), lost=())


def test_a_toolchain_that_is_fast_but_wrong_leaves_a_healthy_machine_green(judgement: Judgement) -> None:
    healthy = of_variants(judgement, "serial", "simd", "kahan")
    root = checked(to_junit(healthy))
    assert exit_status.status(healthy) == OK and any(isinstance(f, Failed) for f in healthy.figures)
    assert root.get("failures") == root.get("errors") == "0" and not root.findall(".//failure")


@pytest.mark.parametrize(("cpu", "status"), [(0.99, OK), (0.5, INCONCLUSIVE)])
def test_a_run_on_a_machine_that_was_not_fit_for_measuring_is_inconclusive(
    judgement: Judgement, cpu: float, status: int
) -> None:
    healthy = of_variants(judgement, "serial", "simd", "kahan")
    records = tuple(replace(r, samples=tuple(replace(s, cpu=cpu) for s in r.samples)) for r in healthy.records)
    shared = replace(healthy, records=records)
    assert exit_status.status(shared) == status
    assert ("not fit for measuring" in verdict.health(shared, {})) == (status == INCONCLUSIVE)


@pytest.mark.parametrize(
    ("cpu", "health"), [(0.99, "fit for measuring: "), (0.5, "usable with care. Other processes used ")]
)
def test_on_external_commands_the_page_and_the_status_agree(judgement: Judgement, cpu: float, health: str) -> None:
    """A disturbed run of external commands still has a result, by CPU time: it ends with 0."""
    some = of_variants(judgement, "serial", "simd", "kahan")
    records = tuple(replace(r, samples=tuple(replace(s, cpu=cpu) for s in r.samples)) for r in some.records)
    run = replace(some.run, brought=(Brought("bench", "t", "?", {"a": "./a"}),))
    external = replace(some, run=run, records=records, steadiness=())
    assert exit_status.status(external) == OK
    assert settle(verdict.health(external, {})).startswith(health)


@pytest.mark.parametrize("launches", [8, 3])
@pytest.mark.parametrize("virtual", ["", "kvm"])
@pytest.mark.parametrize(("percent", "health"), [(0.3, "fit for measuring"), (8.9, "usable with care. OS noise ")])
def test_a_machine_with_much_os_noise_is_usable_with_care(
    judgement: Judgement, percent: float, health: str, virtual: str, launches: int
) -> None:
    """The samples of a program do not show a hypervisor that interrupts all of them alike."""
    noise = catalogue.load(catalogue.roots())["noise"]
    some = of_variants(judgement, "serial", "simd", "kahan")
    records = tuple(replace(r, samples=tuple(replace(s, cpu=0.99) for s in r.samples)) for r in some.records)
    quiet = replace(some, records=records, steadiness=())
    any_ = next(f for f in quiet.figures if isinstance(f, Verified))
    few = launches < LAUNCHES
    low, high = (None, None) if few else (0.9 * percent, 1.1 * percent)
    e = Estimate(percent, low, high, (percent,) * launches)
    who = replace(any_.identity, workload="noise", variant="omp_selfish", metric="stolen", parameters=())
    figures = (*quiet.figures, replace(any_, identity=who, unit="%", estimate=e, states=None))
    run = replace(quiet.run, machine=replace(quiet.run.machine, virtual=virtual))
    found = settle(verdict.health(replace(quiet, run=run, figures=figures), {"noise": noise}))
    assert found.startswith(health) and bool(found.sources) == (percent > 1)
    who = "OS noise or the hypervisor" if virtual else "OS noise"
    how = " (3 launches)" if few else ""
    assert (f"{who} used 8.90 % of the processors' time{how}. " in found) == (percent > 1)


def test_a_command_that_fails_is_to_be_corrected_not_measured_for_longer(judgement: Judgement) -> None:
    run = replace(judgement.run, brought=(Brought("bench", "t", "?", {"a": "./a"}),), state="budget")
    right = tuple(f for f in judgement.figures if not isinstance(f, Failed))
    sentence, what = verdict.following(replace(judgement, run=run), {})
    assert settle(sentence) == "correct kahan and fortran_loop: failed commands have no figures"
    assert what == f"./fl figures {run.id}"
    assert "continue" in verdict.following(replace(judgement, run=run, figures=right), {})[0]
    reported = replace(run, brought=(replace(run.brought[0], reporter="OSU 7.4"),))
    assert "continue" in verdict.following(replace(judgement, run=reported), {})[0]


def test_a_variant_that_no_toolchain_gets_right_is_a_failure(judgement: Judgement) -> None:
    kahan = of_variants(judgement, "kahan")
    bad = {f.identity.toolchain for f in kahan.figures if isinstance(f, Failed)}
    kahan = replace(kahan, figures=tuple(f for f in kahan.figures if f.identity.toolchain in bad))
    assert exit_status.status(kahan) == REGRESSION
    messages = [e.get("message") for e in checked(to_junit(kahan)).findall(".//failure")]
    assert sorted(map(str, messages)) == sorted(f.reason for f in kahan.figures if isinstance(f, Failed))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_red_and_green_are_those_of_the_exit_status(data: st.DataObject) -> None:
    """Whatever the verdicts are: failures or errors exactly where `./fl run` ends with 1."""
    whole = invented()
    kinds = data.draw(
        st.lists(st.sampled_from(["verified", "check", "lost", "unverified", "none"]), min_size=4, max_size=4)
    )
    few = [f for f in whole.figures if f.identity.workload == "dot"]
    figures: list[Verified | Failed | Unverified] = []
    names = sorted({f.identity.variant for f in few})
    for figure in few:
        kind = kinds[names.index(figure.identity.variant) % 4]
        if data.draw(st.booleans()):
            kind = data.draw(st.sampled_from(kinds))
        common = (figure.identity, figure.unit, figure.better, "because")
        if kind in ("check", "lost"):
            figures.append(Failed(*common, kind))
        elif kind == "unverified":
            figures.append(Unverified(*common))
        elif kind == "verified":
            figures.append(figure)
    judgement = replace(of_variants(whole, *names), figures=tuple(figures))
    root = checked(to_junit(judgement))
    red = int(root.get("failures", "0")) + int(root.get("errors", "0"))
    assert (red > 0) == (exit_status.status(judgement) == REGRESSION)


def test_a_suite_names_run_machine_and_toolchains(judgement: Judgement) -> None:
    for suite in checked(to_junit(judgement)):
        properties = {p.get("name"): p.get("value", "") for p in suite.findall("properties/property")}
        assert properties["run"] == judgement.run.id
        assert properties["machine"] == judgement.run.machine.name == suite.get("hostname")
        assert all(t.name in properties["toolchains"] for t in judgement.run.toolbox.toolchains)


def test_only_what_is_verified_has_a_time_and_it_is_that_of_a_step(judgement: Judgement) -> None:
    root = checked(to_junit(judgement))
    for test in root.iter("testcase"):
        if any(test.find(kind) is not None for kind in ("failure", "error", "skipped")):
            assert test.get("time") is None
    (peak,) = (
        f for f in judgement.figures
        if isinstance(f, Verified) and f.identity.workload == "dot" and f.identity.variant == "serial"
        and f.identity.toolchain == "gcc-native" and dict(f.identity.parameters) == {"n": 1_000_000}
    )  # fmt: skip
    (test,) = (
        t for t in root.iter("testcase")
        if t.get("classname") == "dot.serial" and "1e6" in t.get("name", "") and "(gcc-native)" in t.get("name", "")
    )  # fmt: skip
    assert float(test.get("time", "")) == pytest.approx(2e6 / (peak.estimate.median * 1e9), abs=1e-9)


def test_lost_launches_are_errors_and_what_was_never_launched_is_skipped(judgement: Judgement) -> None:
    first = judgement.figures[0]
    second = next(f for f in judgement.figures if f.identity.variant != first.identity.variant)
    rest = [f for f in judgement.figures if f.identity.variant != first.identity.variant and f is not second]
    odd = replace(
        judgement,
        figures=(
            Failed(first.identity, first.unit, first.better, "all 2 launches were lost: killed by signal 9", "lost"),
            Unverified(second.identity, second.unit, second.better, "never launched: the budget was spent"),
            *rest,
        ),
        lost=(f"{first.identity.workload}.x.gcc-base.1x1, launch 0: killed by signal 9",),
        run=replace(judgement.run, not_available=(Absent("intel MPI", "no mpiicpx here", "install it"),)),
    )
    root = checked(to_junit(odd))
    errors = root.findall(".//error")
    assert [e.get("message") for e in errors] == ["all 2 launches were lost: killed by signal 9"]
    assert root.get("errors") == "1" and exit_status.status(odd) == REGRESSION
    skipped = {e.get("message") for e in root.findall(".//skipped")}
    assert {"never launched: the budget was spent", "no mpiicpx here"} <= skipped
    assert "launch 0: killed by signal 9" in (root.findtext(".//system-err") or "")


@given(
    text=st.text(st.characters(codec=None, exclude_categories=())), place=st.sampled_from(["reason", "value", "run"])
)
def test_foreign_text_cannot_break_the_document(text: str, place: str) -> None:
    whole = of_variants(invented(), "fortran_loop")
    figure = next(f for f in whole.figures if isinstance(f, Failed))
    if place == "value":
        figure = replace(figure, identity=replace(figure.identity, parameters=(("op", text),)))
    if place == "reason":
        figure = replace(figure, reason=text)
    run = replace(whole.run, id=text) if place == "run" else whole.run
    root = checked(to_junit(replace(whole, run=run, figures=(figure,), lost=())))
    (test,) = root.findall("testsuite/testcase") if not run.not_available else root.findall("testsuite[1]/testcase")
    failure = test.find("failure")
    assert failure is not None
    if place == "reason" and text.isprintable() and text.isascii():
        assert failure.get("message") == text[:2000]


# --- ReFrame --------------------------------------------------------------------------------------

GOLDEN = ROOT / "tests" / "support" / "golden" / "firstlight_check.txt"


def test_the_check_is_the_template_with_the_catalogue_in_it() -> None:
    workloads = {name: w for name, w in catalogue.load(catalogue.roots()).items() if name in ("dot", "pingpong")}
    text = to_reframe(workloads, Path("/opt/first light/fl"))
    assert text == GOLDEN.read_text(), (
        "if the change is meant: write the new text to tests/support/golden/firstlight_check.txt"
    )


@settings(max_examples=30)
@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_titles_and_paths_are_literals(title: str, path: str) -> None:
    fl = Path(f"/opt/{path}/fl")
    tree = ast.parse(to_reframe({"dot": replace(dot(), title=title)}, fl))
    literals = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert title in literals and str(fl) in literals


def test_every_workload_of_the_catalogue_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["export", "reframe"]) == 0
    text = capsys.readouterr().out
    for name, workload in catalogue.load(catalogue.roots()).items():
        if any(workload.suites.values()):
            assert f'    "{name}": ' in text
    assert f'"{ROOT / "fl"}"' in text


def stand_at(folder: Path, after: str = "") -> Path:
    """`fl` as in a checkout that is set up already: the interpreter and the sources of this test."""
    fl = folder / "fl"
    fl.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT / "src"} FIRSTLIGHT_CACHE={CACHE} {sys.executable} -m firstlight "$@"\n{after}\n'
    )
    fl.chmod(fl.stat().st_mode | stat.S_IXUSR)
    return fl


CACHE = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl")).absolute()


def reframe(folder: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    """Run the check of `peak` in ReFrame with one toolchain for a few seconds."""
    beside = Path(sys.executable).with_name("reframe")
    program = str(beside) if beside.exists() else shutil.which("reframe")
    if program is None:
        pytest.skip("no ReFrame here: pip install reframe-hpc, which is among the requirements of the tests")
    check = folder / "firstlight_check.py"
    assert call(["export", "reframe", "-o", str(check)]) == 0
    words = [f"fl={folder / 'fl'}", "budget=4s", "options=--toolchain gcc-native --launches 1", *settings]
    return subprocess.run(
        [program, "-c", check, "-n", "firstlight_check%workload=peak", "--prefix", folder, "--nocolor", "-r",
         *(word for setting in words for word in ("-S", setting))],
        cwd=folder, capture_output=True, text=True, timeout=turns.PATIENCE,
        env={**os.environ, "RFM_ENABLE_RESULTS_DB": "0"},
    )  # fmt: skip


@pytest.mark.native
@pytest.mark.full
def test_reframe_runs_a_workload_and_knows_its_figures(tmp_path: Path) -> None:
    stand_at(tmp_path)
    done = reframe(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"P: peak\.fma rate precision=64 gcc-native: [\d.]+ Gflop/s", done.stdout)
    (figures,) = (tmp_path / "output").rglob("firstlight_check_*/figures.json")

    rows = json.loads(figures.read_text())
    assert rows and all(row["verdict"] == "verified" for row in rows)
    for row in rows:
        row["median"] *= 1e3  # an earlier run that was far better
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps(rows))
    slower = reframe(tmp_path, f"baseline={baseline}")
    assert slower.returncode != 0
    assert "performance error" in slower.stdout


@pytest.mark.native
@pytest.mark.full
def test_a_run_that_does_not_pass_fails_in_reframe(tmp_path: Path) -> None:
    stand_at(tmp_path, after='status=$?; [ "$1" = run ] && exit 1; exit $status')
    done = reframe(tmp_path)
    assert done.returncode != 0
    assert "firstlight run did not pass" in done.stdout


def test_states_are_fields_of_a_figure_in_json_and_columns_in_csv(judgement: Judgement) -> None:
    plain = next(f for f in judgement.figures if isinstance(f, Verified))
    table = figures.rows(replace(judgement, figures=(plain, replace(plain, states=States(1.0, 3.0, 8, 5)))))
    states = [row.get("states") for row in json.loads(figures.to_json(table))]
    assert states == [None, {"lower": 1.0, "upper": 3.0, "in_lower": 8, "in_upper": 5}]
    header, one, two = csv.reader(figures.to_csv(table).splitlines())
    columns = [header.index(f"states.{name}") for name in ("lower", "upper", "in_lower", "in_upper")]
    assert [[row[k] for k in columns] for row in (one, two)] == [[""] * 4, ["1.0", "3.0", "8", "5"]]


def test_a_row_says_of_which_run_machine_and_date_it_is(judgement: Judgement) -> None:
    rows = json.loads(figures.to_json(figures.rows(judgement)))
    run = judgement.run
    assert {(r["run"], r["machine"], r["date"]) for r in rows} == {(run.id, run.machine.name, "2026-11-18T11:06:40Z")}
    assert not any("values" in r or "times" in r for r in rows)


def test_launches_are_told_where_they_are_asked_for(judgement: Judgement) -> None:
    table = figures.rows(judgement, launches=True)
    for row, figure in zip(json.loads(figures.to_json(table)), judgement.figures, strict=True):
        known = isinstance(figure, Verified)
        assert row["values"] == (list(figure.estimate.launches) if known else [])
        assert len(row["times"]) == len(row["values"]) == (row["launches"] or 0)
    lines = list(csv.DictReader(figures.to_csv(table).splitlines()))
    assert len(lines) == sum(max(1, row.launches or 0) for row in table)
    values = [float(x["value"]) for x in lines if x["value"]]
    assert values == [v for f in judgement.figures if isinstance(f, Verified) for v in f.estimate.launches]
    assert {"launch", "value", "time"}.isdisjoint(figures.to_csv(figures.rows(judgement)).partition("\n")[0].split(","))
