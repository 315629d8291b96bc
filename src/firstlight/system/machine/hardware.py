"""Nominal peaks: the vector units and the clock of the cores, the rate of the memory, the rates of network links.

Units come from `processors.toml`. The clock is the highest that the system reports for a core, not the clock of this
moment. What the system does not show is unknown, with the reason. No function here raises for what a system shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from firstlight.core import reading
from firstlight.core.units import parse_in
from firstlight.system.machine import Arithmetic, Clock, Hardware, Link, Machine, cores, parse
from firstlight.system.machine.files import read

MOST_LINKS = 64
MOST_KHZ, MOST_MBIT = 10**8, 10**9  # larger numbers are damaged text
_CPU = "sys/devices/system/cpu"
_SETS = {
    "x86_64": {512: "avx512f", 256: "fma", 128: "fma"},
    "aarch64": {512: "sve", 256: "sve", 128: "asimd"},
}
"""The flag of /proc/cpuinfo without which vectors of so many bits cannot be multiplied and added."""


class Processor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `processors.toml`; see the head of the file."""

    name: str
    vendor: str
    source: str
    family: int | None = None
    models: tuple[tuple[int, int], ...] = ()
    called: str = ""
    core: str = ""
    units: tuple[tuple[int, int], ...] = ()
    hides: str = ""

    def fits(self, block: Mapping[str, str], kind: str) -> bool:
        """Return whether the entry describes a core: its block of /proc/cpuinfo, and its kind on a hybrid processor.

        A processor that shows no kinds has performance cores only, unless a hypervisor may hide them.
        """
        model = _integer(block.get("CPU part") or block.get("model"))
        return (
            self.vendor == _vendor(block)
            and (self.family is None or self.family == _integer(block.get("cpu family")))
            and (not self.models or any(low <= model <= high for low, high in self.models))
            and re.search(self.called, _name(block)) is not None
            and (not self.core or kind == self.core or (not kind and "hypervisor" not in _flags(block)))
        )


@cache
def processors() -> tuple[Processor, ...]:
    """Return all entries, in the order in which they are tried."""
    data = Path(__file__).with_name("processors.toml").read_bytes()
    return reading.toml(data, dict[str, tuple[Processor, ...]])["processors"]


def describe(root: Path, machine: Machine) -> Hardware:
    """Return what is known of the nominal peaks of a machine, whose other facts are given."""
    return Hardware(arithmetic(root, machine), links=links(root))


def promised(machine: Machine, clock: str, memory: str) -> Machine:
    """Return the machine with the clock and the memory's rate of the site file, "" where it has none.

    Raises UsageError for a text that is not such a quantity.
    """
    hardware = machine.hardware
    if hardware is None:
        return machine
    if clock:
        hertz = parse_in(clock, "Hz")
        own = tuple(msgspec.structs.replace(a, clock=hertz, clock_of="site") for a in hardware.arithmetic)
        hardware = msgspec.structs.replace(hardware, arithmetic=own)
    if memory:
        hardware = msgspec.structs.replace(hardware, memory=parse_in(memory, "B/s"))
    return msgspec.structs.replace(machine, hardware=hardware)


def unknown(machine: Machine) -> str:
    """Return why the nominal arithmetic of all cores is not known; "" if it is known, or if nothing was recorded."""
    if machine.hardware is None:
        return ""
    if lacking := next((one.unknown for one in machine.hardware.arithmetic if one.unknown), ""):
        return lacking
    if all(one.clock for one in machine.hardware.arithmetic):
        return ""
    return f"the {'virtual machine' if machine.virtual else 'system'} hides the clock frequency"


# --- arithmetic ------------------------------------------------------------------------------------------------------


def arithmetic(root: Path, machine: Machine) -> tuple[Arithmetic, ...]:
    """Return the units and clocks of the usable cores, in groups that are alike; the serial core's is the first."""
    blocks = _blocks(read(root / "proc/cpuinfo"))
    serial, counts = cores.serial(machine), dict[Arithmetic, int]()
    for core in sorted(cores.among(machine, machine.cpus), key=lambda core: serial not in core):
        block = blocks.get(core[0]) or next(iter(blocks.values()), {})
        one = _core(block, cores.kind(machine, core), machine.architecture)
        hertz, which = _clock(root / _CPU / f"cpu{core[0]}/cpufreq", block, machine.turbo)
        one = msgspec.structs.replace(one, clock=hertz, clock_of=which)
        counts[one] = counts.get(one, 0) + 1
    return tuple(msgspec.structs.replace(one, cores=n) for one, n in counts.items())


def _core(block: Mapping[str, str], kind: str, architecture: str) -> Arithmetic:
    """Return the units of one core, by the first entry that fits and the first width whose instructions are here."""
    entry = next((p for p in processors() if p.fits(block, kind)), None)
    if entry is None:
        return Arithmetic("", 1, unknown="this processor is not in the list of known processors")
    if entry.hides:
        return Arithmetic(entry.name, 1, unknown=entry.hides)
    needs, flags = _SETS.get(architecture, {}), _flags(block)
    for width, units in entry.units:
        if needs.get(width) in flags or not needs:
            return Arithmetic(entry.name, 1, width, units)
    return Arithmetic(entry.name, 1, unknown="the system hides the vector instructions")


def _blocks(cpuinfo: str | None) -> dict[int, dict[str, str]]:
    """Return the blocks of /proc/cpuinfo by CPU, each with the lines of the blocks that belong to no CPU."""
    found = parse.fields(cpuinfo)
    common = {key: value for block in found if "processor" not in block for key, value in block.items()}
    numbered = ((parse.number(block.get("processor")), block) for block in found)
    return {cpu: {**common, **block} for cpu, block in numbered if cpu is not None}


def _vendor(block: Mapping[str, str]) -> str:
    power = "IBM" if block.get("cpu", "").startswith("POWER") else ""
    return block.get("vendor_id") or block.get("CPU implementer") or power


def _name(block: Mapping[str, str]) -> str:
    """Return `AMD EPYC 9354 32-Core Processor`, or `POWER9, altivec supported PowerNV 8335-GTH`."""
    name = block.get("model name") or f"{block.get('cpu', '')} {block.get('machine', '')}"
    return " ".join(name.replace("(R)", "").replace("(TM)", "").split())


def _flags(block: Mapping[str, str]) -> frozenset[str]:
    return frozenset((block.get("flags") or block.get("Features") or "").split())


def _integer(text: str | None) -> int:
    """Return `17` or `0xd0c` as a number, -1 for any other text."""
    return int(text, 0) if re.fullmatch(r"0x[0-9a-f]{1,8}|0|[1-9][0-9]{0,8}", text or "") and text else -1


def _clock(cpufreq: Path, block: Mapping[str, str], turbo: bool | None) -> tuple[float | None, Clock]:
    """Return the highest clock of a core in Hz, its base clock if turbo is off or no other is known, else None."""
    texts = (read(cpufreq / name) for name in ("base_frequency", "cpuinfo_max_freq"))
    base, highest = (k if k and k < MOST_KHZ else None for k in map(parse.number, texts))
    named = re.search(r"@ ([0-9]{1,2}\.[0-9]{1,3})GHz", _name(block))
    base = base or (round(1e6 * float(named[1])) if named else None)
    if highest and not (turbo is False and base):
        return 1e3 * highest, "highest"
    return (1e3 * base, "base") if base else (None, "")


# --- links -----------------------------------------------------------------------------------------------------------


def links(root: Path) -> tuple[Link, ...]:
    """Return the links of this node that are up, fabrics first. Names of devices are not recorded."""
    found = [*_ports(root / "sys/class/infiniband"), *_interfaces(root / "sys/class/net")][:MOST_LINKS]
    counts = {link: found.count(link) for link in found}
    return tuple(Link(name, rate, count) for (name, rate), count in counts.items())


def _ports(devices: Path) -> Sequence[tuple[str, float]]:
    """Return the active ports of fabrics, whose `rate` is `100 Gb/sec (4X EDR)`."""
    found = []
    for port in sorted(devices.glob("*/ports/*")):
        match = re.fullmatch(r"\s*([0-9.]{1,8}) Gb/sec(?: \((\w+ ?\w*)\))?\s*", read(port / "rate") or "", re.ASCII)
        rate = _float(match[1]) if match else 0.0
        if match and rate and "ACTIVE" in (read(port / "state") or ""):
            layer = (read(port / "link_layer") or "InfiniBand").strip()[:20]
            found.append((" ".join(filter(None, (layer, match[2]))), 1e9 * rate))
    return found


def _interfaces(devices: Path) -> Sequence[tuple[str, float]]:
    """Return the network cards that are up, without those of fabrics and virtual ones; `speed` is in Mbit/s."""
    found = []
    for device in sorted(devices.glob("*")):
        speed = parse.number(read(device / "speed"))  # -1 or an error if it is not known
        card = (device / "device").exists() and not (device / "device/infiniband").exists()
        if card and speed and speed < MOST_MBIT and (read(device / "operstate") or "").strip() == "up":
            found.append(("Ethernet", 1e6 * speed))
    return found


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
