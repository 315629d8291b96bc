"""Programs that are not firstlight's, built once a toolchain in a copy, and started by MPI libraries."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import native
from bench_runs import run
from commands import Captured, call
from firstlight.commands.bench import building
from firstlight.core.errors import ENVIRONMENT, OK, USAGE
from firstlight.runner import copies as kept
from firstlight.system.mpi_families import interchangeable

RING = (
    "#include <mpi.h>\n#include <stdio.h>\n"
    "int main(int n, char** v) { int rank, size; MPI_Init(&n, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    "MPI_Comm_size(MPI_COMM_WORLD, &size); int sum = 0;\n"
    "MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);\n"
    'if (rank == 0) printf("sum %d of %d, asked %s\\n", sum, size, v[1]); MPI_Finalize(); return 0; }\n'
)
"""A program of MPI whose first rank prints the sum of all ranks, and its first word."""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a program that prints how it was compiled, and one that does not compile with every flag set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.c").write_text('#include <stdio.h>\nint main(void) { printf("flags %s\\n", FLAGS); return 0; }\n')
    (tmp_path / "ring.c").write_text(RING)
    return tmp_path


def test_it_is_built_once_a_toolchain_in_a_copy(sources: Path, capsys: Captured) -> None:
    build = "{cc} -DFLAGS='\"{flags}\"' app.c -o app"
    code, found, err = run(capsys, "--build", build, "--toolchain", "gcc-*", "--expect", "flags -O", "--", "./app")
    assert code == OK, err
    assert len({f["toolchain"] for f in found}) > 1 and {f["verdict"] for f in found} == {"verified"}
    assert not (sources / "app").exists()
    rows = json.loads((sources / "results" / "r" / "run.json").read_text())["brought"][0]["rows"]
    assert rows[0]["choose"] == "toolchain"


def test_a_build_that_fails_is_told_and_the_others_go_on(sources: Path, capsys: Captured) -> None:
    build = "{cc} -DFLAGS='\"{flags}\"' app.c -o app && case '{flags}' in *fast*) echo error: no fast; false;; esac"
    code, found, err = run(capsys, "--build", build, "--toolchain", "gcc-*", "--", "./app")
    by = {(f["toolchain"], f["verdict"]) for f in found}
    assert ("gcc-fast", "failed") in by and ("gcc-base", "verified") in by and code == OK, err
    assert any("does not build: error: no fast" in str(f["reason"]) for f in found)
    code, _, err = call(capsys, "bench", "--build", "false # {cc}", "--toolchain", "gcc-*", "--", "./app")
    assert code == ENVIRONMENT and "no program could be built" in err


NONE = "the build ended with status 0 but did not create ./app"
OLD = f"{NONE} (--build does not copy the file in "


@pytest.mark.parametrize(
    ("before", "build", "words", "message"),
    [
        ("make", "make CC={cc}", "./app", ""),
        ("make", "make -B CC={cc}", "./app", ""),
        pytest.param("make", "make clean; make CC={cc}", "./app", "", marks=pytest.mark.full),
        pytest.param("make", "touch app.c; make CC={cc}", "./app", "", marks=pytest.mark.full),
        pytest.param("make", "true {cc}", "./app", OLD, marks=pytest.mark.full),
        pytest.param("make", "make CC={cc}", "sh -c ./app", "", marks=pytest.mark.full),
        pytest.param("make", "make CC={cc}", "env ./app", "", marks=pytest.mark.full),
        ("make", "true {cc}", "./run.sh", "the build created no new program"),
        pytest.param("make", "make -B CC={cc}", "./run.sh", "", marks=pytest.mark.full),
        pytest.param("", "make CC={cc}", "./app", "", marks=pytest.mark.full),
        ("", "true {cc}", "./app", f"{NONE}; "),
        pytest.param("", "make CC={cc}; mv app other", "./app", NONE, marks=pytest.mark.full),
        ("", "make CC={cc}; chmod -x app", "./app", "./app is not executable; add chmod +x ./app to --build"),
        pytest.param(
            "", "make CC={cc} && mkdir bin && install -p app bin/app", "./bin/app", "", marks=pytest.mark.full
        ),
    ],
)
def test_only_what_the_build_made_is_measured(
    before: str, build: str, words: str, message: str, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    (sources / "Makefile").write_text("app: app.c\n\t$(CC) app.c -o app\nclean:\n\trm -f app\n")
    (sources / "run.sh").write_text("#!/bin/sh\n./app\n")
    (sources / "run.sh").chmod(0o755)
    if before:
        subprocess.run([before, "-s", "CC=cc"], cwd=sources, check=True)
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"
    commands = {"app": shlex.split(words), "other": ["./run.sh"]}
    made = [building.make(build, {"cc": "cc"}, sources, copy, os.environ, "gcc", commands) for _ in range(2)]
    assert made[0].error == "" and message in made[0].of("app") and (message != "") == ("app" in made[0].flaws)
    assert made[1] == (made[0]._replace(seconds=made[1].seconds) if made[0].flaws else building.BuildResult(0.0, ""))
    if message:
        assert str(building.log(copy)) in made[0].of("app") and building.log(copy).is_file()


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize(
    ("build", "word"),
    [
        ("touch app", "./app"),
        ("chmod 755 app", "./app"),
        ("cp -f prebuilt app", "./app"),
        ("cat prebuilt > app", "./app"),
        ("ln -f prebuilt app", "./app"),
        ("mv app x; mv x app", "./app"),
        ("ln app app2", "./app2"),
    ],
)
def test_a_program_that_was_there_before_is_not_measured_whatever_moves_it(
    build: str, word: str, equal: bool, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Measure a program that the recipe makes, even if it is equal to the one that was there before."""
    for name in ("app", "prebuilt"):
        shutil.copy("/bin/true", sources / name)
    build = f"cp /bin/true {word} # {build}" if equal else build
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"
    made = building.make(build, {}, sources, copy, os.environ, "gcc", {"app": [word]})
    assert (made.of("app") == "") == equal


@pytest.mark.parametrize(
    ("build", "words", "message"),
    [
        ("{cc} app.c -o app", "{source}/app", "in the folder that --build copies: use its relative path"),
        ("{cc} app.c -o app", "./link", "in the folder that --build copies: use its relative path"),
        ("{cc} app.c -o out/app", "./out/app", "the build wrote ./out/app outside its copy"),
        ("{cc} app.c -o ls", "ls", "write ./ls for the program that the build creates"),
        ("true > log {cc}", "./run.sh", "the build created no new program"),
    ],
)
def test_what_the_build_did_not_make_in_its_copy_is_not_measured(
    build: str, words: str, message: str, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "app.c", "-o", "app"], cwd=sources, check=True)
    (sources / "link").symlink_to(sources / "app")
    (sources / "out").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    (sources / "run.sh").write_text("#!/bin/sh\n./app\n")
    (sources / "run.sh").chmod(0o755)
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"
    commands = {"app": [words.replace("{source}", str(sources))]}
    made = building.make(build, {"cc": "cc"}, sources, copy, os.environ, "gcc", commands)
    assert made.error == "" and message in made.of("app")


def test_objects_of_an_earlier_build_are_not_linked(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Copy an object that was not made of a source of the folder: the recipe could not make it."""
    (sources / "app.c").write_text("int main(void) { return VALUE; }\n")
    for name, value in (("app.o", 1), ("app.c.o", 2), ("app.pic.o", 3)):
        subprocess.run(["cc", f"-DVALUE={value}", "-c", "app.c", "-o", name], cwd=sources, check=True)
    subprocess.run(["cc", "-c", "-x", "c", "-", "-o", "given.o"], cwd=sources, input=b"int x;", check=True)
    (sources / "Makefile").write_text("app: app.o\n\t$(CC) app.o -o app\napp.o: app.c\n\t$(CC) $(FLAGS) -c app.c\n")
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"
    made = building.make("make FLAGS=-DVALUE=7", {}, sources, copy, os.environ, "gcc", {"app": ["./app"]})
    assert made.flaws == {} and subprocess.run([copy / "app"]).returncode == 7
    assert made.given == ("given.o",) and not {p.name for p in copy.iterdir()} & {"app.c.o", "app.pic.o"}


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("libpart.a", "rm -f $@; $(CC) $(FLAGS) -c src/part.c -o x.o; ar rcs $@ x.o"),
        ("libpart.a", "rm -f $@; $(CC) $(FLAGS) -c src/part.c -o x.o; ar rcsT $@ x.o"),
        ("libpart.so", "$(CC) $(FLAGS) -shared -fPIC src/part.c -o $@"),
        ("libpart.so.1", "$(CC) $(FLAGS) -shared -fPIC src/part.c -o $@"),
        ("part.obj", "$(CC) $(FLAGS) -c src/part.c -o $@"),
    ],
)
def test_a_library_of_an_earlier_build_is_made_again(
    name: str, link: str, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`make` would keep a library that is newer than its sources, whatever compiler and flags made it."""
    (sources / "src").mkdir()
    (sources / "src" / "part.c").write_text("int part(void) { return VALUE; }\n")
    (sources / "app.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    (sources / "Makefile").write_text(
        f"app: {name} app.c\n\t$(CC) app.c ./{name} -o app\n{name}: src/part.c\n\t{link}\n"
    )
    subprocess.run(["make", "-s", "FLAGS=-DVALUE=1"], cwd=sources, check=True)
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"
    made = building.make("make FLAGS=-DVALUE=7", {}, sources, copy, os.environ, "gcc", {"app": ["./app"]})
    assert (made.error, made.flaws, made.given) == ("", {}, ())
    assert subprocess.run(["./app"], cwd=copy).returncode == 7


def test_a_library_that_the_build_did_not_make_is_named(sources: Path, capsys: Captured) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    shutil.copy("/bin/true", sources / "libvendor.so.1")
    assert run(capsys, "--build", "{cc} app.c -o app", "--toolchain", "gcc-base", "--", "./app")[0] == OK
    for _ in range(2):
        err = run(capsys, "--build", "{cc} app.c -o app", "--toolchain", "gcc-base", "--", "./app")[2]
        assert "the build did not create these files, but may link them with any toolchain: libvendor.so.1" in err


def test_a_build_is_used_again_only_for_what_it_made(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "app.c", "-o", "old"], cwd=sources, check=True)
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"

    def make(word: str) -> building.BuildResult:
        return building.make("cc app.c -o app", {}, sources, copy, os.environ, "gcc", {"app": [word]})

    assert make("./app").seconds > 0 and make("./app") == building.BuildResult(0.0, "")
    assert "did not create ./old (--build does not copy the file in" in make("./old").of("app")
    assert make("./app").seconds > 0
    (copy / "app").write_bytes((copy / "app").read_bytes() + b" ")
    assert make("./app").seconds > 0


def test_a_build_with_another_environment_is_not_used_again(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    build = ("--build", '{cc} -DFLAGS="\\"<$OPT>\\"" app.c -o app', "--toolchain", "gcc-base")
    monkeypatch.setattr(kept, "root", lambda _: sources / ".fl")
    again = "reused builds: app with gcc-base, built "
    for value, volatile, stored in (("-O0", "1", False), ("-O0", "2", True), ("", "2", False)):
        monkeypatch.setenv("OPT", value)
        monkeypatch.setenv("SHLVL", volatile)
        code, found, err = run(capsys, *build, "--expect", f"flags <{value}>", "--", "./app")
        assert code == OK and {f["verdict"] for f in found} == {"verified"}, err
        assert (again in err) == (f"to rebuild, remove {sources}/.fl/" in err) == stored, err


def test_a_recipe_receives_no_cdpath_and_variables_of_a_session_are_not_in_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CDPATH", "/tmp")
    before = building.environment(None, None)
    assert "CDPATH" not in before
    volatile = ("PWD", "_", "COLUMNS", "SSH_TTY", "XDG_SESSION_ID", "SLURM_JOB_ID", "PBS_JOBID", "FIRSTLIGHT_CALLED")
    assert building.key(before) == building.key(before | dict.fromkeys(volatile, "x"))
    lasting = ("OPT", "PATH", "CPATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
    assert len({building.key(before), *(building.key(before | {name: "x"}) for name in lasting)}) == 6


def test_two_builds_in_one_copy_wait_for_each_other(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    copy = tmp_path_factory.mktemp("copies") / "gcc-base"

    def make(_: int) -> building.BuildResult:
        commands = {"app": ["./app"]}
        return building.make("sleep 0.3; cc app.c -o app", {}, sources, copy, os.environ, "gcc", commands)

    with ThreadPoolExecutor(2) as pool:
        made = sorted(pool.map(make, range(2)))
    assert made[0] == building.BuildResult(0.0, "") and made[1].seconds > 0 and made[1].error == ""


@pytest.mark.parametrize(("build", "equal"), [("cc {flags} app.c -o app", False), ("cc app.c -o app # {cc}", True)])
def test_builds_that_made_the_same_program_are_found(build: str, equal: bool, sources: Path, capsys: Captured) -> None:
    (sources / "app.c").write_text(
        "int main(void) { volatile int x = 0; for (int i = 0; i < 9; i++) x += i; return 0; }\n"
    )
    sets = ["--toolchain", "gcc-base", "--toolchain", "gcc-fast"]
    assert run(capsys, "--build", build, *sets, "--", "./app")[0] == OK
    page = call(capsys, "report", "r")[1]
    assert ("gcc-base and gcc-fast built identical programs of app" in " ".join(page.split())) == equal


def test_a_program_from_before_the_build_is_not_ranked(sources: Path, capsys: Captured) -> None:
    (sources / "app.c").write_text("int main(void) { return 0; }\n")
    build = "case '{flags}' in *fast*) true;; *) {cc} app.c -o app;; esac"
    subprocess.run(["cc", "app.c", "-o", "app"], check=True)
    code, found, err = run(capsys, "--build", build, "--toolchain", "gcc-*", "--", "./app")
    assert code == OK and "not measured: app of gcc-fast: the build ended with status 0 but did not create ./app" in err
    assert "--build does not copy compiled files, so the build must create these: app" in err
    assert {(f["toolchain"], f["verdict"]) for f in found} >= {("gcc-fast", "failed"), ("gcc-base", "verified")}
    code, _, err = call(capsys, "bench", "--build", "true {cc}", "--toolchain", "gcc-*", "--", "./app")
    assert code == ENVIRONMENT and "no program could be built" in err and ".log" in err


@pytest.mark.full
@pytest.mark.parametrize(("ranks", "binds"), [([2], []), ([1, 2], ["bound", "unbound"])])
def test_it_is_launched_by_every_mpi_library_that_it_is_built_for(
    ranks: list[int], binds: list[str], sources: Path, capsys: Captured
) -> None:
    if not native.toolbox().mpis:
        pytest.skip("no MPI library here")
    options = ["--build", "{mpicc} ring.c -o ring", "--toolchain", "gcc-base", "--mpi-share"]
    options += ["--vary", ",".join(["mpi", *(["bind"] if binds else [])])]
    options += [word for n in ranks for word in ("--placement", f"1x{n}x1")]
    options += ["--check", "grep -q ' of {ranks}, asked {ranks}' {out}"]
    code, found, err = run(capsys, *options, "--", *shlex.split("mpiexec -n {ranks} ./ring {ranks}"))
    assert code == OK, err
    mpis = native.toolbox().mpis
    assert {f["mpi"] for f in found} == {m.name for m in mpis}
    assert {f["placement"]["ranks"] for f in found} == set(ranks)  # type: ignore[index]
    assert {f["parameters"].get("bind") for f in found} == set(binds or [None])  # type: ignore[attr-defined]
    shares = [f for f in found if f["metric"] == "mpi_share"]
    assert len(shares) == len(ranks) * len(binds or [""]) * len(mpis)
    assert all(0 < f["median"] < 100 for f in shares)  # type: ignore[operator]
    assert call(capsys, "check", "r")[0] == OK


def test_what_cannot_be_copied_is_left_where_it_is(sources: Path, capsys: Captured) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(sources / "socket"))
        (sources / "nowhere").symlink_to("no-such-file")
        build = "{cc} -DFLAGS='\"\"' app.c -o app && test ! -e socket && test -L nowhere"
        code, found, err = run(capsys, "--build", build, "--toolchain", "gcc-base", "--", "./app")
    assert code == OK and {f["verdict"] for f in found} == {"verified"}, err


def test_a_program_that_is_there_runs_with_the_libraries_of_its_interface_and_no_other(
    sources: Path, capsys: Captured
) -> None:
    if not (mpis := native.toolbox().mpis):
        pytest.skip("no MPI library here")
    own = mpis[0]
    compiled = [own.cxx, "-x", "c++", "ring.c", "-o", "ring"]
    built = subprocess.run(compiled, env=building.environment(None, own), capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    words = shlex.split("mpiexec -n {ranks} ./ring {ranks}")
    options = ["--placement", "1x2x1", "--expect", "sum 1 of 2, asked 2"]
    code, found, err = run(capsys, *options, "--vary", "mpi", "--", *words)
    alike = {f.name for f in interchangeable(own.family)}
    others = [m for m in mpis if m.family not in alike]
    assert code == OK, err
    assert {f["mpi"] for f in found} == {m.name for m in mpis if m.family in alike}
    absent = json.loads((sources / "results" / "r" / "run.json").read_text())["not_available"]
    why = {a["what"]: a["why"] for a in absent if a["what"].startswith("bench with ")}
    assert why == {f"bench with {m.label}": f"the program is linked with {own.label}" for m in others}
    if others:
        code, _, err = call(capsys, "bench", *options, "--mpi", others[0].name, "--", *words)
        assert code == USAGE and f"linked with {own.label}: add --build with {{mpicxx}}" in err
