"""Programs that are not firstlight's: what is asked of them, how they are verified, and a run as a user has it."""

from __future__ import annotations

import json
import math
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

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import turns
from commands import Captured, call, examples
from firstlight import ROOT
from firstlight.bench import placeholders, request, startable
from firstlight.bench.amounts import amount
from firstlight.bench.request import Request
from firstlight.catalogue import needs
from firstlight.conduct import guests
from firstlight.errors import INCONCLUSIVE, INTERRUPTED, OK, REGRESSION, USAGE, UsageError
from firstlight.observer import checks, execution
from firstlight.observer import program as observed
from firstlight.observer.checks import difference, figure
from firstlight.plan import EFFORT, Cell, Guest, Placement, Program
from firstlight.plan.effort import GUESTS
from guests import run

PYTHON = shlex.quote(sys.executable)
WORDS = st.lists(st.text("abc-{}. ", min_size=1, max_size=6).filter(lambda w: w != "--" and w.strip()), min_size=1)


# -- what is typed


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_commands_between_dashes_keep_their_words(some: list[list[str]]) -> None:
    typed = [word for words in some for word in ("--", *words)][1:]
    found = request.commands(typed)
    assert len(found) == len(some)
    for words, text in zip(some, found.values(), strict=True):
        assert shlex.split(text) == (shlex.split(words[0]) if len(words) == 1 and " " in words[0] else words)


@given(st.text())
def test_a_name_made_of_any_text_can_name_a_variant_that_needs_nothing(text: str) -> None:
    name = request.variant_name(text)
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) and not needs(name) and request.variant_name(name) == name


@given(st.lists(st.sampled_from(["./a", "./a_2", "./a_3", "sh -c 'true; true'", "true; " * 40, "x" * 200]), min_size=1))
def test_each_command_has_a_name_of_its_own(some: list[str]) -> None:
    typed = [word for text in some for word in ("--", *(["sh", "-c", text] if ";" in text else [text]))][1:]
    assert len(request.commands(typed)) == len(some)
    request.sound(Request(request.commands(typed)))


def test_commands_of_one_program_are_told_apart_by_their_words() -> None:
    typed = ["./app", "-n", "5", "--", "./app", "-n", "7", "--", "mpiexec", "-n", "2", "./app", "--", "python3", "app"]
    assert list(request.commands(typed)) == ["app_5", "app_7", "app_mpiexec", "app_python3"]


def test_what_stands_in_braces_and_has_no_value_stays() -> None:
    assert placeholders.filled("awk '{print}' {n} {out}", {"n": 3}) == "awk '{print}' 3 {out}"
    assert placeholders.names(["{n} {out} {N} {{m}}"]) == {"n", "out", "m"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no command: ./fl bench -- ./program"),
        (["--", "./a", "--"], "an empty command between two"),
        (["--sweep", "n=1,2", "--", "true"], "the sweep n is used nowhere: write {n}"),
        (["--sweep", "ranks=1", "--", "echo", "{ranks}"], "a sweep cannot be called ranks"),
        (["--sweep", "n", "--", "echo", "{n}"], "write it as name=value"),
        (["--vary", "mpi", "--", "true"], "no command begins with mpiexec"),
        (["--vary", "colour", "--", "true"], "what can be varied is mpi, placement, bind"),
        (["--build", "make", "--", "true"], "names no compiler: write {cxx}"),
        (["--figure", "x", "--", "true"], "write it as NAME=REGEX"),
        (["--figure", "x=(", "--", "true"], "is no regular expression"),
        (["--figure", "time=1", "--", "true"], "is measured anyway"),
        (["--lower", "x", "--figure", "y=1", "--", "true"], "--lower x: no --figure has this name"),
        (["--like", "a", "--", "true"], "write it as FILE=REFERENCE"),
        (["--tolerance", "1", "--", "true"], "--tolerance belongs to --like"),
        (["--env", "NO_SUCH_VARIABLE", "--", "true"], "there is no such variable here"),
        (["--timeout", "soon", "--", "true"], "timeout"),
        (["--work", "flops=n**2", "--", "true"], "--work flops=n**2: no positive number"),
        (["--work", "words=2", "--", "true"], "what can be told is flops, bytes, working_set"),
        (["--mpi-share", "--", "true"], "--mpi-share: no command begins with mpiexec"),
        (["--work", "2e9", "--", "true"], "write it as NAME=AMOUNT"),
        (["--resume", "x", "--", "true"], "--resume goes on with what that run was begun with"),
        (["--", "./nosuch"], "./nosuch: no such command"),
        (["--", "nosuchcommand"], "nosuchcommand: no such command"),
        (["--", "''"], "'': no such command"),
        (["--", "echo hello > f"], "> needs a shell, and there is none; with one: -- sh -c 'echo hello > f'"),
        (["--", "echo a | cat"], "| needs a shell"),
        (["--", "true", "--", "true && true"], "&& needs a shell"),
        (["--", "true || true"], "|| needs a shell"),
        (["--", "sleep 1 &"], "& needs a shell"),
        (["--", "cd x; true"], "; needs a shell"),
        (["--", "cat <f"], "< needs a shell"),
        (["--", "ls >> f"], ">> needs a shell"),
        (["--", "ls 2>&1"], "2>&1 needs a shell"),
        (["--", "echo `date`"], "` needs a shell"),
        (["--", "echo $(date)"], "$( needs a shell"),
        (["--", "echo $HOME"], "$HOME needs a shell"),
        (["--", "echo ${HOME}"], "${ needs a shell"),
        (["--", "echo \\\\| cat"], "| needs a shell"),
        pytest.param(
            ["--", "OMP_NUM_THREADS=2 ./a"],
            "no such command; set a variable with --env OMP_NUM_THREADS=2",
            marks=pytest.mark.full,
        ),
        pytest.param(["--", "echo", "{bind}"], "{bind} has no value: --vary bind", marks=pytest.mark.full),
        pytest.param(["--", "echo", "{mpi}"], "{mpi} has no value", marks=pytest.mark.full),
        (["--like", "{out}=missing", "--", "echo", "x"], "echo: --like: there is no reference"),
        pytest.param(
            ["--sweep", "n=1", "--like", "{out}=want.{n}", "--", "echo", "{n}"],
            "there is no reference",
            marks=pytest.mark.full,
        ),
        pytest.param(["--like", "{out}=.", "--", "echo", "x"], "is no plain file", marks=pytest.mark.full),
        pytest.param(["--like", "a=a", "--", "echo", "x"], "with itself", marks=pytest.mark.full),
        (["--", "true", "x" * 140000], "true: an argument or variable of 140000 bytes, and Linux takes at most"),
        pytest.param(
            ["--env", "A=" + "x" * 140000, "--", "true"],
            "an argument or variable of 140000 bytes",
            marks=pytest.mark.full,
        ),
        pytest.param(["--", "true", *["y" * 70000] * 40], "are more than this system takes", marks=pytest.mark.full),
        (["--sweep", "n=1,,2", "--", "echo", "{n}"], "lacks a value"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    words: list[str], told: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, "bench", *words)
    last = err.strip().splitlines()[-1]
    assert code == USAGE and told in last, err
    assert not (tmp_path / "results").exists()


SCRIPTS = {
    "#!/bin/bash\r\necho\r\n": "its first line ends with a carriage return; remove them: sed -i",
    "#!/usr/bin/env python3\r\n": "its first line ends with a carriage return",
    "echo hi\n": "is a script without #! at its start; begin it with #!/bin/sh",
    "": "is a script without #!",
    "\ufeff#!/bin/sh\n": "a byte order mark before it",
    " #!/bin/sh\n": "is a script without #!",
    "#!/no/such/interpreter\n": "its first line names /no/such/interpreter, which is not here",
    "#!/etc/passwd\n": "its first line names /etc/passwd, which is not here or cannot be executed",
    "#!/usr/bin/env nosuchpython\n": "its first line names nosuchpython, which is not on PATH",
    "#!\n": "names no interpreter",
    "#!/bin/sh " + "x" * 400: "is longer than the 256 bytes",
    "#!/bin/sh\n": "",
    "#! /bin/sh -e\n": "",
    "#!/usr/bin/env -S sh -e\n": "",
    "\x7fELF\0": "",
}


@pytest.mark.parametrize(("text", "told"), SCRIPTS.items())
def test_a_script_that_cannot_be_started_is_found_before(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(text)
    file.chmod(0o755)
    guest = Guest(("./a",), str(tmp_path))
    if not told:
        startable.require(guest)
        return
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        startable.require(guest)
    assert str(caught.value).startswith("./a: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("find . -name a -exec true ;", "; needs"),
        (r"find . -name a -exec true \;", ""),
        ("awk '{print $1 > 2}' f", ""),
        ('awk "{print $1 > 2}" f', ""),
        ("grep 'a|b' f", ""),
        (r"grep a\|b f", ""),
        ("grep ^a$ f", ""),
        ("sh -c 'a | b'", ""),
        ("./a {n} {out} --x=1 [1] 5% a:b ~ * ? !", ""),
    ],
)
def test_what_is_quoted_needs_no_shell(command: str, why: str) -> None:
    try:
        request.sound(Request({"a": command}))
    except UsageError as error:
        assert why and why in str(error)
    else:
        assert not why


def test_an_operator_that_was_quoted_is_passed_on_and_noted() -> None:
    typed = request.commands(["expr", "1", ">", "2", "--", "find", "-exec", "true", ";", "--", "grep", "$a", "f"])
    assert list(request.quoted_operators(request.sound(Request(typed)))) == [("expr", ">")]


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("01,02", ["01", "02"]),
        ("1,1.0,1e0", [1, 1.0, "1e0"]),
        ("1e3,1000", ["1e3", 1000]),
        ("0.1,0.10,.1", [0.1, "0.10", ".1"]),
        ("+1,-1,-0", ["+1", -1, "-0"]),
        ("nan,inf,-inf", ["nan", "inf", "-inf"]),
        ("a/b.txt,./c.txt,/d", ["a/b.txt", "./c.txt", "/d"]),
        ("-O2 -g,-O3", ["-O2 -g", "-O3"]),
        ("1_000,0x10", ["1_000", "0x10"]),
        ("9007199254740993,1e400", ["9007199254740993", "1e400"]),
        ("a=b,c", ["a=b", "c"]),
        ("\u00e9,\u0661", ["\u00e9", "\u0661"]),
    ],
)
def test_the_values_of_a_sweep_keep_their_words(typed: str, values: list[object]) -> None:
    assert request.sweep([f"n={typed}"]) == {"n": values}
    assert [str(v) for v in request.sweep([f"n={typed}"])["n"]] == typed.split(",")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_value_is_recorded_as_it_is_passed(text: str) -> None:
    assert str(observed.value(text)) == text


def test_a_file_with_an_unknown_key_names_it(tmp_path: Path) -> None:
    file = tmp_path / request.FILE
    file.write_text('[commands]\na = "true"\n[sweeps]\nn = [1]\n')
    with pytest.raises(UsageError, match=r"firstlight-bench\.toml.*sweeps"):
        request.read(file)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6), st.integers(1, 5))
def test_an_amount_is_what_it_comes_to(a: float, b: float, n: int) -> None:
    assert amount("flops", f"{a!r} * {b!r} + {n}**2 / 4") == a * b + n**2 / 4


@pytest.mark.parametrize(
    "text", ["", "-1", "0", "1/0", "9**9**9**9", "f(2)", "'a'", "1e400", "{n}", "(" * 150, "True or 2"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no positive number"):
        amount("flops", text)


def test_the_file_of_the_documentation_is_one_with_every_key(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "your-programs.md").read_text()
    (tmp_path / request.FILE).write_text(text.partition("```toml\n")[2].partition("```")[0])
    asked = request.read(tmp_path / request.FILE)
    plain = Request(asked.commands)
    same = [f for f in Request.__struct_fields__ if getattr(asked, f) == getattr(plain, f)]
    assert set(same) == {"commands", "warmup", "verify_status"}
    told = set(re.findall(r"`\{(\w+)\}`", text.partition("| placeholder |")[2]))
    assert told == {*placeholders.KNOWN, "n"}


# -- how it is verified


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.floats(1e-9, 0.5))
def test_the_difference_of_two_outputs_is_the_largest_of_their_numbers(values: list[float], shift: float) -> None:
    reference = " and ".join(f"{v!r}" for v in values)
    assert difference(reference, reference)[0] == 0
    moved = [v * (1 + shift) for v in values]
    found, _ = difference(" and ".join(f"{v!r}" for v in moved), reference)
    wanted = max(abs(m - v) / abs(v) if v else 0.0 for m, v in zip(moved, values, strict=True))
    assert math.isclose(found, wanted, rel_tol=1e-9, abs_tol=0)


@pytest.mark.parametrize(("text", "reference"), [("1 2", "1"), ("a 1", "b 1"), ("", "1")])
def test_other_words_or_other_many_numbers_differ_without_measure(text: str, reference: str) -> None:
    assert difference(text, reference)[0] == math.inf


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (r"rate: (\S+)", "rate: 1.5 rate: 2.5e3 GF/s", 2500.0),
        (r"[0-9.]+", "1 2 3", 3.0),
        (r"t = (\S+)", "t = 1.0D-03", 1e-3),
        (r"lookups/s: ([0-9,]+)", "lookups/s: 1,234,567", 1234567.0),
        (r"[0-9,]+", "1,23", 1.0),
        (r"t = (\S+)", "t = 0", 0.0),
        (r"t = (\S+)", "t = 5\nt = x", "the last match of 't = (\\\\S+)' has no number: 'x'"),
        (r"t = (\S+)", "t = nan", "the last match of 't = (\\\\S+)' has no number: 'nan'"),
        (r"t = (\S+)", "t = -4", "is -4; a figure is 0 or more"),
        (r"t = (\S+)", "t = -1.5e-3", "is -1.5e-3; a figure is 0 or more"),
        (r"t = (\S+)", "t = \N{MINUS SIGN}4", "is -4; a figure is 0 or more"),
        (r"t = -?(\S+)", "t = -4", 4.0),
        (r"t = (\S+)", "t = 1e999", "is 1e999; it is too large"),
        (r"(x)?y", "y", "has no number: ''"),
        ("none", "text", "nothing that it printed matches 'none' with a number"),
    ],
)
def test_the_figure_is_the_last_match_or_the_reason_why_there_is_none(
    pattern: str, text: str, value: float | str
) -> None:
    found = figure(pattern, ("", text))
    assert found == value or (isinstance(value, str) and value in str(found))


@pytest.mark.parametrize("size", [0, 10, execution.TAIL - 3, execution.TAIL, 3 * execution.TAIL + 7])
@pytest.mark.parametrize("place", ["start", "middle", "end", "alone", "cut"])
@pytest.mark.parametrize("filling", ["x" * 79 + "\n", "x " * 40, "\N{GREEK SMALL LETTER MU}\r\n", "x"])
def test_a_text_and_a_figure_are_found_wherever_they_are(tmp_path: Path, size: int, place: str, filling: str) -> None:
    filler = (filling.encode() * (size // len(filling.encode()) + 1))[:size]
    text = b"\nconverged to 12345.75 units\n"
    parts = {
        "start": text + filler,
        "middle": filler + text + filler,
        "end": filler + text,
        "alone": text,
        "cut": filler + text + filler[: max(0, execution.TAIL - 12)],
    }
    (tmp_path / "out").write_bytes(parts[place])
    path = str(tmp_path / "out")
    assert execution.contains(path, "converged to 12345.75") and not execution.contains(path, "converged to 2")
    assert figure(r"converged to (\S+) units$", execution.pieces(path)) == 12345.75
    assert isinstance(figure(r"^(45.75) units$", execution.pieces(path)), str)


def test_what_is_not_there_holds_no_text(tmp_path: Path) -> None:
    assert not execution.contains(str(tmp_path / "no"), "x") and list(execution.pieces(str(tmp_path / "no"))) == []


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (b"a\x80 1", b"a\x81 1"),  # no UTF-8
        (b"a\xff 1", b"a\xef\xbf\xbd 1"),
        (b"a\xc2\xa0b 1", b"a b 1"),  # no blank of ASCII
        (b"a\xc2\x85b 1", b"a b 1"),
        (b"a\x1cb 1", b"a b 1"),
        (b"\xd9\xa1 1", b"\xd9\xa2 1"),  # digits of other scripts are words
        (b"\xd9\xa1", b"1"),
        (b"\xef\xbb\xbf1", b"1"),
        (b"a\x00b 1", b"a b 1"),
        (b"nan 1", b"inf 1"),
        (b"9007199254740993", b"9007199254740992"),
        (b"1e-400", b"0"),
        (b"0.10000000000000000001", b"0.1"),
        (b"1e999", b"1e998"),
        (b"A 1", b"a 1"),
    ],
)
def test_different_bytes_are_not_alike_without_tolerance(tmp_path: Path, mine: bytes, theirs: bytes) -> None:
    for a, b, alike in ((mine, theirs, False), (theirs, mine, False), (mine, mine, True)):
        (tmp_path / "a").write_bytes(a)
        (tmp_path / "b").write_bytes(b)
        like = {"file": str(tmp_path / "a"), "reference": str(tmp_path / "b"), "tolerance": 0.0}
        assert checks.like(like, execution.files(str(tmp_path), named=True, wanted=False)).ok is alike


@pytest.mark.parametrize(
    ("mine", "theirs"), [("1.0 a\n", " 1.00\ta"), ("1e3", "1000"), ("1D-3", "1.0e-03"), ("-0", "0")]
)
def test_numbers_written_in_other_ways_are_alike(mine: str, theirs: str) -> None:
    assert difference(mine, theirs)[0] == 0


def test_by_what_is_verified_is_said() -> None:
    plain = Request({"a": "true"})
    change = msgspec.structs.replace
    assert "exit status alone" in plain.verified
    assert change(plain, verify_status=False).verified == ""
    assert change(plain, check="x", expect="y").verified == "its check command and the text that it must print"
    assert "numbers within 0.01" in change(plain, output=request.Output("a", "b", 0.01)).verified


# -- as a user has it


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
    assert "its output file (numbers within 0.01 as the reference) and the text that it must print" in page
    assert call(capsys, "compare", "r", "r")[0] != USAGE
    assert call(capsys, "export", "junit", "r")[0] == OK
    assert call(capsys, "history", "--output", "over-time.html")[0] == OK
    assert "What your own programs get" in (here / "over-time.html").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--check", "grep -q nonsense {out}"], "the check command ended with status 1"),
        (["--expect", "nonsense"], "did not print the expected text"),
        (["--like", "{out}=app.py"], "its output is not what the reference is"),
        (["--figure", "x=nonsense ([0-9]+)"], "the figure x: nothing that it printed matches"),
        (["--like", "{out}=missing", "--prepare", "true"], "missing cannot be read"),
        (["--figure", "x=(-4)", "--prepare", "true"], "the figure x: nothing that it printed matches '(-4)'"),
    ],
)
def test_what_is_not_as_it_must_be_fails(options: list[str], told: str, here: Path, capsys: Captured) -> None:
    code, found, err = run(capsys, *options, "--", PYTHON, "app.py", "1", "{out}")
    assert code == REGRESSION
    assert {f["verdict"] for f in found} == {"failed"} and {f["median"] for f in found} == {None}
    assert told in err


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
        """What lies at the name that is read belongs to user 4711, not what a link there leads to."""
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
    said = [f"started in {here}:", "prepare: rm -f x", "check: test -e {out}", "a: true", "b: test 1 -lt 2", "round 1"]
    assert [err.index(text) for text in said] == sorted(err.index(text) for text in said)


def remembering(number: int) -> None:
    cell = Cell(f"c{number}", Program("bench", "a", "as-it-is"), Placement(), (), Guest((f"./a{number}",), "/"))
    guests.remember([cell])


def test_runs_that_begin_at_the_same_time_are_all_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path))
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.map(remembering, range(64), chunksize=1)
    assert len(set(json.loads((tmp_path / guests.FILE).read_text()))) == 64


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
    assert "wall time, f = a b/c.txt" in page and "wall time, f = a,b" in page
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


def test_without_any_check_nothing_is_ranked(here: Path, capsys: Captured) -> None:
    code, found, _ = run(capsys, "--ignore-status", "--", "sh", "-c", "exit 3")
    assert code == OK and {f["verdict"] for f in found} == {"unverified"}


def test_a_status_fails_and_a_hang_is_ended(here: Path, capsys: Captured) -> None:
    words = ("--", "sh", "-c", "echo oh >&2; exit 3", "--", "sleep", "600")
    code, found, err = turns.cut_short(
        lambda timeout: run(capsys, "--timeout", f"{timeout}s", *words),
        lambda said: "ended with status 3: oh" in said[2],
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
    assert code == USAGE and "commands that were not asked for here" in err
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


def test_the_examples_of_the_help_work_as_typed(here: Path, capsys: Captured) -> None:
    typed = examples("bench", capsys)
    assert len(typed) == 2
    for command, *words in typed:
        code, _, err = call(capsys, command, "--launches", "1", *words)
        assert code == OK, err


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> str:
    """What is short takes up to four seconds, as on a machine that is busy. The seconds that are too long."""
    monkeypatch.setitem(EFFORT, GUESTS, EFFORT[GUESTS]._replace(case_seconds=4, samples=2))
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
    """The first takes too long to be executed once more for that alone."""
    code, found, err = run(capsys, "--", "sh", "-c", f"test -e mark && exit; : > mark; sleep {unhurried}")
    assert code == OK and {f["verdict"] for f in found} == {"verified"}, err
    assert {f["metric"]: f["launches"] for f in found} == {"time": 2, "cpu_time": 2, "peak_memory": 1}
    page = (here / "results" / "r" / "report.html").read_text()
    assert "no launch told it" not in page
    code, out, err = call(capsys, "explain", "peak_memory", "--run", "r")
    assert code == OK and "1 launch" in out, err
    code, found, err = run(capsys, "--", "sleep", unhurried)
    assert code == OK and {f["metric"] for f in found} == {"time", "cpu_time"}, err
    page = (here / "results" / "r1" / "report.html").read_text()
    assert re.search("peak_memory of bench.sleep</td><td[^>]*>no launch told it</td>", page)


@pytest.mark.full
def test_where_its_work_is_told_the_ceilings_of_the_machine_stand_beside_it(here: Path, capsys: Captured) -> None:
    told = ["--figure", r"rate=rate: (\S+)"]
    code, found, err = run(
        capsys, *told, "--work", "flops=1e3*{n}", "--sweep", "n=1,2", "--", PYTHON, "app.py", "{n}", "x"
    )
    assert code == OK, err
    mine = [f for f in found if f["workload"] == "bench" and f["metric"] in ("time", "flop_rate")]
    assert len(mine) == 4 and all(0 < f["of_ceiling"] < 1 for f in mine)  # type: ignore[operator]
    for metric in ("time", "cpu_time", "peak_memory", "flop_rate", "rate"):
        code, out, err = call(capsys, "explain", metric, "n", "=", "1", "--run", "r")
        assert code == OK and "what limits it" in out, err
    code, found, _ = run(capsys, "--work", "flops=1e15", "--", "true")
    assert code == REGRESSION
    assert any("above its measured ceiling" in str(f["reason"]) for f in found)
