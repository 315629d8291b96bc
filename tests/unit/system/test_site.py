"""The site file: what may stand in it, wrong lines by their number, and what its entries do to commands."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Captured, call
from firstlight import ROOT, runner
from firstlight.commands.doctor.lines import examine, text
from firstlight.core.errors import ENVIRONMENT, OK, USAGE, UsageError
from firstlight.runner.progress import display
from firstlight.system import site
from firstlight.system.machine import Arithmetic, Hardware
from firstlight.system.site import file, modules
from firstlight.toolchain import Mpi, Toolbox, Toolchain
from firstlight.toolchain.site_filter import considered
from synthetic_machine import machine

EXAMPLES = sorted((ROOT / "sites").glob("*.toml"))


def toolbox(compilers: tuple[str, ...] = ("gcc", "clang"), mpis: tuple[str, ...] = ("openmpi", "mpich")) -> Toolbox:
    chains = [
        Toolchain(f"{name}-{flags}", name, flags, "13.1", f"/opt/{name}", (), ())
        for name in compilers
        for flags in ("base", "fast")
    ]
    libraries = [Mpi(m, m, f"{m} 5", "5", "system", f"/opt/{m}", None, (), "/opt/mpiexec", {}) for m in mpis]
    return Toolbox(tuple(chains), tuple(libraries), (), ())


def written(folder: Path, words: str) -> Path:
    path = folder / "site.toml"
    path.write_text(words)
    return path


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a file of one name again in each test, and undo the settings of a command after it."""
    for name in (site.SITE, site.MODULES, site.LAUNCHER, site.TARGET):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv(site.SITE, "")
    site._kept.cache_clear()
    site._loaded.cache_clear()


WRONG = [
    ("results = \n", 1, "not valid TOML"),
    ("\n\nmodules = 'gnu'\n[toolchains.gnu\n", 4, "not valid TOML"),
    ("a = [\n1,\n2\n", 3, "not valid TOML"),
    ("# queue\nresult = '/x'\n", 2, "did you mean results?"),
    ("[submit]\naccount = 'a'\n\npartitions = 'p'\n", 4, "did you mean partition?"),
    ("[submit]\nnodes = 'two'\n", 2, "submit.nodes is a whole number, not 'two'"),
    ("[submit]\nnodes = 0\n", 2, "at least 1"),
    ("[submit]\ntime = 'soon'\n", 2, "submit.time: "),
    ("[compilers]\nonly = [\n  'gcc',\n  3,\n]\n", 2, 'compilers.only is a list of strings, such as ["a", "b"]'),
    ("mpi = 'openmpi'\n", 1, "mpi is a table: write [mpi]"),
    ("\ntoolchains = ['gcc']\n", 2, "toolchains is a table: write [toolchains.NAME]"),
    (
        "[toolchains.gnu]\nmodule = ['gcc']\n",
        2,
        "no entry is called 'module' in [toolchains.gnu]; did you mean modules?",
    ),
    ("[toolchains.gnu]\nmodules = ['--force']\n", 2, "'--force' is not a module name"),
    (
        "modules = 'intel'\n[toolchains.gnu]\nmodules = ['gcc']\n",
        1,
        "this file has no [toolchains.intel]; known toolchains: gnu",
    ),
    ("launcher = 'mpirun'\n", 1, "launcher: 'mpirun' is not a launcher: use one of srun, mpiexec, aprun"),
    ("launcher = 'prun -n 4'\n", 1, "does not set the number of ranks"),
    ("name = '<b>'\n", 1, "'<b>' is not a valid name for a machine"),
    ("[hardware]\nclock = '3.7 GB/s'\n", 2, "hardware.clock: '3.7 GB/s' is not in Hz; write a value such as 180 GHz"),
    (
        "[hardware]\nmemory = '12 channels'\n",
        2,
        "hardware.memory: '12 channels' is not in B/s; write a value such as 180 GB/s",
    ),
    ("[hardware]\nclocks = '3.7 GHz'\n", 2, "did you mean clock?"),
    ("results = 'scratch'\n", 1, "is not an absolute path"),
    ("results = '/x/$NOBODY_HAS_SET_THIS/y'\n", 1, "the variable NOBODY_HAS_SET_THIS is not set"),
    ("submit.nodes = 1\n'''\n", 2, "not valid TOML"),
]


@pytest.mark.parametrize(("words", "line", "message"), WRONG)
def test_a_wrong_line_is_told_by_its_number(
    words: str, line: int, message: str, tmp_path: Path, capsys: Captured
) -> None:
    path = written(tmp_path, words)
    found = file.read(path)
    assert [fault.line for fault in found.faults] == [line], found.faults
    assert message in found.faults[0].text
    code, out, err = call(capsys, "--site-file", str(path), "list")
    assert code == USAGE and out == "" and err.startswith(f"firstlight: {path}:{line}: ") and err.count("\n") == 1


def test_all_wrong_lines_are_told_by_the_doctor(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path, "result = 'x'\n[submit]\nnodes = 'a'\n[mip]\nonly = ['x']\n")
    code, out, err = call(capsys, "--site-file", str(path), "doctor", "--site", "--json")
    assert code == USAGE and err == ""
    assert [fault["line"] for fault in json.loads(out)["faults"]] == [1, 3, 4]
    code, out, _ = call(capsys, "--site-file", str(path), "doctor", "--site")
    assert code == USAGE and out.count(f"wrong    {path}:") == 3
    _, _, err = call(capsys, "--site-file", str(path), "list")
    assert f"(and 2 more: ./fl --site-file {path} doctor --site)" in err.replace("python -m firstlight", "./fl")


@given(st.text(alphabet="ab=[]'\"#\n{}.1 \\", max_size=60))
def test_whatever_is_written_is_read_or_told(words: str) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"site-{os.getpid()}.toml"
    path.write_text(words)
    try:
        found = file.read(path)
    finally:
        path.unlink()
    assert found.faults or not found.lines  # none of its fields has such a name
    assert all(0 < fault.line <= words.count("\n") + 1 for fault in found.faults), found.faults


def test_lines_are_found_in_any_spelling_of_toml() -> None:
    lines = file.places(
        '# head\n\nresults = """\n/a"""\nsubmit.gpus = 4\n["toolchains".gnu]\n\nmodules = [ # two\n "a",\n "b"]\n'
    )
    assert lines == {
        ("results",): 3,
        ("submit",): 5,
        ("submit", "gpus"): 5,
        ("toolchains",): 6,
        ("toolchains", "gnu"): 6,
        ("toolchains", "gnu", "modules"): 8,
    }


def test_files_that_are_none_are_told(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "latin").write_bytes(b"results = '/\xe4'\n")
    (tmp_path / "large").write_bytes(b"#" * (file.MOST + 1))
    os.mkfifo(tmp_path / "pipe")
    faults = {name: file.read(tmp_path / name).faults[0].text for name in ("latin", "large", "pipe")}
    assert faults == {"latin": "is not UTF-8", "large": "is larger than 64 KiB", "pipe": "is not a regular file"}
    assert call(capsys, "--site-file", str(tmp_path / "none"), "list")[0] == USAGE


def test_the_first_file_of_three_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    etc, named = tmp_path / "etc.toml", tmp_path / "named.toml"
    monkeypatch.setattr(file, "ROOT", tmp_path / "checkout")
    (tmp_path / "checkout").mkdir()
    assert file.find({}, etc) is None
    beside = tmp_path / file.NAME
    beside.write_text("")
    assert file.find({}, etc) == beside
    etc.write_text("")
    named.write_text("")
    assert file.find({}, etc) == etc
    assert file.find({"FIRSTLIGHT_SITE": str(named)}, etc) == named
    assert file.find({"FIRSTLIGHT_SITE": ""}, etc) is None
    with pytest.raises(UsageError, match=r"the file .* does not exist"):
        file.find({"FIRSTLIGHT_SITE": str(tmp_path / "other")}, etc)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_somebody_else_beside_the_checkout_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "ROOT", tmp_path / "checkout")
    (tmp_path / "checkout").mkdir()
    (tmp_path / file.NAME).write_text("")
    os.chown(tmp_path / file.NAME, 12345, 12345)
    assert file.find({}, tmp_path / "etc") is None


def test_compilers_and_libraries_are_left_out_with_the_line_that_does_it(tmp_path: Path) -> None:
    path = written(tmp_path, "[compilers]\nonly = ['gcc*']\nleave_out = ['gcc-fast']\n[mpi]\nleave_out = ['mpich']\n")
    left = considered(toolbox(), file.read(path))
    assert [t.name for t in left.toolchains] == ["gcc-base"] and [m.name for m in left.mpis] == ["openmpi"]
    assert {gap.what: gap.why for gap in left.absent} == {
        "gcc-fast": f"{path}:3: compilers.leave_out excludes it",
        "clang-base": f"{path}:2: compilers.only excludes it",
        "clang-fast": f"{path}:2: compilers.only excludes it",
        "mpich 5": f"{path}:5: mpi.leave_out excludes it",
    }
    assert considered(toolbox(), site.current()) == toolbox()


def test_flags_of_a_site_are_part_of_every_flag_set_and_of_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, "[compilers]\nonly = ['gcc*']\nflags = ['-mno-avx512f', '--sysroot=/opt/site']\n")
    read = file.read(path)
    chains = considered(toolbox(), read).toolchains
    assert [t.name for t in chains] == ["gcc-base+site", "gcc-fast+site"]
    assert all(t.flags == ("-mno-avx512f", "--sysroot=/opt/site") and not t.strict for t in chains)
    entry = next(e for e in examine(read, toolbox, {}, {}).entries if e.key == "compilers.flags")
    assert entry.well and entry.did.endswith("the judge never does: gcc-base+site, gcc-fast+site")


@pytest.mark.parametrize("flag", ["O3", "", "-O3 -g", "-DX=$HOME", "-DX=`id`", "-DX='1'", "-a;-b", "@file", "-x\\n"])
def test_a_flag_of_a_site_is_one_word(tmp_path: Path, flag: str) -> None:
    path = written(tmp_path, f'[compilers]\nflags = ["-g", "{flag}"]\n')
    (fault,) = file.read(path).faults
    assert fault.line == 2 and fault.text.endswith("is not a flag: each flag is a single word that starts with -")


def test_a_job_gets_the_entries_of_submit_and_the_command_line_wins(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    sbatch = tmp_path / "sbatch"
    sbatch.write_text("#!/bin/sh\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    path = written(
        tmp_path,
        f"results = '{tmp_path}/runs'\n[submit]\nsystem = 'slurm'\npartition = 'long'\naccount = 'p1'\nnodes = 3\n"
        "gpus = 4\ntime = '2h'\ndirectives = ['--qos=a', '--mem=0']\n",
    )
    words = ("--site-file", str(path), "submit", "--dry-run")
    code, script, err = call(capsys, *words, "dot")
    assert code == OK, err
    for option in (
        "--partition=long",
        "--account=p1",
        "--nodes=3",
        "--gpus-per-node=4",
        "--time=02:00:00",
        "--qos=a",
        "--mem=0",
    ):
        assert f"#SBATCH {option}\n" in script
    assert f"export FIRSTLIGHT_SITE={path}\n" in script and f"--results {tmp_path}/runs" in script
    _, script, _ = call(capsys, *words, "--partition", "short", "--nodes", "1", "--results", str(tmp_path), "dot")
    assert "--partition=short" in script and "--nodes=1\n" in script and "--account=p1" in script
    assert f"--results {tmp_path}\n" in script


def test_runs_are_looked_for_where_the_site_file_puts_them(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path, f"results = '{tmp_path}/runs'\n")
    for command in (["figures"], ["export", "junit"], ["export", "hpcc"]):
        code, _, err = call(capsys, "--site-file", str(path), *command)
        assert code == USAGE and f"{tmp_path}/runs" in err


def test_there_are_seven_examples() -> None:
    names = ["arm", "cray-ex", "cray-ex-pbs", "emulated", "gpu-nodes", "power-lsf", "slurm-intel"]
    assert sorted(path.stem for path in EXAMPLES) == names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_entry_of_the_examples_is_explained(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has everything that the example names: a `module` command that accepts every module."""
    monkeypatch.setenv("USER", "me")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".bash_profile").write_text('module() { shift; IFS=:; export LOADEDMODULES="$*" SITE_TRIED=1; }\n')
    tools = [f"{name}-linux-gnu-g++" for name in ("aarch64", "powerpc64le")] + ["qemu-aarch64", "qemu-ppc64le"]
    for name in ("sbatch", "qsub", "bsub", "mpiexec", *tools):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "mpich-aarch64").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = file.read(path)
    assert not found.faults
    here = toolbox(("gcc", "clang", "gcc-8", "gcc-10"), ("openmpi", "mpich", "craympich", "intel"))
    batch = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub"}
    examined = examine(found, lambda: here, batch, dict(os.environ))
    entries = {entry.key: entry for entry in examined.entries}
    content = tomllib.loads(path.read_text())
    tables = {key for key, value in content.items() if isinstance(value, dict)}
    named = tables & {"toolchains", "targets"}  # tables of tables
    keys = set(content) - tables | {f"{table}.{key}" for table in tables - named for key in content[table]}
    assert set(entries) == keys | {
        f"{t}.{name}.{key}" for t in named for name in content[t] for key in content[t][name]
    }
    for entry in examined.entries:
        source = path.read_text().split("\n")[entry.line - 1]
        assert source.startswith(entry.key.rpartition(".")[2]), (entry, source)
        elsewhere = entry.key == "path" or entry.value.startswith('"/work')
        assert entry.well or elsewhere, entry
        assert entry.did and entry.did != "is taken"
        if entry.key.startswith("toolchains."):
            assert "SITE_TRIED" in entry.did
    assert text(examined).count("\n") == 2 * len(examined.entries) - 1


def test_nominal_peaks_of_the_site_file_are_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "[hardware]\nclock = '3.7 GHz'\nmemory = '460.8 GB/s'\n")
    monkeypatch.setenv(site.SITE, str(path))
    units = Arithmetic("Zen 4", 2, 256, 2)
    monkeypatch.setattr("firstlight.system.machine.discover", lambda: machine(hardware=Hardware((units,))))
    monkeypatch.setattr("firstlight.toolchain.discover", lambda *_, **__: toolbox())
    with display() as progress:
        found, _ = runner.discover(progress)
    assert found.hardware == Hardware((msgspec.structs.replace(units, clock=3.7e9, clock_of="site"),), 460.8e9)
    entries = examine(file.read(path), toolbox, {}, {}).entries
    assert [entry.well for entry in entries] == [True, True]
    assert "nominal arithmetic" in entries[0].did and "memory" in entries[1].did


def test_patterns_that_match_nothing_are_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path, "[compilers]\nleave_out = ['icpx']\n[submit]\nsystem = 'cobalt'\n")
    examined = examine(file.read(path), toolbox, {"slurm": "sbatch"}, dict(os.environ))
    assert [(entry.line, entry.well) for entry in examined.entries] == [(2, False), (4, False)]
    assert examined.code == ENVIRONMENT and "PROBLEM" in text(examined)
    assert "icpx matches nothing on this machine, which has gcc-base" in examined.entries[0].did


@pytest.mark.parametrize(
    ("before", "after", "own", "merged"),
    [
        ("a b", "m a b", "v a b", "m v a b"),  # in front: before what is our own
        ("a b", "a b m", "v a b", "v a b m"),
        ("a b", "m a b n", "v a", "m v a n"),
        ("a b", "b a", "v a b", "b v a"),  # a folder that was there moves to the front
        ("a b", "m b", "v a b", "m v b"),  # another module goes
        ("a b", "a b", "v", "v"),
        ("", "m n", "", "m n"),
        ("a", "", "v a", "v"),
    ],
)
def test_lists_of_folders_keep_what_is_our_own(before: str, after: str, own: str, merged: str) -> None:
    assert modules.merged(before.split(), after.split(), own.split()) == merged.split()
