"""`firstlight check`: whether a run directory is whole, unaltered, and says what its launches say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from firstlight.cli import runs
from firstlight.cli.output import as_json, print_json, printable, results_folder, tell
from firstlight.errors import OK, REGRESSION, RecordError

if TYPE_CHECKING:
    from firstlight.export import Row


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong: in `file`, at `line` (0: the file as a whole)."""

    file: str
    line: int
    what: str


class Checked(msgspec.Struct, frozen=True):
    """What `check` found in one run."""

    run: str
    launches: int
    defects: tuple[Fault, ...]


@click.command()
@click.argument("run", default="latest")
@as_json
@results_folder
def command(run: str, as_json: bool, results: Path) -> int:
    """Verify a run directory again: names, schema, hashes, numbers and verdicts.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). Every defect is listed; the
    exit status is 1 if there is any.
    """
    from firstlight import store

    path = runs.find(run, results)
    faults = [Fault(*defect) for defect in store.check(path)]
    faults += verdicts(path)
    checked = Checked(path.name, len(store.open(path).launches()), tuple(faults))
    if as_json:
        print_json(checked)
    else:
        for fault in faults:
            place = f"{fault.file}:{fault.line}" if fault.line else fault.file
            tell(printable(f"{place}: {fault.what}"))
        tell(f"{path}: {checked.launches} launches, {len(faults) or 'no'} defect{'s' * (len(faults) != 1)}")
    return REGRESSION if faults else OK


def verdicts(path: Path) -> list[Fault]:
    """Where figures.json differs from what the launches say when they are judged anew."""
    from firstlight import export
    from firstlight.conduct.session import FIGURES
    from firstlight.store import layout

    if not (path / FIGURES).exists():
        return []  # a run that was killed has none yet
    try:
        stored = msgspec.json.decode(layout.read_file(path / FIGURES, layout.MAX_LAUNCH_BYTES), type=list[export.Row])
    except (msgspec.MsgspecError, RecursionError, RecordError) as error:
        return [Fault(FIGURES, 0, f"is not what firstlight writes: {error}")]
    try:
        judgement, _, _ = runs.judged(path)
    except RecordError:
        return []  # told by the store: without run.json nothing can be judged
    found = {_key(row): row for row in stored}
    fresh = {_key(row): row for row in export.rows(judgement.figures)}
    faults = [Fault(FIGURES, 0, f"{_name(row)}: no launch says this") for key, row in found.items() if key not in fresh]
    for key, row in fresh.items():
        if key not in found:
            faults.append(Fault(FIGURES, 0, f"{_name(row)}: is missing"))
        elif _rounded(row) != _rounded(found[key]):
            faults.append(Fault(FIGURES, 0, f"{_name(row)}: {_difference(row, found[key])}"))
    return faults


def _key(row: Row) -> bytes:
    identity = ("workload", "variant", "toolchain", "mpi", "placement", "parameters", "metric")
    return msgspec.json.encode([getattr(row, name) for name in identity], order="sorted")


def _name(row: Row) -> str:
    parameters = " ".join(f"{name}={value}" for name, value in sorted(row.parameters.items()))
    tools = row.toolchain + (f" {row.mpi}" if row.mpi else "")
    return f"{row.workload}.{row.variant} {row.metric} ({tools}) {parameters}".rstrip()[:300]


def _rounded(row: Row) -> dict[str, object]:
    """Numbers to nine digits: another interpreter may sum in another order."""
    fields: dict[str, object] = msgspec.to_builtins(row)
    return {name: f"{value:.9g}" if isinstance(value, float) else value for name, value in fields.items()}


def _difference(fresh: Row, stored: Row) -> str:
    now, then = _rounded(fresh), _rounded(stored)
    name = next(name for name in now if now[name] != then[name])
    return f"{name} is {str(then[name])[:100]} there, but the launches say {str(now[name])[:100]}"
