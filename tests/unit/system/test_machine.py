"""The machine: parsers survive any text, and any system has a description."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import FirstlightError
from firstlight.system.machine import compilers_at_once, discover, linux, parse
from firstlight.system.machine.counters import sentence

CPUINFO_ARM = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes
CPU implementer\t: 0x41
CPU part\t: 0xd0c

processor\t: 1
CPU part\t: 0xd0c
"""

CPUINFO_X86 = """processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC(TM) 7B13  64-Core Processor
flags\t\t: fpu vme hypervisor lahf_lm
"""

PARSERS = [
    parse.number,
    parse.cpu_list,
    parse.size,
    parse.fields,
    parse.processor,
    parse.has_hypervisor,
    parse.instructions,
    parse.chosen,
    parse.quota,
    parse.os_release,
    parse.control_groups,
    parse.scheduling,
    parse.memory_policy,
    parse.huge_pages_off,
]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
@given(text=st.one_of(st.none(), st.text(), st.text(alphabet="0123456789-,: KMG[]=\n/", max_size=60)))
def test_no_text_makes_a_parser_raise(parser, text):
    parser(text)


@given(st.sets(st.integers(0, 4000), min_size=1))
def test_a_cpu_list_is_read_back(cpus):
    parts, ordered = [], sorted(cpus)
    for cpu in ordered:
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
    assert parse.cpu_list(text + "\n") == tuple(ordered)


def test_a_damaged_cpu_list_cannot_fill_the_memory():
    assert parse.cpu_list("0-99999999999,3,5-1,7") == (3, 7)


@given(st.integers(0, 10**9), st.sampled_from([("", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]))
def test_sizes_have_binary_units(number, unit):
    assert parse.size(f"{number}{unit[0]}\n") == number * unit[1]


@pytest.mark.parametrize(
    ("cpu_max", "old", "expected"),
    [
        ("max 100000", (None, None), None),
        ("150000 100000\n", (None, None), 1.5),
        (None, ("-1", "100000"), None),
        (None, ("50000\n", "100000\n"), 0.5),
        ("", ("", ""), None),
        ("100000 0", (None, None), None),
    ],
)
def test_quota(cpu_max, old, expected):
    assert parse.quota(cpu_max, *old) == expected


def test_turbo_is_unknown_rather_than_guessed():
    assert parse.turbo("0", None) is True
    assert parse.turbo("1", "1") is False
    assert parse.turbo(None, "0\n") is False
    assert parse.turbo(None, None) is None


@pytest.mark.parametrize(
    ("flag", "hints", "container", "expected"),
    [
        (False, [], None, None),
        (True, [], None, "virtual machine"),
        (True, ["QEMU", "Standard PC"], None, "KVM virtual machine"),
        (False, ["Dell Inc.", "PowerEdge", "tsc"], None, None),
        (False, ["Dell Inc."], "Docker container", "Docker container"),
        (True, ["VMware, Inc."], "Podman container", "VMware virtual machine, Podman container"),
        (False, ["Amazon EC2", "m5.metal"], None, None),
    ],
)
def test_virtualisation(flag, hints, container, expected):
    assert parse.virtualisation(flag, hints, container) == expected


def test_processor_names():
    assert parse.processor(CPUINFO_X86) == "AMD EPYC 7B13 64-Core Processor"
    assert parse.has_hypervisor(CPUINFO_X86)
    assert parse.processor(CPUINFO_ARM) is None
    assert not parse.has_hypervisor(CPUINFO_ARM)


def test_what_native_means_is_the_model_and_its_features_not_its_clock():
    assert parse.instructions(CPUINFO_X86) == "vendor_id: AuthenticAMD; flags: fpu vme hypervisor lahf_lm"
    assert parse.instructions(CPUINFO_X86 + "cpu MHz : 2000\n") == parse.instructions(CPUINFO_X86)
    assert parse.instructions(CPUINFO_ARM).startswith("CPU implementer: 0x41; CPU part: 0xd0c; Features: fp")
    assert parse.instructions(None) == ""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def fake_node(root: Path, cpus: tuple[int, ...]) -> None:
    """A node whose usable CPUs share one last cache; each has a data, an instruction and a second-level cache."""
    everybody = ",".join(map(str, cpus))
    for cpu in cpus:
        base = f"sys/devices/system/cpu/cpu{cpu}"
        private = [(1, "Data", "32K", cpu), (1, "Instruction", "32K", cpu), (2, "Unified", "1M", cpu)]
        for index, (level, kind, size, shared) in enumerate([*private, (3, "Unified", "32M", everybody)]):
            write(
                root / base / f"cache/index{index}",
                {
                    "level": f"{level}\n",
                    "type": f"{kind}\n",
                    "size": f"{size}\n",
                    "shared_cpu_list": f"{shared}\n",
                    "coherency_line_size": "128\n",
                },
            )
        write(
            root / base,
            {
                "topology/physical_package_id": "0\n",
                "topology/thread_siblings_list": f"{everybody}\n",
                "cpufreq/scaling_governor": "powersave\n",
            },
        )


def test_a_described_node(tmp_path):
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    fake_node(tmp_path / "root", cpus)
    write(
        tmp_path / "root",
        {
            "proc/cpuinfo": CPUINFO_X86,
            "proc/self/cgroup": "0::/job/step\n",
            "sys/fs/cgroup/job/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/job/step/cpu.max": "max 100000\n",
            "sys/fs/cgroup/memory.max": "1048576\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
            "etc/os-release": 'NAME="X"\nPRETTY_NAME="Test Linux 1"\n',
        },
    )
    machine = linux.describe(tmp_path / "root", tmp_path / "cache")
    assert machine.cpus == cpus
    assert machine.processor == "AMD EPYC 7B13 64-Core Processor"
    assert (machine.sockets, machine.cores, machine.threads_per_core) == (1, 1, len(cpus))
    assert [c.level for c in machine.caches] == [1] * len(cpus) + [2] * len(cpus) + [3]
    assert machine.cache(1).kind == "data" and machine.cache(1).line == 128
    assert machine.last_cache().size == 32 << 20 and machine.last_cache().shared_by == cpus
    assert machine.governor == "powersave" and machine.huge_pages == "always"
    assert machine.memory == 1 << 20 and machine.memory_available <= 1 << 20
    assert machine.system == "Test Linux 1"
    assert any("powersave" in w for w in machine.warnings)
    assert any("allows 0.5 of" in w for w in machine.warnings)


@pytest.mark.parametrize(
    ("cpus", "free", "limit", "expected"),
    [
        (256, 500, None, 256),
        (256, 64, None, 64),
        (256, 500, 8, 8),
        (2, 24, None, 2),
        (64, 12, 1 << 40, 12),
        (8, 0.5, None, 1),
        (8, 100, 0.25, 1),
    ],
)
def test_compilers_are_bounded_by_memory_too(tmp_path, monkeypatch, cpus, free, limit, expected):
    """Memory in GiB: what is free, and what the tightest control group allows."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cpus)))
    kib = round(free * 2**20)
    files = {"proc/meminfo": f"MemTotal: {2 * kib} kB\nMemAvailable: {kib} kB\n", "proc/self/cgroup": "0::/job/step\n"}
    if limit is not None:
        files |= {
            "sys/fs/cgroup/job/memory.max": f"{round(limit * 2**30)}\n",
            "sys/fs/cgroup/job/step/memory.max": "max\n",
        }
    write(tmp_path, files)
    assert compilers_at_once(tmp_path) == expected


def test_a_system_that_tells_nothing_is_described_all_the_same(tmp_path):
    machine = linux.describe(tmp_path / "nothing", tmp_path / "cache")
    assert machine.cpus and machine.memory > 0 and machine.processor
    assert machine.sockets == 1 and machine.cores == len(machine.cpus)
    assert machine.numa == (machine.cpus,)
    assert machine.governor is machine.turbo is machine.huge_pages is machine.virtual is None
    assert any("CPU frequency is not visible" in w for w in machine.warnings)


def test_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path))
    machine = discover()
    assert set(machine.cpus) == os.sched_getaffinity(0)
    assert sorted(cpu for node in machine.numa for cpu in node) == list(machine.cpus)
    assert 1 <= machine.cores <= len(machine.cpus)
    assert os.uname().nodename not in machine.name
    assert set(machine.limits) == {"memlock", "stack", "core"}


@given(
    cpus=st.integers(1, 512),
    load=st.floats(0, 1000),
    governor=st.sampled_from([None, "performance", "powersave"]),
    turbo=st.sampled_from([None, True, False]),
    frequency=st.booleans(),
    quota=st.one_of(st.none(), st.floats(0.1, 1000)),
)
def test_warnings_are_given_exactly_when_deserved(cpus, load, governor, turbo, frequency, quota):
    text = "\n".join(linux.warnings(cpus, load, governor, turbo, frequency, quota))
    assert ("powersave" in text) == (governor == "powersave")
    assert ("were not idle" in text) == (load > 0.5 * cpus)
    assert ("control group" in text) == (quota is not None and quota < cpus)
    assert ("frequency is not visible" in text) == (not frequency and governor is None and turbo is None)


def test_the_name_is_salted_once(tmp_path):
    first = linux.salted_name(tmp_path / "a", "host")
    assert linux.salted_name(tmp_path / "a", "host") == first
    assert linux.salted_name(tmp_path / "a", "other") != first
    assert linux.salted_name(tmp_path / "b", "host") != first
    assert stat.S_IMODE((tmp_path / "a/salt").stat().st_mode) == 0o600
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["salt"]


def test_many_who_start_at_once_agree_on_the_name(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        names = set(pool.map(lambda _: linux.salted_name(tmp_path / "cache", "host"), range(64)))
    assert len(names) == 1


def test_a_cache_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FirstlightError, match="set FIRSTLIGHT_CACHE to a writable folder"):
        linux.salted_name(tmp_path / "file" / "cache", "host")


@pytest.mark.parametrize(
    ("outcome", "paranoid", "expected"),
    [
        (0, "4", "hardware counters are available"),
        (errno.EACCES, "3", "perf_event_paranoid is 3"),
        (errno.EACCES, "2", "forbidden"),
        (errno.EPERM, None, "forbidden"),
        (errno.ENOENT, "2", "provides none"),
        (errno.EMFILE, "2", os.strerror(errno.EMFILE)),
        (None, None, "not supported"),
    ],
)
def test_counters_in_one_sentence(outcome, paranoid, expected):
    assert expected in sentence(outcome, paranoid)
