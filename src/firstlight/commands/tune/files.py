"""Files: write what a library reads, and the environment lines that make it read the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from firstlight.commands.tune import formats, preload
from firstlight.commands.tune.planning import PRELOAD, Target
from firstlight.commands.tune.setting import Setting
from firstlight.commands.tune.table import Table
from firstlight.core.errors import BuildError
from firstlight.results.store.durable import replace
from firstlight.system import machine
from firstlight.toolchain import Mpi


class Written(msgspec.Struct, frozen=True):
    """A file for one MPI library. `lines`: the environment variables to set, as NAME=value."""

    mpi: str
    target: Target
    file: str
    lines: tuple[str, ...]
    rules: int


def words(settings: Mapping[str, tuple[str, Setting]], mpi: str) -> dict[tuple[str, str], str]:
    """Return the names in this library's files by (collective, algorithm)."""
    return {(s.collective, s.algorithm): s.word for base, s in settings.values() if base == mpi}


def write(folder: Path, mpi: Mpi, target: Target, table: Table, named: Mapping[tuple[str, str], str]) -> Written:
    """Write the table for a library. Raises OSError; BuildError if the library lacks what a file is made from."""
    folder.mkdir(parents=True, exist_ok=True)
    if target == PRELOAD:
        path = folder / f"collectives-{mpi.name}.table"
        replace(path, preload.text(table).encode())
        built = folder / f"{mpi.name}-{preload.NAME}"
        made = preload.library(mpi, machine.cache_directory())
        replace(built, made.read_bytes())  # next to its table: the cache may be cleaned
        environment = preload.environment(built.absolute(), path.absolute())
    else:
        own = formats.find(mpi)
        if own is None:
            raise BuildError(
                f"{mpi.label}: no file that selects algorithms is known for this library; use --for preload"
            )
        path = folder / own.name(mpi)
        replace(path, own.text(mpi, table, named).encode())
        environment = own.environment(path)
    return Written(mpi.name, target, str(path), tuple(f"{k}={v}" for k, v in environment.items()), len(table.rules))


def variables(written: Written) -> dict[str, str]:
    """Return the lines as an environment."""
    return dict(line.split("=", 1) for line in written.lines)
