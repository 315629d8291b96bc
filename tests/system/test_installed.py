"""The installed package: a wheel of this checkout, in an environment of its own, used from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

import turns
from firstlight import ROOT, __version__
from real_calls import MEASURED

pytestmark = [pytest.mark.full, pytest.mark.native]
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


class Installed(NamedTuple):
    """Represent an environment with the package, and its user's home and current folder, both empty at first."""

    environment: Path
    home: Path
    folder: Path

    def run(self, *words: str, status: int = 0) -> str:
        """Return the output, which contains no path of the checkout and names the command as it was typed."""
        variables = {
            "HOME": str(self.home),
            "PATH": f"{self.environment}/bin:{os.defpath}",
            "XDG_CACHE_HOME": str(self.home / "my cache"),
            "FIRSTLIGHT_OFFLINE": "1",
            "FIRSTLIGHT_BARE": "1",  # g++ is enough, and other compilers are probed for a minute
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            words, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=turns.PATIENCE
        )
        output = done.stdout + done.stderr
        assert done.returncode in (MEASURED if words[1:2] == ("run",) else (status,)), output
        assert str(ROOT) not in output and "./fl" not in output
        return output

    def files(self) -> dict[Path, int]:
        """Return the files of the package with their times."""
        return {path: path.stat().st_mtime_ns for path in (self.environment / "lib").rglob("firstlight*/**/*")}


def wheel(folder: Path) -> Path:
    """Build the wheel of this checkout, without a network."""
    variables = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-I", "-c", BUILD, folder], cwd=ROOT, env=variables, check=True, timeout=300)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the wheel next to links to the packages that it requires, and to no other firstlight."""
    root = tmp_path_factory.mktemp("installed")
    environment, home, folder = root / "environment", root / "home", root / "work"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", environment], check=True, timeout=300)
    packages = next(environment.glob("lib/python3*/site-packages"))
    for path in (path for folder in sys.path if folder.endswith("site-packages") for path in Path(folder).iterdir()):
        if "firstlight" not in path.name and path.suffix != ".pth" and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    pip = [sys.executable, "-I", "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet"]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it may find the checkout
    subprocess.run([*pip, "--no-index", "--no-deps", wheel(root)], env=variables, check=True, timeout=300)
    home.mkdir()
    folder.mkdir()
    return Installed(environment, home, folder)


def test_two_wheels_of_the_same_files_are_equal(tmp_path: Path) -> None:
    wheels = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        wheels.append(wheel(tmp_path / name))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with zipfile.ZipFile(wheels[0]) as file:
        names = file.namelist()
    assert {name.partition("/")[0] for name in names} == {
        "firstlight", f"firstlight-{__version__}.dist-info", f"firstlight-{__version__}.data"
    }  # fmt: skip
    assert "firstlight/tree/workloads/node/dot/workload.toml" in names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name or "/docs/" in name]


def test_man_finds_the_pages_of_an_installation(installed: Installed) -> None:
    if shutil.which("man") is None:
        pytest.skip("no man here")
    assert "firstlight - Measure what this machine delivers" in installed.run("man", "firstlight")
    assert "--budget" in installed.run("man", "firstlight", "bench")


def test_programs_are_listed_built_launched_and_verified(installed: Installed) -> None:
    before = installed.files()
    assert "measure one: firstlight run NAME" in installed.run("firstlight", "list")
    assert "0 failed" in installed.run("fl", "run", "dot.serial", "--launches", "1")
    assert "fl run dot.serial" in installed.run("fl", "explain", "dot.serial", "rate")
    assert "firstlight" in installed.run("firstlight", "bench", "--launches", "1", "--", "true")
    runs = list((installed.folder / "results").glob("*/run.json"))
    assert len(runs) == 2 and (installed.home / "my cache" / "firstlight" / "programs").is_dir()
    for path in runs[0].parent.parent.rglob("*"):
        assert path.is_dir() or str(ROOT).encode() not in path.read_bytes(), path
    assert installed.files() == before, "something was written into the package"


def test_other_tools_call_the_installed_command(installed: Installed) -> None:
    check = installed.run("firstlight", "export", "reframe")
    assert f'value="{installed.environment}/bin/firstlight"' in check
    assert "test requires a checkout" in installed.run("firstlight", "test", status=2)


def test_the_compiler_of_tuned_loops_is_installed(installed: Installed) -> None:
    """It reads the marked loops, so it runs more than the compiler alone."""
    (installed.folder / "a.c").write_text("#pragma tune sum\nint a;\n")
    assert installed.run("fl-cc", "-c", "a.c").startswith("fl-cc: a.c:1: ")
    assert (installed.folder / "a.o").is_file()
