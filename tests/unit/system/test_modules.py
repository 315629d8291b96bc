"""Environment modules for real: firstlight measures with the compiler that `module load` puts on the path, and reports
it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import module_tree
from firstlight.core.errors import ENVIRONMENT, OK, USAGE, FirstlightError, UsageError
from firstlight.system.site import modules

pytestmark = pytest.mark.skipif(not module_tree.HERE, reason=module_tree.ABSENT)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    module_tree.make(tmp_path)
    return tmp_path


def environment(tree: Path) -> dict[str, str]:
    return module_tree.environment(tree, os.environ) | {"FIRSTLIGHT_SITE": ""}


def firstlight(tree: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "firstlight", *words],
        cwd=tree,
        env=environment(tree) | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_what_a_module_changes_is_laid_over_our_own_environment(tree: Path) -> None:
    own = environment(tree) | {"PATH": f"/our/own/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": "/our/lib"}
    found = modules.changes(["trial/13.1"], own)
    assert found["PATH"] == f"{tree}/compiler/bin:{own['PATH']}"
    assert found["LD_LIBRARY_PATH"] == f"/our/lib:{tree}/compiler/lib"
    assert found["OMP_PROC_BIND"] == "close" and "trial/13.1" in (found["LOADEDMODULES"] or "").split(":")


def test_a_module_is_found_by_the_beginning_of_its_name(tree: Path) -> None:
    assert "PATH" in modules.changes(["trial"], environment(tree))


def test_what_is_loaded_already_changes_nothing(tree: Path) -> None:
    own = environment(tree)
    loaded = own | {name: value or "" for name, value in modules.changes(["trial"], own).items()}
    again = modules.changes(["trial"], loaded)
    assert "PATH" not in again or again["PATH"] == loaded["PATH"]


def test_modules_that_do_not_load_are_told(tree: Path) -> None:
    with pytest.raises(UsageError, match=r"module load nothing/1 failed: .*nothing/1"):
        modules.changes(["nothing/1"], environment(tree))
    with pytest.raises(UsageError, match="no licence today"):
        modules.changes(["trial", "broken"], environment(tree))


def test_without_modules_the_option_is_refused(tree: Path) -> None:
    """The shell is a `bash` without modules, as on a laptop."""
    (tree / "bash").write_text('#!/bin/sh\nshift\nexec /bin/bash --noprofile -c "$@"\n')
    (tree / "bash").chmod(0o755)
    own = {n: v for n, v in environment(tree).items() if not n.startswith(("BASH_FUNC", "MODULESHOME", "BASH_ENV"))}
    with pytest.raises(FirstlightError, match="have no command `module`") as caught:
        modules.changes(["trial"], own | {"PATH": f"{tree}:{own['PATH']}"})
    assert caught.value.code == ENVIRONMENT


def test_the_doctor_shows_the_compiler_of_the_module(tree: Path) -> None:
    (tree / "site.toml").write_text(
        "modules = 'new'\n[toolchains.new]\nmodules = ['trial/13.1']\n[toolchains.old]\nmodules = ['trial/1']\n"
    )
    done = firstlight(tree, "--site-file", "site.toml", "doctor", "--site", "--json")
    assert done.returncode == ENVIRONMENT, done.stderr
    entries = {entry["key"]: entry for entry in json.loads(done.stdout)["entries"]}
    assert entries["toolchains.new.modules"]["well"] and "OMP_PROC_BIND" in entries["toolchains.new.modules"]["did"]
    assert not entries["toolchains.old.modules"]["well"] and "trial/1" in entries["toolchains.old.modules"]["did"]
    assert firstlight(tree, "--modules", "trial/2", "doctor").returncode == USAGE


@pytest.mark.full
def test_a_run_is_recorded_with_its_modules(tree: Path) -> None:
    (tree / "site.toml").write_text("[toolchains.new]\nmodules = ['trial/13.1']\n")
    words = ("--site-file", "site.toml", "--modules", "new")
    bench = ("bench", "--launches", "1", "--as", "first", "--", "true")
    done = firstlight(tree, *words, *bench)
    assert done.returncode == OK, done.stderr
    run = json.loads((tree / "results" / "first" / "run.json").read_text())
    assert run["modules"]["toolchain"] == "new" and run["modules"]["modules"] == ["trial/13.1"]
    assert run["modules"]["changed"]["OMP_PROC_BIND"] == "close"
    assert run["modules"]["changed"]["TRIAL_LICENSE_KEY"] == ""
    assert run["environment"]["OMP_PROC_BIND"] == "close"
    gcc = next(t for t in run["toolbox"]["toolchains"] if t["name"] == "gcc-base")
    assert gcc["cxx"] == str(tree / "compiler" / "bin" / "g++")
    refused = firstlight(tree, "run", "--resume", "first")
    assert refused.returncode == USAGE and "--modules trial/13.1" in refused.stderr
    resumed = firstlight(tree, "--modules", "trial/13.1", "run", "--resume", "first", "--budget", "1s")
    assert resumed.returncode == OK, resumed.stderr
