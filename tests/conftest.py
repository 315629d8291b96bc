"""Fixtures for tests of several rooms: the MPI libraries here, and programs that stand in for native ones."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import hypothesis
import pytest

from firstlight.toolchains import Mpi

sys.path.insert(0, str(Path(__file__).parent))  # bench.py, standin.py

import turns
from bench import Bench

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: children would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("firstlight", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("firstlight")


def pytest_xdist_auto_num_workers() -> int:
    return turns.workers()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that run alone come last: until then no worker waits for another."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with turns.turn(item.get_closest_marker("alone") is not None):
        return (yield)


def _named(text: str) -> Mpi:
    """`family=/folder/of/mpiexec`"""
    family, _, folder = text.partition("=")
    place = Path(folder)
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    return Mpi(
        name=family,
        family=family,
        label=family,
        version="",
        origin="system",
        cxx=str(place / "mpicxx"),
        fortran=None,
        f08=(),
        launcher=str(place / "mpiexec"),
        environment=environment if family == "openmpi" else {},
    )


@pytest.fixture(scope="session")
def mpis() -> tuple[Mpi, ...]:
    """Every MPI library found here; FIRSTLIGHT_TEST_MPIS=mpich=/opt/a/bin:openmpi=/opt/b/bin names them instead."""
    if named := os.environ.get("FIRSTLIGHT_TEST_MPIS"):
        return tuple(_named(text) for text in named.split(":"))
    from firstlight import ROOT, machine
    from firstlight.toolchains import discover

    cache = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))
    found = discover(machine.discover(), cache, embed_mpi=False).mpis
    if not found:
        pytest.skip("no MPI library here: `./fl run` embeds one where the system has none")
    return found


@pytest.fixture(scope="session")
def simulator() -> Path:
    """firstlight-simulate, from the cache or built now."""
    from firstlight.simulate import program

    return program.build()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A firstlight with invented compilers in a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "1")
    return Bench(tmp_path, monkeypatch)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes an executable from a Python body that can use standin.py: `program("record(); hang()")`."""

    def make(body: str) -> Path:
        path = tmp_path / f"program{len(list(tmp_path.glob('program*')))}"
        here = Path(__file__).parent
        path.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(here)!r})\nfrom standin import *\n{body}\n"
        )
        path.chmod(0o755)
        return path

    return make
