"""Commands of a user: a run from its command line to its page."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import turns
from bench_runs import run
from commands import Captured, call, examples
from firstlight import ROOT
from firstlight.commands.bench import request
from firstlight.core.errors import ENVIRONMENT, INCONCLUSIVE, INTERRUPTED, OK, REGRESSION, USAGE
from firstlight.execute.observer import execution
from firstlight.model.plan import EFFORT, Cell, ExternalCommand, Placement, Program
from firstlight.model.plan.effort import EXTERNAL
from firstlight.runner import costs, external_commands
from firstlight.system.machine import cache_directory

PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(
        "import sys, time\n"
        "n, out = int(sys.argv[1]), sys.argv[2]\n"
        "time.sleep(0.001 * n)\n"
        "open(out, 'w').write(f'sum {n * (n + 1) // 2}')\n"
        "print(f'rate: {n}.5 things/s')\n"
    )
    return tmp_path


def test_a_run_has_a_page_figures_and_a_seal(here: Path, capsys: Captured) -> None:
    options = ["--sweep", "n=5,10", "--figure", r"rate=rate: (\S+)", "--unit", "1/s", "--expect", "things"]
    command = f"{PYTHON} app.py {{n}} {{out}}"
    code, found, err = (
        run(capsys, *options, "--like", "{out}=want.{n}", "--tolerance", "0.01", "--", command)
        if ((here / "want.5").write_text("sum 15.1") and (here / "want.10").write_text("sum 55"))
        else (1, [], "")
    )
    assert code == OK, err
    by = {(f["metric"], f["parameters"]["n"]): f for f in found}  # type: ignore[index]
    assert by["rate", 5]["median"] == 5.5 and by["rate", 10]["unit"] == "1/s"
    assert by["time", 10]["median"] > 0.010 and all(f["verdict"] == "verified" for f in found)  # type: ignore[operator]
    assert call(capsys, "check", "r")[0] == OK
    page = (here / "results" / "r" / "report.html").read_text()
    assert "its output file (within a relative 0.01 of the reference) and the required text in its output" in page
    assert call(capsys, "compare", "r", "r")[0] != USAGE
    assert call(capsys, "export", "junit", "r")[0] == OK
    assert call(capsys, "history", "--output", "over-time.html")[0] == OK
    assert "Your programs" in (here / "over-time.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--check", "grep -q nonsense {out}"], "the check command ended with status 1"),
        (["--expect", "nonsense"], "did not print the expected text"),
        (["--like", "{out}=app.py"], "its output differs from the reference"),
        (["--figure", "x=nonsense ([0-9]+)"], "the figure x: 'nonsense"),
        (["--like", "{out}=missing", "--prepare", "true"], "missing cannot be read"),
        (["--figure", "x=(-4)", "--prepare", "true"], "the figure x: '(-4)' matches no number in the output"),
    ],
)
def test_what_is_not_as_it_must_be_fails(options: list[str], message: str, here: Path, capsys: Captured) -> None:
    code, found, err = run(capsys, *options, "--", PYTHON, "app.py", "1", "{out}")
    assert code == REGRESSION
    assert {f["verdict"] for f in found} == {"failed"} and {f["median"] for f in found} == {None}
    assert message in err


@pytest.mark.parametrize(
    ("command", "written"), [("true", False), ("cp ref.txt old.out", True), ("touch old.out", True)]
)
def test_a_file_of_an_earlier_execution_passes_no_check(
    command: str, written: bool, here: Path, capsys: Captured
) -> None:
    for name in ("ref.txt", "old.out"):
        (here / name).write_text("42\n")
    code, found, err = run(capsys, "--like", "old.out=ref.txt", "--", command)
    assert (code, {f["verdict"] for f in found}) == ((OK, {"verified"}) if written else (REGRESSION, {"failed"})), err
    assert ("true failed: did not write old.out" in err) is not written
    assert (here / "old.out").read_text() == "42\n"


def test_a_file_that_a_preparation_writes_is_not_written_by_the_command(here: Path, capsys: Captured) -> None:
    (here / "ref.txt").write_text("42\n")
    code, _, err = run(capsys, "--prepare", "echo 42 > old.out", "--like", "old.out=ref.txt", "--", "true")
    assert code == REGRESSION and "did not write old.out" in err
    code, _, err = run(capsys, "--prepare", "rm -f old.out", "--like", "old.out=ref.txt", "--", "cp -p ref.txt old.out")
    assert code == OK, err


@pytest.mark.parametrize("resume", ["bench", "run"])
def test_a_limit_holds_when_its_run_goes_on(resume: str, here: Path, capsys: Captured) -> None:
    words = ["--limit", "50%", "--budget", "30s", "--as", "r", "--", "sleep 0.01", "--", "sleep 0.1"]
    code, _, err = call(capsys, "bench", *words)
    assert code == REGRESSION and "above the limit of 50 %" in err
    code, _, err = call(capsys, resume, "--resume", "r", "--budget", "1s")
    assert code == REGRESSION and "above the limit of 50 %" in err


@pytest.mark.parametrize("linked", [False, True])
def test_a_file_of_another_user_starts_nothing_by_itself(
    linked: bool, here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = here / request.FILE
    written = here / "elsewhere.toml" if linked else file
    written.write_text("[commands]\na = 'touch stolen'\n")
    if linked:
        file.symlink_to(written)
    real = os.stat

    def stat(path: Any, *args: Any, **options: Any) -> os.stat_result:
        """Report user 4711 as the owner of the named file itself, not of a link's target."""
        found = real(path, *args, **options)
        ours = os.fspath(path) == str(file) and (not linked or options.get("follow_symlinks") is False)
        return os.stat_result([*found[:4], 4711, *found[5:]]) if ours else found

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(Path, "stat", lambda self, **options: stat(self, **options))
    monkeypatch.setattr(Path, "lstat", lambda self: stat(self, follow_symlinks=False))
    code, _, err = call(capsys, "bench", "--launches", "1")
    assert (code, (here / "stolen").exists()) == (USAGE, False)
    assert "belongs to another user" in err and f"./fl bench --file {file}" in err


def test_what_a_file_starts_is_printed_before_it_is_started(here: Path, capsys: Captured) -> None:
    (here / request.FILE).write_text(
        "prepare = 'rm -f x'\ncheck = 'test -e {out}'\n[commands]\na = 'true'\nb = 'test 1 -lt 2'\n"
    )
    code, _, err = call(capsys, "bench", "--launches", "1")
    assert code == OK, err
    head = f"firstlight will start these commands in {here}:"
    texts = [head, "prepare: rm -f x", "check: test -e {out}", "a: true", "b: test 1 -lt 2", "round 1"]
    assert [err.index(text) for text in texts] == sorted(err.index(text) for text in texts)


def remembering(number: int) -> None:
    cell = Cell(
        f"c{number}", Program("bench", "a", "as-it-is"), Placement(), (), ExternalCommand((f"./a{number}",), "/")
    )
    external_commands.remember([cell])


def test_runs_that_begin_at_the_same_time_are_all_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path))
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.map(remembering, range(64), chunksize=1)
    assert len(set(json.loads((tmp_path / external_commands.FILE).read_text()))) == 64


def test_a_comparison_that_the_budget_ends_is_inconclusive(here: Path, capsys: Captured) -> None:
    code, found, err = run(capsys, "--launches", "1000", "--budget", "1s", "--", "true", "--", "sleep", "0.01")
    launches = {str(f["variant"]): f["launches"] for f in found if f["metric"] == "time"}
    assert code == INCONCLUSIVE and "fewer than --launches 1000: 2 of 2 cells" in err, err
    assert len(launches) == 2 and abs(launches["true"] - launches["sleep"]) <= 1  # type: ignore[operator]


def test_what_is_varied_together_is_chosen_together(here: Path, capsys: Captured) -> None:
    options = ["--vary", "placement,bind", "--launches", "1"]
    words = [PYTHON, "app.py", "1", "{out}", "--", PYTHON, "app.py", "200", "{out}"]
    code, found, err = run(capsys, *options, "--", *words)
    assert code == OK, err
    names = sorted({str(f["variant"]) for f in found})
    assert len(names) == 2
    page = re.sub(r"<script.*?</script>", "", (here / "results" / "r" / "report.html").read_text(), flags=re.DOTALL)
    assert "\0" not in page and "\ufffd" not in page
    for bind in ("bound", "unbound"):
        assert all(f"{name}, {bind}" in page for name in names), "a column of the matrix of choices"
    assert re.search(r"wall time[^<]*, by binding", page) and not re.search(r"CPU time[^<]*, by ", page)


@pytest.mark.full
def test_words_paths_and_long_arguments_go_the_whole_way(here: Path, capsys: Captured) -> None:
    (here / "a b").mkdir()
    (here / "a b" / "c.txt").write_text("5")
    long, text = '"' * 70000, "true; " * 3000
    first, second = f"test -e '{{f}}' -a -n '{long}'", f"sh -c '{text}exit 0'"
    (here / request.FILE).write_text(
        f"[commands]\nfirst = {json.dumps(first)}\nsecond = {json.dumps(second)}\n"
        '[sweep]\nf = ["a b/c.txt", "./app.py", "/", "01", ".", "a,b"]\n'
    )
    (here / "01").touch()
    (here / "a,b").touch()
    code, _, err = call(capsys, "bench", "--launches", "1", "--as", "r")
    assert code == OK, err
    _, out, _ = call(capsys, "figures", "r", "--json")
    found = json.loads(out)
    assert {f["parameters"]["f"] for f in found} == {"a b/c.txt", "./app.py", "/", "01", ".", "a,b"}
    assert {f["verdict"] for f in found} == {"verified"}
    page = (here / "results" / "r" / "report.html").read_text()
    assert "first, f = a b/c.txt" in page and "first, f = a,b" in page
    assert call(capsys, "check", "r")[0] == OK
    code, _, err = call(capsys, "bench", "--resume", "r", "--budget", "1s")
    assert "argument" not in err and code == OK, err


def test_a_sweep_reaches_the_environment_the_check_and_what_prepares(here: Path, capsys: Captured) -> None:
    options = ["--sweep", "n=3,4", "--env", "WANT={n}", "--prepare", "echo {n} > wanted", "--warmup", "1"]
    check = 'test "$(cat {out})" = "{n} $(cat wanted)" && echo {n} >> counted'
    code, found, err = run(capsys, *options, "--check", check, "--", "sh", "-c", 'echo "$WANT $(cat wanted)"')
    assert code == OK and {f["verdict"] for f in found} == {"verified"}, err
    assert {f["parameters"]["n"] for f in found} == {3, 4}  # type: ignore[index]
    assert set((here / "counted").read_text().split()) == {"3", "4"}


def test_the_run_records_no_threads_that_its_placement_replaced(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1,1")
    command = ["--", "sh", "-c", 'echo "threads $OMP_NUM_THREADS;"']
    for options, name, seen in ((["--placement", "1x1x1"], "r", "1"), ([], "r1", "1,1")):
        code, _, err = run(capsys, "--expect", f"threads {seen};", *options, *command)
        recorded = json.loads((here / "results" / name / "run.json").read_text())["environment"]
        assert code == OK and recorded.get("OMP_NUM_THREADS", "1") == seen, err


def test_without_any_check_nothing_is_ranked(here: Path, capsys: Captured) -> None:
    code, found, _ = run(capsys, "--ignore-status", "--", "sh", "-c", "exit 3")
    assert code == OK and {f["verdict"] for f in found} == {"unverified"}


def test_the_page_of_commands_names_them_and_nothing_that_does_not_concern_them(here: Path, capsys: Captured) -> None:
    for name, status in (("good", 0), ("bad", 3)):
        (here / f"{name}.sh").write_text(f"#!/bin/sh\necho oh >&2\nexit {status}\n")
        (here / f"{name}.sh").chmod(0o755)
    words = ("--launches", "2", "--as", "r", "--", "./good.sh", "--", "./bad.sh")
    code, out, _ = call(capsys, "bench", *words)
    text = " ".join(out.split())
    page = (here / "results" / "r" / "report.html").read_text()
    assert code == REGRESSION and "firstlight · good_sh and bad_sh on " in text
    assert "gcc" not in text.partition("findings")[0] and "not available" not in text and "Not available" not in page
    assert "failed: ended with status 3: oh" in text and "allowed 0" not in text + page
    assert "[2 launches only]" in text and "2 launches</data> only" in page


def test_a_status_fails_and_a_hang_is_ended(here: Path, capsys: Captured) -> None:
    words = ("--", "sh", "-c", "echo oh >&2; exit 3", "--", "sleep", "600")
    code, found, err = turns.cut_short(
        lambda timeout: run(capsys, "--timeout", f"{timeout}s", *words),
        lambda result: "ended with status 3: oh" in result[2],
    )
    assert code == REGRESSION
    assert re.search(r"timed out after \d+ s", err)
    assert {f["verdict"] for f in found} == {"failed"}


def test_a_file_holds_all_of_it_and_a_run_goes_on(here: Path, capsys: Captured) -> None:
    (here / request.FILE).write_text(
        'title = "Sums"\nbudget = "60s"\nlaunches = 2\nprepare = "test ! -e {out}"\nwarmup = 1\n'
        f"[commands]\nfirst = '''{PYTHON} app.py 1 {{out}}'''\nsecond = '''{PYTHON} app.py {{n}} {{out}}'''\n"
        '[sweep]\nn = [2, 3]\n[figures.rate]\npattern = "rate: (.*)"\n[environment]\nX = "{n}"\n'
    )
    code, _, err = call(capsys, "bench", "--as", "r")
    assert code == OK, err
    path = here / "results" / "r"
    cells = json.loads((path / "run.json").read_text())["cells"]
    assert {c["program"]["variant"] for c in cells} == {"first", "second"} and len(cells) == 4
    launched = len(list((path / "launches").iterdir()))
    assert launched == 8
    code, _, err = call(capsys, "run", "--resume", "r", "--budget", "30s")
    assert code == OK, err


def test_commands_of_somebody_else_s_run_are_not_started(here: Path, capsys: Captured) -> None:
    assert run(capsys, "--", "true")[0] == OK
    path = here / "results" / "r" / "run.json"
    text = path.read_text()
    altered = json.loads(text)
    altered["cells"][0]["guest"]["command"] = ["touch", "stolen"]
    altered["whole"], altered["sealed"] = None, False
    path.write_text(json.dumps(altered))
    (here / "results" / "r" / "SHA256SUMS").unlink()
    code, _, err = call(capsys, "bench", "--resume", "r", "--budget", "30s")
    assert code == USAGE and "commands were not typed on this machine" in err
    assert not (here / "stolen").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGKILL, -signal.SIGKILL)])
def test_what_was_measured_until_the_end_is_kept_and_gone_on_with(
    number: signal.Signals, status: int, here: Path, capsys: Captured
) -> None:
    words = [sys.executable, "-m", "firstlight", "bench", "--as", "r", "--", sys.executable, "app.py", "100", "{out}"]
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(words, cwd=here, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    launches = here / "results" / "r" / "launches"
    deadline = time.monotonic() + turns.PATIENCE
    while len(list(launches.glob("*.jsonl"))) < 2:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(turns.PATIENCE) == status
    kept = {p.name: p.read_bytes() for p in launches.glob("*.jsonl")}
    assert len(kept) >= 1  # the second may have been on its way
    assert (here / "results" / "r" / "report.html").is_file() == (number == signal.SIGINT)
    assert call(capsys, "bench", "--resume", "r", "--budget", "1s")[0] in (OK, INCONCLUSIVE)
    now = {p.name: p.read_bytes() for p in launches.glob("*.jsonl")}
    assert kept.items() < now.items()
    assert call(capsys, "check", "r")[0] == OK


def test_a_program_that_was_made_anew_is_another(here: Path, capsys: Captured) -> None:
    program = here / "a.sh"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    assert run(capsys, "--", "./a.sh")[0] == OK
    program.write_text("#!/bin/sh\ntrue\n")
    code, _, err = call(capsys, "bench", "--resume", "r", "--budget", "5s")
    assert code == USAGE and "programs have changed since" in err


@pytest.mark.parametrize("words", [["./app.sh"], [PYTHON, "step.py"]])
def test_a_program_that_is_replaced_while_it_is_measured_ends_the_run(
    words: list[str], here: Path, capsys: Captured
) -> None:
    """Its second execution replaces it: no launch of the new program is kept, and no page advises to continue."""
    file = here / words[-1]
    text = {
        ".sh": "#!/bin/sh\nif [ -e twice ]; then cp $0 new; echo '# new' >> new; mv new $0; fi\n"
        "[ -e once ] && > twice\n> once\n",
        ".py": "import os\nif os.path.exists('twice'): open('step.py', 'a').write('# new\\n')\n"
        "if os.path.exists('once'): open('twice', 'w')\nopen('once', 'w')\n",
    }[file.suffix]
    file.write_text(text)
    file.chmod(0o755)
    code, _, err = call(capsys, "bench", "--launches", "6", "--as", "r", "--", *words)
    assert code == ENVIRONMENT and "the program changed during the measurement" in err, err
    launches = list((here / "results" / "r" / "launches").glob("*"))
    assert len(launches) < 6
    run_json = json.loads((here / "results" / "r" / "run.json").read_text())
    assert run_json["state"] == "changed" and "the program changed" in str(run_json["machine"]["warnings"])
    page = call(capsys, "report", "r")[1]
    assert "start a new run" in page and "--resume" not in page
    assert call(capsys, "bench", "--resume", "r", "--budget", "5s")[0] == USAGE


def test_the_time_of_an_earlier_program_of_the_name_starts_nothing_alone(here: Path, capsys: Captured) -> None:
    """It was slow, and then it was changed: the budget is enough for both commands."""

    def write(text: str) -> None:
        for name in ("slow_a.sh", "slow_b.sh"):
            (here / name).write_text(f"#!/bin/sh\n# {text} {here}\n")
            (here / name).chmod(0o755)

    commands = ["--", "./slow_a.sh", "--", "./slow_b.sh"]
    write("slow")
    assert run(capsys, *commands)[0] == OK
    kept = cache_directory() / costs.FILE
    seconds = json.loads(kept.read_text())
    slow = {name: 500.0 for name in seconds if "./slow_" in name}
    assert len(slow) >= 2
    kept.write_text(json.dumps(seconds | slow))
    write("fast")
    code, found, err = run(capsys, "--budget", "20s", *commands)
    assert code == OK and {f["variant"] for f in found if f["verdict"] == "verified"} == {"slow_a_sh", "slow_b_sh"}, err


def test_a_result_that_a_command_names_may_change(here: Path, capsys: Captured) -> None:
    (here / "made").write_text("#!/bin/sh\n")
    (here / "made").chmod(0o755)
    (here / "make.sh").write_text('#!/bin/sh\necho "# more" >> $2\n')
    (here / "make.sh").chmod(0o755)
    assert run(capsys, "--", "./make.sh", "-o", "./made")[0] == OK


def test_the_examples_of_the_help_work_as_typed(here: Path, capsys: Captured) -> None:
    typed = [words for words in examples("bench", capsys) if "--revisions" not in words]  # requires a repository
    assert len(typed) == 2
    for command, *words in typed:
        code, _, err = call(capsys, command, "--launches", "1", *words)
        assert code == OK, err


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> str:
    """Slow down short commands to at most four seconds, as on a busy machine; return the seconds that are too long."""
    monkeypatch.setitem(EFFORT, EXTERNAL, EFFORT[EXTERNAL]._replace(case_seconds=4, samples=2))
    return "4.1"


@pytest.mark.usefixtures("unhurried")
def test_peak_memory_is_told_of_small_programs_too(here: Path, capsys: Captured) -> None:
    words = shlex.split("dd if=/dev/zero of=/dev/null count=1")
    code, found, err = run(capsys, "--sweep", "mib=2,6", "--timeout", "60s", "--", *words, "bs={mib}M")
    assert code == OK, err
    small, large = (f["median"] for f in found if f["metric"] == "peak_memory")
    assert 2 < small < 6 and 3.5 < large - small < 4.5  # type: ignore[operator]
    code, out, err = call(capsys, "explain", "time", "mib", "=", "6", "--run", "r")
    assert code == OK and "dd time" in out, err


def test_the_memory_of_what_ends_at_once_is_told_each_time(tmp_path: Path) -> None:
    """On one processor it often ends before the shell that has started it."""
    where, allowed = execution.files(str(tmp_path), named=False, wanted=False), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert None not in [execution.peak_memory(["true"], os.environ, where) for _ in range(200)]
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_launch_that_does_not_tell_the_memory_of_a_small_program_spoils_nothing(
    here: Path, capsys: Captured, unhurried: str
) -> None:
    """The first execution is too long to be repeated only for the memory."""
    code, found, err = run(capsys, "--", "sh", "-c", f"test -e mark && exit; : > mark; sleep {unhurried}")
    assert code == OK and {f["verdict"] for f in found} == {"verified"}, err
    assert {f["metric"]: f["launches"] for f in found} == {"time": 2, "cpu_time": 2, "peak_memory": 1}
    page = (here / "results" / "r" / "report.html").read_text()
    assert "no launch reported this metric" not in page
    code, out, err = call(capsys, "explain", "peak_memory", "--run", "r")
    assert code == OK and "1 launch" in out, err
    code, found, err = run(capsys, "--", "sleep", unhurried)
    assert code == OK and {f["metric"] for f in found} == {"time", "cpu_time"}, err
    page = (here / "results" / "r1" / "report.html").read_text()
    assert re.search("peak_memory of bench.sleep</td><td[^>]*>no launch reported this metric</td>", page)


@pytest.mark.full
def test_where_its_work_is_told_the_ceilings_of_the_machine_stand_beside_it(here: Path, capsys: Captured) -> None:
    options = ["--figure", r"rate=rate: (\S+)"]
    code, found, err = run(
        capsys, *options, "--work", "flops=1e3*{n}", "--sweep", "n=1,2", "--", PYTHON, "app.py", "{n}", "x"
    )
    assert code == OK, err
    mine = [f for f in found if f["workload"] == "bench" and f["metric"] in ("time", "flop_rate")]
    assert len(mine) == 4 and all(0 < f["of_ceiling"] < 1 for f in mine)  # type: ignore[operator]
    for metric in ("time", "cpu_time", "peak_memory", "flop_rate", "rate"):
        code, out, err = call(capsys, "explain", metric, "n", "=", "1", "--run", "r")
        assert code == OK and "what limits this figure" in out, err
    code, found, _ = run(capsys, "--work", "flops=1e15", "--", "true")
    assert code == REGRESSION
    assert any("above its measured ceiling" in str(f["reason"]) for f in found)
