"""Commands of a user: how a command line and a firstlight-bench.toml are read, and what is refused."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from commands import Captured, call
from firstlight import ROOT
from firstlight.commands.bench import placeholders, planning, request, startable
from firstlight.commands.bench.amounts import amount
from firstlight.commands.bench.request import BenchRequest
from firstlight.core.errors import USAGE, UsageError
from firstlight.execute.observer import program as observed
from firstlight.model.catalogue import needs
from firstlight.model.plan import ExternalCommand, Placement

WORDS = st.lists(st.text("abc-{}. ", min_size=1, max_size=6).filter(lambda w: w != "--" and w.strip()), min_size=1)


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
    request.sound(BenchRequest(request.commands(typed)))


def test_commands_of_one_program_are_told_apart_by_their_words() -> None:
    typed = ["./app", "-n", "5", "--", "./app", "-n", "7", "--", "mpiexec", "-n", "2", "./app", "--", "python3", "app"]
    assert list(request.commands(typed)) == ["app_5", "app_7", "app_mpiexec", "app_python3"]


def test_what_stands_in_braces_and_has_no_value_stays() -> None:
    assert placeholders.filled("awk '{print}' {n} {out}", {"n": 3}) == "awk '{print}' 3 {out}"
    assert placeholders.names(["{n} {out} {N} {{m}}"]) == {"n", "out", "m"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command: ./fl bench -- ./program"),
        (["--", "./a", "--"], "an empty command between two"),
        (["--", ""], "a command is empty"),
        (["--", "./a", "--", "", "x"], "a command is empty"),
        (["--placement", "1x2x1", "--", "true"], "no command starts 2 processes; begin the command with mpiexec -n"),
        (["--sweep", "n=1,2", "--", "true"], "no command uses the sweep n: write {n}"),
        (["--sweep", "ranks=1", "--", "echo", "{ranks}"], "a sweep cannot be called ranks"),
        (["--sweep", "n", "--", "echo", "{n}"], "write name=value"),
        (["--vary", "mpi", "--", "true"], "no command begins with mpiexec"),
        (["--vary", "colour", "--", "true"], "--vary accepts mpi, placement, bind"),
        (["--build", "make", "--", "true"], "names no compiler: write {cxx}"),
        (["--figure", "x", "--", "true"], "write NAME=REGEX"),
        (["--figure", "x=(", "--", "true"], "is not a regular expression"),
        (["--figure", "time=1", "--", "true"], "always measures the figure"),
        (["--lower", "x", "--figure", "y=1", "--", "true"], "--lower x: no --figure has this name"),
        (["--like", "a", "--", "true"], "write FILE=REFERENCE"),
        (["--tolerance", "1", "--", "true"], "--tolerance requires --like"),
        (["--env", "NO_SUCH_VARIABLE", "--", "true"], "your environment has no such variable"),
        (["--timeout", "soon", "--", "true"], "timeout"),
        (["--work", "flops=n**2", "--", "true"], "--work flops=n**2: not a positive number"),
        (["--work", "words=2", "--", "true"], "possible names are flops, bytes, working_set"),
        (["--mpi-share", "--", "true"], "--mpi-share: no command begins with mpiexec"),
        (["--work", "2e9", "--", "true"], "write NAME=AMOUNT"),
        (["--resume", "x", "--", "true"], "--resume uses the options of the earlier run"),
        (["--", "./nosuch"], "./nosuch: no such command"),
        (["--", "nosuchcommand"], "nosuchcommand: no such command"),
        (["--", "''"], "'': no such command"),
        (["--", "(./work)"], "(./work): no such command; to use a shell: -- sh -c '(./work)'"),
        (["--", "~/work"], "~/work: no such command; to use a shell: -- sh -c '~/work'"),
        (["--", "echo hello > f"], "> requires a shell, but commands run without one; write -- sh -c 'echo hello > f'"),
        (["--", "echo a | cat"], "| requires a shell"),
        (["--", "true", "--", "true && true"], "&& requires a shell"),
        (["--", "true || true"], "|| requires a shell"),
        (["--", "sleep 1 &"], "& requires a shell"),
        (["--", "cd x; true"], "; requires a shell"),
        (["--", "cat <f"], "< requires a shell"),
        (["--", "ls >> f"], ">> requires a shell"),
        (["--", "ls 2>&1"], "2>&1 requires a shell"),
        (["--", "echo `date`"], "` requires a shell"),
        (["--", "echo $(date)"], "$( requires a shell"),
        (["--", "echo $HOME"], "$HOME requires a shell"),
        (["--", "echo ${HOME}"], "${ requires a shell"),
        (["--", "echo \\\\| cat"], "| requires a shell"),
        pytest.param(
            ["--", "OMP_NUM_THREADS=2 ./a"],
            "no such command; set a variable with --env OMP_NUM_THREADS=2",
            marks=pytest.mark.full,
        ),
        pytest.param(["--", "echo", "{bind}"], "{bind} has no value: add --vary bind", marks=pytest.mark.full),
        pytest.param(["--", "echo", "{mpi}"], "{mpi} has no value", marks=pytest.mark.full),
        (["--like", "{out}=missing", "--", "echo", "x"], "echo: --like: the reference"),
        pytest.param(
            ["--sweep", "n=1", "--like", "{out}=want.{n}", "--", "echo", "{n}"],
            "the reference",
            marks=pytest.mark.full,
        ),
        pytest.param(["--like", "{out}=.", "--", "echo", "x"], "is not a regular file", marks=pytest.mark.full),
        pytest.param(["--like", "a=a", "--", "echo", "x"], "with itself", marks=pytest.mark.full),
        (["--", "true", "x" * 140000], "true: an argument or variable has 140000 bytes, but Linux accepts at most"),
        pytest.param(
            ["--env", "A=" + "x" * 140000, "--", "true"],
            "an argument or variable has 140000 bytes",
            marks=pytest.mark.full,
        ),
        pytest.param(["--", "true", *["y" * 70000] * 40], "more than this system accepts", marks=pytest.mark.full),
        (["--sweep", "n=1,,2", "--", "echo", "{n}"], "lacks a value"),
        (["true 1", "true 2"], "no such command; put -- between commands: -- 'true 1' -- 'true 2'"),
        (["--", "echo 'a"], "firstlight: a command: No closing quotation"),
    ],
)
@pytest.mark.full
def test_what_cannot_be_asked_is_one_line(
    words: list[str], message: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, "bench", *words)
    last = err.strip().splitlines()[-1]
    assert code == USAGE and message in last, err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--expect", "zzz", "--expect", "1"], "--expect occurs twice"),
        (["--check", "false", "--check", "true"], "--check occurs twice; join checks with &&"),
        (["--prepare", "false", "--prepare=true"], "--prepare occurs twice"),
        (["--like", "{out}=a", "--like", "{out}=b"], "--like occurs twice"),
        (["--like", "{out}=a", "--tolerance", "0", "--tolerance", "1"], "--tolerance occurs twice"),
        (["--limit", "1%", "--limit", "50%"], "--limit occurs twice"),
        (["--figure", "a=x", "--figure", "a=y"], "--figure a occurs twice"),
    ],
)
def test_no_check_is_dropped_for_a_later_one(
    words: list[str], message: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, "bench", *words, "--", "true")
    assert code == USAGE and message in err.strip().splitlines()[-1], err
    assert not (tmp_path / "results").exists()


def test_a_file_with_a_check_twice_is_refused(tmp_path: Path) -> None:
    for text in (
        "expect = 'a'\nexpect = 'b'\n[commands]\na = 'true'\n",
        "[output]\nfile = 'a'\n[output]\nfile = 'b'\n",
    ):
        (tmp_path / request.FILE).write_text(text)
        with pytest.raises(UsageError, match=re.escape(str(tmp_path / request.FILE))):
            request.read(tmp_path / request.FILE)


SCRIPTS = {
    "#!/bin/bash\r\necho\r\n": "its lines end with carriage returns; remove these characters: sed -i",
    "#!/usr/bin/env python3\r\n": "its lines end with carriage returns",
    "echo hi\n": "is a script that does not start with #!; make #!/bin/sh its first line",
    "": "is a script that does not start with #!",
    "\ufeff#!/bin/sh\n": "a byte order mark precedes it",
    " #!/bin/sh\n": "is a script that does not start with #!",
    "#!/no/such/interpreter\n": "its first line names /no/such/interpreter, which does not exist or cannot be executed",
    "#!/etc/passwd\n": "its first line names /etc/passwd, which does not exist or cannot be executed",
    "#!/usr/bin/env nosuchpython\n": "its first line names nosuchpython, which is not on PATH",
    "#!\n": "names no interpreter",
    "#!/bin/sh " + "x" * 400: "is longer than the 256 bytes",
    "#!/bin/sh\n": "",
    "#! /bin/sh -e\n": "",
    "#!/usr/bin/env -S sh -e\n": "",
    "\x7fELF\0": "",
}


@pytest.mark.parametrize(("text", "message"), SCRIPTS.items())
def test_a_script_that_cannot_be_started_is_found_before(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(text)
    file.chmod(0o755)
    external = ExternalCommand(("./a",), str(tmp_path))
    if not message:
        startable.require(external)
        return
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        startable.require(external)
    assert str(caught.value).startswith("./a: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("find . -name a -exec true ;", "; requires"),
        ("(./a; ./b)", "( requires"),
        ("cat ~/a", "~/ requires"),
        ("cat a~/b (a)b~", "( requires"),
        (r"find . -name a -exec true \;", ""),
        ("awk '{print $1 > 2}' f", ""),
        ("grep 'a|b' f", ""),
        (r"grep a\|b f", ""),
        ("grep ^a$ f", ""),
        ("sh -c 'a | b'", ""),
        ("./a {n} {out},{n} x{n}y --x=1 [ ] a] {} {n 5% a:b b~ a#b !", ""),
        ("echo ~", "~ requires"),
        ("echo ~root/x", "~ requires"),
        ("./a --out=~/x", "~/ requires"),
        ("echo *.txt", "* requires"),
        ("echo ?.txt", "? requires"),
        ("echo [ab].txt", "[ requires"),
        ("echo ['a b']", "[ requires"),
        ("echo {a,b}", "{ requires"),
        ("echo {a,{n}}", "{ requires"),
        ("echo {1..{n}}", "{ requires"),
        ("echo $1 $HOME", "$1 requires"),
        ("echo $?", "$? requires"),
        ("echo $$", "$$ requires"),
        ("echo ${n}", "${ requires"),
        ("echo $'a'", "$' requires"),
        ("./a # comment", "# requires"),
        ("./a f(x)", "( requires"),
        ("./a x\n./a y", "a newline requires"),
        ("./a x \\\n y", "a newline requires"),
        ('./a "x \\\ny"', "a newline requires"),
        ('echo "$HOME"', "$HOME requires"),
        ('echo "a $(date)"', "$( requires"),
        ('echo "`date`"', "` requires"),
        ('awk "{print $1 > 2}" f', "$1 requires"),
        ('echo "${n}"', "${ requires"),
        ("\n./a x\n", ""),
        ("./a '~' '*' '?' '[a]' '{a,b}' '$1' '$(b)' '# c' 'x\ny' '\"$HOME\"' 'a'~/b", ""),
        (r"./a \~ \* \? \[a] \{a,b} \$1 \$\(b\) \`b\` \# c", ""),
        (r'./a "\$HOME \`date\` ~ * ? [a] {a,b} # ; ^a$" "' + "x\ny" + r'" "\\"', ""),
    ],
)
def test_what_is_quoted_needs_no_shell(command: str, why: str) -> None:
    try:
        request.sound(BenchRequest({"a": command}))
    except UsageError as error:
        assert why and why in str(error)
    else:
        assert not why


@pytest.mark.parametrize("word", ["~", "*", "[a]", "{a,b}", "$1", "$HOME", "#", "`a`", "it's", '"$HOME"', r"\$"])
def test_a_word_that_the_shell_of_the_user_split_is_passed_as_it_is(word: str) -> None:
    asked = request.sound(BenchRequest(request.commands(["./a", word, "x\ny", "--", word])))
    assert [request.words(asked, name) for name in asked.commands] == [["./a", word, "x\ny"], [word]]


def test_a_newline_makes_no_single_command_of_two() -> None:
    for text in ("./app\n./app", "./app x\n./app y"):
        with pytest.raises(UsageError) as caught:
            request.sound(BenchRequest(request.commands([text])))
        assert "the command app: a newline requires a shell, but commands run without one; write -- sh -c" in str(
            caught.value
        )
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError) as caught:
        startable.require(ExternalCommand(("./a\nb", "x"), "/"))
    assert "\n" not in str(caught.value)


def test_backslashes_in_double_quotes_are_those_of_a_shell() -> None:
    asked = BenchRequest({"a": r'./a "\$HOME \`b\` \"c\" \\$ \d"'})
    assert request.words(request.sound(asked), "a") == ["./a", r'$HOME `b` "c" \$ \d']


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["sh", "-c", "./slow2 >/dev/null"], "slow2"),
        (["bash", "-ec", "cd run && X=1 ./slow2 </dev/null | sort"], "slow2"),
        (["sh", "-c", "nosuch >/dev/null"], "nosuch"),
        (["sh", "-c", "it's"], "it_s"),
        (["nice", "./slow2"], "slow2"),
        (["nice", "-n", "5", "true"], "true"),
        (["env", "A=/b/c", "B=1", "./slow2", "x"], "slow2"),
        (["timeout", "10", "nice", "python3", "step"], "step"),
        (["taskset", "-c", "0,1", "sh", "-c", "exec ./slow2 > f"], "slow2"),
        (["numactl", "--cpunodebind=0", "mpiexec", "-n", "2", "./slow2"], "slow2"),
        (["mpiexec", "-n", "2", "nice", "./slow2"], "slow2"),
        (["nice", "nosuch"], "nice"),
        (["sh", "run"], "run"),
    ],
)
def test_a_row_is_named_after_its_program(
    words: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("cd", "true", "sort", "nice", "sh", "python3", "mpiexec"):
        (tmp_path / program).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(request.commands(words)) == [name]


def test_texts_of_a_shell_are_told_apart_by_their_words() -> None:
    assert list(request.commands(["sh", "-c", "./a 5 | b", "--", "sh", "-c", "./a 7 | b"])) == ["a_5", "a_7"]


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("OMP_NUM_THREADS=1", "--env OMP_NUM_THREADS=1 contradicts --placement 1x1x2"),
        ("OMP_NUM_THREADS=4,2", "--env OMP_NUM_THREADS=4,2 contradicts --placement 1x1x2"),
        ("OMP_NUM_THREADS=all", "--env OMP_NUM_THREADS=all contradicts --placement 1x1x2"),
        ("OMP_THREAD_LIMIT=1", "--env OMP_THREAD_LIMIT=1 contradicts --placement 1x1x2"),
        ("OMP_NUM_THREADS=2,1", ""),
        ("OMP_NUM_THREADS={threads}", ""),
        ("OMP_THREAD_LIMIT=8", ""),
    ],
)
def test_a_variable_cannot_contradict_the_threads_of_a_placement(variable: str, message: str) -> None:
    asked = BenchRequest({"a": "true"}, placements=("1x1x2",), environment=request.variables([variable], {}))
    made = [planning.Made(None, None, Path("/"))]
    some = planning.Choices((None,), (None,), (Placement(threads=2),), (), ({},))
    if not message:
        assert len(planning.cells(asked, some, made)) == 1
        return
    with pytest.raises(UsageError, match=re.escape(message)):
        planning.cells(asked, some, made)
    free = some._replace(placements=(Placement(),))
    assert planning.cells(replace(asked, placements=()), free, made), "without --placement the command decides"


def test_an_operator_that_was_quoted_is_passed_on_and_noted() -> None:
    typed = request.commands(
        ["expr", "1", ">", "2", "--", "find", "-exec", "true", ";", "--", "grep", "$a", "f", "--", "ls", "*", "~"]
    )
    assert list(request.quoted_operators(request.sound(BenchRequest(typed)))) == [("expr", ">")]


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
    with pytest.raises(UsageError, match="not a positive number"):
        amount("flops", text)


def test_the_file_of_the_documentation_is_one_with_every_key(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "your-programs.md").read_text()
    (tmp_path / request.FILE).write_text(text.partition("```toml\n")[2].partition("```")[0])
    full = request.read(tmp_path / request.FILE)
    plain = BenchRequest(full.commands)
    same = [f for f in BenchRequest.__struct_fields__ if getattr(full, f) == getattr(plain, f)]
    assert set(same) == {"commands", "warmup", "verify_status"}
    documented = set(re.findall(r"`\{(\w+)\}`", text.partition("| placeholder |")[2]))
    assert documented == {*placeholders.KNOWN, "n"}
