"""Build: what belongs to the identity of an executable, and to nothing else."""

from __future__ import annotations

import errno
import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bench import toolchain
from firstlight import ROOT
from firstlight.core.errors import BuildError
from firstlight.execute import build
from firstlight.execute.build import Built, Options
from firstlight.execute.build.configuration import Configuration
from firstlight.execute.build.recipe import harness_flags, key, recipe
from firstlight.model.catalogue import load, roots
from firstlight.model.plan import Program
from firstlight.system.machine import parse
from firstlight.toolchain import Library, Toolbox, Toolchain, cmake
from firstlight.toolchain.cmake import Tree
from firstlight.toolchain.sources import Sources, uses

CHAIN = toolchain("gcc-x")
BOX = Toolbox((CHAIN,), (), (Library("openblas", "OpenBLAS", (), ("-lopenblas",)),), ())


def identity(
    root: Path, variant: str = "serial", chain: Toolchain = CHAIN, box: Toolbox = BOX, sanitize: str = ""
) -> str:
    program = Program("sum", variant, chain.name)
    made = recipe(program, load([root])["sum"], box, chain, None, {})
    return key(made, Sources(), chain, None, box.cuda, sanitize)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a workload in a chapter, with its own header, one of its chapter and one that no source includes."""
    folder = tmp_path / "group" / "sum"
    folder.mkdir(parents=True)
    (folder / "workload.toml").write_text('title = "sum"\nquestion = "how fast?"\n')
    (folder / "sum.hpp").write_text('#pragma once\n#include "../shared.hpp"\n')
    (folder / "serial.cpp").write_text('#include "sum.hpp"\n# include "firstlight/simd.hpp"\n')
    (folder / "blas.cpp").write_text('#include "sum.hpp"\n')
    (folder / "lonely.hpp").write_text("// before\n")
    (tmp_path / "group" / "shared.hpp").write_text("// before\n")
    return tmp_path


@pytest.mark.parametrize(("flags", "same"), [(("-O3", "-march=native"), False), (("-O2",), True)])
def test_executables_for_another_processor_are_others(
    root: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], same: bool
) -> None:
    """A login node and a compute node may share one cache."""
    chain = replace(CHAIN, flags=flags)
    here = identity(root, chain=chain)
    monkeypatch.setattr(parse, "instructions", lambda cpuinfo: "another processor")
    assert (identity(root, chain=chain) == here) == same


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("group/sum/sum.hpp", False),
        ("group/shared.hpp", False),
        ("group/sum/serial.cpp", False),
        ("group/sum/blas.cpp", True),
        ("group/sum/lonely.hpp", True),
        ("group/sum/workload.toml", True),
    ],
)
def test_what_it_is_made_from_makes_it_another_program(root: Path, changed: str, same: bool) -> None:
    before = identity(root)
    with (root / changed).open("a") as file:
        file.write("# after\n" if changed.endswith("toml") else "// after\n")
    assert (identity(root) == before) == same


def test_what_changes_no_byte_changes_no_key(root: Path, tmp_path: Path) -> None:
    """Tests and users share programs: a toolchain's name, other libraries here and the place play no part."""
    before = identity(root)
    assert identity(root, chain=replace(CHAIN, name="gcc-y")) == before
    assert identity(root, box=replace(BOX, libraries=())) == before
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "group").rename(elsewhere / "group")
    assert identity(elsewhere) == before
    assert identity(elsewhere, sanitize="address") != before
    assert identity(elsewhere, chain=replace(CHAIN, flags=("-O3",))) != before
    assert identity(elsewhere, chain=replace(CHAIN, version="13.1")) != before


def test_a_library_is_part_of_the_programs_that_call_it(root: Path) -> None:
    other = replace(BOX, libraries=(replace(BOX.libraries[0], link_flags=("-L/opt", "-lopenblas")),))
    assert identity(root, "blas_openblas") != identity(root, "blas_openblas", box=other)
    assert identity(root) == identity(root, box=other)


def test_headers_of_another_version_make_another_program(root: Path) -> None:
    other = replace(BOX, libraries=(replace(BOX.libraries[0], label="OpenBLAS 2"),))
    assert identity(root, "blas_openblas") != identity(root, "blas_openblas", box=other)
    assert identity(root) == identity(root, box=other)


def test_a_compiler_replaced_at_its_place_makes_another_program(root: Path, tmp_path: Path) -> None:
    """Its version may be the same: that of a development branch, or of the same release with other patches."""
    cxx, link = tmp_path / "g++-1", tmp_path / "g++"
    cxx.write_text("one")
    link.symlink_to(cxx)
    chain = replace(CHAIN, cxx=str(link))

    def names() -> tuple[str, Path, Path | None]:
        built = Configuration(chain, None, Options())
        part = built.parts(tmp_path).harness(Sources())
        return identity(root, chain=chain), built.tree(tmp_path).folder, part.object

    before = names()
    assert names() == before
    cxx.write_text("other")
    now = names()
    assert all(a != b for a, b in zip(before, now, strict=True))
    os.utime(cxx, (1, 1))  # a clock set back
    assert all(a != b for a, b in zip(now, names(), strict=True))


@pytest.mark.parametrize("tool", ["ld", "as"])
def test_another_linker_or_assembler_on_path_makes_another_program(
    root: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity(root)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / tool).write_text("#!/bin/sh\n")
    (tmp_path / "bin" / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert identity(root) != before


def test_flags_of_a_variant_come_after_those_under_test(root: Path) -> None:
    toml = root / "group" / "sum" / "workload.toml"
    toml.write_text(toml.read_text() + '[[flags]]\nname = "novec"\nflags = { gcc = ["-fno-tree-vectorize"] }\n')
    workload = load([root])["sum"]
    assert [v.name for v in workload.variants] == ["blas", "serial", "blas_novec", "serial_novec"]
    made = recipe(Program("sum", "serial_novec", CHAIN.name), workload, BOX, CHAIN, None, {})
    assert made.flags == ("-O2", "-fno-tree-vectorize") and made.sources[0].name == "serial.cpp"
    assert made.definitions["FL_FLAGS"] == '"-O2 -fno-tree-vectorize"'
    assert made.definitions["FL_VARIANT_NAME"] == '"serial_novec"'


def test_sources_follow_includes() -> None:
    """A change in a header makes anew what includes it, directly or not."""
    found = Sources().closure([ROOT / "workloads/network/collectives/mpi_ring.cpp"])
    names = {path.name for path in found}
    assert {"mpi_ring.cpp", "collectives.hpp", "workload.hpp", "executor.hpp", "schedule.hpp"} <= names
    assert "window.hpp" not in names
    assert uses(found, "collectives") and not uses(found, "network")


def but_parts(tree: Tree, targets: Sequence[str]) -> list[str]:
    """Make the shared parts of programs, and return the other targets."""
    for name in (target.removesuffix(".part") for target in targets if target.endswith(".part")):
        shared = tree.folder / "parts" / f"{name}.o"
        shared.parent.mkdir(parents=True, exist_ok=True)
        shared.touch()
    return [target for target in targets if not target.endswith(".part")]


def fails(tree: Tree, targets: Sequence[str], jobs: int) -> tuple[int, str]:
    return (1, "FAILED: everything") if but_parts(tree, targets) else (0, "")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """Record the programs made from now on, and their tree: scripts that answer to --describe."""
    found: list[tuple[str, Path]] = []

    def make(tree: Tree, targets: Sequence[str], jobs: int) -> tuple[int, str]:
        for target in but_parts(tree, targets):
            name, _, folder = target.rpartition("+")
            executable = tree.folder / "bin" / folder / name
            executable.parent.mkdir(parents=True, exist_ok=True)
            executable.write_text("#!/bin/sh\necho '{}'\nexit 0\n")
            executable.chmod(0o755)
            found.append((target, tree.folder))
        return 0, ""

    monkeypatch.delenv("FIRSTLIGHT_STRICT")
    monkeypatch.setattr(cmake.Tree, "make", make)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    return found


def test_only_who_builds_the_same_tree_waits(tmp_path: Path, made: list[tuple[str, Path]]) -> None:
    """Two that share a cache: each of their trees is built by one at a time, and the other finds what was made."""
    chains = (CHAIN, replace(toolchain("clang-x"), cxx="/usr/bin/clang++"))
    toolbox, workloads = Toolbox(chains, (), (), ()), load(roots())
    first, second = (Program("dot", "serial", chain.name, None) for chain in chains)
    tree = Configuration(chains[0], None, Options()).tree(tmp_path)
    reported, waits, release = [], threading.Event(), threading.Event()

    def hold() -> None:
        with tree.alone(lambda: None):
            waits.set()
            release.wait(60)

    def progress(done: int, total: int, text: str) -> None:
        reported.append((done, total, text))
        if "waiting" in text:
            release.set()

    holder = threading.Thread(target=hold)
    holder.start()
    assert waits.wait(60)
    assert build.build([second], toolbox, workloads, tmp_path)[second].executable is not None
    assert build.build([first], toolbox, workloads, tmp_path, progress)[first].executable is not None
    holder.join()
    assert reported == [(0, 1, "waiting: another firstlight process is building in this cache"), (1, 1, "gcc")]
    assert [target for target, _ in made] == ["dot.serial+clang-x", "dot.serial+gcc-x"]

    build.build([first], toolbox, workloads, tmp_path)
    assert len(made) == 2
    build.build([first], toolbox, workloads, tmp_path, options=Options(strict=True))  # it was not made without warnings
    assert len(made) == 3
    build.build([first], toolbox, workloads, tmp_path, options=Options(strict=True))
    build.build([first], toolbox, workloads, tmp_path)
    assert len(made) == 3


def test_finished_programs_are_reported_while_others_are_built(
    tmp_path: Path, made: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second program is not built before the first one is reported."""
    programs = [Program("dot", variant, CHAIN.name) for variant in ("serial", "kahan")]
    reports, reported, at_once = [], threading.Event(), cmake.Tree.make

    def one_by_one(tree: Tree, targets: Sequence[str], jobs: int) -> tuple[int, str]:
        for target in targets:
            at_once(tree, [target], jobs)
            if not target.endswith(".part"):
                assert reported.wait(60)
        return 0, ""

    def progress(done: int, total: int, text: str) -> None:
        reports.append((done, total, text))
        if (done, text) == (1, "gcc"):
            reported.set()

    monkeypatch.setattr(cmake.Tree, "make", one_by_one)
    monkeypatch.setattr(build, "REPORT_EVERY", 0.01)
    build.build(programs, Toolbox((CHAIN,), (), (), ()), load(roots()), tmp_path, progress)
    assert (1, 2, "gcc") in reports and reports[-1] == (2, 2, "gcc")
    assert reports == sorted(reports, key=lambda report: report[0])


DOT = Program("dot", "serial", CHAIN.name)


def dot(cache: Path) -> Built:
    return build.build([DOT], Toolbox((CHAIN,), (), (), ()), load(roots()), cache)[DOT]


@pytest.mark.parametrize("sums", ["there", "from before there were any"])
def test_a_damaged_executable_is_made_again(tmp_path: Path, made: list[tuple[str, Path]], sums: str) -> None:
    first = dot(tmp_path)
    assert first.executable is not None and first.recipe == first.executable.parent.name
    kept = first.executable.parent / "SHA256SUMS"
    good = first.executable.read_bytes()
    assert first.sha256 == hashlib.sha256(good).hexdigest()
    assert kept.read_text() == f"{first.sha256}  dot.serial\n"  # as sha256sum -c reads it
    if sums != "there":
        kept.unlink()
    assert dot(tmp_path) == replace(first, seconds=0.0) and len(made) == 1 and kept.exists()
    for damaged in (good[:12], b"", good.replace(b"{}", b"[]")):
        first.executable.write_bytes(damaged)
        if sums != "there":
            kept.unlink()
        count = len(made)
        assert dot(tmp_path).sha256 == first.sha256 and len(made) == count + 1
        assert first.executable.read_bytes() == good
    first.executable.unlink()
    assert dot(tmp_path).executable == first.executable and first.executable.exists()


def test_without_locks_everybody_builds_in_a_tree_of_their_own(
    tmp_path: Path, made: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(cmake.fcntl, "flock", refused)
    tree = Configuration(CHAIN, None, Options()).tree(tmp_path)
    with tree.alone(lambda: None) as one, tree.alone(lambda: None) as other:
        assert len({tree.folder, one.folder, other.folder}) == 3
        assert one.definitions["FL_MANIFEST"] == str(one.folder / "manifest.cmake")
    assert dot(tmp_path).executable is not None
    ((_, folder),) = made
    assert folder not in (tree.folder, one.folder) and folder.parent == tree.folder.parent
    left = {path.name for path in tree.folder.parent.iterdir()}
    assert left == {f"{tree.folder.name}.lock", f"parts-{tree.folder.name}.lock"}


def test_a_cache_that_is_only_read_serves_what_it_has(
    tmp_path: Path, made: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = dot(tmp_path)
    opened = Path.open

    def read_only(path: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", read_only)
    assert dot(tmp_path).sha256 == first.sha256
    assert first.executable is not None
    first.executable.unlink()
    with pytest.raises(BuildError, match=r"cannot write the cache .*Read-only file system; set FIRSTLIGHT_CACHE"):
        dot(tmp_path)


def test_a_tree_keeps_what_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its manifest entry a program would be built anew the next time; a target without a source is dropped."""
    monkeypatch.setattr(cmake.Tree, "make", fails)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    toolbox, workloads = Toolbox((CHAIN,), (), (), ()), load(roots())
    for variant in ("serial", "kahan"):
        wanted = Program("dot", variant, CHAIN.name)
        assert "everything" in build.build([wanted], toolbox, workloads, tmp_path)[wanted].error
    text = next((tmp_path / "build").glob("gcc-*/manifest.cmake")).read_text()
    assert "fl_program(dot.kahan+gcc-x" in text and "fl_program(dot.serial+gcc-x" in text


def test_a_kill_while_the_manifest_is_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cmake.Tree, "make", fails)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    toolbox, workloads = Toolbox((CHAIN,), (), (), ()), load(roots())
    build.build([Program("dot", "serial", CHAIN.name)], toolbox, workloads, tmp_path)
    written = Path.write_bytes

    def killed(path: Path, data: bytes) -> int:
        written(path, data[: len(data) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "write_bytes", killed)
        build.build([Program("dot", "kahan", CHAIN.name)], toolbox, workloads, tmp_path)
    wanted = Program("dot", "kahan", CHAIN.name)
    assert "everything" in build.build([wanted], toolbox, workloads, tmp_path)[wanted].error


@pytest.mark.parametrize("damage", [b"", b'{"dot": 3}', b"\xff" * 40, b"[" * 100_000])
def test_a_damaged_manifest_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    monkeypatch.setattr(cmake.Tree, "make", fails)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    toolbox, workloads = Toolbox((CHAIN,), (), (), ()), load(roots())
    wanted = Program("dot", "serial", CHAIN.name)
    for _ in range(2):
        assert "everything" in build.build([wanted], toolbox, workloads, tmp_path)[wanted].error
        next((tmp_path / "build").glob("gcc-*/manifest.json")).write_bytes(damage)


def test_without_its_judge_no_program_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of other workloads are: each reports the compiler's messages about its own judge."""
    output = "FAILED: parts/dot.o\ndot.hpp is wrong\n[1/2] \nFAILED: x\nother\n"

    def make(tree: Tree, targets: Sequence[str], jobs: int) -> tuple[int, str]:
        but_parts(tree, [target for target in targets if target != "dot.part"])
        return 1, output if "dot.part" in targets else f"FAILED: {targets}"

    monkeypatch.setattr(cmake.Tree, "make", make)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    programs = [Program(name, "serial", CHAIN.name) for name in ("dot", "stream")]
    found = build.build(programs, Toolbox((CHAIN,), (), (), ()), load(roots()), tmp_path)
    assert [found[p].error for p in programs] == [
        "FAILED: parts/dot.o\ndot.hpp is wrong",
        "FAILED: ['stream.serial+gcc-x']",
    ]


def test_a_judge_that_speaks_mpi_is_made_with_each_library(tmp_path: Path) -> None:
    parts, workloads, sources = Configuration(CHAIN, None, Options()).parts(tmp_path), load(roots()), Sources()
    headers = {name: w.folder / f"{name}.hpp" for name, w in workloads.items()}
    assert parts.judge("waiting", headers["waiting"], sources) is None
    assert parts.judge("halo", headers["halo"], sources) is not None


def test_the_harness_is_never_compiled_with_the_flags_under_test() -> None:
    fast = replace(CHAIN, flags=("-Ofast",))
    assert Configuration(fast, None, Options()).definitions["FL_HARNESS_FLAGS"] == harness_flags(fast) == "-O2"
