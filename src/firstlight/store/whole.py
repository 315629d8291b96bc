"""What run.json says of the run as a whole, once it has ended: which launches there are, and a hash over itself.

It stands in run.json, so that neither is lost with the seal. Like the seal it has no key.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from firstlight.record import Run, Whole
from firstlight.store import layout, seal
from firstlight.store.lines import Defect

_BLANK = "0" * 64


def encoded(run: Run, path: Path) -> bytes:
    """run.json of a run in `path`; one that has ended and is to be sealed counts its launches. Raises RecordError."""
    if run.state == "running" or not run.sealed:
        return _text(msgspec.structs.replace(run, whole=None))
    launches = [layout.launch_name(*launch) for launch in _launches(path)]
    counted = Counter(cell for cell, _ in _launches(path))
    text = _text(msgspec.structs.replace(run, whole=Whole(dict(counted), _digest(path, launches), _BLANK)))
    return _with(text, _BLANK, hashlib.sha256(text).hexdigest())


def unaltered(data: bytes, whole: Whole) -> bool:
    """Whether run.json is as it was written."""
    return hashlib.sha256(_with(data, whole.sha256, _BLANK)).hexdigest() == whole.sha256


def differences(path: Path, whole: Whole, there: Iterable[tuple[str, int]], told: set[str]) -> Iterator[Defect]:
    """Launches that are missing, were added or altered since. `told`: files with a defect of their own."""
    numbers: dict[str, set[int]] = {}
    for cell, number in there:
        numbers.setdefault(cell, set()).add(number)
    found = False
    for cell in sorted(numbers.keys() | whole.launches.keys()):
        had, has = whole.launches.get(cell, 0), numbers.get(cell, set())
        last = max(has, default=-1) + 1
        if last < had:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, last)}"
            more = f", and so are {had - last - 1} more up to number {had - 1}" if had - last > 1 else ""
            yield Defect(name, 0, f"is missing{more}: run.json counts {had} launches of this cell")
        for number in sorted(n for n in has if n >= had)[:1]:
            name = f"{layout.LAUNCHES}/{layout.launch_name(cell, number)}"
            yield Defect(name, 0, f"was added after the run ended: run.json counts {had} launches of this cell")
        found |= last < had or last > had or len(has) != had
    if not found and not any(name.startswith(f"{layout.LAUNCHES}/") for name in told):
        names = [layout.launch_name(cell, number) for cell, some in numbers.items() for number in some]
        if _digest(path, names) != whole.launches_sha256:
            yield Defect(layout.LAUNCHES, 0, "some launch was altered after the run ended: its hash is not in run.json")


def _launches(path: Path) -> list[tuple[str, int]]:
    found = map(layout.parse_launch, layout.names(path / layout.LAUNCHES))
    return [launch for launch in found if launch is not None]


def _digest(path: Path, names: Iterable[str]) -> str:
    """SHA-256 of the list of launches as it stands in a seal."""
    shown = [f"{layout.LAUNCHES}/{name}" for name in names]
    return hashlib.sha256(seal.text({name: seal.digest(path, name) for name in shown})).hexdigest()


def _text(run: Run) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def _with(text: bytes, old: str, new: str) -> bytes:
    """With another hash of itself, which stands last in it."""
    before, _, after = text.rpartition(old.encode())
    return before + new.encode() + after
