"""Processors that are not this one: made by cross compilers, run under emulation, verified and never timed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented
import invented_run
import native
import small_sizes
from firstlight import ROOT, toolchain
from firstlight.analysis import ranking
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.analysis.stored import judged
from firstlight.analysis.verdict import Failed, Untimed, Verified
from firstlight.commands.shared import sites
from firstlight.core import heritage
from firstlight.core.errors import FirstlightError, UsageError
from firstlight.execute import build
from firstlight.execute.launch import command
from firstlight.model.plan import EFFORT, Cell, Placement, Program, effort
from firstlight.report import export, html, terminal
from firstlight.system import site
from firstlight.system.machine import UNTIMED, Machine
from firstlight.toolchain import Toolbox, cross_compile
from firstlight.toolchain.flag_sets import FLAG_SETS
from firstlight.toolchain.sources import Sources
from real_calls import MEASURED

EXAMPLE = ROOT / "sites/emulated.toml"
TOOLS = ("aarch64-linux-gnu-g++", "qemu-aarch64")
"""Tools for the one processor that tests emulate. Others, and all workloads, are tested by hand: see docs/tests.md."""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(site.SITE, str(EXAMPLE))
    monkeypatch.setenv(site.TARGET, "")
    site._kept.cache_clear()
    yield
    site._kept.cache_clear()


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "riscv64", "no [targets.riscv64] is in"),
        ("[targets.arm]\n[targets.x86]\n", "riscv64", "known targets: arm, x86"),
        ("\n[targets.a]\ncompilers = ['c++']\n", "a", ":2: [targets.a] needs `run`"),
        ("[targets.a]\nrun = ['env']\n", "a", ":1: [targets.a] needs `compilers`"),
    ],
)
def test_a_target_that_is_not_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, name: str, message: str
) -> None:
    (tmp_path / "site.toml").write_text(text)
    monkeypatch.setenv(site.SITE, str(tmp_path / "site.toml"))
    monkeypatch.setenv(site.TARGET, name)
    with pytest.raises(UsageError) as caught:
        site.target()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (site.Target(("no-such-c++",), ("env",)), "no-such-c++ is not on the search path"),
        (site.Target(("c++",), ("no-such-qemu",)), "no-such-qemu is not on the search path"),
        (site.Target(("c++",), ("false",)), "do not run under false"),
    ],
)
def test_what_cannot_be_emulated_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: site.Target, message: str
) -> None:
    monkeypatch.delenv("FIRSTLIGHT_BARE", raising=False)  # `env` and `false` are the system's
    with pytest.raises(FirstlightError, match=re.escape(message)) as caught:
        cross_compile.play(native.here, target, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["bench", "submit", "tune"])
def test_commands_about_times_take_no_target(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv(site.TARGET, "aarch64")
    with pytest.raises(UsageError, match=f"{command} measures times"):
        sites.refuse_target(command)
    sites.refuse_target("run")


def test_flags_for_another_processor_are_said_or_left_out() -> None:
    plain = cross_compile.flag_sets(site.Target(), "gcc")
    assert not [flag for some in plain.values() for flags in some for flag in flags if "native" in flag]
    assert plain["base"] == FLAG_SETS["base"] and "native" not in plain and plain["fast"][0] == ("-Ofast",)
    assert [gap.what for gap in cross_compile.missing("gcc", plain)] == ["gcc-native"]
    sets = cross_compile.flag_sets(site.Target(native=("-mcpu=power9",)), "gcc")
    assert sets["native"] == (("-O3", "-mcpu=power9"),) and sets["fast"][0] == ("-Ofast", "-mcpu=power9")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> invented_run.Scene:
    machine = invented.machine(tmp_path_factory.mktemp("machine"), "server")
    emulated = replace(machine, emulated="qemu-aarch64 7.2.22", architecture="aarch64", warnings=(UNTIMED,))
    return invented_run.run(emulated, names=("dot", "stream", "peak", "pingpong"), launches=1)


def test_what_is_emulated_has_verdicts_and_no_times(scene: invented_run.Scene) -> None:
    judgement = judge(*scene)
    assert judgement.figures and all(isinstance(f, Untimed) for f in judgement.figures)
    assert judgement.limits == () and judgement.findings == () and judgement.steadiness == ()
    assert ranking.best([f for f in judgement.figures if isinstance(f, Verified)]) is None
    rows = export.rows(judgement)
    assert {(row.verdict, row.median, row.ceiling, row.reason) for row in rows} == {("untimed", None, None, UNTIMED)}
    both = compare(judgement, judgement)
    assert both.figures == () and len(both.not_compared) == len(judgement.figures)


def test_every_page_of_it_says_so(scene: invented_run.Scene) -> None:
    judgement = judge(*scene)
    shown = terminal.summary(judgement, scene.workloads, width=100)
    assert (
        f" · {UNTIMED}" in " ".join(shown.split()) and f"{len(judgement.figures)} figures verified · 0 failed" in shown
    )
    assert "✓" in shown and "✗" not in shown
    page = html.render(judgement, scene.workloads, heritage.load())
    assert UNTIMED in page and "no verified figure" not in page
    for unit in ("Gflop/s", "GB/s", " ns"):
        assert unit not in shown


def test_a_wrong_result_fails_all_the_same(scene: invented_run.Scene) -> None:
    wrong = [
        replace(r, checks=tuple(replace(c, ok=False) for c in r.checks)) if k == 0 else r
        for k, r in enumerate(scene.records)
    ]
    judgement = judge(scene.run, tuple(wrong), scene.workloads)
    assert [f for f in judgement.figures if isinstance(f, Failed)]
    assert {finding.rule for finding in judgement.findings} <= {"failed", "fast_but_wrong"} and judgement.findings


def test_the_emulator_stands_between_launcher_and_program(tmp_path: Path) -> None:
    tools = Toolbox((), (), (), (), emulator=("qemu-x", "-L", "/usr/x"))
    cell = Cell("c", Program("dot", "serial", "gcc-base"), Placement(), ("n=1",))
    words = command(cell, Path("/p"), tools, output=tmp_path / "o", machine=native.here).words
    assert words[:5] == ("qemu-x", "-L", "/usr/x", "/p", "n=1")


def test_an_emulated_launch_has_time(scene: invented_run.Scene) -> None:
    assert effort("quick", scene.run.machine).timeout > 10 * EFFORT["quick"].timeout
    assert effort("quick", native.here) == EFFORT["quick"] or native.here.emulated


def crossed(monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, Toolbox]:
    """Return the machine that programs for that processor see, and its tools."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}")
    monkeypatch.setenv(site.TARGET, "aarch64")
    machine = toolchain.played(replace(native.here, emulated=""), native.CACHE)
    return machine, toolchain.discover(machine, native.CACHE, embed_mpi=False)


DOT = {"dot": native.workloads["dot"]}


def dot(tools: Toolbox, cache: Path, known: bool = False) -> dict[Program, build.Built]:
    """Return the two programs of a small workload that every processor here can build."""
    wanted = [Program("dot", variant, "gcc-base") for variant in ("serial", "omp")]
    make = build.known if known else build.build
    return make(wanted, tools, DOT, cache, options=native.STRICT)


def started(words: Sequence[str | Path]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.full
@pytest.mark.native
def test_programs_of_another_processor_verify(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = toolchain.discover(replace(native.here, emulated=""), native.CACHE, embed_mpi=False)
    machine, other = crossed(monkeypatch)
    assert machine.architecture == "aarch64" and machine.emulated.startswith("qemu-aarch64 ") and machine.page
    flags = next(t.flags for t in other.toolchains if t.flag_set == "native")
    assert "-mcpu=neoverse-v1" in flags and flags[-1].startswith("-msve-vector-bits=")  # as long as they are here
    monkeypatch.setattr(native, "here", machine)
    monkeypatch.setattr(native, "toolbox", lambda: other)
    made = dot(other, native.CACHE)
    for (program, one), place in zip(made.items(), (Placement(), Placement(threads=2)), strict=True):
        assert one.error == "" and one.executable is not None
        header = one.executable.read_bytes()[:20]
        assert header[:4] == b"\x7fELF" and int.from_bytes(header[18:20], "little") == 183  # AArch64
        native.verified(one, place, tmp_path, *small_sizes.arguments(DOT["dot"], program.variant))
    two_nodes_of_one_store({"mine": mine, "other": other}, made, tmp_path)


def two_nodes_of_one_store(nodes: dict[str, Toolbox], made: dict[Program, build.Built], tmp_path: Path) -> None:
    """Return a node of this processor and one that emulates another. They keep their programs in one store, which has
    another path on each of them.
    """
    both = {"mine": dot(nodes["mine"], native.CACHE), "other": made}
    assert {one.executable for one in both["mine"].values()}.isdisjoint(one.executable for one in made.values())
    moved = tmp_path / "elsewhere"
    moved.symlink_to(native.CACHE)
    for node, tools in nodes.items():
        there = dot(tools, moved, known=True)
        assert {p: one.sha256 for p, one in there.items()} == {p: one.sha256 for p, one in both[node].items()}
        for one in there.values():
            assert one.executable is not None and one.executable.is_relative_to(moved)
            assert started([*tools.emulator, one.executable, "--describe"]) == one.describe.decode()


def mounting(folders: dict[Path, Path]) -> list[str]:
    """Return the start of a command line with which each of the folders has a second path. Skip the test if the system
    forbids mounts.
    """
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    script = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 1; shift 2; done; shift; exec "$@"'
    pairs = [str(path) for folder, at in folders.items() for path in (folder, at)]
    for at in folders.values():
        at.mkdir(parents=True)
    words = [*own, "sh", "-c", script, "sh", *pairs, "--"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a file system of their own (unshare -rm)")
    return words


@pytest.mark.full
@pytest.mark.native
def test_two_nodes_run_at_once_in_one_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One node of this processor and one that plays another find the same folder at two paths, as nodes of a cluster
    find a file system by NFS, and each runs a workload in it, from its build to its report."""
    crossed(monkeypatch)
    results = tmp_path / "results"
    results.mkdir()
    nodes = {"": tmp_path / "mine", "aarch64": tmp_path / "other"}
    running = []
    for target, at in nodes.items():
        words = mounting({native.CACHE: at / "cache", results: at / "results"})
        words += [sys.executable, "-P", "-m", "firstlight", "run", "kernel_launch.call"]
        words += ["--toolchain", "gcc-base", "--launches", "2", "--results", str(at / "results")]
        own = {site.TARGET: target, "FIRSTLIGHT_CACHE": str(at / "cache"), "PYTHONPATH": str(ROOT / "src")}
        running.append(subprocess.Popen(words, env=os.environ | own, stderr=subprocess.PIPE, text=True))
    for one in running:
        stderr = one.communicate(timeout=300)[1]
        assert one.returncode in MEASURED, stderr
    names = sorted(path.name for path in results.iterdir() if path.is_dir() and not path.is_symlink())
    assert len(names) == 2
    runs = [judged(results / name) for name in names]
    assert all(not run.defects and run.judgement.figures for run in runs)
    by = {run.judgement.run.machine.architecture: run.judgement for run in runs}
    assert len(by) == 2 and "aarch64" in by
    assert {type(f) for f in by.pop("aarch64").figures} == {Untimed}
    assert {type(f) for f in by.popitem()[1].figures} == {Verified}
    programs = {build.sha256 for run in runs for build in run.judgement.run.builds}
    assert len(programs) == 2  # each made its own
    assert not [path for path in results.rglob(".*") if path.is_file()]  # nothing half written is left


def test_one_path_on_two_processors_is_two_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same compiler by its name, on nodes that share a cache."""
    recipe = import_module("firstlight.execute.build.recipe")
    tools = native.toolbox()
    program, tool = native.plain_program("dot", "serial"), tools.toolchains[0]
    made = recipe.recipe(program, DOT["dot"], tools, tool, None, {})
    keys = set()
    for name in ("x86_64", "aarch64", "ppc64le"):
        monkeypatch.setattr(recipe, "kind", lambda name=name: (name, "glibc 2.36"))
        keys.add(recipe.key(made, Sources(), tool, None, None, ""))
    assert len(keys) == 3
