"""No inline function is shared by timed code, compiled with the flags under test, and by harness and judge."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import native
from firstlight import ROOT
from firstlight.execute.build.configuration import Configuration

pytestmark = pytest.mark.native

PROGRAMS = ("noise.fixed_work", "stream.serial", "halo.mpi_sendrecv")
VARIANT, WORKLOAD = "_ZN2fl7variantE", "_ZN2fl8workloadE"
SEAM = re.compile(r"_ZN2fl6detail5([Ww])atch")
"""Harness and timed code share these on purpose: they count the phases of a step, in whole numbers."""


class Symbols:
    """List the symbols that an object shows to the linker, by mangled names."""

    def __init__(self, *objects: Path) -> None:
        self.defined: set[str] = set()
        self.used: set[str] = set()
        self.local: set[str] = set()
        for path in objects:
            listed = subprocess.run(["nm", "--format=posix", path], capture_output=True, text=True, check=True).stdout
            for name, kind in (line.split()[:2] for line in listed.splitlines()):
                group = self.used if kind in "Uwv" else self.defined if kind.isupper() or kind == "u" else self.local
                group.add(name)


class Linked:
    """Represent the parts of one program."""

    def __init__(self, program: str) -> None:
        workload, variant = program.split(".")
        self.built = native.plain(workload, variant)
        assert self.built.error == "" and self.built.executable is not None
        tool = native.toolchain("base")
        assert tool is not None
        mpi = next((m for m in native.toolbox().mpis if m.name == self.built.program.mpi), None)
        kind = Configuration(tool, mpi, native.STRICT)
        tree, parts = kind.tree(native.CACHE).folder, kind.parts(native.CACHE).tree.folder
        objects = tree / "CMakeFiles" / f"{program}+{self.built.program.toolchain}.dir"
        if not objects.exists() or not (parts / "parts" / f"{workload}.o").exists():
            pytest.skip("the program came from the store; its objects are gone")
        self.timed = Symbols(*objects.rglob("*.o"))
        self.judge = Symbols(parts / "parts" / f"{workload}.o")
        self.open_judge = Symbols(*(parts / f"CMakeFiles/{workload}.judge.dir").rglob("*.o"))
        self.harness = Symbols(parts / "parts/harness.o", tree / "harness/comm.o")


@pytest.fixture(scope="module", params=PROGRAMS)
def linked(request: pytest.FixtureRequest) -> Linked:
    return Linked(request.param)


def test_the_judge_shows_its_table_and_nothing_else(linked: Linked) -> None:
    assert linked.judge.defined == {WORKLOAD}
    assert len(linked.open_judge.defined) > 1, "there was nothing to close"


def test_timed_code_uses_nothing_of_the_judge(linked: Linked) -> None:
    assert not linked.timed.used & linked.judge.defined
    assert not {name for name in linked.timed.used | linked.timed.defined if "5judge" in name}


def test_timed_code_serves_neither_judge_nor_harness(linked: Linked) -> None:
    assert linked.judge.used & linked.timed.defined <= {VARIANT}
    assert VARIANT in linked.harness.used & linked.timed.defined
    assert not {name for name in (linked.harness.used & linked.timed.defined) - {VARIANT} if not SEAM.match(name)}
    assert not {name for name in linked.judge.local if "5timed" in name}


def test_the_harness_shows_no_function_of_the_standard_library(linked: Linked) -> None:
    assert not {name for name in linked.harness.defined if not re.match(r"main$|_ZNK?2fl|_ZTVN2fl", name)}
    shared = linked.harness.defined & linked.timed.defined
    assert not {name for name in shared if not SEAM.match(name)}


def test_in_the_program_what_belongs_to_the_judge_is_local(linked: Linked) -> None:
    assert linked.built.executable is not None
    program = Symbols(linked.built.executable)
    own = linked.judge.local - linked.timed.defined - linked.harness.defined
    assert own & program.local
    assert not own & program.defined


def test_no_header_of_a_workload_adds_names_that_the_harness_may_show() -> None:
    headers = [*ROOT.glob("workloads/**/*.hpp"), *ROOT.glob("tests/support/workloads/**/*.hpp")]
    assert len(headers) > 60
    assert [
        str(h.relative_to(ROOT)) for h in headers if re.search(r"^namespace fl \{", h.read_text(), re.MULTILINE)
    ] == []
