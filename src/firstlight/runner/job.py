"""The job: a run that a batch system will execute. Steps that need the network happen now, the rest in the job.

    results/jobs/<run>/   script.sh   output.txt   job.json   documents/

Run as a program (after the user's set-up lines), this file only prepares: it installs embedded MPI libraries if the
system has none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight import INSTALLED
from firstlight.core.errors import FirstlightError, UsageError
from firstlight.model.plan.settings import Setting
from firstlight.results import store
from firstlight.results.store import durable
from firstlight.results.store.documents import Document
from firstlight.runner import documents, exit_status
from firstlight.runner.documents import Given
from firstlight.runner.prepare import discover
from firstlight.runner.progress import display
from firstlight.system import batch, packages, site
from firstlight.system.batch import Limits, Work
from firstlight.system.machine import cache_directory
from firstlight.system.process import guard

SCRIPT, OUTPUT, RECORD = "script.sh", "output.txt", "job.json"
_CARRIED = ("FIRSTLIGHT_WORKLOADS", "FIRSTLIGHT_PYTHON", "PYTHONPATH", site.LAUNCHER, site.NAME, site.TARGET)
"""Variables that determine how firstlight itself was started."""
_PYTHON = (sys.executable, "-I" if sys.flags.isolated else "-P", "-m")
"""The command of this Python, which never imports modules from the current folder."""


class Job(msgspec.Struct, frozen=True):
    """A submitted job: the batch system, the name of the job there, its run, and its files."""

    system: str
    job: str
    run: str
    directory: str
    script: str
    output: str


class Target(msgspec.Struct, frozen=True):
    """The run that a job fills. `left`: seconds of budget that a run to be resumed still has, None for a new one."""

    directory: Path
    folder: Path  # of the job
    left: float | None = None


def new(results: Path, name: str | None, suite: str) -> Target:
    """Return the target of a new run. Raises UsageError if a run or a submitted job has the name."""
    root = results.absolute()
    named = store.free_id(root, time.time(), suite) if name is None else store.free_name(root, name)
    folder = root / store.layout.JOBS / named
    if folder.exists():
        raise UsageError(
            f"{named} has already been submitted, see {folder}; choose another name, or remove that folder"
        )
    return Target(root / named, folder)


def again(path: Path) -> Target:
    """Return the target of a run to be resumed. Raises UsageError if its directory name is not allowed for a run."""
    directory = path.absolute()
    if not store.layout.NAME.fullmatch(directory.name):
        raise UsageError(f"{directory.name!r} cannot name a job; rename the directory of the run to letters and digits")
    opened = store.open(directory)
    left = max(0.0, opened.run().budget - exit_status.spent(opened.records()))
    jobs = directory.parent / store.layout.JOBS
    names = (jobs / (directory.name + (f"-{k}" if k > 1 else "")) for k in range(1, 10_000))
    return Target(directory, next(place for place in names if not place.exists()), left)


def work(
    target: Target,
    limits: Limits,
    options: Sequence[str],
    always: Sequence[str],
    setup: tuple[str, ...],
    record: str = store.layout.RUN,
) -> Work:
    """Return what the script does. `options` are those of a new run, `always` those that a resumed one keeps.

    `record`: the file whose presence shows that the directory has a run to resume.
    """
    results = str(target.directory.parent)
    spent = ("--budget", f"{max(1.0, limits.budget):.0f}s")
    go_on = (*myself(), "run", "--resume", str(target.directory), "--results", results, *always)
    begin = (*myself(), "run", *options, "--as", target.directory.name, "--results", results, *spent)
    if target.left is not None:
        begin = go_on = (*go_on, *spent)
    carried = {name: os.environ[name] for name in _CARRIED if os.environ.get(name)}
    file = site.current().path  # nodes may have another one in /etc
    if file is not None or site.SITE in os.environ:
        carried[site.SITE] = str(file or "")
    if site.MODULES in os.environ:
        carried[site.MODULES] = os.environ[site.MODULES]  # also none at all
    variables = carried | {"FIRSTLIGHT_CACHE": str(cache_directory())}
    return Work(Path.cwd(), target.directory / record, begin, go_on, setup, variables)


def with_files(target: Target, options: Sequence[str], settings: Sequence[Setting], given: Given) -> tuple[str, ...]:
    """Return the options with the files of settings replaced by their copies in the job, which do not change.

    Raises UsageError if such a path cannot be a value.
    """
    folder = target.folder / store.layout.DOCUMENTS
    if given.files and "," in str(folder):
        raise UsageError(
            f"{folder}: contains a comma, which the batch system uses as a separator; choose another "
            f"folder with --results DIR"
        )
    names = {document.name for document in given.files}
    shown = {
        str(setting): f"{setting.name}="
        + ",".join(str(folder / v) if v in names else str(v) for v in given.values[setting.name])
        for setting in settings
    }
    return tuple(shown.get(word, word) for word in options)


def myself() -> tuple[str, ...]:
    """Return the words that start firstlight in the job as it was started here: its command, or this Python."""
    environment = Path(sys.prefix)
    own = environment.name.startswith("venv") and environment.resolve().parent == cache_directory().resolve()
    command = packages.command() if own or INSTALLED else None
    return (str(command),) if command else (*_PYTHON, "firstlight")


def prepare(setup: Sequence[str]) -> None:
    """Install now what the nodes of the job may be unable to install: they may have no network.

    Raises FirstlightError if the set-up lines fail here, because they would fail in the job, too.
    """
    if not setup:
        with display() as progress:
            discover(progress)
        return
    lines = [f"{{\n{line}\n}} || exit 99" for line in setup]
    words = [
        "bash",
        "-l",
        "-c",
        "\n".join([*lines, 'exec "$@"']),
        "bash",
        *_PYTHON,
        "firstlight.runner.job",
    ]
    with guard.environment() as variables:
        status = subprocess.run(words, stdin=subprocess.DEVNULL, env=variables, check=False).returncode
    if status == 99:
        raise UsageError("a --setup line failed; its output is above. Test the line in a separate shell")
    if status != 0:
        raise FirstlightError(f"preparing the job failed with status {status}; its output is above")


def submit(system: batch.System, target: Target, script: str, files: Sequence[Document] = ()) -> Job:
    """Write the script and submit it. If the batch system refuses it, no files are left."""
    folder = target.folder
    with durable.os_errors_as_store_error(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError as error:
            raise UsageError(f"{target.directory.name} has already been submitted, see {folder}") from error
    try:
        with durable.os_errors_as_store_error(folder):
            if files:
                documents.write(folder / store.layout.DOCUMENTS, files)
            durable.replace(folder / SCRIPT, script.encode())
        name = batch.submit(system, folder / SCRIPT)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    job = Job(
        system.LABEL,
        name,
        target.directory.name,
        str(target.directory),
        str(folder / SCRIPT),
        str(folder / OUTPUT),
    )
    with durable.os_errors_as_store_error(folder):
        durable.replace(folder / RECORD, msgspec.json.format(msgspec.json.encode(job), indent=1) + b"\n")
    return job


if __name__ == "__main__":
    prepare(())
