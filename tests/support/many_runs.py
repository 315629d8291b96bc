"""Folders of invented runs as firstlight leaves them: sealed, each of its own day."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

import synthetic
from firstlight.results.record import End, LaunchRecord, Run, Whole
from firstlight.results.store import layout, lines, seal

WEEK = 7 * 86400.0
Slower = Callable[[int], Mapping[str, float]]


def lines_of(record: LaunchRecord) -> bytes:
    """Return a launch file with its own hash."""
    parts = [record.start, *([record.launch] if record.launch else []), *record.cases, *record.checks, *record.devices]
    parts += [*record.samples, *record.series, *record.fields, *record.counters]
    before = b"".join(lines.encode(x) for x in [*parts, *([End(len(record.cases))] if record.complete else [])])
    return before + lines.seal(before, record.exit)


def write(
    scene: synthetic.Scene,
    folder: Path,
    name: str,
    started: float,
    records: Iterable[LaunchRecord] | None = None,
    **changes: object,
) -> Path:
    """Write the scene's run as `folder/name`, sealed. `changes`: of run.json; `records`: used instead of the scene's,
    one at a time.
    """
    path = folder / name
    (path / layout.LAUNCHES).mkdir(parents=True)
    later = started - scene.run.started
    digests: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for record in scene.records if records is None else records:
        start = msgspec.structs.replace(record.start, run=name, time=record.start.time + later)
        data = lines_of(msgspec.structs.replace(record, start=start))
        file = f"{layout.LAUNCHES}/{layout.launch_name(start.cell, start.launch)}"
        (path / file).write_bytes(data)
        digests[file] = hashlib.sha256(data).hexdigest()
        counted[start.cell] += 1
    assert scene.run.finished is not None
    given = {"id": name, "started": started, "finished": scene.run.finished + later, "sealed": True} | changes
    run = msgspec.structs.replace(scene.run, **given)
    whole = Whole(dict(counted), hashlib.sha256(seal.text(digests)).hexdigest(), "0" * 64)
    text = _text(msgspec.structs.replace(run, whole=whole))
    before, _, after = text.rpartition(b"0" * 64)
    text = before + hashlib.sha256(text).hexdigest().encode() + after
    (path / layout.RUN).write_bytes(text)
    digests[layout.RUN] = hashlib.sha256(text).hexdigest()
    (path / layout.SEAL).write_bytes(seal.text(digests))
    return path


def _text(run: Run) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def weekly(
    folder: Path,
    runs: int,
    slower: Slower = lambda k: {},
    environment: Callable[[int], Mapping[str, object]] = lambda k: {},
    **options: object,
) -> list[Path]:
    """So many runs, a week apart; `slower` and `environment` (fields of Run) by the number of the run."""
    made = []
    for k in range(runs):
        scene = synthetic.run(k + 1, slower=dict(slower(k)), **options)  # type: ignore[arg-type]
        made.append(write(scene, folder, f"run-{k:03d}", synthetic.STARTED + k * WEEK, **environment(k)))
    return made
