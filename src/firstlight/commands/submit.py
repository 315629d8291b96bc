"""`firstlight submit`: submit a run as one batch job of a cluster."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import note, print_json, results_folder, tell
from firstlight.core import shell
from firstlight.core.errors import ENVIRONMENT, OK, UsageError

if TYPE_CHECKING:
    from firstlight.model.plan.settings import Setting
    from firstlight.runner.documents import Given
    from firstlight.runner.job import Job
    from firstlight.system.batch import State, System

PAUSES = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds between two queries of the batch system; the last value repeats."""
LOST = 5  # questions in a row without an answer until a job counts as gone

SECTION = "Measure"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.runner.job import Job

    return {"submit": Job}


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  ./fl submit --nodes 4 --time 1h --setup 'module load gcc' --standard
  ./fl submit --nodes 64 --each-node

\b
Exit status:
  0    the job is submitted; with --wait: that of the run
  2    wrong usage
  3    the job could not be submitted; with --wait: it ended without a status
""",
)
@click.option("--nodes", type=click.IntRange(1, 1 << 16), default=1, show_default=True, metavar="K", help="Nodes.")
@click.option(
    "--per-node",
    type=click.IntRange(1, 1 << 16),
    metavar="N",
    help="CPUs of each node, if you do not want whole nodes; PBS always needs it.",
)
@click.option("--gpus", type=click.IntRange(1, 256), metavar="N", help="GPUs of each node; none if not given.")
@click.option(
    "--time", "limit", metavar="TIME", help="The job's time limit, as 30m or 2h; made from the budget if not given."
)
@click.option(
    "--setup-time", metavar="TIME", help="The part of --time for discovery and building in the job; 15m if not given."
)
@click.option("--partition", "--queue", default="", metavar="P", help="The partition or queue.")
@click.option("--account", default="", metavar="A", help="The account, project or bank that pays.")
@click.option(
    "--system", metavar="SYSTEM", help="The batch system (slurm, pbs, flux, lsf), if this machine has several."
)
@click.option(
    "--setup", multiple=True, metavar="LINE", help="A shell line before the run: 'module load gcc'; repeatable."
)
@click.option("--directive", multiple=True, metavar="OPTION", help="A further option of the batch system; repeatable.")
@click.option("--as", "name", metavar="NAME", help="The name of the run's directory; made from the time if not given.")
@click.option("--dry-run", is_flag=True, help="Show the job script; set up, write and submit nothing.")
@click.option("--wait", is_flag=True, help="Wait for the end of the job; Ctrl-C stops the waiting, not the job.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; `./fl schema` has its schema.")
@results_folder
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[RUN OPTIONS]...")
def command(
    nodes: int,
    per_node: int | None,
    gpus: int | None,
    limit: str | None,
    setup_time: str | None,
    partition: str,
    account: str,
    system: str | None,
    setup: tuple[str, ...],
    directive: tuple[str, ...],
    name: str | None,
    dry_run: bool,
    wait: bool,
    as_json: bool,
    results: Path,
    options: tuple[str, ...],
) -> int:
    """Write and submit a batch job that runs `./fl run`.

    RUN OPTIONS are workloads and options of `./fl run`; with --resume RUN the job continues that run. Programs are
    launched through the batch system's own launcher where it can start them. What needs the network is prepared before;
    programs are built in the job, for the processor of its nodes. A job that is requeued, or whose script is submitted
    again, resumes its run.
    """
    from firstlight.core.units import parse_duration
    from firstlight.model.plan import EFFORT
    from firstlight.runner import job
    from firstlight.system import batch

    asked = _run_options(options)
    chosen = batch.choose(system)
    target = job.again(runs.find(asked.resume, results)) if asked.resume else job.new(results, name, asked.suite)
    if target.left == 0 and asked.budget is None:
        raise UsageError(f"{target.directory}: its budget is spent; extend it with --budget 5m")
    limits = batch.agree(
        None if limit is None else parse_duration(limit, "time"),
        asked.budget,
        EFFORT[asked.suite].budget if target.left is None else target.left,
        (batch.SETUP if setup_time is None else parse_duration(setup_time, "time")) + asked.between(nodes),
    )
    output = target.folder / job.OUTPUT
    request = batch.JobRequest(
        name=target.directory.name,
        seconds=limits.time,
        warning=limits.warning,
        output=output,
        nodes=nodes,
        per_node=per_node,
        partition=partition,
        account=account,
        directives=directive,
        gpus=gpus or 0,
    )
    words = job.with_files(target, options, asked.settings, asked.given)
    script = batch.write(chosen, request, job.work(target, limits, words, asked.always, setup, asked.record))
    if dry_run:
        click.echo(script, nl=False)
        return OK
    job.prepare(setup)
    sent = job.submit(chosen, target, script, asked.given.files)
    if as_json:
        print_json(sent)
    else:
        tell(_summary(sent, asked.reader))
    return _wait(chosen, sent, asked.reader) if wait else OK


class Asked(msgspec.Struct, frozen=True):
    """The options of `./fl run` that concern the job. `always`: those that a resumed run receives again.

    `settings`: words that set parameters, as typed; `given`: the same, with the files that they name.
    """

    suite: str
    budget: float | None
    resume: str | None
    always: tuple[str, ...]
    settings: tuple[Setting, ...]
    given: Given
    each_node: bool = False

    @property
    def reader(self) -> str:
        """Return the name of the command that shows what the job measured."""
        return "nodes" if self.each_node else "report"

    @property
    def record(self) -> str:
        """Return the name of the file that exists once the measurement has begun."""
        from firstlight.commands.nodes import folder
        from firstlight.results.store import layout

        return folder.RECORD if self.each_node else layout.RUN

    def between(self, nodes: int) -> float:
        """Return the seconds for measuring pairs of nodes, 0 without --each-node."""
        from firstlight.commands.nodes import requests, schedule

        return min(max(0, nodes - 1), schedule.MOST_ROUNDS) * requests.ROUND_SECONDS if self.each_node else 0.0


def _run_options(options: tuple[str, ...]) -> Asked:
    """Parse the options as `./fl run` does. Raises its errors now, not after the job has waited in the queue."""
    from firstlight.commands.shared.command_line import group
    from firstlight.core.units import parse_duration
    from firstlight.model import catalogue
    from firstlight.model.plan import select
    from firstlight.model.plan.settings import parse
    from firstlight.runner import parameters

    run = group.get_command(click.get_current_context(), "run")
    assert run is not None
    given = run.make_context("run", list(options)).params
    if given["dry_run"] or given["name"]:
        raise UsageError(
            "--dry-run and --as belong in front of the options of run, as in ./fl submit --as first --quick"
        )
    names, settings = parse(given["workload"])
    workloads = catalogue.load(catalogue.roots())
    chosen = [workloads[name] for name in select(workloads, names)] if names else []
    if given["resume"] is not None and settings:
        raise UsageError("a run that is resumed keeps its settings; leave them out")
    read = parameters.read(settings, chosen, workloads.values())
    if given["timeout"] is not None:
        parse_duration(given["timeout"], "timeout")
    if given["each_node"] and given["resume"] is not None:
        raise UsageError("the script of a measurement of nodes continues it: submit that again")
    always = ["--each-node"] if given["each_node"] else []
    always += ["--timeout", given["timeout"]] if given["timeout"] else []
    always += ["--json"] if given["as_json"] else []
    budget = None if given["budget"] is None else parse_duration(given["budget"], "budget")
    return Asked(given["suite"], budget, given["resume"], tuple(always), settings, read, given["each_node"])


def _summary(sent: Job, reader: str) -> str:
    return (
        f"{sent.system} job {sent.job}: run {sent.run}, output in {sent.output}\n"
        f"when it has ended: {shell.command(reader, sent.directory)}\n"
        f"to resume it after a time limit or a lost node: submit {sent.script} again"
    )


def _wait(system: System, sent: Job, reader: str) -> int:
    """Wait until the job has ended. Return its exit status, ENVIRONMENT if the batch system reports none."""
    from firstlight.system import batch

    shown, silent, count = "", 0, 0
    while True:
        now: State | None = batch.state(system, sent.job)
        silent = 0 if now else silent + 1
        if now and now.word != shown:
            shown = now.word
            note(f"job {sent.job}: {shown.lower()}")
        if now and now.kind == "ended":
            return ENVIRONMENT if now.code is None else now.code
        if silent >= LOST:
            note(f"{system.LABEL} no longer lists job {sent.job}; see {shell.command(reader, sent.directory)}")
            return ENVIRONMENT
        time.sleep(PAUSES[min(count, len(PAUSES) - 1)])
        count += 1
