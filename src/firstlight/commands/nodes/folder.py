"""The folder of a measurement of nodes: the commands, the hosts, and how each of its runs ended.

    results/NAME/   nodes.json   nodes.html   node-001/ ...   pair-001-002/ ...   said/node-001.txt ...

Each run in it is a run like any other, of one node or of two.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from firstlight.core import reading
from firstlight.core.errors import RecordError, UsageError
from firstlight.results.store import durable

SCHEMA = 1
RECORD, PAGE, OUTPUT = "nodes.json", "nodes.html", "said"
_MOST_BYTES = 64 << 20


class NodesRun(msgspec.Struct, frozen=True):
    """A run on some nodes, by their places in the list of hosts. `status`: of its firstlight, None while there is none.

    `why` it did not end well: one line.
    """

    name: str
    members: tuple[int, ...]
    status: int | None = None
    why: str = ""


class Record(msgspec.Struct, frozen=True):
    """`hosts` by their names: to find the one that is wrong is what this is for. `nodes` and `pairs`: the words of
    `./fl run` there; no `pairs` and `no_pairs`, why, where none could be measured. `left_out`: rounds of pairs.
    """

    schema: int
    started: float
    firstlight: str
    command: tuple[str, ...]
    hosts: tuple[str, ...]
    nodes: tuple[str, ...]
    pairs: tuple[str, ...]
    no_pairs: str
    left_out: int
    at_once: int
    rounds: tuple[tuple[NodesRun, ...], ...]
    state: str = "running"  # complete, interrupted

    @property
    def parts(self) -> list[NodesRun]:
        return [part for one in self.rounds for part in one]


def is_one(path: Path) -> bool:
    return (path / RECORD).is_file()


def find(text: str, results: Path) -> Path:
    """Find a measurement by a folder, its name in the results folder, or `latest`. Raises UsageError."""
    known = sorted(results.glob(f"*/{RECORD}"), key=lambda p: p.stat().st_mtime) if text == "latest" else []
    places = [known[-1].parent] if known else [Path(text), results / text]
    found = next((place for place in places if is_one(place)), None)
    if found is None:
        raise UsageError(f"{text}: not a measurement of nodes; ./fl run --each-node makes one")
    return found


def read(path: Path) -> Record:
    """Read the record of a measurement. Raises RecordError, in one line."""
    place = path / RECORD
    try:
        if place.stat().st_size > _MOST_BYTES:
            raise RecordError(f"{place}: larger than any file that firstlight writes")
        record = reading.json(place.read_bytes(), Record)
    except FileNotFoundError as error:
        raise RecordError(
            f"{path}: not a measurement of nodes, because {RECORD} is missing; ./fl run --each-node makes one"
        ) from error
    except OSError as error:
        raise RecordError(f"{place}: cannot be read ({error.strerror})") from error
    except reading.MalformedError as error:
        raise RecordError(f"{place}: {error}") from error
    if record.schema != SCHEMA:
        raise RecordError(f"{place}: the file has schema {record.schema}, but this firstlight reads schema {SCHEMA}")
    for part in record.parts:
        if not part.members or not all(0 <= k < len(record.hosts) for k in part.members) or "/" in part.name:
            raise RecordError(f"{place}: {part.name!r} contains nodes that are not in the list")
    return record


def write(path: Path, record: Record) -> None:
    """Write the record, whole or not at all. Raises StoreError."""
    with durable.os_errors_as_store_error(path):
        durable.replace(path / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
