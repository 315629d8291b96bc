"""`fl` sets up once, passes all arguments on, and leaves nothing incomplete. A shell script replaces Python and pip."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

import pytest

import turns
from firstlight import ROOT


def test_it_is_plain_shell():
    subprocess.run(["sh", "-n", ROOT / "fl"], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "-s", "sh", ROOT / "fl"], check=True)


def test_it_sets_up_once_and_passes_everything_on(checkout):
    code, out, err = checkout.run("run", "two words", "--x=*", STATUS="4")
    assert code == 4
    assert out == f"<run><two words><--x=*>{checkout.venv}/bin/pip\n"
    assert "half a minute" in err and len(err.splitlines()) == 1
    assert checkout.calls("-m pip install") == 1 and f"-r {checkout.cache}/requirements.txt" in checkout.log.read_text()
    checkout.log.unlink()
    assert checkout.run("list")[0::2] == (0, "")
    assert checkout.log.read_text() == "-m firstlight list\n"


def test_a_changed_project_is_set_up_anew_and_only_then(checkout):
    checkout.run("list")
    (checkout.root / "pyproject.toml").touch()
    checkout.run("list")
    assert checkout.calls("-m venv") == 1
    with (checkout.root / "pyproject.toml").open("a") as file:
        file.write("# another dependency\n")
    assert checkout.run("list")[0] == 0
    assert checkout.calls("-m venv") == 2


def test_a_removed_python_is_set_up_anew(checkout):
    checkout.run("list")
    (checkout.venv / "bin/python").unlink()
    assert checkout.run("list")[0] == 0 and checkout.calls("-m venv") == 2


def test_it_is_found_through_a_link_and_keeps_to_the_named_cache(checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/fl").symlink_to("../a check out/fl")
    world = checkout.environment(FIRSTLIGHT_CACHE="my cache")
    done = subprocess.run([tmp_path / "bin/fl", "list"], env=world, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0 and (tmp_path / "my cache/venv/stamp").exists() and not checkout.cache.exists()


def test_an_old_python_is_refused_in_one_line(checkout):
    code, _, err = checkout.run("list", TOO_OLD="1")
    assert code == 3 and err.splitlines()[-1].endswith("is not Python 3.11 or newer") and checkout.nothing_half_made()


def test_no_python_at_all(checkout, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "readlink", "dirname", "mkdir", "uname", "rm", "cksum", "cat", "mv"):
        (tools / name).symlink_to(shutil.which(name))
    code, _, err = checkout.run("list", FIRSTLIGHT_PYTHON="", PATH=str(tools))
    assert code == 3 and "no Python 3.11 or newer found" in err and checkout.nothing_half_made()


def test_a_failing_pip_is_shown_in_full(checkout):
    code, _, err = checkout.run("list", INSTALLING_FAILS="1")
    assert code == 3
    assert "line one\nERROR: line two\n" in err and err.splitlines()[-1].startswith("fl: installing firstlight failed")
    assert checkout.nothing_half_made()
    assert checkout.run("list")[0] == 0


def test_virtualenv_stands_in_for_a_missing_venv(checkout):
    code, _, err = checkout.run("list", NO_VENV="1", HAS_VIRTUALENV="1")
    assert (code, len(err.splitlines())) == (0, 1)


def test_without_venv_and_virtualenv_the_package_is_named(checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/virtualenv").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin/virtualenv").chmod(0o755)
    code, _, err = checkout.run("list", NO_VENV="1", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert code == 3 and "apt install python3-venv" in err and "ensurepip is not available" in err
    assert checkout.nothing_half_made()


def test_a_cache_that_cannot_be_made_is_one_line(checkout, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = checkout.run("list", FIRSTLIGHT_CACHE=str(tmp_path / "file/cache"))
    assert code == 3 and "set FIRSTLIGHT_CACHE to a writable folder" in err and len(err.splitlines()) == 1


def test_of_many_at_once_one_sets_up_and_all_go_on(checkout):
    processes = [checkout.start("list", INSTALLING_TAKES="2") for _ in range(4)]
    assert [process.wait(timeout=turns.PATIENCE) for process in processes] == [0] * 4
    assert checkout.calls("-m venv") == 1 and checkout.calls("-m firstlight list") == 4
    assert checkout.free()
    for process in processes:
        process.communicate()


def test_one_sets_up_at_a_time_whoever_is_killed(checkout, tmp_path):
    """The process that sets up is killed: one of the five others makes everything again, and no two simultaneously."""
    for k in range(8):
        shutil.rmtree(checkout.venv, ignore_errors=True)
        folder = tmp_path / f"round {k}"
        folder.mkdir()
        six = [checkout.start("list", ROUND=str(folder)) for _ in range(6)]
        for process in six:
            process.communicate(timeout=turns.PATIENCE)
        assert sorted(process.returncode for process in six) == [-signal.SIGKILL, 0, 0, 0, 0, 0]
    assert checkout.calls("TWO AT ONCE") == 0 and checkout.calls("-m venv") == 16 and checkout.free()


def test_what_is_left_by_who_died_is_made_anew(checkout):
    (checkout.venv / "bin").mkdir(parents=True)
    shutil.copy(checkout.python, checkout.venv / "bin/python")
    (checkout.venv / "half").write_text("left by who died")
    (checkout.cache / "setup.lock").touch()
    code, _, err = checkout.run("list")
    assert code == 0 and "waiting" not in err and not (checkout.venv / "half").exists()


def test_who_waits_says_so_and_a_pip_that_outlives_its_fl_is_waited_for(checkout, tmp_path):
    go = tmp_path / "go"
    first = checkout.start("list", INSTALLING_AWAITS=str(go))
    while not checkout.calls("-m pip install"):
        assert first.poll() is None
        time.sleep(0.02)
    first.kill()
    assert not checkout.free()
    second = checkout.start("list")
    assert second.stderr.readline() == f"fl: another fl is setting up {checkout.venv}; waiting for it\n"
    go.touch()
    second.communicate(timeout=turns.PATIENCE)
    assert second.returncode == 0
    first.communicate()


def test_a_file_system_without_locks_is_one_line(checkout):
    code, _, err = checkout.run("list", NO_LOCKS="1")
    message = f"fl: cannot lock {checkout.cache}/setup.lock: No locks available; set FIRSTLIGHT_CACHE to a folder"
    assert code == 3 and err == f"{message} on a disk of this machine\n"
    assert checkout.calls("-m venv") == 0


MODULES = (
    "click",
    "firstlight",
    "statistics",
    "pip",
    "venv",
    "cmake",
    "sitecustomize",
    "usercustomize",
    "json",
    "ruff",
)
COMMANDS = ("cksum", "readlink", "python3", "sh", "rm", "mkdir", "mv", "cat", "git", "g++", "mpiexec", "cmake", "ninja")


@pytest.mark.parametrize("search", [":{}", "{}:", ".:{}", "bin:{}", "../hostile::{}"])
def test_nothing_of_the_current_folder_is_run(checkout, tmp_path, search):
    """This holds for any names in the folder, and for any relative folders in PATH and PYTHONPATH."""
    hostile = tmp_path / "hostile"
    (hostile / "bin").mkdir(parents=True)
    for name in MODULES:
        (hostile / f"{name}.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'a').write(__name__)\n")
    for place in (hostile, hostile / "bin"):
        for name in COMMANDS:
            (place / name).write_text(f"#!/bin/sh\necho {name} >>'{tmp_path}/canary'\n")
            (place / name).chmod(0o755)
    (tmp_path / "fl").symlink_to("a check out/fl")
    world = {"PATH": search.format(os.environ["PATH"]), "PYTHONPATH": search.format("/nowhere"), "REALLY": "1"}
    for words in (["list"], ["check", "."], ["test"]):
        done = subprocess.run(
            [tmp_path / "fl", *words], cwd=hostile, env=checkout.environment(**world), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert checkout.calls("-m venv") == 1 and checkout.calls("-m firstlight") == 2
    assert not (tmp_path / "canary").exists(), (tmp_path / "canary").read_text()


@pytest.mark.parametrize("name", ["it's 50% #1 ünï", "tail ", " a=b,(c)&d*", "-n"])
def test_it_works_in_a_folder_of_any_name(checkout, name):
    for _ in range(2):
        moved = checkout.root.rename(checkout.root.with_name(name)) if checkout.root.name != name else checkout.root
        checkout.root, checkout.venv = moved, moved / ".fl/venv"
        code, out, err = checkout.run("list")
        assert code == 0 and out.endswith(f"{moved}/.fl/venv/bin/pip\n"), err
    assert checkout.calls("-m venv") == 1 and f"-r {moved}/.fl/requirements.txt\n" in checkout.log.read_text()


@pytest.mark.parametrize("name", ["line\nbreak", "tail\n", "a$b", "a;b", "a:b", "a\\b", "tab\there", 'a"b', "a`b"])
def test_a_folder_that_build_tools_do_not_take_is_one_line(checkout, name):
    plain = checkout.root
    link = plain.with_name("fl\n")
    checkout.root = plain.rename(plain.with_name(name))
    code, _, err = checkout.run("list")
    assert code == 3 and len(err.splitlines()) == 1, err
    assert err.startswith("fl: the path of the checkout") and err.endswith("do not take; rename its folder\n")
    link.symlink_to(checkout.root / "fl")
    done = subprocess.run([link], env=checkout.environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, err)
    checkout.root.rename(plain)
    checkout.root = plain
    code, _, err = checkout.run("list", FIRSTLIGHT_CACHE=f"/nowhere/{name}")
    assert code == 3 and err.startswith("fl: the path of the cache") and len(err.splitlines()) == 1
    assert checkout.calls("") == 0


def test_a_path_without_a_whole_folder_is_one_line(checkout):
    code, _, err = checkout.run("list", PATH=".:")
    assert code == 3 and "PATH names no folder by its whole path" in err and len(err.splitlines()) == 1


@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_set_up_leaves_nothing(checkout, number):
    process = checkout.start("list", INSTALLING_TAKES="1000")
    while not checkout.calls("-m pip install"):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=turns.PATIENCE)
    assert process.returncode == 130 and "interrupted" in err
    assert checkout.nothing_half_made()
    assert checkout.run("list")[0] == 0


@pytest.mark.faults
def test_a_killed_set_up_is_made_anew(checkout):
    process = checkout.start("list", INSTALLING_TAKES="1000")
    while not checkout.calls("-m pip install"):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=turns.PATIENCE)
    deadline = time.monotonic() + turns.PATIENCE
    while not checkout.free():  # the last of those that were killed may still be about to end
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not (checkout.venv / "stamp").exists()
    assert checkout.run("list")[0] == 0
    assert checkout.calls("-m venv") == 2


def test_the_tests_are_run_from_the_checkout_with_their_arguments(checkout):
    code, out, err = checkout.run("test", "-k", "two words")
    assert code == 0
    assert f"-m pytest -n auto -k two words in {checkout.root}\n" in out
    assert "-m mypy" not in out and "-m ruff" not in out and "clang-format" not in err
    assert checkout.calls("pyproject.toml test\n") == 1  # one call installs everything that is needed
    assert checkout.calls("-m pip install") == 1
    checkout.run("test")
    checkout.run("run")
    assert checkout.calls("-m pip install") == 1
    assert checkout.calls("pyproject.toml test\n") == 1 and checkout.calls("pyproject.toml test,full,docs\n") == 0
    _, out, err = checkout.run("test", "--full")
    assert "-m pytest -n auto --full in" in out
    assert [line for line in err.splitlines() if "passed" in line] == [
        "fl: ruff check: passed",
        "fl: ruff format: passed",
        "fl: clang-format: passed",
        "fl: mypy: passed",
    ]
    checkout.run("test", "--full")
    checkout.run("test")
    assert checkout.calls("pyproject.toml test\n") == 1 and checkout.calls("pyproject.toml test,full,docs\n") == 1


@pytest.mark.parametrize("words", ["test -h", "test --help", "test --full --help", "test -k halo -h", "help test"])
def test_help_of_the_tests_installs_nothing(checkout, words):
    code, out, err = checkout.run(*words.split())
    assert code == 0 and err == "" and out.startswith("Usage: ./fl test ")
    assert not checkout.venv.exists() and not checkout.log.exists()


@pytest.mark.parametrize("failing", ["ruff check", "ruff format", "mypy", "pytest"])
def test_a_failing_check_fails_the_tests_and_the_others_still_run(checkout, failing):
    code, out, err = checkout.run("test", "--full", FAILING=failing)
    assert code == 1
    assert failing == "pytest" or f"fl: {failing}: FAILED" in err
    everything = {"-m ruff check", "-m ruff format", "-m mypy", "-m pytest"}
    assert {name for name in everything if f"{name} " in out} == everything - {f"-m {failing}"}


@pytest.mark.faults
def test_interrupted_tests_end_with_130(checkout):
    process = checkout.start("test", TESTS_TAKE="1000")
    while not checkout.calls("pytest hears signals"):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=turns.PATIENCE)
    assert process.returncode == 130


def test_a_checkout_may_be_moved_with_what_is_set_up_in_it(checkout):
    """The content of another cache belongs to this checkout alone."""
    checkout.run("list")
    checkout.root = checkout.root.rename(checkout.root.with_name("moved"))
    assert checkout.run("list")[0] == 0 and checkout.calls("-m venv") == 1
    elsewhere = str(checkout.root.with_name("cache"))
    checkout.run("list", FIRSTLIGHT_CACHE=elsewhere)
    assert checkout.run("list", FIRSTLIGHT_CACHE=elsewhere)[0] == 0 and checkout.calls("-m venv") == 2
    checkout.root = checkout.root.rename(checkout.root.with_name("moved again"))
    checkout.run("list", FIRSTLIGHT_CACHE=elsewhere)
    assert checkout.calls("-m venv") == 3


def test_machines_of_several_kinds_share_a_cache(checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uname").write_text("#!/bin/sh\necho riscv128\n")
    (tmp_path / "bin" / "uname").chmod(0o755)
    other = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    assert checkout.run("list")[1].endswith("/.fl/venv/bin/pip\n")
    assert "/.fl/venv-riscv128-" in checkout.run("list", **other)[1]
    assert checkout.run("list")[1].endswith("/.fl/venv/bin/pip\n")
    assert "/.fl/venv-riscv128-" in checkout.run("list", **other)[1]
    assert checkout.calls("-m venv") == 2
