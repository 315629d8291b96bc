"""`firstlight run`: measure this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared import runs, streams
from firstlight.commands.shared.output import (
    as_json,
    colour,
    new_run_folder,
    note,
    print_json,
    quiet,
    remark,
    tell,
    verbose,
    width,
)
from firstlight.core import shell
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INTERRUPTED, OK, REGRESSION, UsageError

if TYPE_CHECKING:
    from firstlight.runner import Prepared, Result, RunRequest


SUITES = ("--quick", "--standard", "--full")

SECTION = "Measure"


class OneSuite(click.Command):
    """Reject two suites on one command line; click alone would use the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [word for word in dict.fromkeys(args) if word in SUITES]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} exclude each other; choose one suite", ctx)
        return super().parse_args(ctx, args)


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.model.plan import Plan

    return {"plan": Plan}


@click.command(
    cls=OneSuite,
    epilog="""\b
Examples:
  ./fl run dot --budget 20s
  ./fl run --standard network --dry-run

\b
Exit status:
  0    success: every variant passed verification with at least one
       toolchain (a toolchain that makes a program fast but wrong is a finding)
  1    a variant failed, or all its launches were lost, with every toolchain
  2    wrong usage
  3    no program could be built, or this system cannot run the command; or the disk
       is full: the results obtained so far are shown and stored
  4    inconclusive: other processes used the processors in 20 % of the samples or more,
       so the machine was not fit for measuring; the report is written
  130  interrupted; the report of the finished launches is written
""",
)
@click.argument("workload", nargs=-1, metavar="[WORKLOAD | NAME=VALUE]...")
@click.option(
    "--quick", "suite", flag_value="quick", default="quick", help="Measure for two to three minutes (the default)."
)
@click.option(
    "--standard", "suite", flag_value="standard", help="Measure for a quarter of an hour; less for named workloads."
)
@click.option("--full", "suite", flag_value="full", help="Measure for about two hours.")
@click.option(
    "--budget", metavar="TIME", help="The time for launches, such as 150s, 10m or 2h, without setup and builds."
)
@click.option(
    "--toolchain",
    multiple=True,
    metavar="PATTERN",
    help="Use only toolchains like gcc-fast or 'clang-*'; prefix ! to exclude; repeatable.",
)
@click.option(
    "--mpi",
    multiple=True,
    metavar="PATTERN",
    help="Use only MPI libraries whose name matches; prefix ! to exclude; repeatable.",
)
@click.option(
    "--placement",
    multiple=True,
    metavar="NxRxT",
    help="The placements of MPI programs: N nodes, R ranks per node, T threads per rank, such as 1x4x1 or "
    "1xall-threadsx1; repeatable. With --resume, placements with more threads than CPUs are allowed.",
)
@click.option(
    "--launches",
    type=click.IntRange(1, 1000),
    metavar="N",
    help=f"The minimum number of launches of each cell (default: {LAUNCHES}). Intervals require {LAUNCHES}.",
)
@click.option(
    "--timeout",
    metavar="TIME",
    help="Kill any launch that lasts longer (default: 40s in the quick suite, 3m in standard, 15m in full).",
)
@new_run_folder
@click.option(
    "--storage",
    multiple=True,
    metavar="NAME=DIR",
    help="Also measure the file system of this directory under this name, such as scratch=/scratch/me; repeatable. "
    "The results "
    "folder, TMPDIR, /dev/shm, HOME, SCRATCH and WORK are always targets.",
)
@click.option(
    "--as", "name", metavar="NAME", help="The name of the run's directory (default: derived from the current time)."
)
@click.option("--resume", metavar="RUN", help="Continue a run: a directory, its name, or `latest`.")
@click.option("--dry-run", is_flag=True, help="Show the planned launches; build and launch nothing.")
@click.option(
    "--each-node",
    is_flag=True,
    help="Measure every node of this Slurm allocation simultaneously (the node chapter by default), then "
    "messages between pairs of nodes. ./fl nodes shows the outliers.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 1 << 16),
    metavar="K",
    help="The maximum number of nodes or pairs that measure simultaneously, for --each-node (default: all).",
)
@quiet
@verbose("Show the program of each row, and every command that is launched.")
@as_json
@click.pass_context
def command(
    context: click.Context,
    workload: tuple[str, ...],
    suite: str,
    budget: str | None,
    toolchain: tuple[str, ...],
    mpi: tuple[str, ...],
    placement: tuple[str, ...],
    launches: int | None,
    timeout: str | None,
    storage: tuple[str, ...],
    results: Path,
    name: str | None,
    resume: str | None,
    dry_run: bool,
    each_node: bool,
    at_once: int | None,
    as_json: bool,
) -> int:
    """Measure this machine: discover, build, launch, verify, report.

    WORKLOAD is a workload such as dot, a single variant such as dot.kahan, or a chapter (node, network, applications,
    lqcd). Without WORKLOAD, all workloads are measured. firstlight adds the programs that measure the ceilings. It
    launches all programs in random order, round by round, until every interval is narrow enough or the budget is used
    up. The rows of the report have priority. A program that cannot be launched six times within the budget is not
    started; the page
    shows the command that measures it. Ctrl-C stops the run and writes the report of the finished launches.

    NAME=VALUE overrides a parameter's values in the suite, for the named workloads. The setting n=1e6,1e7 measures
    two cases. The setting molecule=mine.xyz uses your own file; firstlight stores a copy with the run. ./fl list
    WORKLOAD shows the parameters.
    """
    from firstlight import runner
    from firstlight.commands.bench import gate
    from firstlight.core.units import parse_duration
    from firstlight.model.plan.settings import parse
    from firstlight.runner.interrupt import interruptible, leaving_nothing
    from firstlight.runner.progress import display
    from firstlight.system import site
    from firstlight.system.machine import storage as places

    names, settings = parse(workload)

    seconds = None if budget is None else parse_duration(budget, "budget")
    longest = None if timeout is None else parse_duration(timeout, "timeout")
    order = runner.RunRequest(
        names,
        suite,
        seconds,
        toolchain or ("*",),
        mpi or ("*",),
        (1 if site.target() else LAUNCHES) if launches is None else launches,
        results,
        longest,
        placement,
        name,
        settings,
        storage=places.parse(storage),
    )
    if at_once is not None and not each_node:
        raise UsageError("--at-once requires --each-node: it limits the number of nodes that measure simultaneously")
    if resume is not None:
        _refuse_with_resume(context, names)
    if each_node:
        return _each_node(order, _options(context), resume, dry_run, at_once, as_json)
    with interruptible(), display() as progress:
        if dry_run:
            with leaving_nothing():
                prepared = runner.prepare(order, progress, set_up=False)
            return _show_plan(prepared, order, as_json)
        if resume is not None:
            path = runs.find(resume, results)
            result = runner.resume(path, progress, seconds, longest, placement, settings, order.storage)
        else:
            result = runner.run(order, progress)
    return gate.status(result, show(result, as_json))


def _options(context: click.Context) -> list[str]:
    """Return the options of the command line that the run on each node also receives."""
    found: list[str] = []
    for name in ("budget", "launches", "timeout", "toolchain", "mpi", "placement", "storage"):
        given = context.params[name]
        for value in given if isinstance(given, tuple) else [] if given is None else [given]:
            found += [f"--{name}", str(value)]
    return found


def _each_node(
    order: RunRequest, options: Sequence[str], resume: str | None, dry_run: bool, at_once: int | None, as_json: bool
) -> int:
    from firstlight.commands.nodes import command as nodes
    from firstlight.commands.nodes import folder, requests, runner
    from firstlight.runner.interrupt import interruptible, leaving_nothing
    from firstlight.runner.progress import display

    if dry_run:
        raise UsageError("--dry-run shows the plan for one node: omit --each-node")
    here = requests.current_allocation()
    with display() as progress:
        if resume is not None:
            path = folder.find(resume, order.results)
        else:
            with interruptible(), leaving_nothing():
                asked = requests.make(order, options, True, here, progress)
            path = runner.begin(order.results, order.name, order.suite, asked, here, at_once)
        try:
            runner.go_on(path, here, progress)
        except KeyboardInterrupt:
            progress.note(
                f"interrupted; {shell.command('run', '--each-node', '--resume', path)} continues the measurement"
            )
            nodes.show(path, None, as_json)
            return INTERRUPTED
    code = nodes.show(path, None, as_json)
    return OK if code == REGRESSION else code  # the run was executed; a node that differs is its result


def _refuse_with_resume(context: click.Context, names: Sequence[str]) -> None:
    """Raise UsageError for workloads and options that a resumed run cannot change."""
    given = {
        name
        for name in ("suite", "toolchain", "mpi", "launches", "name", "dry_run")
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    } | ({"workload"} if names else set())
    if given:
        names = ", ".join(sorted(given)).replace("_", "-")
        raise UsageError(
            "--resume continues the plan of that run and accepts only --budget, --timeout, --placement, --storage and "
            f"--results, not {names}"
        )


def show(result: Result, as_json: bool) -> int:
    """Print the page or its JSON, and why the run ended. Return its exit status."""
    from firstlight.commands.report import programs, reported
    from firstlight.report import terminal

    if as_json:
        lost = streams.show(lambda: print_json(reported(result.judgement, result.report)))
    else:
        page = terminal.summary(result.judgement, result.workloads, width(), colour(), result.report)
        page += programs(result.judgement, result.workloads)
        lost = streams.show(lambda: tell(page))
    if lost is not None and not isinstance(lost, BrokenPipeError):
        note(f"standard output: {lost.strerror}; {shell.command('report', result.directory)} shows the page")
    if result.missing:
        note(result.missing)
    (remark if result.code == OK else note)(result.line)
    return result.code


def _show_plan(prepared: Prepared, order: RunRequest, as_json: bool) -> int:
    from firstlight import runner
    from firstlight.runner import forecast

    plan = prepared.plan
    if as_json:
        print_json(plan)
        return 0
    for cell in plan.cells:
        tell(f"{cell.id}  {' '.join(cell.arguments)}")
    for absent in plan.absent:
        tell(f"not available: {absent.what}: {absent.why}")
    ahead, programs, _ = runner.forecast_run(prepared, order)
    of_all = f" of {len(plan.programs)}" if len(programs) < len(plan.programs) else ""
    tell(
        f"{len(programs)}{of_all} programs to build, {len(plan.cells)} cells, "
        f"at least {order.launches} launches of each cell that is started"
    )
    for line in (forecast.summary(ahead), *forecast.left_out(ahead, order.suite, prepared.settings, order.settings)):
        tell(line)
    return 0
