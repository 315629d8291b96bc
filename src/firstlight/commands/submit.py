"""`firstlight submit`: submit a run as one batch job of a cluster."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec.structs import replace

from firstlight.commands.shared import runs
from firstlight.commands.shared.output import note, print_json, results_folder, tell
from firstlight.core import shell
from firstlight.core.errors import ENVIRONMENT, OK, UsageError
from firstlight.core.units import count

if TYPE_CHECKING:
    from firstlight.model.plan.settings import Setting
    from firstlight.runner.documents import Given
    from firstlight.runner.job import Job, Target
    from firstlight.system.batch import State, System

PAUSES = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds between two queries of the batch system; the last value repeats."""
EACH_NODE = "--each-node"
LOST = 5  # questions in a row without an answer until a job counts as gone

SECTION = "Measure"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.runner.job import Job

    return {"submit": Job, "submit-idle": tuple[Job, ...]}


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  ./fl submit --nodes 4 --time 1h --setup 'module load gcc' --standard
  ./fl submit --nodes 64 --each-node
  ./fl submit --idle --partition compute --each-node

\b
Exit status:
  0    the job was submitted; with --wait: the exit status of the run
  2    wrong usage
  3    the job could not be submitted; with --wait: the job ended without a status
""",
)
@click.option(
    "--nodes", type=click.IntRange(1, 1 << 16), default=1, show_default=True, metavar="K", help="The number of nodes."
)
@click.option(
    "--per-node",
    type=click.IntRange(1, 1 << 16),
    metavar="N",
    help="The number of CPUs on each node, if you do not need whole nodes; PBS always requires this option.",
)
@click.option(
    "--gpus", type=click.IntRange(1, 256), metavar="N", help="The number of GPUs on each node (default: none)."
)
@click.option(
    "--time",
    "limit",
    metavar="TIME",
    help="The job's time limit, such as 30m or 2h (default: derived from the budget).",
)
@click.option(
    "--setup-time", metavar="TIME", help="The part of --time for discovery and builds in the job (default: 15m)."
)
@click.option("--partition", "--queue", default="", metavar="P", help="The partition or queue.")
@click.option("--account", default="", metavar="A", help="The account, project or bank to charge.")
@click.option(
    "--system", metavar="SYSTEM", help="The batch system (slurm, pbs, flux, lsf), if this machine has several."
)
@click.option(
    "--setup",
    multiple=True,
    metavar="LINE",
    help="A shell line to execute before the run, such as 'module load gcc'; repeatable.",
)
@click.option("--directive", multiple=True, metavar="OPTION", help="A further option for the batch system; repeatable.")
@click.option(
    "--as", "name", metavar="NAME", help="The name of the run's directory (default: derived from the current time)."
)
@click.option(
    "--idle",
    is_flag=True,
    help="Submit a separate job for each node of the partition that accepts jobs. Each job starts when its node is "
    "idle. Requires --each-node and Slurm.",
)
@click.option("--dry-run", is_flag=True, help="Show the job script, but set up, write and submit nothing.")
@click.option("--wait", is_flag=True, help="Wait for the end of the job; Ctrl-C stops the waiting, not the job.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; `./fl schema` prints its schema.")
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
    idle: bool,
    dry_run: bool,
    wait: bool,
    as_json: bool,
    results: Path,
    options: tuple[str, ...],
) -> int:
    """Write and submit a batch job that runs `./fl run`.

    RUN OPTIONS are workloads and options of `./fl run`; with --resume RUN, the job continues that run. The job uses the
    batch system's own launcher if that launcher can start the programs. Downloads are done before the job. The programs
    are built in the job, for the processor of its nodes. A requeued job, or a script that is submitted again, resumes
    its run.
    """
    from firstlight.runner import job
    from firstlight.system import batch

    asked = _run_options(options)
    chosen = batch.choose(system)
    wishes = Wishes(limit, setup_time, per_node, gpus or 0, partition, account, directive, setup)
    if idle:
        if nodes != 1:
            raise UsageError("--idle submits a job for each node of the partition: omit --nodes")
        return _each_when_idle(chosen, wishes, asked, results, name, dry_run, wait, as_json)
    target = job.again(runs.find(asked.resume, results)) if asked.resume else job.new(results, name, asked.suite)
    if target.left == 0 and asked.budget is None:
        raise UsageError(f"{target.directory}: the budget of the run is used up; extend it with --budget 5m")
    script = _script(chosen, wishes, asked, target, nodes)
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


class Wishes(msgspec.Struct, frozen=True):
    """The options of a job for the batch system. `limit`, `setup_time`: as typed."""

    limit: str | None
    setup_time: str | None
    per_node: int | None
    gpus: int
    partition: str
    account: str
    directives: tuple[str, ...]
    setup: tuple[str, ...]


def _script(system: System, wishes: Wishes, asked: Asked, target: Target, nodes: int, host: str = "") -> str:
    """Return the script of a job. `host`: the only node that it may run on, "" for any."""
    from firstlight.core.units import parse_duration
    from firstlight.model.plan import EFFORT
    from firstlight.runner import job
    from firstlight.system import batch
    from firstlight.system.batch import slurm

    limits = batch.agree(
        None if wishes.limit is None else parse_duration(wishes.limit, "time"),
        asked.budget,
        EFFORT[asked.suite].budget if target.left is None else target.left,
        (batch.SETUP if wishes.setup_time is None else parse_duration(wishes.setup_time, "time"))
        + asked.between(nodes),
    )
    request = batch.JobRequest(
        name=target.directory.name,
        seconds=limits.time,
        warning=limits.warning,
        output=target.folder / job.OUTPUT,
        nodes=nodes,
        per_node=wishes.per_node,
        partition=wishes.partition,
        account=wishes.account,
        directives=(*((slurm.on_node(host),) if host else ()), *wishes.directives),
        gpus=wishes.gpus,
    )
    words = job.with_files(target, asked.options, asked.settings, asked.given)
    return batch.write(system, request, job.work(target, limits, words, asked.always, wishes.setup, asked.record))


def _each_when_idle(
    system: System,
    wishes: Wishes,
    asked: Asked,
    results: Path,
    name: str | None,
    dry_run: bool,
    wait: bool,
    as_json: bool,
) -> int:
    """Submit a job for each node of the partition, or show the script of the first."""
    from firstlight.analysis.formatting import listing
    from firstlight.commands.nodes import idle
    from firstlight.commands.nodes.folder import NodesRun
    from firstlight.runner import job

    alone = asked.of_one_node()
    hosts, others = idle.hosts(system, wishes.partition)
    path, record = idle.begin(results, name, asked.suite, hosts, alone.options)

    def script(run: NodesRun) -> str:
        return _script(system, wishes, alone, idle.target(path, run), 1, record.hosts[run.members[0]])

    first = script(record.parts[0])
    if others:
        states = [f"{host} ({state})" for host, state in others.items()]
        note(
            f"no job was submitted for {count(len(others), 'node')} in a state that accepts no jobs: {listing(states)}"
        )
    if dry_run:
        note(f"the first of {count(len(hosts), 'script')}")
        click.echo(first, nl=False)
        return OK
    job.prepare(wishes.setup)
    sent = idle.submit(
        path, record, lambda run: job.submit(system, idle.target(path, run), script(run), asked.given.files)
    )
    if as_json:
        print_json(tuple(sent))
    else:
        tell(f"{count(len(sent), f'{system.LABEL} job')} in {path}; results: {shell.command('nodes', path)}")
    return max(_wait(system, one, "nodes") for one in sent) if wait else OK


class Asked(msgspec.Struct, frozen=True):
    """The options of `./fl run` that concern the job. `always`: those that a resumed run receives again.

    `options`: all words as typed; `settings`: those that set parameters; `given`: the same, with the files that they
    name.
    """

    suite: str
    budget: float | None
    resume: str | None
    always: tuple[str, ...]
    options: tuple[str, ...]
    settings: tuple[Setting, ...]
    given: Given
    each_node: bool = False
    named: bool = False
    at_once: bool = False

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

    def of_one_node(self) -> Asked:
        """Return the options for a job that measures its own node only. Raises UsageError if they cannot be."""
        from firstlight.commands.nodes.requests import CHAPTER

        if not self.each_node:
            raise UsageError("--idle requires --each-node: add it after the options of submit")
        if self.at_once:
            raise UsageError("--idle starts each node when it is idle: omit --at-once")
        options = tuple(word for word in self.options if word != EACH_NODE)
        always = tuple(word for word in self.always if word != EACH_NODE)
        return replace(self, options=options if self.named else (CHAPTER, *options), always=always, each_node=False)

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
        raise UsageError("--dry-run and --as must precede the options of run, as in ./fl submit --as first --quick")
    names, settings = parse(given["workload"])
    workloads = catalogue.load(catalogue.roots())
    chosen = [workloads[name] for name in select(workloads, names)] if names else []
    if given["resume"] is not None and settings:
        raise UsageError("a resumed run keeps its settings; omit them")
    read = parameters.read(settings, chosen, workloads.values())
    if given["timeout"] is not None:
        parse_duration(given["timeout"], "timeout")
    if given["each_node"] and given["resume"] is not None:
        raise UsageError("to continue a measurement of nodes, submit its script again")
    always = [EACH_NODE] if given["each_node"] else []
    always += ["--timeout", given["timeout"]] if given["timeout"] else []
    always += [word for target in given["storage"] for word in ("--storage", target)]
    always += ["--json"] if given["as_json"] else []
    budget = None if given["budget"] is None else parse_duration(given["budget"], "budget")
    return Asked(
        given["suite"],
        budget,
        given["resume"],
        tuple(always),
        options,
        settings,
        read,
        given["each_node"],
        bool(names),
        given["at_once"] is not None,
    )


def _summary(sent: Job, reader: str) -> str:
    return (
        f"{sent.system} job {sent.job}: run {sent.run}, output in {sent.output}\n"
        f"when it has ended: {shell.command(reader, sent.directory)}\n"
        f"to resume the run after a time limit or a lost node: submit {sent.script} again"
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
