"""`firstlight check`: check that a run directory is complete, unaltered and consistent with its launches."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import as_json, print_json, results_folder, tell
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, RecordError, UsageError
from firstlight.core.units import count

if TYPE_CHECKING:
    from firstlight.report.export import Row
    from firstlight.results.record import Run

SECTION = "Trust"


class Fault(msgspec.Struct, frozen=True):
    """One defect: in `file`, at `line` (0: the whole file)."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


class Checked(msgspec.Struct, frozen=True):
    """The result of `check` for one run.

    `covered`: the number of files whose content is protected by the seal or, for launches, by their own hash. `seal`:
    the same in words. `signed_by`: the signer of the run, if verification was requested and the signature is valid.
    """

    run: str
    launches: int
    covered: int
    seal: str
    signed_by: str | None
    defects: tuple[Fault, ...]


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    return {"check": Checked}


@click.command(
    epilog="""\b
Example:
  ./fl check latest

\b
Exit status:
  0    no defects
  1    a defect; with --signed, also a missing or invalid signature
  2    wrong usage
  3    ssh-keygen, which --signed requires, is not installed
  4    no defects, but the run has no seal: only its launches could be checked
""",
)
@click.argument("run", default="latest")
@click.option("--signed", is_flag=True, help="Also verify the signature; requires --allowed-signers.")
@click.option(
    "--allowed-signers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file of trusted signers with lines NAME KEY, as in OpenSSH's ALLOWED SIGNERS (man ssh-keygen).",
)
@click.option("--identity", metavar="NAME", help="Accept only this signer (default: any listed signer).")
@as_json
@results_folder
def command(
    run: str, signed: bool, allowed_signers: Path | None, identity: str | None, as_json: bool, results: Path
) -> int:
    """Check that a run is complete and was not altered.

    firstlight reads every file and checks its hash, its numbers and its verdicts.

    RUN is a directory, the name of a run in the results folder, or `latest` (the default). Every defect is listed.

    firstlight seals each run at its end with the hashes of all its files. The seal has no key: it detects accidents,
    but a forger can write a new seal. Trust another user's run only if its signature (./fl sign) is valid and you trust
    the signer.
    """
    from firstlight.results import store
    from firstlight.results.store import layout, seal, signature

    if signed and allowed_signers is None:
        raise UsageError("--signed requires --allowed-signers FILE, which lists each trusted signer in a line NAME KEY")
    if not signed and (allowed_signers is not None or identity is not None):
        raise UsageError("--allowed-signers and --identity require --signed")
    path = runs.find(run, results)
    faults, opened, otherwise = inspect(path)
    who = None
    if signed and allowed_signers is not None:
        who, why = signature.verify(path, allowed_signers.expanduser(), identity)
        faults += [Fault(layout.SIGNATURE, 0, why)] if why else []
    launches = len(store.open(path, altered=True).launches())
    covered, words = _coverage(path, launches, opened, bool(faults))
    checked = Checked(path.name, launches, covered, words, who or None, tuple(faults))
    status = REGRESSION if faults else OK if seal.exists(path) else INCONCLUSIVE
    if as_json:
        print_json(checked)
        return status
    for fault in faults:
        tell(str(fault))
    tell(f"{path}: {count(launches, 'launch', 'launches')}, {len(faults) or 'no'} defect{'s' * (len(faults) != 1)}")
    tell(f"  {words}")
    if otherwise and not faults:
        some = count(otherwise, "figure")
        tell(f"  this version of firstlight judges {some} differently from the version that wrote them")
    if who:
        tell(f"  signed by {who}")
    elif not signed and (path / layout.SIGNATURE).exists():
        tell("  signed; to verify the signer: --signed --allowed-signers FILE")
    return status


class Inspected(NamedTuple):
    """The defects of a run directory, apart from its signature; its run.json if that can be read.

    `judged_otherwise`: how many figures are as another firstlight wrote them, and this one judges differently.
    """

    faults: list[Fault]
    run: Run | None
    judged_otherwise: int


def inspect(path: Path) -> Inspected:
    from firstlight.results import store
    from firstlight.results.store import layout, seal
    from firstlight.runner import environment

    faults, run = [Fault(*defect) for defect in store.check(path)], None
    with contextlib.suppress(RecordError):
        run = store.open(path, altered=True).run()
    if run is not None:
        faults += unasked(path, run)
    differing = verdicts(path)
    unaltered = seal.exists(path) and not any(f.file in (layout.FIGURES, layout.SEAL) for f in faults)
    if run is not None and unaltered and run.revision != environment.revision():
        return Inspected(faults, run, len(differing))
    return Inspected(faults + differing, run, 0)


def _coverage(path: Path, launches: int, run: Run | None, altered: bool) -> tuple[int, str]:
    """Return how many files a hash covers, and a sentence about it. `altered`: defects were found."""
    from firstlight.results.store import seal

    if seal.exists(path):
        try:
            sealed = seal.read(path)
        except RecordError:
            return launches, "the seal cannot be read: only the launches could be checked"
        as_then = "not as" if altered else "as"
        words = f"sealed: {count(len(sealed), 'file')}, {as_then} at the end of the run or of its last report"
        hint = "the seal has no key: any user with write permission can renew it; see ./fl sign --help"
        return len(sealed), f"{words}; {hint}"
    if run is None or (run.sealed and run.state != "running"):
        return launches, "not sealed: only the launches could be checked"
    if run.state == "running":
        return launches, "not sealed yet, because the run has not ended: only the launches could be checked"
    return launches, "no seal, as in runs of earlier versions: only the launches could be checked"


def unasked(path: Path, run: Run) -> list[Fault]:
    """Return a fault for each case that ran without a request of its cell, or was requested and did not run."""
    from firstlight.analysis.figures import expected
    from firstlight.results import store
    from firstlight.results.store import layout

    wanted = {cell.id: expected(cell, run.descriptions.get(cell.program.target)) for cell in run.cells}
    faults = []
    for record in store.open(path, altered=True).records():
        if not record.complete:
            continue
        asked = [(s.placement.threads, dict(s.parameters)) for s in wanted[record.start.cell]]
        if not asked[0][1]:
            continue  # of nothing by name, or of too many to be listed
        ran = [(case.threads, case.parameters) for case in record.cases]
        ran += [(case.threads, case.parameters) for case in record.refused]
        name = f"{layout.LAUNCHES}/{layout.launch_name(record.start.cell, record.start.launch)}"
        for case in (c for c in ran if not any(_fits(c, one) for one in asked)):
            faults.append(Fault(name, 0, f"{_case_name(case)} ran, but is not in the arguments of the cell"))
        for one in (a for a in asked if not any(_fits(c, a) for c in ran)):
            faults.append(Fault(name, 0, f"{_case_name(one)} did not run, although it is in the arguments of the cell"))
    return faults


_Case = tuple[int, dict[str, int | float | str]]


def _fits(case: _Case, asked: _Case) -> bool:
    """Return whether a case is the requested one. A program also records parameters that the request does not name."""
    return case[0] == asked[0] and all(case[1].get(name) == value for name, value in asked[1].items())


def _case_name(case: _Case) -> str:
    return " ".join(f"{name}={value}" for name, value in case[1].items())[:200] + f" with {count(case[0], 'thread')}"


def verdicts(path: Path) -> list[Fault]:
    """Return where figures.json is malformed, or differs from the figures judged anew from the launches."""
    from firstlight.analysis.stored import judged
    from firstlight.core import reading
    from firstlight.report import export
    from firstlight.results.store import layout
    from firstlight.results.store.layout import FIGURES

    if not (path / FIGURES).exists():
        return []  # a run that was killed has none yet
    try:
        content = layout.read_file(path / FIGURES, layout.MAX_LAUNCH_BYTES)
        stored = reading.json(content, list[export.Row])
        names = {name for row in reading.json(content, list[dict[str, Any]]) for name in row}
    except (reading.MalformedError, RecordError) as error:
        return [Fault(FIGURES, 0, f"is not in the format that firstlight writes: {error}")]
    try:
        judgement, _, _ = judged(path)
    except RecordError:
        return []  # the store reports this: without run.json nothing can be judged
    found = {_key(row): row for row in stored}
    fresh = {_key(row): row for row in export.rows(judgement)}
    faults = [
        Fault(FIGURES, 0, f"{_name(row)}: no launch contains this figure")
        for key, row in found.items()
        if key not in fresh
    ]
    for key, row in fresh.items():
        if key not in found:
            faults.append(Fault(FIGURES, 0, f"{_name(row)}: is missing"))
        elif difference := _difference(row, found[key], names):
            faults.append(Fault(FIGURES, 0, f"{_name(row)}: {difference}"))
    return faults


def _key(row: Row) -> bytes:
    identity = ("workload", "variant", "toolchain", "mpi", "placement", "parameters", "metric")
    return msgspec.json.encode([getattr(row, name) for name in identity], order="sorted")


def _name(row: Row) -> str:
    parameters = " ".join(f"{name}={value}" for name, value in sorted(row.parameters.items()))
    tools = row.toolchain + (f" {row.mpi}" if row.mpi else "")
    return f"{row.workload}.{row.variant} {row.metric} ({tools}) {parameters}".rstrip()[:300]


def _rounded(row: Row) -> dict[str, object]:
    """Return the fields of a row, floats with nine digits: another interpreter may sum in another order."""
    fields: dict[str, object] = msgspec.to_builtins(row)
    return {name: f"{value:.9g}" if isinstance(value, float) else value for name, value in fields.items()}


def _difference(fresh: Row, stored: Row, names: set[str]) -> str:
    """Describe the first difference, "" if none. `names`: fields in the file; an earlier firstlight wrote fewer."""
    now, then = _rounded(fresh), _rounded(stored)
    name = next((name for name in now if name in names and now[name] != then[name]), None)
    if name is None:
        return ""
    return f"{name} is {str(then[name])[:100]} in the file, but {str(now[name])[:100]} in the launches"
