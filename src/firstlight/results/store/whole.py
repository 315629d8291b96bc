"""The whole of an ended run, in run.json: the number of launches of each cell, and a hash of the file itself.

It is part of run.json, so that neither is lost with the seal. Like the seal it has no key.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from firstlight.results.record import Run, Whole
from firstlight.results.store import layout, seal
from firstlight.results.store.lines import Defect

_BLANK = "0" * 64
SOME = "a launch was altered after the run ended: its hash is not in run.json"


def encoded(run: Run, path: Path) -> bytes:
    """Return run.json of a run in `path`, with its launches if it has ended and is to be sealed. Raises RecordError."""
    if run.state == "running" or not run.sealed:
        return _text(msgspec.structs.replace(run, whole=None))
    launches = _launches(path)
    counted = Counter(cell for cell, _ in launches)
    names = [f"{layout.LAUNCHES}/{layout.launch_name(*launch)}" for launch in launches]
    hashes = {name: seal.digest(path, name) for name in names}
    text = _text(msgspec.structs.replace(run, whole=Whole(dict(counted), digest(hashes), _BLANK)))
    return _with(text, _BLANK, hashlib.sha256(text).hexdigest())


def unaltered(data: bytes, whole: Whole) -> bool:
    """Return whether run.json is as it was written."""
    return hashlib.sha256(_with(data, whole.sha256, _BLANK)).hexdigest() == whole.sha256


def altered(path: Path, run: Run, data: bytes) -> str:
    """Return how run.json (`data`) of the run in `path` changed since the run ended, "" if nothing shows a change."""
    if run.whole is not None and not unaltered(data, run.whole):
        return "was altered after the run ended: its own hash does not match"
    if seal.exists(path):
        return "" if seal.line(path, layout.RUN) == seal.hashed(data) else "was altered after the run was sealed"
    lost = run.sealed and run.whole is None and run.state != "running"
    return f"may have been altered: the run was sealed, but {layout.SEAL} and its own hash are missing" * lost


def differences(path: Path, whole: Whole, there: Collection[tuple[str, int]], reported: set[str]) -> Iterator[Defect]:
    """Yield launches that are missing, added or altered. `reported`: files that already have a defect."""
    found = list(counts(whole.launches, there))
    yield from (defect for defect in found if defect.file not in reported)
    if not found and not any(name.startswith(f"{layout.LAUNCHES}/") for name in reported):
        names = [f"{layout.LAUNCHES}/{layout.launch_name(*launch)}" for launch in there]
        if digest({name: seal.digest(path, name) for name in names}) != whole.launches_sha256:
            yield Defect(layout.LAUNCHES, 0, SOME)


def counts(launches: Mapping[str, int], there: Iterable[tuple[str, int]]) -> Iterator[Defect]:
    """Yield launches that are missing or were added, by their numbers. `launches`: how many each cell had."""
    numbers: dict[str, set[int]] = {}
    for cell, number in there:
        numbers.setdefault(cell, set()).add(number)
    for cell in sorted(numbers.keys() | launches.keys()):
        had, has = launches.get(cell, 0), numbers.get(cell, set())
        last = max(has, default=-1) + 1
        first, more = last, f", and so are {had - last - 1} more up to number {had - 1}" if had - last > 1 else ""
        if last >= had and len([n for n in has if n < had]) < had:  # one before the end is missing
            first, more = next(n for n in range(had) if n not in has), ""
        if first < had:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, first)}"
            yield Defect(name, 0, f"is missing{more}: run.json counts {had} launches of this cell")
        for number in sorted(n for n in has if n >= had)[:1]:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, number)}"
            yield Defect(name, 0, f"was added after the run ended: run.json counts {had} launches of this cell")


def _launches(path: Path) -> list[tuple[str, int]]:
    found = map(layout.parse_launch, layout.names(path / layout.LAUNCHES))
    return [launch for launch in found if launch is not None]


def digest(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of the list of launches as it is in a seal."""
    return seal.hashed(seal.text(digests))


def _text(run: Run) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def _with(text: bytes, old: str, new: str) -> bytes:
    """Replace the text's hash of itself, which comes last in it."""
    before, _, after = text.rpartition(old.encode())
    return before + new.encode() + after
