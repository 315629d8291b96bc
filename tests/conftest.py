"""Fixtures for tests of several rooms: the MPI libraries here, stand-ins for native programs, surveyed folders."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import jinja2
import msgspec
import pytest
from xdist.remote import Producer
from xdist.scheduler import WorkStealingScheduling

import order
import run_options
import spent
import standin
import turns
from bench import Bench
from checkouts import Checkout
from commands import Captured
from firstlight import ROOT
from firstlight.core import caller, reading
from firstlight.runner import environment
from firstlight.system import mpi_families
from firstlight.system.machine import Machine, linux
from firstlight.toolchain import Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from surveys import look, only_gcc_in

for folder in {path.parent for path in Path(__file__).parent.rglob("test_*.py")}:
    sys.path.append(str(folder))  # a few tests use what another one defines

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: children would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup, likewise
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

hypothesis.settings.register_profile("firstlight", deadline=None, max_examples=25)  # a busy machine is not a failure
hypothesis.settings.register_profile("full", deadline=None)
hypothesis.settings.load_profile("firstlight")


ON_ONE_NODE = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
"""Open MPI chooses these components by itself on one node without a network for MPI. The choice lasts 0.2 s per launch,
and 1 s with the library from pip, which starts libfabric.
"""


GIVING_WAY = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMP_WAIT_POLICY": "passive"}
"""Open MPI's ranks yield the processor while they wait, so two tests may share it (`turns.party`); so do threads of
OpenMP.
"""


class Compiled(jinja2.BytecodeCache):
    """Compile templates once per worker: hundreds of tests write pages."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        if (kept := self._kept.get(bucket.key)) is not None:
            bucket.bytecode_from_string(kept)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


jinja2.Environment.__init__ = functools.partialmethod(jinja2.Environment.__init__, bytecode_cache=Compiled())
reading.toml = functools.lru_cache(maxsize=256)(reading.toml)  # hundreds of tests read the documents of all workloads


def pytest_xdist_auto_num_workers() -> int:
    return turns.workers()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WorkStealingScheduling | None:
    """Let idle workers take tests of others, unless another scheduler was chosen: what builds lasts longer."""
    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="every combination, sanitizers, faults, batch systems")
    parser.addoption("--of-machine", action="store_true", help="as CI does: tests of this machine, a third of the long")
    parser.addoption("--fresh", action="store_true", help="launch also what was launched before, as nightly runs do")


def pytest_configure(config: pytest.Config) -> None:
    caller.clean(os.environ)  # as the command line does: builds in tests must not depend on the environment either
    os.environ["FIRSTLIGHT_STRICT"] = "1"
    # Tests do not use this machine's site file; processors to emulate are those of the example.
    os.environ["FIRSTLIGHT_SITE"] = str(ROOT / "sites/emulated.toml") if os.environ.get("FIRSTLIGHT_TARGET") else ""
    os.environ["FIRSTLIGHT_NEIGHBOURS"] = f"test-{os.getpid()}"  # runs of other tests are not neighbours
    os.environ.update(GIVING_WAY | os.environ)
    if not Path("/sys/class/infiniband").exists():
        os.environ.update(ON_ONE_NODE | os.environ)
    run_options.full, run_options.fresh = config.getoption("full"), config.getoption("fresh")
    run_options.of_machine = config.getoption("of_machine")
    run_options.commit = environment.revision().rstrip("+") if run_options.of_machine else ""
    if run_options.full and not run_options.of_machine:
        hypothesis.settings.load_profile("full")  # set before any test is imported: @settings copies it


def pytest_sessionstart(session: pytest.Session) -> None:
    """Probe this machine once, before the workers need it simultaneously."""
    if not hasattr(session.config, "workerinput") and session.config.getoption("numprocesses", None):
        import native

        native.toolbox()
        compile_tests()


def compile_tests() -> None:
    """Let two processes write the bytecode of all tests in a fresh checkout: each worker would compile them all.

    What is wrong with a test file is shown by the workers."""
    folder = Path(__file__).parent
    if sys.dont_write_bytecode or (folder / "system" / "__pycache__").is_dir():
        return
    files = sorted(str(path) for path in folder.rglob("test_*.py"))
    collect = [sys.executable, "-P", "-m", "pytest", "--collect-only", "-qq", "-n", "0"]
    both = [subprocess.Popen([*collect, *some], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for some in (files[::2], files[1::2])]  # fmt: skip
    for one in both:
        one.wait()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Exclude the tests of --full without it, unless one was named; with --of-machine also those whose result does not
    depend on the machine, because a fresh machine has already run them, and two thirds of those marked `full`."""
    order.first_the_long(items)
    named = any("::" in argument for argument in config.args)
    left_out = [] if run_options.full or named else [i for i in items if not _of_newcomer(i)]
    if config.getoption("of_machine"):
        left_out += [i for i in items if _of_newcomer(i) and not _depends_on_machine(i)]
        left_out += [i for i in items if i.get_closest_marker("full") and not run_options.due(i.nodeid)]
    if left_out:
        gone = set(left_out)
        items[:] = [i for i in items if i not in gone]
        config.hook.pytest_deselected(items=left_out)


def _of_newcomer(item: pytest.Item) -> bool:
    """Return whether `./fl test` runs it: a unit or property test, or one that is marked."""
    if item.get_closest_marker("newcomer"):
        return True
    builds = not {"simulator", "tool"}.isdisjoint(getattr(item, "fixturenames", ()))
    return not builds and not any(item.get_closest_marker(name) for name in ("full", *KINDS))


def _depends_on_machine(item: pytest.Item) -> bool:
    """Return whether another compiler or MPI library may change the result; other tests need only Python and g++."""
    return not {"mpis", "compiler"}.isdisjoint(getattr(item, "fixturenames", ()))


KINDS = {"browser": "the report in a browser", "faults": "faults", "native": "native programs otherwise"}
"""By marker, the first that a test has; all others are unit and property tests."""


_since = spent.now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, object, object]:
    """Add the time used to each report: wall time of the call, and CPU time since the last report."""
    global _since
    report: Any = yield
    cpu, _since = (spent.now() - _since).cpu, spent.now()
    left = spent.Time(call.duration, cpu) - spent.total()
    charged = spent.take()
    kind = next((title for mark, title in KINDS.items() if item.get_closest_marker(mark)), "unit and property tests")
    own = f"{kind}/{_workload(item)}"
    charged[own] = charged.get(own, spent.Time()) + spent.Time(max(0.0, left.wall), max(0.0, left.cpu))
    report.spent = {name: (time.wall, time.cpu) for name, time in charged.items()}
    return report


def _workload(item: pytest.Item) -> str:
    """Return the workload that a test names by its marker or by its file; "" for tests of no workload."""
    pair = item.callspec.params.get("pair") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None
    if isinstance(pair, tuple):
        return str(pair[0].name)
    marker = item.get_closest_marker("workload")
    if marker is not None:
        return str(marker.args[0])
    words = item.path.stem.removeprefix("test_").split("_")
    starts = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    return next((start for start in starts if start in _known()), "")


@cache
def _known() -> frozenset[str]:
    return frozenset(path.parent.name for path in (ROOT / "workloads").glob("*/*/workload.toml"))


_charged: dict[str, spent.Time] = {}
_tests: dict[str, spent.Time] = {}
_began = time.time()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = report.nodeid.partition("[")[0]
    for name, seconds in getattr(report, "spent", {}).items():
        _charged[name] = _charged.get(name, spent.Time()) + spent.Time(*seconds)
        _tests[test] = _tests.get(test, spent.Time()) + spent.Time(*seconds)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not _charged or config.getoption("collectonly"):
        return
    terminalreporter.section("where the time went (processors' seconds, and those of all workers together)")
    kinds = spent.table(_charged, lambda name: name.split("/", 1)[0])
    workloads = spent.table(_charged, lambda name: name.split("/", 1)[1])
    for line in [*kinds, "", *workloads, "", *spent.table(_tests, lambda name: name, most=30)]:
        terminalreporter.write_line(line)
    if slowest := spent.slowest_compiled(turns.FOLDER, _began):
        terminalreporter.section("what took longest to compile, beside all that ran meanwhile")
        for line in slowest:
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with turns.turn(item.get_closest_marker("alone") is not None):
        return (yield)


def _named(text: str) -> Mpi:
    """`family=/folder/of/mpiexec`"""
    family, _, folder = text.partition("=")
    place = Path(folder)
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
        environment=mpi_families.of(family).environment(place.parent, os.environ),
    )


@pytest.fixture(scope="session")
def mpis() -> tuple[Mpi, ...]:
    """Return every MPI library of this machine; FIRSTLIGHT_TEST_MPIS=mpich=/opt/a/bin:openmpi=/opt/b/bin names them
    instead.
    """
    if named := os.environ.get("FIRSTLIGHT_TEST_MPIS"):
        return tuple(_named(text) for text in named.split(":"))
    from firstlight import ROOT
    from firstlight.system import machine
    from firstlight.toolchain import discover

    cache = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))
    found = discover(machine.discover(), cache, embed_mpi=False).mpis
    if not found:
        pytest.skip("no MPI library here: `./fl run` embeds one where the system has none")
    return found


@pytest.fixture(scope="session")
def simulator() -> Path:
    """firstlight-simulate, from the cache or built now."""
    from firstlight.execute.network import program

    return program.build()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return a firstlight with invented compilers in its own folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "1")
    return Bench(tmp_path, monkeypatch)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a checkout whose Python is a stand-in."""
    return Checkout(tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes an executable from a Python body that can use standin.py: `program("record();
    hang()")`.
    """

    def make(body: str) -> Path:
        path = tmp_path / f"program{len(list(tmp_path.glob('program*')))}"
        here = Path(standin.__file__).parent
        path.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(here)!r})\nfrom standin import *\n{body}\n"
        )
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def result(bench: Bench, capsys: Captured) -> Path:
    """Return a run with one wrong program."""
    from firstlight.commands.shared import command_line, runs
    from firstlight.core.errors import OK

    bench.misbehave("wrong", "dot.kahan@gcc-fast")
    assert command_line.call(["run", "--launches", "6"]) == OK
    capsys.readouterr()
    return runs.find("latest")


@pytest.fixture(scope="session")
def machine(tmp_path_factory) -> Machine:
    return linux.describe(Path("/"), tmp_path_factory.mktemp("salt"))


@pytest.fixture
def host(machine, tmp_path) -> Host:
    """This machine without GPUs; its search path begins with an empty folder."""
    (tmp_path / "path").mkdir()
    search = {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin"}
    return Host(msgspec.structs.replace(machine, gpus=()), tmp_path, search, Memory(tmp_path / "memory"))


@pytest.fixture
def only_gcc(tmp_path) -> Path:
    """Return a folder that contains only g++, which still finds its assembler and linker."""
    return only_gcc_in(tmp_path / "gcc")


@pytest.fixture(scope="session")
def surveyed(machine, tmp_path_factory) -> Path:
    """Return such a folder, and a cache that remembers it; all workers share both."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "gcc.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "gcc"
        if not (shared / "cache" / "probes.json").exists():
            only_gcc_in(folder)
            look(machine, shared, folder)
    return folder


@pytest.fixture
def known_gcc(surveyed, tmp_path) -> Path:
    """g++ and nothing else, for tests of something else: what it can is remembered from another survey."""
    (tmp_path / "cache").mkdir()
    shutil.copy(surveyed.parent / "cache" / "probes.json", tmp_path / "cache")
    return surveyed
