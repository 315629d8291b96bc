"""Every workload: every variant agrees with its oracle on several process counts; every broken one is rejected."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest

import native
import run_options
import small_sizes
import together
from firstlight.execute.build import Built, Options
from firstlight.model.catalogue import Variant, Workload, of_library, on_device
from firstlight.model.plan import Program
from firstlight.results.description import Description
from firstlight.results.record import Line
from native import Placement

pytestmark = pytest.mark.native

LACKING = (
    "this compiler provides none for this processor",
    "which this kernel does not provide",
    "keeps files in memory",
)
"""This machine may lack these, as programs report it."""
GOOD = native.variants(broken=False)
BROKEN = native.variants(broken=True)


def name(pair: tuple[Workload, Variant]) -> str:
    return f"{pair[0].name}.{pair[1].name}"


@pytest.fixture(scope="session")
def selected(request: pytest.FixtureRequest) -> frozenset[str]:
    """Return the names of all variants that this session tests: those of a workload are built together."""
    pairs = [i.callspec.params.get("pair") for i in request.session.items if hasattr(i, "callspec")]
    return frozenset(name(pair) for pair in pairs if isinstance(pair, tuple))


@cache
def built(workload: str, compiler: str, kinds: tuple[bool, ...], names: frozenset[str]) -> dict[Program, Built]:
    """Build programs of a workload with a compiler's base flags and warnings as errors: those of the named variants."""
    every = [(w, v) for w, v in (*GOOD, *BROKEN) if w.name == workload and v.broken in kinds]
    pairs = [pair for pair in every if compiler in native.compilers(pair[1]) and name(pair) in names]
    programs = [p for pair in pairs for p in native.met(*pair, compiler)]
    return together.make(programs) if True in kinds else native.make(programs)


def placements(variant: Variant) -> list[Placement]:
    """One, two and more processes or threads; what a variant cannot be, it refuses with status 2."""
    if {"mpi", "openmp"} <= set(variant.needs):
        return [Placement(1, ranks, threads) for ranks, threads in ((1, 1), (2, 1), (2, 2), (3, 2))]
    if "mpi" in variant.needs:
        return [Placement(ranks=r) for r in (1, 2, 3, 4)]
    if "openmp" in variant.needs:
        return [Placement(threads=t) for t in (1, 2, 3)]
    return [Placement()]


def bearable(places: list[Placement], program: Built) -> list[Placement]:
    """Return the placements that the library can run: MPICH spins while it waits, so Open MPI runs the larger
    placements on shared processors.
    """
    return [p for p in places if program.program.mpi != "mpich" or p.ranks * p.threads <= 3]


def party_of_two_first(places: list[Placement]) -> list[Placement]:
    return places[1:] + places[:1]


def enough(workload: Workload, variant: Variant, program: Program) -> int:
    """Return on how many placements a program of the variant has to run.

    With --full one of its programs runs on all but the party of two, in which every other program is proved: what a
    number of processes changes is the variant's own, whatever compiler and MPI library made it. It is one whose library
    does not spin, if there is one. With --of-machine only a representative runs on so many."""
    if run_options.of_machine and not native.of_newcomer(workload, variant):
        return 1
    thorough = min(native.on_each_library(workload, variant), key=lambda p: p.mpi == "mpich")
    if not run_options.full or program != thorough:
        return 1
    every = [p for c in native.compilers(variant) for p in native.met(workload, variant, c)]
    return max(1, len(placements(variant)) - (len(every) > 1))


def built_from(
    pair: tuple[Workload, Variant], compiler: str, names: frozenset[str], broken: bool = False
) -> list[Built]:
    workload, variant = pair
    kinds = (broken,) if run_options.full else (False, True)
    found = [built(workload.name, compiler, kinds, names)[p] for p in native.met(workload, variant, compiler)]
    assert found, f"{compiler} was reported to have what {variant.name} needs: {', '.join(variant.needs)}"
    return found


def combinations() -> list[object]:
    """Return each variant with each compiler that builds it; those without a compiler are reported and skipped."""
    met = [(p, c) for p in GOOD for c in native.compilers(p[1]) or [""] if not c or native.met(*p, c)]
    return [pytest.param(p, c, id=f"{name(p)}-{c or 'none'}", marks=marks(p)) for p, c in met]


def marks(pair: tuple[Workload, Variant]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.newcomer if native.of_newcomer(*pair) else pytest.mark.full]


def lacks(variant: Variant) -> None:
    pytest.skip(f"nothing here has what {variant.name} needs: {', '.join(variant.needs) or 'a C++ compiler'}")


@pytest.mark.parametrize(("pair", "compiler"), combinations())
def test_variant_verifies(
    pair: tuple[Workload, Variant], compiler: str, selected: frozenset[str], tmp_path: Path
) -> None:
    workload, variant = pair
    if not compiler:
        lacks(variant)
    for program in built_from(pair, compiler, selected):
        assert program.error == ""
        described = msgspec.json.decode(program.describe, type=Description)
        assert (described.workload, described.variant) == (program.program.workload, program.program.variant)
        assert described.metrics and described.cost and described.verified and described.tolerance
        assert bool(described.device) == on_device(variant.needs)
        ran, reasons, wanted = 0, [""], enough(workload, variant, program.program)
        two, *others = party_of_two_first(bearable(placements(variant), program))
        for place in [two, *others] if wanted == 1 else [*others, two]:
            if ran == wanted:
                break
            # A check examines a step at a random place of a batch, and no correct variant may fail it.
            effort = native.EFFORT if ran else native.SEVERAL_BATCHES
            output = native.run(
                program, place, small_sizes.arguments(workload, program.program.variant), tmp_path, effort
            )
            if output.status == 2:
                # The guard of the launch adds a message about shared files, which may belong to another test's ranks.
                reasons = [s for s in output.stderr.strip().splitlines() if not s.startswith("firstlight: removed")]
                assert (
                    "needs" in reasons[0] or "runs" in reasons[0]
                )  # the program's own line; an MPI launcher may add its words
                assert len(reasons) == 1 or program.program.mpi, output.stderr
                assert output.lines == []
                continue
            ran += 1
            assert (output.status, output.reason) == (0, ""), (place, output.reason, output.stderr)
            if described.unverified:
                assert output.of("check") == []
            else:
                assert output.of("check") and all(c["ok"] for c in output.of("check"))
            assert len(output.of("case")) + len(output.of("refused")) == output.of("end")[0]["cases"]
            assert output.of("launch")[0]["ranks"] == place.ranks == len(output.of("launch")[0]["binding"])
            for line in output.lines:  # the record is what the reader expects, to the type
                msgspec.convert(line, Line)
        if ran == 0 and on_device(variant.needs):
            pytest.skip("no GPU here")
        if ran == 0 and any(lacking in reasons[0] for lacking in LACKING):
            pytest.skip(reasons[0].partition(": ")[2])
        assert ran > 0, f"refused on every placement: {reasons[0]}"


@pytest.mark.parametrize("pair", [pytest.param(p, id=name(p), marks=marks(p)) for p in BROKEN])
def test_broken_variant_is_rejected(pair: tuple[Workload, Variant], selected: frozenset[str], tmp_path: Path) -> None:
    workload, variant = pair
    if not native.compilers(variant):
        lacks(variant)
    for program in built_from(pair, native.compilers(variant)[0], selected, broken=True):
        assert program.error == ""
        entries = small_sizes.selections(workload, program.program.variant)
        places = party_of_two_first(placements(variant))
        ran = any(rejected(program, places, small_sizes.words(workload, e), tmp_path) for e in entries)
        if not ran and on_device(variant.needs):
            pytest.skip("no GPU here")
        assert ran, "refused everywhere"


def rejected(program: Built, places: list[Placement], words: list[tuple[str, ...]], folder: Path) -> bool:
    """Return True if its check fails where it runs: at the latest with the last words, or in samples of several steps.

    Return False if it refuses these parameters on every placement.
    """
    tries = [(some, effort) for effort in (native.EFFORT, native.IN_BATCHES) for some in words]
    for place in places:
        accepted = False
        for some, effort in tries:
            output = native.run(program, place, some, folder, effort)
            if output.status == 2:
                continue
            accepted = output.status == 0
            if not accepted:
                assert output.status == 1, (place, output.reason)
                assert output.of("launch")[0]["variant"] == program.program.variant
                assert not all(c["ok"] for c in output.of("check"))
                return True
        assert not accepted, place
    return False


def test_every_workload_has_broken_variants() -> None:
    for workload in native.workloads.values():
        assert any(v.broken for v in workload.variants), f"nothing proves that the check of {workload.name} bites"


def test_every_workload_has_a_variant_that_remembers() -> None:
    """Steps that keep a part of an earlier one's work are the cheapest way to cheat, and a fixed change does not reveal
    it.
    """
    for workload in native.workloads.values():
        remembering = [v.name for v in workload.variants if v.broken and "remembering" in v.name]
        assert remembering, f"nothing proves that the check of {workload.name} tells what is remembered"


def sanitizable() -> list[tuple[Workload, Variant]]:
    """Return all variants that run on the host and need no foreign library. A variant with threads represents the one
    without, whose code it contains.

    Without what emulates a device: its threads are fibers with stacks of their own, which the address sanitizer does
    not know, and it takes minutes to compile so. With --of-machine one representative.
    """
    alone = [(w, v) for w, v in GOOD if "mpi" not in v.needs and not of_library(v.needs) and not on_device(v.needs)]
    some = [(w, v) for w, v in alone if v.name != "emulated" and all(f"omp_{v.name}" != o.name for o in w.variants)]
    if not run_options.of_machine:
        return some
    representatives = [(w, v) for w, v in some if native.of_newcomer(w, v)]
    representatives.sort(key=lambda pair: "openmp" in pair[1].needs)  # the last one of a workload is taken
    return list({w.name: (w, v) for w, v in representatives}.values())


@pytest.mark.full
@pytest.mark.parametrize("pair", sanitizable(), ids=name)
def test_sanitizers_are_silent(pair: tuple[Workload, Variant], tmp_path: Path) -> None:
    workload, variant = pair
    for program in (b for p, b in sanitized(workload.name).items() if native.made_from(workload, variant, p)):
        assert program.error == ""
        words = small_sizes.arguments(workload, variant.name, watched=True)
        output = native.run(program, placements(variant)[-1], words, tmp_path)
        left = of_the_runtime_alone(output.stderr)
        assert output.status in ((1,) if left else (0, 2)), output.stderr
        assert all(check["ok"] for check in output.of("check"))
        assert left or ("runtime error" not in output.stderr and "AddressSanitizer" not in output.stderr)


def of_the_runtime_alone(stderr: str) -> bool:
    """Return whether the sanitizers report only memory that libgomp allocated itself: in one launch of hundreds the
    leak check of gcc 12 does not find its address.
    """
    leaks = re.findall(r"^(?:Direct|Indirect) leak of .*\n +#0 .*\n +#1 .*", stderr, re.MULTILINE)
    others = "runtime error" in stderr or stderr.count("ERROR: ") > stderr.count("ERROR: LeakSanitizer")
    return bool(leaks) and not others and all("/libgomp.so" in leak.splitlines()[2] for leak in leaks)


def test_memory_of_the_runtime_is_told_from_ours() -> None:
    def report(caller: str) -> str:
        leak = f"Direct leak of 136 byte(s) in 1 object(s):\n    #0 0x7 in malloc\n    #1 0x8 {caller}\n"
        return f"==7==ERROR: LeakSanitizer: detected memory leaks\n\n{leak}"

    assert of_the_runtime_alone(report(" (/lib/libgomp.so.1+0xd09c)"))
    assert not of_the_runtime_alone(report("in solve lu.cpp:7"))
    assert not of_the_runtime_alone(report(" (/lib/libgomp.so.1+0xd09c)") + report("in solve lu.cpp:7"))
    assert not of_the_runtime_alone("lu.cpp:7: runtime error: index 4\n" + report(" (/lib/libgomp.so.1+0xd09c)"))
    assert not of_the_runtime_alone("")


@cache
def sanitized(workload: str) -> dict[Program, Built]:
    """Build with clang if it is here, which compiles them in half of gcc's time."""
    tool = native.toolchain("base", "clang") or native.toolchain("base")
    if tool is None:
        pytest.skip("neither clang nor gcc here")
    wanted = [p for w, v in sanitizable() if w.name == workload for p in native.programs(w, v, tool)]
    return native.make(wanted, Options(strict=True, sanitize="address,undefined"))


@pytest.mark.full
@pytest.mark.parametrize("of_machine", [False, True])
def test_compilers_mpi_libraries_and_variants_meet(of_machine: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_options, "of_machine", of_machine)
    tools = {c: t for c in native.COMPILERS if (t := native.toolchain("base", c))}
    every = {c: {p for w, v in GOOD for p in native.programs(w, v, t)} for c, t in tools.items()}
    chosen = {c: {p for w, v in GOOD for p in native.met(w, v, c)} for c in tools}
    for compiler in tools:
        assert chosen[compiler] <= every[compiler]
        assert {p.mpi for p in chosen[compiler]} == {p.mpi for p in every[compiler]}
        assert of_machine or names(chosen[compiler]) == names(every[compiler])
    assert names(*chosen.values()) == names(*every.values())
    for workload, variant in [] if of_machine else GOOD:
        libraries = {p.mpi for t in tools.values() for p in native.programs(workload, variant, t)}
        shown = {p.mpi for c in tools for p in native.met(workload, variant, c)}
        assert shown == libraries or len(libraries) > len(tools) or not native.runs(variant), variant.name


def names(*programs: set[Program]) -> set[tuple[str, str]]:
    return {(p.workload, p.variant) for some in programs for p in some}
