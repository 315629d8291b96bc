"""Build: what belongs to the identity of an executable, and to nothing else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import toolchain
from firstlight import ROOT, build, cmake
from firstlight.build import Options
from firstlight.build.recipe import HARNESS_FLAGS, key, recipe
from firstlight.build.sources import Sources, uses
from firstlight.catalogue import load, roots
from firstlight.cmake import Tree
from firstlight.machine import parse
from firstlight.plan import Program
from firstlight.toolchains import Library, Toolbox, Toolchain

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
    """A workload in a chapter, with a header of its own, one of its chapter and one that nobody includes."""
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


def test_only_who_builds_the_same_tree_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that share a cache: each of their trees is built by one at a time, and the other finds what was made."""
    made: list[str] = []

    def make(tree: Tree, targets: Sequence[str], jobs: int | None = None) -> tuple[int, str]:
        for target in targets:
            name, _, folder = target.rpartition("+")
            executable = tree.folder / "bin" / folder / name
            executable.parent.mkdir(parents=True, exist_ok=True)
            executable.write_text("#!/bin/sh\necho '{}'\n")
            executable.chmod(0o755)
            made.append(target)
        return 0, ""

    monkeypatch.delenv("FIRSTLIGHT_STRICT")
    monkeypatch.setattr(cmake.Tree, "make", make)
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    chains = (CHAIN, replace(toolchain("clang-x"), cxx="/usr/bin/clang++"))
    toolbox, workloads = Toolbox(chains, (), (), ()), load(roots())
    first, second = (Program("dot", "serial", chain.name, None) for chain in chains)
    tree = build._Kind(chains[0], None, Options()).tree(tmp_path)
    told, waits, release = [], threading.Event(), threading.Event()

    def hold() -> None:
        with tree.alone(lambda: None):
            waits.set()
            release.wait(60)

    def progress(done: int, total: int, text: str) -> None:
        told.append((done, total, text))
        if "waiting" in text:
            release.set()

    holder = threading.Thread(target=hold)
    holder.start()
    assert waits.wait(60)
    assert build.build([second], toolbox, workloads, tmp_path)[second].executable is not None
    assert build.build([first], toolbox, workloads, tmp_path, progress)[first].executable is not None
    holder.join()
    assert told == [(0, 1, "another firstlight builds in this cache: waiting for it"), (1, 1, "gcc")]
    assert made == ["dot.serial+clang-x", "dot.serial+gcc-x"]

    build.build([first], toolbox, workloads, tmp_path)
    assert len(made) == 2
    build.build([first], toolbox, workloads, tmp_path, options=Options(strict=True))  # it was not made without warnings
    assert len(made) == 3
    build.build([first], toolbox, workloads, tmp_path, options=Options(strict=True))
    build.build([first], toolbox, workloads, tmp_path)
    assert len(made) == 3


def test_a_tree_keeps_what_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the manifest no longer named would be built anew the next time; what has no source any more is dropped."""
    monkeypatch.setattr(cmake.Tree, "make", lambda *_: (1, "FAILED: everything"))
    monkeypatch.setattr(cmake.Tree, "configure", lambda tree: "")
    toolbox, workloads = Toolbox((CHAIN,), (), (), ()), load(roots())
    for variant in ("serial", "kahan"):
        wanted = Program("dot", variant, CHAIN.name)
        assert "everything" in build.build([wanted], toolbox, workloads, tmp_path)[wanted].error
    text = next((tmp_path / "build").glob("*/manifest.cmake")).read_text()
    assert "fl_program(dot.kahan+gcc-x" in text and "fl_program(dot.serial+gcc-x" in text


def test_a_kill_while_the_manifest_is_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cmake.Tree, "make", lambda *_: (1, "FAILED: everything"))
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


def test_the_harness_is_never_compiled_with_the_flags_under_test() -> None:
    assert (
        build._Kind(replace(CHAIN, flags=("-Ofast",)), None, Options()).definitions["FL_HARNESS_FLAGS"] == HARNESS_FLAGS
    )
