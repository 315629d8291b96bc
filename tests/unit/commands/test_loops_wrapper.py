"""`fl-cc` uses a tuned loop instead of the golden one only for this very loop, compiler and flags."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from commands import needs
from firstlight import ROOT
from firstlight.commands.loops import NotUnderstoodError, dispatch, emit, source
from firstlight.commands.loops.trial import compiler, whole_paths

pytestmark = needs("tune")

FLAGS = ("-O1", "-fno-inline", "-frandom-seed=1")
CODE = """#include <stdio.h>
static double scaled(int n, double *x) {
  double s = 0;
#pragma tune precious trip(4:300) \\
    even
  for (int i = 0; i < n; ++i) {
    s += x[i];
  }
  return s;
}
int main(void) {
  double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  printf("%g %d %s\\n", scaled(8, x), __LINE__, __FILE__);
  return 0;
}
"""
MARKED = "for (int i = 0; i < n; ++i) s += 2 * x[i];"
"""This code replaces the loop: another result shows which of them ran."""
GOLDEN, TUNED = "36 13 a.c\n", "72 13 a.c\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a source and a tuned file with twice the sum."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FL_CC", "gcc")
    (tmp_path / "a.c").write_text(CODE)
    tune(Path("a.c"))
    return tmp_path


def tune(path: Path, family: str = "gcc", flags: tuple[str, ...] = FLAGS, code: str = MARKED) -> None:
    cc = compiler(family, flags)
    (loop,) = source.read(path, command=[family, *flags]).loops
    name = dispatch.identifier(path.stem, loop.name)
    piece = dispatch.Piece(code, loop.params, family, False)
    header = emit.Header(name, loop.hash, loop.view, emit.build_key(family, flags), cc.label, "2026-11-25")
    written = dispatch.functions(loop, name, [dispatch.Version(0, piece, "twice as much")])
    emit.write(emit.place(path, loop.name, family), header, ["told"], written)


def fl_cc(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "fl-cc", *words], capture_output=True, text=True, timeout=900)


def ran(*flags: str) -> tuple[str, str]:
    """Return the output of the program, and that of the wrapper."""
    done = fl_cc(*flags, "-c", "a.c")
    assert done.returncode == 0, done.stderr
    assert fl_cc("a.o", "-o", "a").returncode == 0
    return subprocess.run(["./a"], capture_output=True, text=True).stdout, done.stderr


def test_a_tuned_loop_is_taken_without_a_word_in_the_strictest_build(place: Path) -> None:
    assert ran(*FLAGS, "-Wall", "-Wextra", "-Werror", "-pedantic", "-g") == (TUNED, "")
    assert ran(*FLAGS, "-DNAME") == (
        GOLDEN,
        ran(*FLAGS, "-DNAME")[1],
    )  # what a macro of the command line means is not known


def test_a_change_that_clang_cannot_make_is_no_warning_of_the_function_around_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("clang") is None:
        pytest.skip("needs clang")
    monkeypatch.setenv("FL_CC", "clang")
    flags = ("-O2", "-Werror")
    code = "\n#pragma clang loop vectorize_width(8)\n" + MARKED.replace("s +=", "if (s < 0) break; else s +=")
    Path("b.c").write_text(f"double f(int n, double *x) {{ double s = 0; {code} return s; }}")
    assert "-Wpass-failed" in fl_cc(*flags, "-c", "b.c").stderr
    Path("a.c").write_text(CODE.replace("static ", ""))  # compiled by itself, for any length
    tune(Path("a.c"), "clang", flags, code)
    assert ran(*flags) == (TUNED, "")


def test_what_changes_nothing_in_a_loop_is_no_other_build() -> None:
    assert emit.code_flags(["-g", "-O2", "-fPIC", "-Iinclude", "-DA", "-Wall", "-DA", "-c", "a.c"]) == ["-O2", "-DA"]
    assert emit.code_flags(["-DA", "-UA", "-DA", "-D", "B=1"]) == ["-DA", "-UA", "-DA", "-DB=1"]


def test_compiled_and_linked_at_once_it_is_taken_as_well(place: Path) -> None:
    assert fl_cc(*FLAGS, "a.c", "-o", "b").returncode == 0
    assert subprocess.run(["./b"], capture_output=True, text=True).stdout == TUNED


@pytest.mark.parametrize(
    ("edit", "flags", "why"),
    [
        (("s += x[i];", "s += x[i] + 0;"), FLAGS, "retune: ./fl tune loop a.c"),
        (("", ""), ("-O2", "-fno-inline"), "--flags '-O2 -fno-inline'"),
        (("double *x", "volatile double *x"), FLAGS, "a.c:4: x has the unsupported type volatile double"),
        (("static", '_Pragma("GCC optimize (\\"fast-math\\")") static'), FLAGS, "a pragma in the loop has changed"),
        (("static", '_Pragma("STDC FP_CONTRACT OFF") static'), FLAGS, "a pragma in the loop has changed"),
    ],
)
def test_golden_is_compiled_and_said_where_a_loop_or_the_flags_were_changed(
    edit: tuple[str, str], flags: tuple[str, ...], why: str, place: Path
) -> None:
    (place / "a.c").write_text(CODE.replace(*edit, 1))
    output, err = ran(*flags)
    assert output == GOLDEN and why in err and err.count("fl-cc:") == 1


def test_a_pragma_whose_effect_ends_before_the_loop_is_no_other_build(place: Path) -> None:
    ended = ("push_options", "optimize (1)", "pop_options", 'diagnostic ignored "-Wunused"')
    words = " ".join('_Pragma("GCC {}")'.format(one.replace('"', '\\"')) for one in ended)
    (place / "a.c").write_text(CODE.replace("static", f"{words} static", 1))
    assert ran(*FLAGS) == (TUNED, "")


@pytest.mark.parametrize(
    "damage", [lambda t: t[: len(t) // 2], lambda t: t.replace("2 * x", "3 * x"), lambda t: "", lambda t: t + "\n"]
)
def test_a_tuned_file_that_is_not_whole_is_not_used(damage: object, place: Path) -> None:
    (file,) = emit.every(Path("a.c"))
    assert callable(damage)
    file.write_text(damage(file.read_text()))
    with pytest.raises(NotUnderstoodError):
        emit.read(file)
    output, err = ran(*FLAGS)
    assert output == GOLDEN and "seal is broken" in err


def test_golden_is_restored_by_a_command(place: Path) -> None:
    from firstlight.commands.shared import command_line

    assert command_line.call(["tune", "loop", "--golden", "a.c"]) == 0
    assert not emit.every(Path("a.c")) and ran(*FLAGS) == (GOLDEN, "")


def test_golden_of_one_source_leaves_the_results_of_others(place: Path) -> None:
    from firstlight.commands.shared import command_line

    others = ["a.v2", "a.c", "b", "a.f", "aa", "x.a", "a[1]", "a.scaled"]
    for stem in others:
        Path(f"{stem}.c").write_text(CODE)
        tune(Path(f"{stem}.c"))
    assert command_line.call(["tune", "loop", "--golden", "a.c"]) == 0 and not emit.every(Path("a.c"))
    assert [stem for stem in others if len(emit.every(Path(f"{stem}.c"))) != 1] == []


FULL = "error: No space left on device"


@pytest.mark.full
@pytest.mark.parametrize("fails", [PermissionError(13, "Permission denied"), OSError(28, "No space left"), FULL, ""])
@pytest.mark.parametrize("after", [1, 2, 4, 6])  # commands: the driver, golden, its program, a candidate
def test_an_environment_that_fails_removes_no_result(
    fails: OSError | str, after: int, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from firstlight.commands.shared import command_line
    from firstlight.system.process import bounded

    Path("p.json").write_text('[{"unroll": "4"}, {"unroll": "2"}]')
    real, count = bounded.run, 0

    def run(words: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
        nonlocal count
        count += options.get("folder") is not None
        if count < after or options.get("folder") is None:
            return real(words, **options)  # type: ignore[arg-type]
        if isinstance(fails, OSError):
            raise fails
        return subprocess.CompletedProcess(list(words), 1, "", fails)

    monkeypatch.setattr(bounded, "run", run)
    (kept,) = emit.every(Path("a.c"))
    whole = kept.read_bytes()
    assert command_line.call(["tune", "loop", "a.c", "--flags", " ".join(FLAGS), "--engine", "replay:p.json"]) == 3
    out, err = capsys.readouterr()
    assert kept.read_bytes() == whole and "the golden loop is used" not in out and err


@pytest.mark.full
def test_tuning_leaves_nothing_in_the_current_folder(place: Path) -> None:
    from firstlight.commands.shared import command_line

    Path("p.json").write_text('[{"unroll": "4"}]')
    Path("inc").mkdir()
    Path("inc/k.h").write_text("#define K 1\n")
    Path("a.c").write_text('#include "k.h"\n' + CODE.replace("x[i]", "K * x[i]"))
    before = {str(p) for p in Path().iterdir()}
    flags = "-O1 --coverage -save-temps -Iinc -L . -include inc/k.h"
    words = ["--engine", "replay:p.json", "--launches", "6", "--flags", flags]
    assert command_line.call(["tune", "loop", "a.c", *words]) == 0
    assert {str(p) for p in Path().iterdir()} == before


def test_relative_paths_among_flags_are_made_whole(place: Path) -> None:
    here = str(place)
    flags = "-Ia -I b -I/c -O2 -isystem d -Le -include none.h -I- @r"
    whole = f"-I{here}/a -I {here}/b -I/c -O2 -isystem {here}/d -L{here}/e -include none.h -I- @{here}/r"
    assert whole_paths(flags.split()) == whole.split()


def test_messages_status_and_dependencies_are_the_compilers(place: Path) -> None:
    assert fl_cc(*FLAGS, "-MMD", "-c", "a.c", "-o", "o.o").returncode == 0
    assert (place / "o.d").read_text().split() == ["o.o:", "a.c"]
    (place / "a.c").write_text(CODE.replace("return s;", "return t;"))
    mine = fl_cc(*FLAGS, "-Wall", "-c", "a.c", "-o", "o.o")
    gcc = subprocess.run(["gcc", *FLAGS, "-Wall", "-c", "a.c"], capture_output=True, text=True)
    assert (mine.returncode, mine.stderr) == (gcc.returncode, gcc.stderr) and "a.c:9:10" in mine.stderr
    for words in (["--version"], ["-dumpmachine"], ["-E", "a.c"], ["-c", "none.c"]):
        mine, gcc = fl_cc(*words), subprocess.run(["gcc", *words], capture_output=True, text=True)
        assert (mine.returncode, mine.stdout, mine.stderr) == (gcc.returncode, gcc.stdout, gcc.stderr)


def build(place: Path, compiler: str | Path, line: str) -> tuple[dict[str, bytes], int, str, str]:
    """Return every file with its content, the status and the messages of one compilation in a folder of fixed name."""
    folder = place / "work"
    folder.mkdir()
    sources = {"a.c": CODE, "b.c": "int b;\n", "h/x.h": "int x;\n", "flags": f"{O1} -c a.c\n"}
    for name, code in sources.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
    shutil.copytree("tuned", folder / "tuned")
    (folder / "link.o").symlink_to("target.o")
    words = ["sh", "-c", f'"$1" {line}', "sh", str(compiler)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    messages = "".join(row for row in done.stderr.splitlines(True) if not row.startswith("fl-cc: "))
    shutil.rmtree(folder)
    return files, done.returncode, done.stdout, messages


O1 = " ".join(FLAGS)
UNCHANGED = [
    "@flags", f"{O1} -c a.c --output=z.o", f"{O1} -c a.c -o y.o -o z.o", f"{O1} --coverage -c a.c",
    f"{O1} -gsplit-dwarf -g -c a.c", f"{O1} -x c - -c -o s.o < a.c", f"{O1} -MMD -MF - -c a.c",
]  # fmt: skip
MORE_UNCHANGED = [
    f"{O1} -MMD a.c -o p", f"{O1} -Wp,-MMD,w.d -c a.c", f"{O1} -fprofile-generate -c a.c", f"{O1} -save-temps -c a.c",
    f"{O1} -E a.c", f"{O1} -S a.c", f"{O1} -fsyntax-only a.c", f"{O1} -M a.c", f"{O1} -MM -MF m.d a.c", "-dumpversion",
    f"{O1} -c a.c b.c", f"{O1} -c -x c a.c", f"{O1} -xc -c a.c", f"{O1} -fdump-tree-optimized -c a.c", f"{O1} -c",
    f"{O1} -Wa,-adhln=l.lst -c a.c", f"{O1} -c a.c -o", f"{O1} -c a.c -o none/z.o", f"{O1} -fstack-usage -c a.c",
    f"{O1} -print-file-name=libc.so a.c", f"{O1} -ftest-coverage -c a.c", f"{O1} -c -include none.h a.c",
    f"{O1} -fcallgraph-info -c a.c", f"{O1} -c a.c -MD -MF", f"{O1} -MD -MMD -c a.c", f"{O1} -c a.c -o h",
    f"{O1} -c a.c -o link.o -fopt-info-all=o.txt", f"{O1} -aux-info i.txt -c a.c", f"{O1} -MP -c a.c",
    f"{O1} -c ./a.c -MD -MF none/d", f"{O1} --param max-unroll-times=4 -c a.c", "-O2 -c a.c", "-c a.c -Wall -g3",
    f"{O1} -c b.c && mv a.c 'n\nl.c' && \"$1\" {O1} -c 'n\nl.c' -MD", f"{O1} -DN='(1 +\n 2)' -g3 -c a.c",
]  # fmt: skip


def as_compiled(line: str, place: Path) -> None:
    mine, golden = build(place, ROOT / "fl-cc", line), build(place, "gcc", line)
    assert set(mine[0]) == set(golden[0])
    assert [name for name in mine[0] if mine[0][name] != golden[0][name]] == [] and mine[1:] == golden[1:]


@pytest.mark.parametrize("line", UNCHANGED)
def test_what_is_not_understood_is_the_compilers_alone(line: str, place: Path) -> None:
    as_compiled(line, place)


@pytest.mark.full
@pytest.mark.parametrize("line", MORE_UNCHANGED)
def test_other_lines_that_are_not_understood_are_the_compilers_alone(line: str, place: Path) -> None:
    as_compiled(line, place)


@pytest.mark.parametrize(
    "line", ["-c a.c -MMD -MP -o link.o", "-c a.c -MD -MF h/e.d -MT q -MT r -o h/o.o -g", "-c a.c -MD", "-c a.c -o h/q"]
)
def test_a_tuned_object_and_its_dependencies_have_the_compilers_names(line: str, place: Path) -> None:
    mine, golden = (build(place, cc, f"{O1} -Ih -include x.h {line}") for cc in (ROOT / "fl-cc", "gcc"))
    assert set(mine[0]) == set(golden[0]) and mine[1:] == golden[1:]
    assert [n for n in mine[0] if mine[0][n] != golden[0][n] and Path(n).suffix not in (".o", "")] == []
    assert any(mine[0][n] != golden[0][n] for n in mine[0])


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may make a device")
def test_a_device_stays_a_device(place: Path) -> None:
    try:
        os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        Path("null").write_bytes(b"x")
    except OSError as error:
        pytest.skip(f"devices cannot be used here: {error.strerror}")
    assert fl_cc(*FLAGS, "-c", "a.c", "-o", "null").returncode == 0
    assert fl_cc(*FLAGS, "-c", "a.c", "-MD", "-MF", "null").returncode == 0
    assert stat.S_ISCHR(os.lstat("null").st_mode)


def test_a_compiler_with_options_of_its_own(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FL_CC", f"gcc {' '.join(FLAGS)}")
    assert ran() == (TUNED, "")


def test_macros_of_headers_are_known_where_nothing_is_tuned(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from firstlight.commands.loops import records, tuner
    from firstlight.commands.shared import command_line

    Path("h.h").write_text("#define V(i) x[i]\n")
    Path("a.c").write_text('#include "h.h"\n' + CODE.replace("x[i]", "V(i)"))
    Path("p.json").write_text("[]")
    assert command_line.call(["tune", "loop", "--golden", "a.c"]) == 0 and ran(*FLAGS)[1] == ""
    words = ["tune", "loop", "a.c", "--engine", "replay:p.json", "--launches", "6"]
    assert command_line.call(words) == 0 and command_line.call([*words, "--report"]) == 0
    assert "V() is called" not in "".join(capsys.readouterr()) + records.page(Path("a.c")).read_text()
    assert isinstance(records.read(Path("a.c"))[0], tuner.TunedLoop)
    Path("a.c").write_text(Path("a.c").read_text().replace("V(i)", "V(i) + getc(0)"))
    assert "getc() is called" in ran(*FLAGS)[1]


def test_the_time_of_the_file_is_that_of_the_file(place: Path) -> None:
    Path("a.c").write_text(CODE.replace("__FILE__", "__TIMESTAMP__"))
    os.utime("a.c", (0, 0))
    tune(Path("a.c"))
    assert ran(*FLAGS)[0].startswith("72 13 Thu Jan")


def test_a_build_that_tuned_code_breaks_is_that_of_the_compiler(place: Path) -> None:
    """The compiler compiles the file itself, and one line reports this."""
    tune(Path("a.c"), code="no_such_name = 1;")
    output, err = ran(*FLAGS)
    assert output == GOLDEN and err.startswith("fl-cc: a.c") and err.count("\n") == 1


def test_another_header_of_the_same_name_is_not_taken(place: Path) -> None:
    """A copy in another folder finds the header next to the source from within headers, too."""
    for name, code in (("s/y.h", '#define Y "s"\n'), ("i/y.h", '#define Y "i"\n'), ("i/x.h", '#include "y.h"\n')):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(code)
    Path("i/z").mkdir()
    Path("i/x.h").write_text('#include "z/w.h"\n')
    Path("i/z/w.h").write_text('#include "y.h"\n')
    Path("s/a.c").write_text('#include "x.h"\n' + CODE.replace("__FILE__", "Y"))
    tune(Path("s/a.c"), flags=(*FLAGS, "-Ii"))
    assert fl_cc(*FLAGS, "-Ii", "s/a.c", "-o", "b").returncode == 0
    assert subprocess.run(["./b"], capture_output=True, text=True).stdout.split()[2] == "i"


@pytest.mark.faults
def test_killed_at_any_moment_it_leaves_an_object_that_is_whole_or_none(place: Path) -> None:
    for k in range(8):
        (place / "a.o").unlink(missing_ok=True)
        process = subprocess.Popen(
            [ROOT / "fl-cc", *FLAGS, "-c", "a.c"], stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(0.04 * k)
        process.kill()
        process.wait()
        if (place / "a.o").exists():
            subprocess.run(["gcc", "a.o", "-o", "a"], check=True)
    assert ran(*FLAGS) == (TUNED, "")


@pytest.mark.faults
@pytest.mark.parametrize("after", [0.5, 1.5, 3.0])
def test_a_tuning_that_is_killed_leaves_golden_or_a_whole_tuned_file(after: float, place: Path) -> None:
    (file,) = emit.every(Path("a.c"))
    file.unlink()
    command = [
        sys.executable,
        "-I",
        "-m",
        "firstlight",
        "tune",
        "loop",
        "a.c",
        "--flags",
        " ".join(FLAGS),
        "--launches",
        "6",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for left in emit.every(Path("a.c")):
        emit.read(left)
    assert ran(*FLAGS)[0] == GOLDEN
