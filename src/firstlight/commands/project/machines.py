"""Machines: scale classes of nodes to a year with a technology road map, within limits of power and racks.

P. Kogge (ed.), ExaScale Computing Study, 2008, scales a machine of its day under limits of power and racks.
The processor keeps its power: with s the ratio of feature sizes and v that of supply voltages, a chip has s^-2 times
the units, each operation needs s v^2 of the energy, so performance grows by 1 / (s v^2) and the clock by s / v^2.
Memory grows with performance, in chips of the road map's size. With simplistic scaling, the power of memory grows
with the number of chips and routers keep theirs; with full scaling, both also grow with performance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from firstlight import ROOT
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.core.naming import must_be

FOLDER = ROOT / "machines"
ROADMAP = FOLDER / "roadmap" / "itrs2006.toml"
PowerModel = Literal["simplistic", "full"]
MODELS: tuple[PowerModel, ...] = ("simplistic", "full")
EXA = 1e18
MOST = 1 << 16  # largest size of a file, in bytes
LEAST_VALUE, MOST_VALUE = 1e-15, 1e30
"""Bounds of a number of a class: products and powers of a few of them stay finite and above 0."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class Stated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One number in base units (flop/s, B/s, bytes, W, m, V, ...) and its source.

    read: the day on which it was read there, YYYY-MM-DD; "": it is cited from memory.
    """

    value: float
    source: str
    read: str = ""

    @property
    def cited(self) -> str:
        return f"{self.source} ({f'read {self.read}' if self.read else 'cited from memory'})"


class Year(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a road map expects: feature size in nm, supply voltage in V, Gbit of a DRAM chip.

    read: the names of those that were read at the road map's `read_at`; the others are cited from memory.
    """

    year: int
    feature: float
    voltage: float
    dram: float
    read: tuple[Literal["feature", "voltage", "dram"], ...] = ()


class Roadmap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    source: str
    years: list[Year]
    read_at: str = ""

    def at(self, year: int) -> Year:
        """Return the entry of a year. Raises UsageError for a year outside the road map."""
        known = {y.year: y for y in self.years}
        if year not in known:
            raise UsageError(f"--year {year}: the road map covers {min(known)} to {max(known)}")
        return known[year]


class Class(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node of its year. Shares of its `watts` are the processor's, memory's and router's; the rest stays as it is.

    rack: nodes in one. racks: affordable in its year, `racks_a_year` more each year, `most_racks` at most. scales:
    whether it is to be scaled to later years; a node that was designed for its year is taken as it is.
    """

    title: str
    year: int
    flops: Stated
    watts: Stated
    memory: Stated
    rack: Stated
    bandwidth: Stated | None = None
    racks: Stated | None = None
    most_racks: Stated | None = None
    racks_a_year: Stated | None = None
    feature: Stated | None = None
    voltage: Stated | None = None
    dram: Stated | None = None
    processor_share: Stated | None = None
    memory_share: Stated | None = None
    router_share: Stated | None = None
    network: str = ""
    scales: bool = True
    name: str = ""

    def stated(self) -> dict[str, Stated]:
        fields = msgspec.structs.asdict(self)
        return {name: value for name, value in fields.items() if isinstance(value, Stated)}


class Node(msgspec.Struct, frozen=True):
    """One node of a class in a year, with one power model. `grown`: its performance relative to the base machine."""

    model: PowerModel
    flops: float
    bandwidth: float | None
    memory: float
    watts: float
    processor_watts: float
    memory_watts: float
    router_watts: float
    other_watts: float
    grown: float
    units: float  # on a chip, against the base
    clock: float


class Fits(msgspec.Struct, frozen=True):
    """The number of nodes within the limits, and their performance. `by`: the limit that binds."""

    model: PowerModel
    nodes: int
    racks: int
    by: Literal["power", "racks", "nodes"]
    watts: float
    peak: float
    missing: float  # how many times more an exaflop is
    node: Node


def load(folder: Path = FOLDER) -> dict[str, Class]:
    """Return every class by the name of its file. Raises UsageError."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.toml"))}


def read(path: Path) -> Class:
    """Read a class of nodes. Raises UsageError with the file and the defect."""
    try:
        found = reading.toml(reading.plain(path, MOST), Class)
    except (reading.MalformedError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: {why}") from error
    wrong = [
        n
        for n, s in found.stated().items()
        if not LEAST_VALUE <= s.value <= MOST_VALUE or not s.source.strip() or (n == "rack" and s.value < 1)
    ]
    if wrong:
        bounds = f"from {LEAST_VALUE:g} to {MOST_VALUE:g}"
        raise UsageError(f"{path}: {', '.join(wrong)} without a positive value ({bounds}; 1 for a rack) and its source")
    undated = [n for n, s in found.stated().items() if s.read and not _DAY.fullmatch(s.read)]
    if undated:
        raise UsageError(f"{path}: {', '.join(undated)}: write the date of reading, such as 2026-11-25")
    shares = [s.value for s in (found.processor_share, found.memory_share, found.router_share) if s]
    if sum(shares) > 1 + 1e-9:
        raise UsageError(f"{path}: the shares of power add up to {sum(shares):.3g}, more than 1")
    if found.scales and not (found.feature and found.voltage and found.dram and len(shares) == 3):
        raise UsageError(
            f"{path}: scaling requires feature, voltage, dram, processor_share, memory_share and router_share"
        )
    return msgspec.structs.replace(found, name=path.stem)


def named(word: str) -> Class:
    """Return a class by its name here, or from a file. Raises UsageError."""
    if word.endswith(".toml") or "/" in word:
        return read(Path(word))
    known = load()
    must_be("class of nodes", word, tuple(known))
    return known[word]


def roadmap(path: Path = ROADMAP) -> Roadmap:
    """Read the road map. Raises UsageError."""
    try:
        found = reading.toml(path.read_bytes(), Roadmap)
    except (reading.MalformedError, OSError) as error:
        raise UsageError(f"{path}: {error}") from error
    if not found.years or any(min(y.feature, y.voltage, y.dram) <= 0 for y in found.years):
        raise UsageError(f"{path}: every year needs a feature size, a voltage and a DRAM chip above 0")
    return found


def node(of: Class, year: int, model: PowerModel, plan: Roadmap) -> Node:
    """Return a node of a class in a year. Raises UsageError for a year before the class, or beyond the road map."""
    if year < of.year:
        raise UsageError(f"--year {year}: {of.title} describes {of.year}")
    shares = [s.value if s else 0.0 for s in (of.processor_share, of.memory_share, of.router_share)]
    if not any(shares):
        shares = [1.0, 0.0, 0.0]
    processor, memory, router = (of.watts.value * s for s in shares)
    other = of.watts.value - processor - memory - router
    units = clock = grown = chips = 1.0
    if of.scales and year > of.year:
        assert of.feature and of.voltage and of.dram
        then = plan.at(year)
        s, v = 1e-9 * then.feature / of.feature.value, then.voltage / of.voltage.value
        units, clock, grown = s**-2, s / v**2, 1 / (s * v**2)
        chips = grown / (1e9 * then.dram / of.dram.value)
    further = grown if model == "full" else 1.0
    parts = (processor, memory * chips * further, router * further, other)
    return Node(
        model=model,
        flops=of.flops.value * grown,
        bandwidth=of.bandwidth.value * grown if of.bandwidth else None,
        memory=of.memory.value * grown,
        watts=sum(parts),
        processor_watts=parts[0],
        memory_watts=parts[1],
        router_watts=parts[2],
        other_watts=parts[3],
        grown=grown,
        units=units,
        clock=clock,
    )


def racks_in(of: Class, year: int) -> int | None:
    """Return how many racks are affordable in that year; None if no source states it."""
    if of.racks is None:
        return None
    grown = of.racks.value + (of.racks_a_year.value if of.racks_a_year else 0.0) * (year - of.year)
    return int(min(grown, of.most_racks.value) if of.most_racks else grown)


def fits(of: Class, year: int, model: PowerModel, plan: Roadmap, watts: float, nodes: int | None = None) -> Fits:
    """Return the largest number of nodes within the power and the racks; with `nodes`, at most so many."""
    one = node(of, year, model, plan)
    a_rack = int(of.rack.value)
    limits: dict[Literal["power", "racks", "nodes"], int] = {"power": int(watts / one.watts)}
    racks = racks_in(of, year)
    if racks is not None:
        limits["racks"] = racks * a_rack
    if nodes is not None:
        limits["nodes"] = nodes
    by = min(limits, key=lambda k: limits[k])
    count = limits[by]
    peak = count * one.flops
    return Fits(model, count, -(-count // a_rack), by, count * one.watts, peak, EXA / peak if peak else math.inf, one)


def sources(of: Class) -> Mapping[str, str]:
    return {name: stated.cited for name, stated in of.stated().items()}


def standing(of: Class, year: int, plan: Roadmap) -> str:
    """Return how many of the numbers behind a node of that year were read at their sources, as a sentence."""
    numbers = [bool(s.read) for s in of.stated().values()]
    whole = "numbers of the class"
    if of.scales and year > of.year:
        then = plan.at(year)
        numbers += [name in then.read for name in ("feature", "voltage", "dram")]
        whole += f" and of the road map's {year}"
    return f"{sum(numbers)} of {len(numbers)} {whole} were checked in their sources; the others are cited from memory"
