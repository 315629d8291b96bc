"""Results of other tools become a run: real outputs, cut outputs, corrupt outputs."""

from __future__ import annotations

import html
import json
import math
import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from commands import Captured, call, examples
from firstlight.analysis import stored
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Figure, Reported, Unverified
from firstlight.commands.import_ import tools
from firstlight.commands.import_.results import Results, UnreadableError
from firstlight.core.errors import ENVIRONMENT, INCONCLUSIVE, OK, REGRESSION, USAGE
from firstlight.results.record import Check, Sample
from firstlight.results.store import layout

DATA = Path(__file__).parents[2] / "support" / "imported"
"""Outputs of the tools themselves, at tiny sizes: hyperfine 1.15.0, OSU 7.4, IMB 2021.11, STREAM 5.10, HPL 2.3,
HPCC 1.5.0, IOR 4.1.0+dev and ReFrame 4.10.4, with Open MPI 4.1.4. Only the kernel's release in imb.txt is shortened."""
FILES = sorted(path.name for path in DATA.iterdir())
KNOWN = {
    # the file: the tool, the number of its cases, and the value of one execution
    "hyperfine.json": ("hyperfine", "", 2, "sort --version", {}, "time", None),
    "hyperfine-sweep.json": ("hyperfine", "", 2, "seq {n}", {"n": 20000}, "time", None),
    "osu-latency.txt": ("OSU Micro-Benchmarks", "7.4", 11, "Latency", {"bytes": 8}, "latency", 0.37),
    "osu-latency-validated.txt": ("OSU Micro-Benchmarks", "7.4", 7, "Latency", {"bytes": 64}, "latency", 0.53),
    "osu-bw.txt": ("OSU Micro-Benchmarks", "7.4", 11, "Bandwidth", {"bytes": 1024}, "bandwidth", 2502.69),
    "osu-allreduce.txt": ("OSU Micro-Benchmarks", "7.4", 7, "Allreduce Latency", {"bytes": 8}, "max_latency", 0.84),
    "osu-barrier.txt": ("OSU Micro-Benchmarks", "7.4", 1, "Barrier Latency", {}, "latency", 2.04),
    "osu-mbw-mr.txt": (
        "OSU Micro-Benchmarks", "7.4", 7, "Multiple Bandwidth / Message Rate",
        {"bytes": 64, "pairs": 1, "window_size": 64}, "message_rate", 4970043.84,
    ),
    "imb.txt": ("Intel MPI Benchmarks", "2021.11", 23, "PingPong", {"bytes": 64, "processes": 2}, "bandwidth", 135.04),
    "stream.txt": ("STREAM", "5.10", 4, "Triad", {"elements": 200000, "threads": 2}, "bandwidth", 81508.7),
    "hpl.txt": (
        "HPL", "2.3", 4, "Linpack", {"algorithm": "WR11C2R4", "n": 200, "nb": 64, "p": 1, "q": 2}, "flop_rate", 16.718
    ),
    "hpcc.txt": ("HPC Challenge", "1.5.0", 31, "StarSTREAM_Copy", {"elements": 26666, "processes": 2}, "bandwidth", 0),
    "ior.json": (
        "IOR", "4.1.0+dev", 2, "read",
        {"api": "POSIX", "block": 262144, "transfer": 65536, "segments": 2, "processes": 2, "nodes": 1}, "bandwidth", 0,
    ),
    "reframe.json": (
        "ReFrame", "4.10.4", 2, "SumTest",
        {"n": "1000", "system": "generic:default", "environment": "builtin", "processes": 1}, "rate", 0,
    ),
}  # fmt: skip


def read(name: str) -> Results:
    return tools.read(name, (DATA / name).read_bytes())[1]


def figures(run: str) -> tuple[Figure, ...]:
    return stored.judged(Path("results") / run).judgement.figures


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("name", KNOWN)
def test_a_real_output_is_read(name: str) -> None:
    tool, version, cases, benchmark, parameters, metric, value = KNOWN[name]
    found = read(name)
    assert (found.tool, found.version, len(found.cases)) == (tool, version, cases)
    (case,) = (c for c in found.cases if c.name == benchmark and c.parameters == parameters)
    assert metric in found.quantities
    text = (DATA / name).read_text()
    if value:
        assert case.executions[0].values[metric] == value
    else:  # as it is written in the file
        assert all(re.search(rf"\b{re.escape(f'{e.values[metric]:.10g}')}", text) for e in case.executions)


def test_every_tool_has_a_real_output() -> None:
    assert {tools.read(name, (DATA / name).read_bytes())[0] for name in FILES} == tools.readers().keys()


def test_executions_follow_each_other() -> None:
    first, second, *_ = read("hyperfine-before.json").cases[0].executions
    assert first.after == 0 and second.after == first.values["time"] > 2


def test_a_run_of_all_tools_is_sound(capsys: Captured) -> None:
    files = [str(DATA / name) for name in KNOWN]
    code, out, err = call(capsys, "import", *files, "--as", "all")
    assert code == OK, err
    assert err.strip() == (
        "firstlight: reframe.json: WrongTest: fail: sanity error: pattern '5' not found in 'rfm_job.out', and "
        "contains no figure"
    )
    who = "Reported by OSU Micro-Benchmarks 7.4 and not verified by firstlight."
    assert f"{who} No ranking, ceiling or finding uses these figures." in " ".join(out.split())
    page = (Path("results") / "all" / layout.REPORT).read_text()
    assert page.count("No ranking, ceiling or finding uses these figures.") == len(tools.readers())
    judgement = stored.judged(Path("results/all")).judgement
    assert judgement.figures and all(isinstance(f, Reported) for f in judgement.figures)
    assert not (judgement.findings or judgement.limits or judgement.lost)
    code, out, _ = call(capsys, "check", "all")
    assert code == OK and "no defects" in out
    rows = json.loads(call(capsys, "figures", "all", "--json")[1])
    assert {row["verdict"] for row in rows} == {"reported"} and all(row["median"] is not None for row in rows)
    assert "reported by HPL 2.3, not verified here" in {row["reason"] for row in rows}
    assert "0 verified, " in (text := call(capsys, "figures", "all")[1]) and "reported by other tools of" in text
    tests = ElementTree.fromstring(call(capsys, "export", "junit", "all")[1]).iter("testcase")
    assert all(test.find("skipped") is not None for test in tests)


def test_the_files_are_kept_in_the_run(capsys: Captured) -> None:
    call(capsys, "import", str(DATA / "stream.txt"), "--as", "s")
    (kept,) = Path("results/s/documents").iterdir()
    assert kept.read_bytes() == (DATA / "stream.txt").read_bytes()
    kept.write_bytes(b"STREAM")
    assert call(capsys, "check", "s")[0] == REGRESSION


def test_what_was_not_checked_here_is_never_verified(capsys: Captured) -> None:
    """A run of another user may contain anything: its reported values are not verified, and an imported run has no
    verified ones.
    """
    call(capsys, "import", str(DATA / "stream.txt"), "--as", "s")
    judgement, workloads, _ = stored.judged(Path("results/s"))
    run, (record, *_) = judgement.run, judgement.records
    (brought,) = run.brought
    own = replace(run, brought=(replace(brought, reporter=None),))
    assert {type(f) for f in judge(own, judgement.records, workloads).figures} == {Unverified}
    case = record.cases[0]
    sample = Sample(case.case, 0, 1.0, 1.0, 1.0, 1.0, {"bandwidth": (1.0, 1.0, 1.0)})
    checked = replace(record, reported=(), samples=(sample,), checks=(Check(case.case, "after", True, 0.0, 0.0, "it"),))
    found = [
        f for f in judge(run, [checked], workloads).figures if f.identity.variant == record.start.cell.split(".")[1]
    ]
    assert [type(f) for f in found] == [Reported]


def test_runs_of_one_tool_are_compared(capsys: Captured) -> None:
    for k, name in enumerate(("before", "after"), 1):
        words = ("--machine", "node", "--date", f"2026-11-0{k}", "--as", name)
        assert call(capsys, "import", str(DATA / f"hyperfine-{name}.json"), *words)[0] == OK
    code, out, _ = call(capsys, "compare", "before", "after")
    text = " ".join(out.split())
    assert code == REGRESSION and "worse A B B / A hyperfine.app time (imported)" in text
    assert "marked (imported) are reported by hyperfine (version unknown) and not verified by firstlight" in text
    code, out, _ = call(capsys, "compare", "before", "after", "--side-by-side")
    assert "Reported by other tools, not verified" in out and "2.50 s" in out
    text = " ".join(call(capsys, "history")[1].split())
    assert "history of node · 2 runs, 1 Nov 2026 to 2 Nov 2026" in text
    assert "1 figure from other tools, marked (imported) and not verified by firstlight" in text
    call(capsys, "history", "--accept", "before")
    assert call(capsys, "history")[0] == REGRESSION
    found = json.loads(call(capsys, "history", "--json")[1])
    assert [series["reported"] for series in found["figures"]] == [True]


def test_files_of_one_benchmark_are_values_of_one_figure(capsys: Captured) -> None:
    files = [str(DATA / name) for name in ("osu-latency.txt", "osu-latency-2.txt", "osu-latency-validated.txt")]
    assert call(capsys, "import", *files, "--as", "r")[0] == OK
    found = {f.identity.parameters: f for f in figures("r")}
    one = found[(("bytes", 1),)]
    assert isinstance(one, Reported) and sorted(one.estimate.launches) == [0.48, 0.49, 0.95]
    assert one.estimate.times == () and one.reporter == "OSU Micro-Benchmarks 7.4"  # the files have no date
    call(capsys, "import", files[1], "--as", "b")
    assert call(capsys, "compare", "r", "b")[0] == INCONCLUSIVE  # too few values


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("hyperfine-failing.json", "", "", "hyperfine reports exit status 1"),
        ("osu-latency-validated.txt", "Pass", "Fail", "OSU Micro-Benchmarks report that validation failed"),
        (
            "stream.txt",
            "Solution Validates:",
            "Failed Validation on array a[], AvgRelAbsErr > epsilon",
            "STREAM reports",
        ),
        ("hpl.txt", "PASSED", "FAILED", "HPL reports that its residual check failed: 7.26887203e-03"),
        ("hpcc.txt", "Success=1", "Success=0", "HPC Challenge reports that a test failed"),
    ],
)
def test_a_failure_that_the_tool_reports_is_a_failure(
    name: str, old: str, new: str, reason: str, capsys: Captured
) -> None:
    """The failing outputs but hyperfine's are real ones with the words that the source of the tool prints then."""
    Path(name).write_text((DATA / name).read_text().replace(old, new, 1) if old else (DATA / name).read_text())
    code, _, err = call(capsys, "import", name, "--as", "r")
    assert code == REGRESSION, err
    failed = [f for f in figures("r") if isinstance(f, Failed)]
    assert failed and all(reason in f.reason for f in failed)


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "what"),
    [
        ("osu-latency.txt", "8                       0.37", "8", None, "has 1 value where 2 are expected"),
        ("osu-latency.txt", "0.37", "nan", None, "a value is nan; figures must be finite and not negative"),
        ("osu-latency.txt", "0.37", "0,37", None, "'0,37' is not a number"),
        ("osu-latency.txt", "# OSU", "# USO", 1, "is not a result of "),
        ("osu-latency.txt", "16  ", "-16  ", None, "'-16' is not a whole number"),
        ("osu-latency-validated.txt", "Pass", "Maybe", None, "'Maybe' is neither Pass nor Fail"),
        ("imb.txt", "t[usec]", "t[hour]", None, "the column 't[hour]' is unknown"),
        ("imb.txt", "Benchmarks 2021.11", "Benchmarks 4.1", None, "is of version 4.1; only 2018 and later, with MB"),
        ("imb.txt", "Sat Nov", "Sam Nov", None, "'Sam Nov 28 04:25:35 2026' is not a date"),
        ("stream.txt", "Copy:", "Copy", None, "is a truncated row"),
        ("stream.txt", "Triad:", "Tri:", -1, "is truncated: only 3 of the four rates"),
        ("hpl.txt", "6.4877e+00", "", None, "has 6 values where 7 are expected"),
        ("hpl.txt", "Finished      4", "Finished      5", -1, "contains 4 results but reports 5"),
        ("hpcc.txt", "StarFFT_Gflops=", "StarFFT_Gflops=x", None, "'x"),
        ("hpcc.txt", "CommWorldProcs=2", "CommWorldProcs 2", None, "is not a NAME=VALUE line of the summary"),
        ("ior.json", '"tests"', "tests", None, "is not complete JSON"),
        ("ior.json", '"api": "POSIX", \n      "platform"', '"platform"', 0, "missing required field `api`"),
        ("hyperfine.json", '"times": [', '"times": [], "old": [', 0, "$.results[0].times contains no execution time"),
        ("reframe.json", "perfvalues", "perf", 1, "contains no ReFrame figure"),
    ],
)  # fmt: skip
def test_a_corrupt_file_is_refused_by_line(
    name: str, old: str, new: str, line: int | None, what: str, capsys: Captured
) -> None:
    """`line`: None: the changed one; -1: the last one; 0: the message names a key instead."""
    text = (DATA / name).read_text()
    numbers = {None: text[: text.index(old)].count("\n") + 1, -1: text.count("\n")}
    at = numbers.get(line, line)
    Path(name).write_text(text.replace(old, new) if name == "reframe.json" else text.replace(old, new, 1))
    code, out, err = call(capsys, "import", name)
    assert (code, out) == (USAGE, "") and err.count("\n") == 1, err
    assert err.startswith(f"firstlight: {name}:{at}: {what}" if at else f"firstlight: {name}: "), err
    assert what in err and err.endswith("nothing was imported\n") and not Path("results").exists()


def test_one_bad_file_among_good_ones_imports_nothing(capsys: Captured) -> None:
    Path("bad.txt").write_text("hello\n")
    code, _, err = call(capsys, "import", str(DATA / "stream.txt"), "bad.txt")
    assert code == USAGE and err.startswith("firstlight: bad.txt:1: is not a result of HPC Challenge, HPL, hyperfine")
    assert not Path("results").exists()


@pytest.mark.parametrize("name", ["imb.txt", "stream.txt", "hpl.txt", "hpcc.txt", "ior.json", "hyperfine.json"])
def test_a_file_that_is_cut_anywhere_is_refused(name: str) -> None:
    data = (DATA / name).read_bytes()
    ends = [m.end() for m in re.finditer(rb"\n", data.rstrip())]
    whole = read(name)
    for end in [*ends, *range(0, len(data.rstrip()), 97)]:
        try:
            assert tools.read(name, data[:end])[1] == whole  # what was cut off is after the results
        except UnreadableError as error:
            assert error.line >= 1 or "Finished" in str(error)
        else:
            assert end > 0.9 * len(data)


def test_an_osu_table_that_is_cut_in_a_line_is_refused() -> None:
    """The benchmark writes no end, so a table that is cut after a whole line has fewer sizes."""
    data = (DATA / "osu-latency.txt").read_bytes()
    for end in range(1, len(data)):
        if data[end - 1 : end] != b"\n":
            with pytest.raises(UnreadableError):
                tools.read("osu.txt", data[:end])


def test_the_machine_and_the_date_are_those_of_the_file_else_those_given(capsys: Captured) -> None:
    def described(run: str) -> tuple[str, bool]:
        found = stored.judged(Path("results") / run).judgement.run
        return found.machine.name, found.undated

    assert call(capsys, "import", str(DATA / "ior.json"), "--as", "a")[0] == OK
    assert described("a") == ("node01", False)
    code, out, _ = call(capsys, "import", str(DATA / "stream.txt"), "--as", "b")
    assert code == OK and "STREAM on unknown machine\n" in out.replace(" · ", "\n") and "date unknown" in out
    assert described("b") == ("unknown machine", True)
    call(capsys, "import", str(DATA / "stream.txt"), "--as", "c", "--machine", "node07", "--date", "2026-10-01")
    assert described("c") == ("node07", False)
    other = (DATA / "hpcc.txt").read_text().replace("Hostname: 'node01'", "Hostname: 'node02'")
    Path("hpcc.txt").write_text(other)
    code, _, err = call(capsys, "import", str(DATA / "ior.json"), "hpcc.txt")
    assert code == USAGE and "ior.json is from machine 'node01', hpcc.txt from 'node02'" in err


def test_the_command_of_the_page_imports_the_same_with_its_options(capsys: Captured) -> None:
    for name in ("osu-latency.txt", "osu-bw.txt"):
        shutil.copy(DATA / name, name)
    options = ("--machine", "node07", "--date", "2026-10-01", "--parameter", "processes=2")
    assert call(capsys, "import", *options, "osu-latency.txt", "osu-bw.txt", "--as", "a")[0] == OK
    page = Path("results/a/report.html").read_text()
    assert "bytes = 1 KiB" in page and "One command for each program" not in page and "0 programs" not in page
    typed = html.unescape(re.findall("<code>(.*?) import (.*?)</code>", page)[0][1])
    assert call(capsys, "import", *shlex.split(typed), "--as", "b")[0] == OK
    first, second = (stored.judged(Path("results") / run).judgement for run in "ab")
    assert {f.identity for f in first.figures} == {f.identity for f in second.figures}
    assert (first.run.started, first.run.machine) == (second.run.started, second.run.machine)


def test_this_machine_has_the_name_of_its_runs(capsys: Captured) -> None:
    from firstlight.system import machine

    call(capsys, "import", str(DATA / "stream.txt"), "--as", "h", "--machine", "here")
    found = stored.judged(Path("results/h")).judgement.run.machine
    assert found.name == machine.discover().name and found.processor == ""  # its state then is not known


def test_versions_of_a_tool_are_runs_of_their_own(capsys: Captured) -> None:
    Path("old.txt").write_text((DATA / "osu-bw.txt").read_text().replace("v7.4", "v5.9"))
    code, _, err = call(capsys, "import", str(DATA / "osu-bw.txt"), "old.txt")
    assert code == USAGE and "old.txt is of OSU Micro-Benchmarks 5.9, osu-bw.txt of OSU Micro-Benchmarks 7.4" in err


def test_a_parameter_that_the_tool_does_not_print_is_given(capsys: Captured) -> None:
    """OSU prints no number of processes, and 2 and 64 are not the same figure."""
    words = ("import", str(DATA / "osu-barrier.txt"), "--parameter")
    for number in "28":
        assert call(capsys, *words, f"processes={number}", "--as", f"on{number}")[0] == OK
    assert [f.identity.parameters for f in figures("on8")] == [(("processes", 8),)]
    assert "only in A" in call(capsys, "compare", "on2", "on8")[1]
    code, _, err = call(capsys, "import", str(DATA / "stream.txt"), "--parameter", "threads=1")
    assert code == USAGE and "--parameter threads: stream.txt contains this parameter" in err
    for wrong in ("threads", "threads=1,2", "=1"):
        code, _, err = call(capsys, *words, wrong)
        assert code == USAGE and err.count("\n") == 1, err


def test_one_measurement_is_not_counted_twice(capsys: Captured) -> None:
    Path("copy.txt").write_bytes((DATA / "stream.txt").read_bytes())
    code, _, err = call(capsys, "import", str(DATA / "stream.txt"), "copy.txt")
    assert code == USAGE and "copy.txt and stream.txt have the same content; import one of them" in err


def test_an_imported_run_is_not_resumed(capsys: Captured) -> None:
    call(capsys, "import", str(DATA / "stream.txt"), "--as", "s")
    code, _, err = call(capsys, "run", "--resume", "s")
    assert code == USAGE and "the results were imported, so there is nothing to resume" in err


def test_a_run_that_cannot_be_written_leaves_nothing(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("firstlight.results.store.seal.write", full)
    code, _, err = call(capsys, "import", str(DATA / "stream.txt"))
    assert (code, err) == (ENVIRONMENT, "firstlight: cannot write results: the disk is full; nothing was imported\n")
    assert not list(Path("results").iterdir())


def test_the_examples_work_as_typed(capsys: Captured) -> None:
    for path in DATA.iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    for words in examples("import", capsys):
        code, out, err = call(capsys, *words)
        assert (code, err) == (OK, "") and "reported by other tools" in out, words


def sound(name: str, data: bytes) -> None:
    """Check that a file is read as figures that a run can contain, or refused with one line."""
    try:
        _, found = tools.read(name, data)
    except UnreadableError as error:
        assert str(error) and "\n" not in str(error)
        return
    assert found.cases
    for case in found.cases:
        assert case.executions
        for one in case.executions:
            assert one.values.keys() <= found.quantities.keys()
            assert all(math.isfinite(v) and v >= 0 for v in one.values.values())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    sound("any", data)


@pytest.mark.parametrize("name", FILES)
def test_any_change_of_a_real_output_is_read_or_refused(name: str) -> None:
    data = (DATA / name).read_bytes()

    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(0, len(data)),
        st.integers(0, 40),
        st.one_of(st.binary(max_size=30), st.sampled_from([b"1e999", b"-1", b"nan", b'"', b"{}", b"\n", b"9" * 40])),
    )
    def changed(start: int, length: int, other: bytes) -> None:
        sound(name, data[:start] + other + data[start + length :])

    changed()


@pytest.mark.full
@pytest.mark.parametrize("name", FILES)
def test_any_change_of_a_real_output_ends_in_a_run_or_one_line(name: str, capsys: Captured) -> None:
    data = (DATA / name).read_bytes()

    @settings(max_examples=8, deadline=None)
    @given(st.integers(0, len(data)), st.integers(0, 9), st.binary(max_size=9))
    def changed(start: int, length: int, other: bytes) -> None:
        Path(name).write_bytes(data[:start] + other + data[start + length :])
        code, out, err = call(capsys, "import", name)
        imported = code in (OK, REGRESSION) and "not verified by firstlight" in " ".join(out.split())
        assert imported or (code == USAGE and err.count("\n") == 1)

    changed()
