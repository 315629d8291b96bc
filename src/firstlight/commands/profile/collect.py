"""Collect: read the files of the ranks without trusting them, and add them up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec

from firstlight.commands.profile.waiting import SYNCHRONISING
from firstlight.core import reading
from firstlight.core.errors import FirstlightError, RecordError
from firstlight.execute.recorder.calls import groups
from firstlight.results.store import layout
from firstlight.results.traffic import Kind, Pair, Phase, Rank, Size, Traffic, add_sizes

MOST_RANKS = 1 << 20
MOST_BYTES = 256 << 20
MOST_PHASES = 256
MOST_PROCESSORS = 8192  # of a node
_NAME = re.compile(r"rank-(\d{6,7})\.\d{1,10}-[0-9a-f]{8}\.json")

Whole = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Some = Annotated[int, msgspec.Meta(ge=1, le=(1 << 63) - 1)]
Peer = Annotated[int, msgspec.Meta(ge=-1, lt=MOST_RANKS)]
Processor = Annotated[int, msgspec.Meta(ge=0, lt=MOST_PROCESSORS)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e10)]


class _Row(msgspec.Struct, frozen=True, array_like=True):
    name: str
    calls: Whole
    bytes: Whole
    seconds: Seconds


class _Pair(msgspec.Struct, frozen=True, array_like=True):
    source: Peer
    target: Peer
    messages: Some
    bytes: Whole


class _Size(msgspec.Struct, frozen=True, array_like=True):
    digits: Annotated[int, msgspec.Meta(ge=0, le=64)]
    messages: Some
    bytes: Whole


class _Phase(msgspec.Struct, frozen=True):
    level: Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]
    seconds: Seconds
    kinds: list[_Row]
    pairs: list[_Pair]
    sizes: Annotated[list[_Size], msgspec.Meta(max_length=65)] = []


class _File(msgspec.Struct, frozen=True):
    """What one rank writes at MPI_Finalize, or where it ends without it."""

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    rank: Whole
    ranks: Annotated[int, msgspec.Meta(ge=1, le=MOST_RANKS)]
    complete: bool
    how: Annotated[str, msgspec.Meta(max_length=200)]
    library: Annotated[str, msgspec.Meta(max_length=300)]
    seconds: Seconds
    folded: bool
    phases: Annotated[list[_Phase], msgspec.Meta(max_length=MOST_PHASES)]
    node: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{0,16}$")] = ""
    processor_seconds: Seconds | None = None
    cpus: Annotated[list[tuple[Processor, Processor]], msgspec.Meta(max_length=MOST_PROCESSORS)] = []


class Collected(msgspec.Struct, frozen=True):
    """What all ranks recorded together; the fields are those of Traffic."""

    mpi: str
    ranks: int
    times: tuple[Rank, ...]
    phases: tuple[Phase, ...]
    missing: tuple[int, ...]
    notes: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self)


class NothingRecordedError(FirstlightError):
    """The command ended and no rank has written anything."""


def collect(folder: Path) -> Collected:
    """Read and add up the files of the ranks below `folder`.

    Raises NothingRecordedError if there is none, RecordError for an invalid file, if one rank wrote twice, or if the
    records belong to jobs of different sizes.
    """
    names = [name for name in layout.names(folder) if not name.startswith(".")]
    if not names:
        raise NothingRecordedError("nothing was recorded: no process of the command called MPI_Init and MPI_Finalize")
    files: dict[int, _File] = {}
    for name in names:
        file = _read(folder / name)
        if file.rank in files:
            raise RecordError(
                f"{folder}: rank {file.rank} was recorded more than once: the command starts several MPI jobs; "
                "profile them one at a time"
            )
        files[file.rank] = file
    ordered = [files[rank] for rank in sorted(files)]
    ranks = ordered[0].ranks
    if any(f.ranks != ranks for f in ordered):
        raise RecordError(f"{folder}: the records belong to jobs of different sizes; profile them one at a time")
    levels = sorted({p.level for f in ordered for p in f.phases}, key=lambda level: (level != 1, level))
    phases = tuple(_phase(level, ordered) for level in levels)
    return Collected(
        mpi=_version(ordered[0].library),
        ranks=ranks,
        times=tuple(_time(f) for f in ordered),
        phases=phases,
        missing=tuple(sorted(set(range(ranks)) - files.keys())),
        notes=tuple(_notes(ordered, phases)),
    )


def load(path: Path) -> Traffic:
    """Read a profile that was written before. Raises RecordError if it is damaged."""
    try:
        found = reading.json(layout.read_file(path, MOST_BYTES), Traffic)
    except reading.MalformedError as error:
        raise RecordError(f"{path} is damaged or is not a profile: {error}") from error
    if wrong := _unsound(found):
        raise RecordError(f"{path}: {wrong}; this is not firstlight's format")
    return found


def _unsound(traffic: Traffic) -> str:
    """Return a defect of a profile that its types alone do not exclude; "" if it is sound."""
    numbers = [r.seconds for r in traffic.times] + [k.seconds for p in traffic.phases for k in p.kinds]
    numbers += [t for _, t in traffic.cost.curve] if traffic.cost else []
    if not all(math.isfinite(x) and x >= 0 for x in numbers):
        return "a time is impossible"
    if not 1 <= traffic.ranks <= MOST_RANKS or not 0 < len(traffic.times) <= traffic.ranks or not traffic.phases:
        return "the number of ranks is impossible"
    pairs = [p for phase in traffic.phases for p in phase.pairs]
    if any(not (0 <= p.source < traffic.ranks and 0 <= p.target < traffic.ranks and p.messages > 0) for p in pairs):
        return "a pair of ranks is impossible"
    if any(not (0 <= s.digits <= 64 and s.messages > 0) for phase in traffic.phases for s in phase.sizes):
        return "a message size is impossible"
    if any(not 0 <= a <= b < MOST_PROCESSORS for r in traffic.times for a, b in r.cpus):
        return "a processor number is impossible"
    if traffic.cost is not None and (
        not traffic.cost.curve or any(a[0] >= b[0] for a, b in pairwise(traffic.cost.curve))
    ):
        return "the message sizes of the transfer times are not in ascending order"
    return ""


def _version(text: str) -> str:
    """Return a short version, as `Open MPI 4.1.4`, from the version text of a library."""
    return " ".join(re.sub(r"\bVersion: *|\bv(?=\d)", "", text).split())


def _read(path: Path) -> _File:
    match = _NAME.fullmatch(path.name)
    try:
        file = reading.json(layout.read_file(path, MOST_BYTES), _File)
    except reading.MalformedError as error:
        raise RecordError(f"{path}: the file is damaged or was not written by the profiler: {error}") from error
    wrong = _wrong(file)
    if match is None or int(match[1]) != file.rank:
        wrong = "the file name does not match the content"
    if wrong:
        raise RecordError(f"{path}: {wrong}; this is not the profiler's format")
    return file


def _wrong(file: _File) -> str:
    """Return a defect of a file that its types alone do not exclude; "" if it is sound."""
    known = groups()
    if file.rank >= file.ranks:
        return f"rank {file.rank} does not exist among {file.ranks} ranks"
    if len({p.level for p in file.phases}) != len(file.phases):
        return "a phase occurs twice"
    for phase in file.phases:
        if len({k.name for k in phase.kinds}) != len(phase.kinds) or any(k.name not in known for k in phase.kinds):
            return "a call is unknown or occurs twice"
        ends = [(p.source, p.target) for p in phase.pairs if p.source != p.target]
        if any(file.rank not in (p.source, p.target) for p in phase.pairs):
            return "a pair does not contain the rank itself"
        if any(max(p.source, p.target) >= file.ranks for p in phase.pairs):
            return "a pair contains a rank that the job does not have"
        if len(set(ends)) != len(ends) or len(phase.pairs) > len(ends) + 2:
            return "a pair occurs twice"  # a rank may send to itself and fetch from itself, though
        if any(a.digits >= b.digits for a, b in pairwise(phase.sizes)):
            return "a size class occurs twice"
    if any(first > last for first, last in file.cpus) or any(a[1] >= b[0] for a, b in pairwise(file.cpus)):
        return "the processor numbers are not in ascending order"
    return "" if math.isfinite(file.seconds) else "a time is infinite"


def _time(file: _File) -> Rank:
    recorded = sum(p.seconds for p in file.phases)
    inside = sum(k.seconds for p in file.phases for k in p.kinds)
    return Rank(
        file.rank,
        file.seconds,
        recorded,
        inside,
        file.complete,
        file.how,
        file.node,
        tuple(file.cpus),
        file.processor_seconds,
    )


def _phase(level: int, files: Sequence[_File]) -> Phase:
    mine = [p for f in files for p in f.phases if p.level == level]
    kinds: dict[str, tuple[int, int, float]] = {}
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    unknown = (0, 0)
    for phase in mine:
        for k in phase.kinds:
            calls, size, seconds = kinds.get(k.name, (0, 0, 0.0))
            kinds[k.name] = (calls + k.calls, size + k.bytes, seconds + k.seconds)
        for p in phase.pairs:
            if min(p.source, p.target) < 0:
                unknown = (unknown[0] + p.messages, unknown[1] + p.bytes)
                continue
            messages, size = pairs.get((p.source, p.target), (0, 0))
            pairs[p.source, p.target] = (messages + p.messages, size + p.bytes)
    known = groups()
    waited = _waited(level, files)
    return Phase(
        level,
        max((p.seconds for p in mine), default=0.0),
        tuple(Kind(name, known[name], *kinds[name], waited.get(name)) for name in known if name in kinds),
        tuple(Pair(a, b, *pairs[a, b]) for a, b in sorted(pairs)),
        Pair(-1, -1, *unknown) if unknown[0] else None,
        add_sizes(Size(s.digits, s.messages, s.bytes) for phase in mine for s in phase.sizes),
    )


def _waited(level: int, files: Sequence[_File]) -> dict[str, float]:
    """Return the least waiting time of all ranks in seconds, by collective that all of them call equally often."""
    if len(files) != files[0].ranks:
        return {}
    each = [{k.name: k for p in f.phases if p.level == level for k in p.kinds} for f in files]
    found = {}
    for name in SYNCHRONISING:
        rows = [kinds[name] for kinds in each if name in kinds]
        if len(rows) == len(files) > 1 and len({row.calls for row in rows}) == 1:
            least = min(row.seconds for row in rows)
            found[name] = sum(row.seconds - least for row in rows)
    return found


def _notes(files: Sequence[_File], phases: Iterable[Phase]) -> Iterable[str]:
    if any(f.folded for f in files):
        yield f"more than {MOST_PHASES} levels of MPI_Pcontrol: levels after the first {MOST_PHASES} count in phase 1"
    if any(p.unknown for p in phases):
        yield (
            "messages to processes outside MPI_COMM_WORLD (started by MPI_Comm_spawn, or connected) are counted "
            "separately"
        )
