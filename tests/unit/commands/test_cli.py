"""The command line as a user meets it: output, exit status, and one clear line for every error."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import turns
from bench import Bench
from commands import SIDE, Captured, call, needs
from firstlight import ROOT
from firstlight.commands import schema
from firstlight.commands.shared import command_line, reference, runs
from firstlight.core.errors import ENVIRONMENT, OK, REGRESSION, USAGE
from real_calls import MEASURED


def program(*words: str, cwd: Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, "-m", "firstlight", *words],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def test_help_names_every_command_and_the_exit_codes(capsys: Captured) -> None:
    for words in ([], ["--help"], ["-h"]):
        code, out, _ = call(capsys, *words)
        assert code == OK
        assert all(f"\n  {name} " in out for name in command_line.COMMANDS)
        assert "130  interrupted" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rnu"], "no command named 'rnu'; did you mean run?"),
        (["export", "juint"], "no command named 'juint'; did you mean junit?"),
        (["run", "dto"], "no workload, variant or chapter named 'dto'; did you mean dot?"),
        (["run", "dot.kahn"], "did you mean dot.kahan"),
        (["run", "--budget", "0"], "'0' is not a budget"),
        (["run", "--budget", "soon"], "'soon' is not a budget"),
        (["run", "--launches", "0"], "0 is not in the range"),
        (["run", "--toolchain", "icc-*"], "no toolchain matches 'icc-*'; available: gcc-base, gcc-fast"),
        (["run", "--mpi", "intel"], "no MPI library matches 'intel'; available: none"),
        (["run", "--sideways"], "--sideways"),
        (["run", "--quick", "--full"], "--quick and --full exclude each other; choose one suite"),
        (["run", "dot", "--placement", "1x2x1", "--dry-run"], "none of these programs uses MPI"),
        (["run", "dot", "--timeout", "0.01"], "no launch can end within --timeout"),
        (["run", "--resume", "20990101-000000-quick"], "no run named '20990101-000000-quick'"),
        (
            ["run", "--resume", "latest", "--full"],
            "accepts only --budget, --timeout, --placement, --storage and --results, not suite",
        ),
        (["run", "dot", "--resume", "latest"], "not workload"),
        (["figures"], "no run in results/ yet"),
        (["figures", "."], ".: not a run, because run.json is missing"),
        (["compare", "latest"], "name at least two runs to compare"),
        (["list", "nothing_like_it"], "./fl list"),
        (["schema", "nothing"], "no schema named 'nothing'"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(bench: Bench, capsys: Captured, words: list[str], expected: str) -> None:
    code, out, err = call(capsys, *words)
    assert code == USAGE
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("look")]
    assert len(lines) == 1 and lines[0].startswith("firstlight: ")
    assert expected in lines[0]


def test_run_prints_the_page_and_tells_why_it_stopped(bench: Bench, capsys: Captured) -> None:
    code, out, err = call(capsys, "run", "dot.serial", "--toolchain", "*-base")
    assert code == OK
    assert "best figure" in out and "report" in out
    assert "complete; every interval is within" in err.splitlines()[-1]
    assert [p.name for p in runs.find("latest").glob("launches/*.0000.jsonl")] == ["dot.serial.gcc-base.1x1.0000.jsonl"]


def test_a_dry_run_tells_how_long_it_takes_and_what_it_leaves_out(bench: Bench, capsys: Captured) -> None:
    code, out, _ = call(capsys, "run", "--dry-run", "--budget", "1s")
    assert code == OK and not bench.results.exists()
    last = out.splitlines()[-2:]
    assert last[0].startswith("plan: 2 of 4 cells, about ") and "figures for 0 to 1 of 1 row" in last[0]
    assert last[1] == "not in this budget: dot, 2 of 4 cells: ./fl run dot --quick --budget 1m"
    code, out, _ = call(capsys, "run", "--dry-run")
    assert "of the 2 min 50 s; figures for 1 of 1 row" in out.splitlines()[-1]


def test_a_chapter_is_a_word_like_a_workload(bench: Bench, capsys: Captured) -> None:
    bench.workload("far", "serial", toml="title = 'Far'\nquestion = 'How?'\n[[suites.standard]]\nvariants = ['*']\n")
    code, out, _ = call(capsys, "run", "node", "--dry-run", "--json")
    assert code == OK
    planned = json.loads(out)
    assert {c["program"]["workload"] for c in planned["cells"]} == {"dot"} and "far" not in str(planned["absent"])
    code, out, _ = call(capsys, "run", "node", "--standard", "--dry-run", "--json")
    assert {c["program"]["workload"] for c in json.loads(out)["cells"]} == {"far"}


def test_a_budget_that_is_too_small_names_what_it_left_out(bench: Bench, capsys: Captured) -> None:
    code, out, err = call(capsys, "run", "--budget", "1s")
    assert code == OK
    assert "plan: 2 of 4 cells" in err and "not in this budget: dot (2 of 4 cells)" in err
    assert "not started: " in err.splitlines()[-1]
    assert "not started in this budget: dot (" in out and "too few" not in out


def test_run_says_its_result_in_json(bench: Bench, capsys: Captured) -> None:
    bench.misbehave("wrong", "kahan")
    code, out, _ = call(capsys, "run", "--json", "--results", "elsewhere")
    assert code == REGRESSION
    summary = json.loads(out)
    assert (summary["verified"], summary["failed"], summary["state"]) == (4, 4, "complete")
    assert Path(summary["report"]).is_file() and summary["report"].startswith("elsewhere/")


def test_a_dry_run_builds_and_writes_nothing(bench: Bench, capsys: Captured) -> None:
    code, out, _ = call(capsys, "run", "--dry-run")
    assert code == OK
    assert "dot.serial.gcc-base.1x1  n=100,1000 --samples 5 --sample-seconds 0.002 --case-seconds 0.3" in out
    assert "4 programs to build, 4 cells" in out
    assert not Path("results").exists() and not any(bench.programs.iterdir())
    _, out, _ = call(capsys, "run", "--dry-run", "--json")
    assert len(json.loads(out)["cells"]) == 4


def test_resume_by_name_completes_a_run(bench: Bench, capsys: Captured) -> None:
    assert call(capsys, "run", "--budget", "0.05s")[0] == OK
    name = runs.find("latest").name
    code, _, err = call(capsys, "run", "--resume", name, "--budget", "1m")
    assert code == OK and "complete" in err.splitlines()[-1]
    assert runs.identifiers() == [name]


def test_report_is_written_again_elsewhere_and_with_a_comparison(
    result: Path, tmp_path: Path, capsys: Captured
) -> None:
    page = tmp_path / "page.html"
    code, out, _ = call(capsys, "report", "--output", str(page), "--against", result.name)
    assert code == OK and "best figure" in out
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    code, out, _ = call(capsys, "report", "--json")
    assert json.loads(out)["report"] == str(result / "report.html")


def test_latest_is_the_newest_by_time_and_number(tmp_path: Path) -> None:
    names = ["20260101-000000-quick-10", "20260101-000000-quick-2", "20260101-000000-quick", "20251231-235959-full"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    assert runs.identifiers(tmp_path) == names[::-1]


def test_an_unexpected_error_is_one_line_and_the_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path
) -> None:
    monkeypatch.setattr("firstlight.model.catalogue.load", lambda roots: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("FIRSTLIGHT_DEBUG", raising=False)
    code, _, err = call(capsys, "list")
    assert code == ENVIRONMENT
    assert err.startswith("firstlight: internal error, ZeroDivisionError") and err.count("\n") == 1
    kept = Path(err.strip().rpartition(" ")[2])
    assert "ZeroDivisionError" in kept.read_text()
    monkeypatch.setenv("FIRSTLIGHT_DEBUG", "1")
    assert "Traceback" in call(capsys, "list")[2]


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """The command is `./fl schema run | head -1`, with a page larger than the buffer of a pipe."""
    script = f"{shutil.which('env')} PYTHONPATH={ROOT / 'src'} {sys.executable} -m firstlight schema run; echo $? >&2"
    done = subprocess.run(["bash", "-c", f"({script}) | true"], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert done.stderr.strip() in ("0", "141")


def test_the_program_itself(tmp_path: Path) -> None:
    done = program("--version", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("firstlight ")
    done = program("run", "--budget", "x", cwd=tmp_path)
    assert done.returncode == USAGE and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["report", "--output"], ["export", "junit", "-o"]])
def test_a_file_that_cannot_be_written_is_told_by_its_name(result: Path, capsys: Captured, words: list[str]) -> None:
    code, out, err = call(capsys, *words, "nowhere/page")
    assert (code, out, err) == (USAGE, "", "firstlight: nowhere/page: there is no folder nowhere\n")


def test_a_hint_follows_a_question_without_another_mark(capsys: Captured) -> None:
    assert "did you mean figures? `" in call(capsys, "figure")[2]
    assert "'x' is not a whole number; `" in call(capsys, "run", "--launches", "x")[2]


def test_a_group_without_its_command_shows_its_help_as_it_is(capsys: Captured) -> None:
    code, out, err = call(capsys, "export")
    assert code == USAGE and out == ""
    assert "\n  junit " in err and "\n  reframe " in err and "\n  hpcc " in err


@pytest.mark.parametrize("typed", ["./fl", "../tools/fl", "/opt/first light/fl"])
def test_hints_work_as_the_program_was_called(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CALLED", typed)
    shown = f"'{typed}'" if " " in typed else typed
    assert f"`{shown} run --help` shows the options" in call(capsys, "run", "--sideways")[2]
    assert f"`{shown} run` makes one" in call(capsys, "figures")[2]
    assert f"measure one: {shown} run NAME or {shown} run NAME.VARIANT" in call(capsys, "list")[1]
    assert f"Usage: {shown} export" in call(capsys, "export")[2]
    for words, hint in ((["run"], "list WORKLOAD"), (["export", "junit"], "export junit --against"), ([], "")):
        text = " ".join(call(capsys, *words, "--help")[1].split())
        assert f"{shown} {hint}" in text and (shown == "./fl" or "./fl" not in text)


@pytest.mark.parametrize("words", [("test", "-k", "x"), ("help", "test")])
def test_the_script_of_the_checkout_runs_the_tests(words: tuple[str, ...], capsys: Captured) -> None:
    code, _, err = call(capsys, *words)
    assert code == USAGE and f"{ROOT}/fl test --help" in err and err.count("\n") == 1


def test_fl_tells_how_it_was_called(tmp_path: Path) -> None:
    """Through a link from elsewhere, and by a name without a folder."""
    environment = tmp_path / "cache" / "venv" / "bin"
    environment.mkdir(parents=True)
    (environment / "python").write_text('#!/bin/sh\necho "$FIRSTLIGHT_CALLED"\n')
    (environment / "python").chmod(0o755)
    shutil.copy(environment / "python", environment / "pip")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "fl", checkout / "fl")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    (tmp_path / "link").symlink_to("checkout/fl")
    stamp = subprocess.run(["cksum"], stdin=(checkout / "pyproject.toml").open(), capture_output=True, text=True).stdout
    (environment.parent / "stamp").write_text(f"{stamp.strip()} {checkout.resolve()}\n")
    variables = os.environ | {"FIRSTLIGHT_CACHE": str(tmp_path / "cache")}
    for words, expected in ((["../link"], "../link"), (["./fl"], "./fl"), (["sh", "fl"], "./fl")):
        done = subprocess.run(words, cwd=checkout, env=variables, capture_output=True, text=True, timeout=60)
        assert done.stdout == f"{expected}\n", done.stderr


@pytest.mark.parametrize("columns", [60, 100])
def test_pages_keep_to_the_columns_of_the_reader(
    result: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (["report"], ["compare", "latest", "latest", "--all"]):
        out = call(capsys, *words)[1]
        long = [x for x in out.splitlines() if len(x) > columns]
        assert not [x for x in long if "./fl" not in x and "report:" not in x], words  # paths and commands are not cut


def test_no_colour_where_there_is_no_terminal_or_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from firstlight.commands.shared.output import colour

    assert not colour()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour()


@pytest.mark.native
@pytest.mark.newcomer
@pytest.mark.alone
def test_the_whole_way_with_real_programs(tmp_path: Path) -> None:
    """One variant with all flag sets of the first compiler: built, launched, verified, reported, checked, compared."""
    words = ["--launches", "1", "--budget", "10m"]  # each toolchain is launched, however slow the machine is
    done = program("run", "dot.kahan", "--toolchain", "gcc-*", *words, cwd=tmp_path, timeout=turns.PATIENCE)
    assert done.returncode in MEASURED, done.stderr
    assert "figures verified" in done.stdout
    rows = json.loads(program("figures", "--json", cwd=tmp_path).stdout)
    verdicts = {(row["toolchain"], row["verdict"]) for row in rows}
    assert {("gcc-base", "verified"), ("gcc-native", "verified"), ("gcc-fast", "failed")} <= verdicts
    assert ("gcc-fast", "verified") not in verdicts
    checked = program("check", cwd=tmp_path)
    assert checked.returncode == OK, checked.stdout
    again = program("run", "--resume", "latest", "--budget", "5s", cwd=tmp_path, timeout=turns.PATIENCE)
    assert again.returncode in MEASURED, again.stderr


@pytest.mark.parametrize("name", list(schema.published()))
def test_the_published_schemas_are_those_of_the_types(name: str) -> None:
    published = (ROOT / "docs" / "schema" / f"{name}.json").read_text(encoding="utf-8")
    assert published == schema.schema(name), "run: firstlight schema --write docs/schema"


@needs(*SIDE)
def test_no_schema_is_published_that_is_not_there_any_more() -> None:
    assert {p.stem for p in (ROOT / "docs" / "schema").glob("*.json")} == set(schema.published())


def test_what_the_commands_print_follows_the_schemas(result: Path, capsys: Captured) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    printed = {
        "figures": call(capsys, "figures", "--json")[1],
        "list": call(capsys, "list", "--json")[1],
        "check": call(capsys, "check", "--json")[1],
        "compare": call(capsys, "compare", "latest", "latest", "--json")[1],
        "report": call(capsys, "report", "--json")[1],
        "plan": call(capsys, "run", "--dry-run", "--json")[1],
        "doctor": call(capsys, "doctor", "--json")[1],
        "run": (result / "run.json").read_text(),
    }
    for name, text in printed.items():
        jsonschema.validate(json.loads(text), json.loads(schema.schema(name)))
    lines = [line for path in (result / "launches").iterdir() for line in path.read_text().splitlines()]
    validator = jsonschema.Draft202012Validator(json.loads(schema.schema("launch-line")))
    for line in lines:
        validator.validate(json.loads(line))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{"workload": 1}], json.loads(schema.schema("figures")))


def test_relative_folders_are_left_out_of_search_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """This also applies to processes started from here: a compiler's own calls, a launched program."""
    names = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
    for name in names:
        monkeypatch.setenv(name, ":.:bin:/a b:../x:/c:")
    with pytest.raises(SystemExit):
        command_line.main(["--version"])
    assert [os.environ[name] for name in names] == ["/a b:/c"] * 3
    monkeypatch.setenv("PATH", ":.")
    with pytest.raises(SystemExit):
        command_line.main(["--version"])
    assert os.environ["PATH"] == os.defpath


@needs(*SIDE)
def test_the_reference_is_that_of_the_commands() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == reference.reference(), "run: python -m firstlight.commands.shared.reference > docs/cli.md"


@needs(*SIDE)
def test_each_command_has_a_man_page(tmp_path: Path) -> None:
    reference.write_man_pages(tmp_path / "man1")
    pages = {path.stem: path.read_text() for path in (tmp_path / "man1").iterdir()}
    assert {"firstlight", "firstlight-run", "firstlight-tune", "firstlight-tune-loop"} <= set(pages)
    assert set(pages) >= {f"firstlight-{name}" for name in command_line.COMMANDS}
    assert r"\-\-budget" in pages["firstlight-run"] and not any("./fl" in text for text in pages.values())
    assert "\n  test " not in pages["firstlight"], "only the script of a checkout runs the tests"
    if groff := shutil.which("groff"):
        files = sorted((tmp_path / "man1").iterdir())
        done = subprocess.run([groff, "-man", "-ww", "-z", *files], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_page_names_the_machine_as_the_command_line_or_the_site_does(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("FIRSTLIGHT_NAME", "FIRSTLIGHT_SITE"):
        monkeypatch.setenv(name, "")  # the command line sets them, and they go with the test
    site = tmp_path / "site.toml"
    site.write_text('name = "Frontier"\n')
    for words, name in ((["--site-file", str(site)], "Frontier"), (["--name", "Login 2"], "Login 2")):
        assert call(capsys, *words, "run", "dot.serial", "--launches", "6")[0] == OK
        page = (runs.find("latest") / "report.html").read_text(encoding="utf-8")
        assert f"First light of {name}" in page.replace("\u00a0", " ")
    assert call(capsys, "--name", "a\nb", "run")[0] == USAGE


@pytest.mark.parametrize("words", [(), ("bench",), ("tune", "loop")])
def test_help_shows_what_the_option_shows(words: tuple[str, ...], capsys: Captured) -> None:
    code, shown, _ = call(capsys, "help", *words)
    assert (code, shown) == (OK, call(capsys, *words, "--help")[1])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("zzz",), "no command named 'zzz'; the commands are bench, check"),
        (("bench", "more"), "bench has no subcommands"),
        (("tune", "lop"), "no command named 'lop'; did you mean loop?"),
        (("nodse",), "no command named 'nodse'; did you mean nodes?"),
    ],
)
def test_help_for_an_unknown_command_is_one_line(words: tuple[str, ...], expected: str, capsys: Captured) -> None:
    code, _, err = call(capsys, "help", *words)
    assert code == USAGE and expected in err and len(err.splitlines()) == 1


def test_completion_after_an_unknown_command_continues_with_the_commands() -> None:
    completion = ShellComplete(command_line.group, {}, "fl", command_line.COMPLETE)
    assert {one.value for one in completion.get_completions(["rnu"], "")} == {*command_line.COMMANDS}


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    """In a real bash, as `fl`, as `./fl` and as `firstlight`."""
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    start = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m firstlight "$@"\n'
    for name in ("fl", "firstlight"):
        (tmp_path / name).write_text(start)
        (tmp_path / name).chmod(0o755)
    own = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    script = """
    eval "$(fl completion bash)"
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            $(complete -p "${1##*/}" | sed 's/.*-F \\([^ ]*\\).*/\\1/') "$1"; echo "${COMPREPLY[*]}"; }
    compopt() { :; }
    try fl comp; try ./fl bench --li; try firstlight run --sta; try fl export h; try fl export junit --ag
    """
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=own, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "compare completion", "--like --limit", "--standard", "hpcc", "--against",
    ], done.stderr  # fmt: skip
