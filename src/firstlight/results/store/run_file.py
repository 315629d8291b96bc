"""The file run.json: what makes it readable, and the names that it may contain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from firstlight.core import reading
from firstlight.core.errors import RecordError
from firstlight.results.record import SCHEMA, Run
from firstlight.results.store import layout


def decode(data: bytes, path: Path) -> Run:
    """Return the run. Raises RecordError if it is malformed, of another schema or has names no run may have."""

    class Version(msgspec.Struct):
        schema: int

    try:
        schema = reading.decoded(data, msgspec.json.Decoder(Version)).schema
        if schema != SCHEMA:
            raise RecordError(
                f"{path}: has schema {schema}, but this firstlight reads schema {SCHEMA}; use the "
                f"version that wrote this run"
            )
        run = reading.json(data, Run)
    except reading.MalformedError as error:
        raise RecordError(f"{path}: is damaged or was not written by firstlight: {error}") from error
    for what, name, form in _names(run):
        if not form.fullmatch(name):
            raise RecordError(f"{path}: was not written by firstlight: {name[:80]!r} cannot name a {what}")
    for one in run.brought:
        if wrong := one.defect():
            raise RecordError(f"{path}: was not written by firstlight: its workload {one.name[:80]!r} {wrong}")
    return run


def _names(run: Run) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the names that appear in commands and file names, and the form that they must have."""
    programs = {*(cell.program for cell in run.cells), *(build.program for build in run.builds)}
    toolchains = {*(p.toolchain for p in programs), *(t.name for t in run.toolbox.toolchains)}
    libraries = {*(p.mpi for p in programs if p.mpi is not None), *(m.name for m in run.toolbox.mpis)}
    yield "run", run.id, layout.NAME
    workloads = {*(p.workload for p in programs), *(one.name for one in run.brought)}
    yield from (("workload", name, layout.CELL) for name in workloads)
    yield from (("variant", name, layout.CELL) for name in {p.variant for p in programs})
    yield from (("toolchain", name, layout.CELL) for name in toolchains)
    yield from (("library", name, layout.CELL) for name in libraries)
