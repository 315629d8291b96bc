"""Nominal peaks from what invented systems show: processors, clocks, hybrid cores, virtual machines, links, no data."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cpuinfo
import synthetic_machine
from cpuinfo import AVX2, amd, arm, intel, power
from firstlight.core.errors import UsageError
from firstlight.system.machine import Kind, Link, hardware, linux

CPU = "sys/devices/system/cpu"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def cores(root: Path, cpuinfo_text: str, architecture: str = "x86_64", clocks: dict[str, str] | None = None, **changes):
    write(root, {"proc/cpuinfo": cpuinfo_text} | {f"{CPU}/{name}": text for name, text in (clocks or {}).items()})
    return hardware.arithmetic(root, synthetic_machine.machine(architecture=architecture, **changes))


@pytest.mark.parametrize(
    ("text", "architecture", "name", "per_cycle"),
    [
        (amd(23, 0x01, "AMD EPYC 7601 32-Core Processor", AVX2), "x86_64", "Zen, Zen+", 8),
        (amd(23, 0x31, "AMD EPYC 7742 64-Core Processor", AVX2), "x86_64", "Zen 2", 16),
        (amd(25, 0x01, "AMD EPYC 7763 64-Core Processor", AVX2), "x86_64", "Zen 3", 16),
        (amd(25, 0x11, "AMD EPYC 9354 32-Core Processor"), "x86_64", "Zen 4", 16),
        (amd(25, 0x11, "AMD EPYC"), "x86_64", "Zen 4", 16),
        (amd(26, 0x02, "AMD EPYC 9755 128-Core Processor"), "x86_64", "Zen 5", 32),
        (amd(26, 0x02, "AMD EPYC-Turin Processor", AVX2), "x86_64", "Zen 5", 16),  # a virtual machine without AVX-512
        (amd(26, 0x24, "AMD Ryzen AI 9 HX 370"), "x86_64", "Zen 5 (Strix Point)", 16),
        (intel(0x3F, "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", AVX2), "x86_64", "Haswell, Broadwell", 16),
        (intel(0x55, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"), "x86_64", "Skylake-SP, Cascade Lake", 32),
        (intel(0x55, "Intel(R) Xeon(R) Gold 5122 CPU @ 3.60GHz"), "x86_64", "Skylake-SP, Cascade Lake", 32),
        (
            intel(0x55, "Intel(R) Xeon(R) Silver 4214 CPU @ 2.20GHz"),
            "x86_64",
            "Skylake-SP, Cascade Lake with one unit of 512 bits",
            16,
        ),
        (intel(0x6A, "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz"), "x86_64", "Ice Lake-SP", 32),
        (intel(0x8F, "Intel(R) Xeon(R) Platinum 8480+"), "x86_64", "Sapphire Rapids, Emerald Rapids", 32),
        (arm(0x41, [0xD0C] * 2), "aarch64", "Arm Neoverse N1", 8),
        (arm(0x41, [0xD40] * 2, "fp asimd sve"), "aarch64", "Arm Neoverse V1", 16),
        (arm(0x41, [0xD40] * 2), "aarch64", "Arm Neoverse V1", 16),
        (arm(0x41, [0xD49] * 2, "fp asimd sve sve2"), "aarch64", "Arm Neoverse N2", 8),
        (arm(0x41, [0xD4F] * 2, "fp asimd sve sve2"), "aarch64", "Arm Neoverse V2", 16),
        (arm(0x46, [0x001] * 2, "fp asimd sve"), "aarch64", "Fujitsu A64FX", 32),
        (arm(0x46, [0x001] * 2), "aarch64", "Fujitsu A64FX", 8),
        (power("POWER9", "PowerNV"), "ppc64le", "POWER9 (SMT4)", 8),
    ],
)
def test_the_units_of_a_processor(tmp_path, text, architecture, name, per_cycle):
    (one,) = cores(tmp_path, text, architecture)
    assert (one.name, one.per_cycle, one.cores, one.unknown) == (name, per_cycle, 2, "")


@pytest.mark.parametrize(
    ("text", "architecture", "name", "why"),
    [
        (intel(0xAD, "Intel(R) Xeon(R) 6980P"), "x86_64", "", "not in the list"),
        (amd(31, 0x11, "AMD EPYC of the future"), "x86_64", "", "not in the list"),
        (arm(0x41, [0xDFF] * 2), "aarch64", "", "not in the list"),
        (power("POWER9", "pSeries"), "ppc64le", "", "not in the list"),
        (
            intel(0x55, "Intel Xeon Processor (Skylake, IBRS)"),
            "x86_64",
            "Skylake-SP, Cascade Lake, Cooper Lake",
            "which its name does not show",
        ),
        (
            amd(25, 0x01, "AMD EPYC-Milan Processor", "fpu sse2 hypervisor"),
            "x86_64",
            "Zen 3",
            "hides the vector instructions",
        ),
        ("", "riscv64", "", "not in the list"),
    ],
)
def test_what_is_not_known_has_a_reason(tmp_path, text, architecture, name, why):
    (one,) = cores(tmp_path, text, architecture)
    assert one.name == name and why in one.unknown
    assert one.per_cycle == 0 and one.rate is None


def test_each_entry_has_units_or_a_reason_and_a_source():
    entries = hardware.processors()
    assert len({p.name for p in entries}) == len(entries) > 20
    for p in entries:
        assert bool(p.units) != bool(p.hides) and len(p.source) > 10
        assert p.models or p.called
        assert all(low <= high for low, high in p.models)
        assert list(p.units) == sorted(p.units, reverse=True)


# --- clocks ----------------------------------------------------------------------------------------------------------

EPYC = amd(25, 0x11, "AMD EPYC 9354 32-Core Processor")
XEON = intel(0x6A, "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz")


def test_the_clock_is_the_highest_that_the_system_reports(tmp_path):
    clocks = {f"cpu{cpu}/cpufreq/cpuinfo_max_freq": "3799072\n" for cpu in (0, 1)}
    (one,) = cores(tmp_path, EPYC, clocks=clocks)
    assert (one.clock, one.clock_of) == (3799072e3, "highest")
    assert one.rate == 16 * 3799072e3


@pytest.mark.parametrize(
    ("turbo", "clock", "which"), [(True, 3.4e9, "highest"), (None, 3.4e9, "highest"), (False, 2.6e9, "base")]
)
def test_without_turbo_the_base_clock_counts(tmp_path, turbo, clock, which):
    clocks = {f"cpu{cpu}/cpufreq/cpuinfo_max_freq": "3400000\n" for cpu in (0, 1)}
    (one,) = cores(tmp_path, XEON, clocks=clocks, turbo=turbo)
    assert (one.clock, one.clock_of) == (clock, which)


def test_the_name_may_contain_the_base_clock(tmp_path):
    (one,) = cores(tmp_path, XEON)
    assert (one.clock, one.clock_of) == (2.6e9, "base")


def test_a_virtual_machine_that_hides_the_clock(tmp_path):
    (one,) = cores(tmp_path, amd(25, 0x11, "AMD EPYC", "fma avx512f hypervisor"))
    assert (one.per_cycle, one.clock, one.rate) == (16, None, None)
    here = synthetic_machine.machine(hardware=hardware.Hardware((one,)))
    assert hardware.unknown(here) == "the virtual machine hides the clock frequency"
    bare = synthetic_machine.machine(hardware=hardware.Hardware((one,)), virtual=None)
    assert hardware.unknown(bare) == "the system hides the clock frequency"


def test_the_site_file_adds_what_the_system_hides(tmp_path):
    here = synthetic_machine.machine(hardware=hardware.Hardware(cores(tmp_path, EPYC)))
    known = hardware.promised(here, "3.7 GHz", "460.8 GB/s").hardware
    assert (known.arithmetic[0].clock, known.arithmetic[0].clock_of) == (3.7e9, "site")
    assert known.memory == pytest.approx(460.8e9)
    assert hardware.promised(here, "", "") == here
    assert hardware.promised(synthetic_machine.machine(), "3.7 GHz", "").hardware is None


@pytest.mark.parametrize(("clock", "memory"), [("3.7", ""), ("fast", ""), ("3 GB/s", ""), ("", "12 channels")])
def test_an_entry_that_is_not_a_quantity_is_refused(tmp_path, clock, memory):
    here = synthetic_machine.machine(hardware=hardware.Hardware(cores(tmp_path, EPYC)))
    with pytest.raises(UsageError):
        hardware.promised(here, clock, memory)


# --- cores that differ -----------------------------------------------------------------------------------------------


def test_a_hybrid_processor_has_two_kinds_of_cores(tmp_path):
    kinds = (Kind("performance core", (0, 1)), Kind("efficiency core", (2, 3)))
    clocks = {f"cpu{cpu}/cpufreq/cpuinfo_max_freq": "5100000\n" if cpu < 2 else "3900000\n" for cpu in range(4)}
    text = intel(0x97, "12th Gen Intel(R) Core(TM) i9-12900K", AVX2, cpus=4)
    fast, small = cores(tmp_path, text, clocks=clocks, cpus=(0, 1, 2, 3), cores=4, kinds=kinds)
    assert (fast.cores, fast.per_cycle, fast.rate) == (2, 16, 81.6e9)
    assert (small.cores, small.per_cycle) == (2, 0) and "not in the list" in small.unknown


def test_a_guest_on_a_hybrid_processor_does_not_know_its_cores(tmp_path):
    text = intel(0x97, "12th Gen Intel(R) Core(TM) i9-12900K", AVX2 + " hypervisor")
    assert cores(tmp_path / "guest", text)[0].unknown
    assert cores(tmp_path / "bare", text.replace(" hypervisor", ""))[0].per_cycle == 16


def test_arm_cores_are_told_apart_by_their_part(tmp_path):
    text = arm(0x61, [0x22, 0x22, 0x23, 0x23])
    kinds = (Kind("core of capacity 1024", (2, 3)), Kind("core of capacity 459", (0, 1)))
    fast, small = cores(tmp_path, text, "aarch64", cpus=(0, 1, 2, 3), cores=4, kinds=kinds)
    assert (fast.name, fast.cores, fast.per_cycle) == ("Apple M1, performance core", 2, 16)
    assert small.cores == 2 and small.unknown


def test_cores_with_another_highest_clock_are_a_group_and_the_serial_core_is_first(tmp_path):
    clocks = {f"cpu{cpu}/cpufreq/cpuinfo_max_freq": f"{5700000 if cpu == 1 else 5500000}\n" for cpu in range(4)}
    text = amd(25, 0x61, "AMD Ryzen 9 7950X 16-Core Processor")
    found = cores(tmp_path, text, clocks=clocks, cpus=(0, 1, 2, 3), cores=4)
    assert [(one.cores, one.clock) for one in found] == [(1, 5.7e9), (3, 5.5e9)]  # serial programs run on CPU 1


# --- links -----------------------------------------------------------------------------------------------------------


def port(device: str, number: int, rate: str, state: str = "4: ACTIVE", layer: str = "InfiniBand") -> dict[str, str]:
    folder = f"sys/class/infiniband/{device}/ports/{number}"
    return {f"{folder}/rate": f"{rate}\n", f"{folder}/state": f"{state}\n", f"{folder}/link_layer": f"{layer}\n"}


def card(device: str, speed: str, state: str = "up", real: bool = True) -> dict[str, str]:
    folder = f"sys/class/net/{device}"
    files = {f"{folder}/speed": f"{speed}\n", f"{folder}/operstate": f"{state}\n"}
    return files | ({f"{folder}/device/vendor": "0x8086\n"} if real else {})


def test_links_that_are_up(tmp_path):
    root = write(
        tmp_path,
        port("mlx5_0", 1, "200 Gb/sec (4X HDR)")
        | port("mlx5_1", 1, "200 Gb/sec (4X HDR)")
        | port("mlx5_2", 1, "10 Gb/sec (4X SDR)", "1: DOWN")
        | port("mlx5_3", 1, "100 Gb/sec (4X EDR)", layer="Ethernet")
        | card("eth0", "25000")
        | card("eth1", "-1")
        | card("eth2", "10000", "down")
        | card("lo", "10000", real=False)
        | card("ib0", "200000")
        | {"sys/class/net/ib0/device/infiniband/mlx5_0/name": ""},
    )
    assert hardware.links(root) == (
        Link("InfiniBand 4X HDR", 200e9, 2),
        Link("Ethernet 4X EDR", 100e9, 1),
        Link("Ethernet", 25e9, 1),
    )


@pytest.mark.parametrize("rate", ["", "fast", "0 Gb/sec", "1e9 Gb/sec", "Gb/sec (4X)", "200 Gb/sec (x)\n(y)"])
def test_a_rate_that_is_not_understood_is_left_out(tmp_path, rate):
    assert hardware.links(write(tmp_path, port("mlx5_0", 1, rate))) == ()


# --- any text --------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["processor", "vendor_id", "GenuineIntel", "cpu family", "model", "model name", "CPU part", "0x41", "0xd0c", ":",
     "\t: ", "\n", "\n\n", "6", "85", "-1", "99999999999", "0xffffffffff", "flags", "fma", "é"]
)  # fmt: skip

NUMBERS = st.integers(-1, 10**20 - 1).map(str)


@settings(max_examples=60)
@given(words=st.lists(WORDS, max_size=40), clock=st.text(max_size=12) | NUMBERS, rate=st.text(max_size=20) | NUMBERS)
def test_no_text_makes_the_reader_raise(tmp_path_factory, words, clock, rate):
    root = tmp_path_factory.mktemp("any")
    files = {"proc/cpuinfo": "".join(words), f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": clock.replace("\0", "")}
    for name, text in (files | port("x", 1, rate) | card("y", rate)).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    found = hardware.describe(root, synthetic_machine.machine())
    assert msgspec.json.decode(msgspec.json.encode(found), type=hardware.Hardware) == found
    assert sum(one.cores for one in found.arithmetic) == 2


def test_a_described_machine_has_its_peaks(tmp_path):
    write(tmp_path / "root", {"proc/cpuinfo": cpuinfo.amd(25, 0x11, "AMD EPYC 9354 32-Core Processor")})
    found = linux.describe(tmp_path / "root", tmp_path / "cache")
    assert found.hardware is not None
    assert sum(one.cores for one in found.hardware.arithmetic) == found.cores
