"""After one setup a program runs anywhere: collected wheels work without a network and from another path, and moving a
checkout rebuilds nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from commands import Captured, call, examples
from firstlight import ROOT, runner
from firstlight.core.errors import USAGE, FirstlightError, UsageError
from firstlight.model.plan import Program
from firstlight.runner.prepare import Made
from firstlight.system import packages
from firstlight.system.machine import linux
from firstlight.system.mpi_families import every
from firstlight.toolchain import Absent, Mpi, embedding
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory

ALONE = ("unshare", "--user", "--map-root-user", "--net")
"""A separate network namespace has only a loopback interface, which is down."""


def alone_works() -> bool:
    if shutil.which("unshare") is None:
        return False
    words = [*ALONE, sys.executable, "-I", "-c", "import socket; socket.create_connection(('127.0.0.1', 9), 1)"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "unreachable" in done.stderr


def test_where_packages_come_from(tmp_path: Path) -> None:
    wheels = {packages.WHEELHOUSE: "/wheels"}
    assert packages.source(tmp_path, {}) == []
    assert packages.source(tmp_path, wheels) == ["--find-links=/wheels"]
    packages.keep(tmp_path, True)
    assert packages.source(tmp_path, {}) is None
    assert packages.source(tmp_path, wheels) == ["--no-index", "--find-links=/wheels"]
    packages.keep(tmp_path, False)
    packages.keep(tmp_path, False)
    assert packages.source(tmp_path, {packages.OFFLINE: "1"}) is None


def test_offline_no_mpi_library_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = linux.describe(Path("/"), tmp_path)
    host = Host(machine, tmp_path, {"PATH": os.environ["PATH"], "HOME": "/none"}, Memory(tmp_path / "probes.json"))
    monkeypatch.setattr(Host, "run", lambda *_, **__: pytest.fail("something was started"))
    packages.keep(tmp_path, True)
    messages: list[str] = []
    wanted = (tuple(family.name for family in every() if family.embedded), True)
    found: tuple[list[Mpi], list[Absent]] = embedding.embed(host, wanted, True, messages.append)
    assert not found[0] and not messages and len(found[1]) == len(wanted[0])
    assert all("./fl setup --offline --wheelhouse DIR" in gap.fix for gap in found[1])


def wheel(folder: Path, name: str, tag: str = "py3-none-any") -> None:
    """The smallest there is."""
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as file:
        about = f"{name}-1.0.dist-info"
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n")
        file.writestr(f"{about}/RECORD", "")


def test_a_wheelhouse_has_all_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an index of two wheels, which is a folder here, for any version of Python; of a third for this one only."""
    index, house = tmp_path / "index", tmp_path / "a house" / "of wheels"
    index.mkdir()
    for name in ("needed", "mpi_library"):
        wheel(index, name)
    project = tmp_path / "checkout"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["needed>=1"]\n')
    versions = (f"3.{sys.version_info.minor}", f"3.{sys.version_info.minor + 1}")
    monkeypatch.setattr(packages, "ROOT", project)
    monkeypatch.setattr(packages, "PYTHONS", versions)
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(index)), ("PIP_CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(name, value)
    names = packages.collect(house, ["mpi_library"])
    assert [name.partition("-")[0] for name in names] == ["mpi_library", "needed"]
    assert (house / packages.MADE_FOR).read_text().startswith(f"made for Python {', '.join(versions)}, ")
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["needed>=1", "native_code"]\n')
    wheel(index, "native_code", f"cp3{sys.version_info.minor}-none-any")
    names = packages.collect(house, [])
    assert [name.partition("-")[0] for name in names] == ["mpi_library", "native_code", "needed"]
    served = (house / packages.MADE_FOR).read_text()
    assert served.startswith(f"made for Python {versions[0]}, ") and versions[1] not in served
    with pytest.raises(FirstlightError, match=r"cannot collect the wheels: .*another"):
        packages.collect(house, ["another"])
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file"):
        packages.collect(tmp_path / "file" / "house", [])


def test_bad_input_is_one_line(capsys: Captured) -> None:
    for words in (["--wheelhouse", "nowhere"], ["dott"], ["dot", "--toolchain", "icc"], ["--quick", "--full"]):
        code, out, err = call(capsys, "setup", *words)
        lines = [line for line in err.splitlines() if not line.startswith("look · ")]
        assert code == USAGE and out == "" and len(lines) == 1 and lines[0].startswith("firstlight: "), err


def test_the_examples_of_the_help_work_as_typed(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test checks the programs to build, whether this cache would stay offline and the folder for wheels; nothing
    is changed.
    """
    (tmp_path / "wheels").mkdir()
    monkeypatch.chdir(tmp_path)
    counts, kept, collected = [], [], []

    def nothing(programs: Sequence[Program], *_: object) -> Made:
        counts.append(len(programs))
        return Made((), {}, {}, {}, {})

    def one(folder: Path, _: Sequence[str]) -> list[str]:
        collected.append(folder)
        return ["one"]

    monkeypatch.setattr(runner, "make", nothing)
    monkeypatch.setattr(packages, "keep", lambda _, offline: kept.append(offline))
    monkeypatch.setattr(packages, "collect", one)
    for command, *words in examples("setup", capsys):
        code, out, err = call(capsys, command, *words)
        assert code == 0 and out, err
    assert counts[0] == counts[2] > counts[1] > 0 and len(counts) == 3
    assert kept == [False, False, True] and collected == [Path("wheels")]


class Copy:
    """Represent a copy of this checkout with its own cache and without a network."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)

    def fl(self, *words: str, cut: bool = True) -> subprocess.CompletedProcess[str]:
        plain = {n: v for n, v in os.environ.items() if n not in ("FIRSTLIGHT_CACHE", "PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.run(
            [*(ALONE if cut else ()), "./fl", *words],
            cwd=self.root,
            env=plain | {"FIRSTLIGHT_BARE": "1", "FIRSTLIGHT_NO_UV": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )

    def made(self) -> dict[str, int]:
        """Return every built file with its time."""
        folders = (self.root / ".fl" / name for name in ("build", "parts", "programs"))
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.root)): path.stat().st_mtime_ns for path in files}

    def break_pip(self, canary: Path) -> None:
        for path in (self.root / ".fl").glob("**/site-packages/pip/__main__.py"):
            path.write_text(f"open({str(canary)!r}, 'w').close()\nraise SystemExit(1)\n")


@pytest.mark.full
@pytest.mark.native
@pytest.mark.skipif(not alone_works(), reason="no network namespace of one's own: unshare -rn does not work here")
def test_wheels_made_here_set_up_a_copy_without_a_network_that_may_be_moved(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    packages.collect(wheels, [family.name for family in every() if family.embedded])
    copy = Copy(tmp_path / "copy")
    refused = copy.fl("setup", "dot.serial", "--quick", "--offline")
    assert refused.returncode == 3 and "--wheelhouse DIR" in refused.stderr, refused.stderr
    done = copy.fl(
        "setup", "dot.serial", "--quick", "--toolchain", "gcc-base", "--offline", "--wheelhouse", str(wheels), "--json"
    )
    assert done.returncode == 0, done.stderr
    ready = json.loads(done.stdout)
    assert ready["offline"] and ready["toolchains"] == ["gcc-base"] and ready["programs"] >= 1 and not ready["failed"]
    embedded = {path.name for path in (copy.root / ".fl" / "mpi").iterdir() if (path / embedding.STAMP).exists()}
    assert embedded == {family.name for family in every() if family.embedded}

    shutil.rmtree(wheels)
    copy.break_pip(tmp_path / "canary")
    copy.root = copy.root.rename(tmp_path / "moved")
    before = copy.made()
    words = ("run", "dot.serial", "--toolchain", "gcc-base", "--budget", "2s", "--as", "first")
    ran = copy.fl(*words)
    run = json.loads((copy.root / "results" / "first" / "run.json").read_text())
    assert run["state"] in ("budget", "complete"), ran.stderr
    assert run["builds"] and all(build["ok"] for build in run["builds"])
    assert copy.made() == before, "something was built again"
    assert not (tmp_path / "canary").exists(), "pip was called"
