"""Define each reader of foreign files as a target: sample inputs, and a function that reads any bytes.

A target may raise FirstlightError, the documented one line; anything else is a defect of the reader. Where `check` says
that a run is sound, everything that reads it has to accept it.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

import synthetic
import synthetic_machine
from firstlight import ROOT
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.commands import check
from firstlight.commands.shared import runs
from firstlight.core import heritage, networks
from firstlight.core.errors import FirstlightError, UsageError
from firstlight.core.units import parse_duration, parse_size, parse_sizes
from firstlight.model import catalogue
from firstlight.model.plan import placements
from firstlight.report import export, html, terminal
from firstlight.results import store
from firstlight.results.record import End, LaunchRecord
from firstlight.results.store import layout, lines, owner, seal, signature
from firstlight.results.store.disk import Folder
from firstlight.runner import costs
from firstlight.system import energy
from firstlight.system.machine import Machine, allocation, linux, parse
from firstlight.toolchain.memory import Memory
from fuzz import mutate
from fuzz.target import Target

# --- a run -----------------------------------------------------------------------------------------------------------


@functools.cache
def _scene() -> synthetic.Scene:
    """Few cells of three workloads, a failed build and a wrong variant among them."""
    run, records, workloads = synthetic.run(1, 3, only=("dot", "stream"))
    kept = run.cells[:4] + tuple(c for c in run.cells if c.program.workload == "stream")[:2]
    names = {c.id for c in kept}
    mine = [r for r in records if r.start.cell in names]
    run = msgspec.structs.replace(run, id="run", cells=kept)
    for k, r in enumerate(mine):
        mine[k] = msgspec.structs.replace(r, start=msgspec.structs.replace(r.start, run="run"))
    return synthetic.Scene(run, tuple(mine), workloads)


def _text(record: LaunchRecord) -> bytes:
    """Return the launch file of a record."""
    assert record.launch is not None
    parts: list[Any] = [record.start, record.launch]
    for case in record.cases:
        parts.append(case)
        own = (*record.samples, *record.checks, *record.counters)
        parts += [line for line in own if line.case == case.case]
    parts.append(End(len(record.cases)))
    before = b"".join(map(lines.encode, parts))
    return before + lines.seal(before, record.exit)


@functools.cache
def _place(_: str) -> Path:
    """Return the sound sample on the disk, one for each target; inputs replace one of its files."""
    folder = Path(tempfile.mkdtemp(prefix="firstlight-fuzz-"))
    path = folder / "run"
    (path / layout.LAUNCHES).mkdir(parents=True)
    scene = _scene()
    (path / layout.RUN).write_bytes(msgspec.json.encode(scene.run))
    for record in scene.records:
        name = layout.launch_name(record.start.cell, record.start.launch)
        (path / layout.LAUNCHES / name).write_bytes(_text(record))
    figures = export.to_json(export.rows(judge(scene.run, store.open(path).records(), scene.workloads)))
    (path / layout.FIGURES).write_text(figures)
    (path / layout.REPORT).write_text("page")
    with Folder.at(path) as folder:
        seal.write(folder)
    return path


def _unsealed(target: str) -> Path:
    """Remove the hashes that reveal a change: a user who changes a file can compute these again."""
    path = _place(target)
    for name in (*layout.DERIVED, layout.SEAL):
        (path / name).unlink(missing_ok=True)
    return path


def _read_run(path: Path) -> None:
    """Run every reader of a run: the check, and after a successful check the pages, the tables and the comparison."""
    faults = check.inspect(path).faults
    try:
        opened = store.open(path)
        judgement = judge(opened.run(), opened.records(), _scene().workloads)
        table = export.rows(judgement, launches=True)
        export.to_json(table)
        export.to_csv(table)
        terminal.summary(judgement, _scene().workloads, 80, False, path)
        compare(judgement, judgement)
        html.render(judgement, _scene().workloads, heritage.Heritage())
    except FirstlightError as error:
        if not faults:
            raise AssertionError(f"check is satisfied, and then: {error}") from error


def read_run(data: bytes) -> None:
    path = _unsealed("run")
    (path / layout.RUN).write_bytes(data)
    _read_run(path)


def _launch_name() -> str:
    start = _scene().records[0].start
    return f"{layout.LAUNCHES}/{layout.launch_name(start.cell, start.launch)}"


def read_launch(data: bytes) -> None:
    """Read a launch file unchanged and with a correct hash: a user who writes lines can compute their hash."""
    path = _unsealed("launch")
    head, _, last = data.rstrip(b"\n").rpartition(b"\n")
    ending = lines.decode(last)
    if isinstance(ending, store.lines.Exit):
        data = head + b"\n" + lines.seal(head + b"\n", ending)
    (path / _launch_name()).write_bytes(data)
    _read_run(path)


def read_unfinished(data: bytes) -> None:
    """Read the unfinished output of a program: its sound part is kept."""
    good, why = lines.sound(data)
    assert 0 <= good <= len(data) and bool(why) == (good != len(data))


def read_figures(data: bytes) -> None:
    path = _place("figures")
    (path / layout.FIGURES).write_bytes(data)
    check.verdicts(path)


def read_seal(data: bytes) -> None:
    path = _place("seal")
    (path / layout.SEAL).write_bytes(data)
    list(seal.differences(path))


def read_signature(data: bytes) -> None:
    path = _place("signature")
    (path / layout.SIGNATURE).write_bytes(data)
    allowed = path.parent / "allowed"
    allowed.write_bytes(data[:200] + b"\nme ssh-ed25519 AAAA\n")
    signature.verify(path, allowed)
    (path / layout.SIGNATURE).unlink()


def read_owner(data: bytes) -> None:
    path = _place("owner")
    (path / layout.OWNER).write_bytes(data)
    with Folder.at(path) as folder:
        owner.claim(folder).release()


# --- the site ---------------------------------------------------------------------------------------------------------


def _sites() -> list[bytes]:
    slurm = {"SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[01-03,7],login1", "SLURM_JOB_NUM_NODES": "5",
             "SLURMD_NODENAME": "n01", "SLURM_JOB_CPUS_PER_NODE": "72(x2),36"}  # fmt: skip
    pbs = {"PBS_JOBID": "7.server", "PBS_NODEFILE": "FILE", "FILE": "n1\nn1\nn2\n"}
    flux = {"FLUX_URI": "local:///x", "size": "4", "jobid": "f12", "hostlist": "n[0-3]"}
    return [json.dumps(some).encode() for some in (slurm, pbs, flux)]


def _strings(data: bytes) -> dict[str, str]:
    """Return a mapping of text to text; an empty one for any other value."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def read_site(data: bytes) -> None:
    given = _strings(data)
    if given.get("PBS_NODEFILE") == "FILE":
        (_place("site").parent / "nodes").write_bytes(given.get("FILE", "").encode("utf-8", "replace"))
        given["PBS_NODEFILE"] = str(_place("site").parent / "nodes")
    found = allocation.discover(given, lambda *words: given.get(words[-1], ""))
    assert 1 <= found.nodes <= allocation.MOST_NODES and len(found.hosts) <= allocation.MOST_NODES


def _node() -> bytes:
    base = "sys/devices/system/cpu/cpu0"
    files = {
        "proc/cpuinfo": "processor\t: 0\nvendor_id: AuthenticAMD\nmodel name\t: EPYC (R)\nflags\t: fpu hypervisor\n\n",
        "proc/meminfo": "MemTotal:  16384 kB\nMemAvailable:  8192 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n",
        "proc/self/cgroup": "0::/job/step\n",
        "proc/loadavg": "0.10 0.20 0.30 1/100 1234\n",
        "proc/sys/kernel/perf_event_paranoid": "2\n",
        "sys/fs/cgroup/job/cpu.max": "50000 100000\n",
        "sys/fs/cgroup/memory.max": "1048576\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "etc/os-release": 'PRETTY_NAME="Test Linux 1"\n',
        f"{base}/cache/index0/level": "1\n",
        f"{base}/cache/index0/type": "Data\n",
        f"{base}/cache/index0/size": "32K\n",
        f"{base}/cache/index0/shared_cpu_list": "0\n",
        f"{base}/cache/index0/shared_cpu_map": "00000001\n",
        f"{base}/cache/index0/coherency_line_size": "64\n",
        f"{base}/topology/physical_package_id": "0\n",
        f"{base}/topology/core_id": "0\n",
        f"{base}/topology/thread_siblings_list": "0\n",
        f"{base}/topology/core_cpus_list": "0\n",
        f"{base}/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/cpu/online": "0-1\n",
        "sys/devices/system/cpu/cpufreq/boost": "1\n",
        "sys/devices/system/node/node0/cpulist": "0-1\n",
        "sys/devices/system/node/node0/meminfo": "Node 0 MemTotal: 1024 kB\n",
        "sys/class/dmi/id/sys_vendor": "QEMU\n",
        "sys/class/powercap/intel-rapl:0/name": "package-0\n",
        "sys/class/powercap/intel-rapl:0/energy_uj": "123456\n",
        "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
        "sys/class/hwmon/hwmon0/name": "power_meter\n",
        "sys/class/hwmon/hwmon0/power1_average": "240000000\n",
        "sys/class/hwmon/hwmon0/power1_average_interval": "1000\n",
    }
    return json.dumps(files).encode()


def read_node(data: bytes) -> None:
    """/proc and /sys of another machine; what is described can be recorded."""
    known = json.loads(_node())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        for name, text in _strings(data).items():
            if name in known:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(
                    text.encode("utf-8", "surrogateescape") if text.isascii() else text.encode("utf-8", "replace")
                )
        found = linux.describe(root, Path(folder) / "cache")
        msgspec.json.decode(msgspec.json.encode(found), type=Machine)
        for kind in energy.every().values():
            source = kind.find(root, "", 1.0)
            if isinstance(source, energy.Source):
                recorded = energy.Energy(source.meter)
                assert msgspec.json.decode(msgspec.json.encode(recorded), type=energy.Energy) == recorded
    for text in _strings(data).values():
        parse.cpu_list(text), parse.size(text), parse.fields(text), parse.quota(text), parse.control_groups(text)


# --- files of users ---------------------------------------------------------------------------------------------------


def _files(folder: str, pattern: str = "*.toml", most: int = 5) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted((ROOT / folder).glob(pattern))[:most]]


def read_workload(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / "mine"
        mine.mkdir()
        (mine / "workload.toml").write_bytes(data)
        for source in (ROOT / "workloads" / "node" / "dot").glob("*.*"):
            if source.suffix in (".cpp", ".f90", ".cu"):
                (mine / source.name).touch()
        catalogue.load([Path(folder)])


def read_network(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mine.toml").write_bytes(data)
        for network in networks.load(Path(folder)).values():
            network.word, network.sources(), network.figures()


def read_heritage(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mine.toml").write_bytes(data)
        heritage.load(Path(folder))


# --- what stands beside programs -------------------------------------------------------------------------------------


def _described() -> list[bytes]:
    return [msgspec.json.encode(d) for d in list(_scene().run.descriptions.values())[:2]]


def read_description(data: bytes) -> None:
    """Read the output of an executable with --describe."""
    from firstlight.execute.build import Built
    from firstlight.runner.parameters import describe

    program = _scene().run.cells[0].program
    describe(Built(program, Path("program"), data, 0.1, "0" * 64, "0" * 64, ""))


def read_cache(data: bytes) -> None:
    """Read caches: a damaged cache counts as empty."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (costs.FILE, "memory.json"):
            (Path(folder) / name).write_bytes(data)
        costs.load(Path(folder))
        memory = Memory(Path(folder) / "memory.json")
        memory.recall("key", dict[str, int])
        memory.keep("key", {"a": 1})
        memory.save()


# --- values of the command line ---------------------------------------------------------------------------------------


def read_value(data: bytes) -> None:
    """Parse any text as each type of value on the command line."""
    text = data.decode("utf-8", "surrogateescape")
    machine = synthetic_machine.machine()
    for reader in (
        parse_size,
        parse_sizes,
        parse_duration,
        lambda t: placements.expand([t], machine),
        lambda t: runs.find(t, _place("value").parent),
    ):
        try:
            reader(text)
        except UsageError as error:
            assert str(error)


def _values() -> list[bytes]:
    return [b"24KiB", b"1.5 MiB", b"8,1KiB..16MiB", b"1h30m", b"2 min 21 s", b"1x4x2", b"allxall-1x1",
            b"20261121-201400-quick", b"latest", b"../x"]  # fmt: skip


TARGETS: dict[str, Target] = {
    "run": Target(lambda: [msgspec.json.encode(_scene().run)], read_run, 30),
    "launch": Target(lambda: [_text(r) for r in _scene().records[:3]], read_launch, 60, mutate.lines),
    "unfinished": Target(
        lambda: [_text(r).rpartition(b'{"type":"exit"')[0] for r in _scene().records[:2]],
        read_unfinished,
        4000,
        mutate.lines,
    ),
    "figures": Target(lambda: [(_place("figures") / layout.FIGURES).read_bytes()], read_figures, 60),
    "seal": Target(lambda: [(_place("seal") / layout.SEAL).read_bytes()], read_seal, 1000, None),
    "signature": Target(
        lambda: [b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"], read_signature, 50, None
    ),
    "owner": Target(lambda: [msgspec.json.encode(owner.myself())], read_owner, 300),
    "site": Target(_sites, read_site, 2000),
    "node": Target(lambda: [_node()], read_node, 150),
    "workload": Target(_files("workloads/node/dot", "workload.toml"), read_workload, 400, None),
    "network": Target(_files("networks"), read_network, 1000, None),
    "heritage": Target(_files("heritage"), read_heritage, 300, None),
    "description": Target(_described, read_description, 4000),
    "cache": Target(lambda: [b'{"a": 1.5}', b'[1, {"key": {"a": 1}}]'], read_cache, 1000),
    "value": Target(_values, read_value, 4000, None),
}
for _path in sorted(Path(__file__).parent.glob("*_targets.py")):  # those of a command are in a file of their own
    TARGETS |= import_module(f"fuzz.{_path.stem}").TARGETS
