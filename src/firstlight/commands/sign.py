"""`firstlight sign`: vouch for a run with a key of the site."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from firstlight.commands.check import Fault, inspect
from firstlight.commands.shared import runs
from firstlight.commands.shared.output import as_json, note, print_json, results_folder, tell
from firstlight.core import shell
from firstlight.core.errors import OK, REGRESSION, UsageError

SECTION = "Trust"


class Signed(msgspec.Struct, frozen=True):
    """A signed run. `signature`: the file that was written; None if the run has `defects`, which are not signed."""

    run: str
    signature: str | None
    defects: tuple[Fault, ...]


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    return {"sign": Signed}


@click.command(
    epilog="""\b
Example (the publisher signs, a reader verifies):
  ./fl sign latest --key ~/.ssh/id_ed25519
  echo "benchmarks@site $(cat ~/.ssh/id_ed25519.pub)" > signers
  ./fl check latest --signed --allowed-signers signers

\b
Exit status:
  0    signed
  1    the run has defects and was not signed
  2    wrong usage; no such run or key, or the run has not ended
  3    ssh-keygen is not installed, or cannot sign with this key
"""
)
@click.argument("run", default="latest")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="A private key of OpenSSH, or a public key whose private half is in the agent.",
)
@as_json
@results_folder
def command(run: str, key: Path, as_json: bool, results: Path) -> int:
    """Sign a run, so that other users can verify its origin and all its files.

    firstlight first checks the run, and signs it only if it has no defects. OpenSSH (`ssh-keygen -Y sign`, namespace
    firstlight-run) signs SHA256SUMS, which contains the hash of every file. `ssh-keygen -Y verify` and `sha256sum -c`
    verify the run without firstlight. A signed run is final: it cannot be resumed, and firstlight does not write its
    page again.
    """
    from firstlight.results import store
    from firstlight.results.store import durable, layout, seal, signature
    from firstlight.results.store.disk import Folder

    path = runs.find(run, results)
    if not key.expanduser().is_file():
        raise UsageError(f"{key}: this key does not exist; create one with ssh-keygen -t ed25519 -f {key}")
    if store.open(path).run().state == "running":
        raise UsageError(f"{path}: the run has not ended; continue it first: {shell.command('run', '--resume', path)}")
    faults = [fault for fault in inspect(path).faults if fault.file != layout.SEAL or seal.exists(path)]
    if faults:
        if as_json:
            print_json(Signed(path.name, None, tuple(faults)))
        for fault in () if as_json else faults:
            tell(str(fault))
        note(f"{path}: not signed, because the run has {len(faults)} defect{'s' * (len(faults) != 1)}")
        return REGRESSION
    if not seal.exists(path):
        with durable.os_errors_as_store_error(path), Folder.at(path) as folder:
            seal.write(folder)
        note(f"{path}: the run had no seal and is sealed now")
    signature.sign(path, key.expanduser())
    if as_json:
        print_json(Signed(path.name, str(path / layout.SIGNATURE), ()))
    else:
        tell(f"{path / layout.SIGNATURE}: signed with {key}")
    return OK
