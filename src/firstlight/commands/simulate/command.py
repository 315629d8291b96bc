"""`firstlight simulate`: predict the time of a collective on a network, and the error of such predictions here."""

from __future__ import annotations

import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Unpack

import click

from firstlight.commands.shared.groups import Group
from firstlight.commands.shared.output import as_json, print_json, results_folder, tell, width
from firstlight.commands.shared.pattern_options import parameters, processes
from firstlight.commands.simulate import options
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, UsageError
from firstlight.core.naming import COLLECTIVES, SHORT

if TYPE_CHECKING:
    from firstlight.analysis.loggops import Fitted
    from firstlight.commands.simulate.answer import Simulated
    from firstlight.commands.simulate.queries import SimulationRequest
    from firstlight.execute.network.stages import Stages

SECTION = "Predict"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.simulate.answer import Simulated
    from firstlight.commands.simulate.validate import Validated

    return {"simulate": Simulated, "validate": Validated}


class Simulate(Group):
    """The group; the names of collectives are no commands of it."""

    elsewhere = MappingProxyType({name: f"collective {name}" for name in (*COLLECTIVES, *SHORT)})


@click.group(
    cls=Simulate,
    epilog=f"""\b
Examples:
  ./fl simulate collective allreduce --topology torus:8x8 --bytes 8,64KiB
  ./fl simulate pattern npb_cg -n 64 -p class=A --topology torus:8x8
  ./fl simulate networks
{options.EXIT}""",
)
def command() -> None:
    """Predict the time of a collective or a pattern."""


@command.command(
    epilog=f"""\b
Examples:
  ./fl simulate collective allreduce --topology torus:8x8 --bytes 8,64KiB
  ./fl simulate collective barrier --topology flat:64 --scale 64..1024
  ./fl simulate collective bcast --topology flat:8 --algorithm binomial --goal
{options.TOPOLOGIES}"""
)
@click.argument("subject", metavar="NAME|FILE.goal")
@click.option(
    "--bytes",
    "sizes",
    default="1MiB",
    show_default=True,
    metavar="SIZES",
    help="The sizes of the whole message or of each rank's block: 1MiB, 8,64KiB or 1KiB..16MiB.",
)
@click.option(
    "--segments",
    default="auto",
    show_default=True,
    metavar="auto|K",
    help="The number of segments of a pipelined message.",
)
@click.option("--segment-bytes", metavar="SIZE", help="The segment size, instead of --segments.")
@click.option(
    "--root", type=click.IntRange(0), default=0, show_default=True, help="The root rank of a broadcast or reduce."
)
@click.option("--missing", default="", metavar="RANKS", help="Ranks that do not participate, comma separated.")
@options.goal
@options.predicting("One or more algorithms, comma separated (default: all).")
@click.pass_context
def collective(
    context: click.Context,
    subject: str,
    sizes: str,
    segments: str,
    segment_bytes: str | None,
    root: int,
    missing: str,
    goal: bool,
    **shared: Unpack[options.Shared],
) -> int:
    """Predict each algorithm of a collective on a network.

    NAME is broadcast (bcast), reduce, allreduce, allgather, reduce_scatter, alltoall or barrier; FILE.goal is a
    schedule in the GOAL language. firstlight checks schedules before it evaluates them. The same schedules run on MPI.
    """
    from firstlight.commands.simulate import queries

    own = queries.SimulationRequest(
        subject, sizes=sizes, segments=segments, segment_bytes=segment_bytes, root=root, missing=missing
    )
    if own.file:
        _refuse_with_file(context)
    return _predict(own, shared, goal)


@command.command(
    epilog=f"""\b
Example:
  ./fl simulate pattern npb_cg -n 64 -p class=A --topology torus:8x8
{options.TOPOLOGIES}"""
)
@click.argument("name")
@processes("The number of processes (default: one per node).")
@parameters
@options.goal
@options.predicting("The algorithm of each collective operation, such as allreduce=ring,...")
def pattern(
    name: str, processes: int | None, given: tuple[str, ...], goal: bool, **shared: Unpack[options.Shared]
) -> int:
    """Predict the time of one iteration of a communication pattern.

    `./fl patterns` lists the patterns.
    """
    from firstlight.commands.simulate import queries

    own = queries.SimulationRequest(name, pattern=True, processes=processes, given=given)
    return _predict(own, shared, goal)


@command.command(
    epilog=f"""\b
Examples:
  ./fl simulate stages 'classic=near:800|work:5200,sum:8' --topology flat:64
  ./fl simulate stages measured --topology flat:1024 --scale 64..4096
{options.TOPOLOGIES}"""
)
@click.argument("words", nargs=-1, required=True, metavar="NAME=STAGES...|measured")
@options.predicting("The algorithm of each sum, such as allreduce=ring.", "The run that `measured` and `fitted` use.")
def stages(words: tuple[str, ...], **shared: Unpack[options.Shared]) -> int:
    """Predict the time of an iteration that is described stage by stage.

    NAME=STAGES describes an iteration, such as classic='near:800|work:5200,sum:8'; docs/patterns.md lists the parts of
    a stage. `measured` selects the iterations that a run measured.
    """
    from firstlight.commands.simulate import queries

    described = _stages(words, shared["run_name"], shared["results"])
    return _predict(queries.SimulationRequest("an iteration", stages=described), shared)


@command.command(
    epilog="""\b
Examples:
  ./fl simulate validate
  ./fl simulate validate --output validation.html

\b
Exit status:
  0    done
  2    wrong usage, or the run lacks a measurement; the message names the command that measures it
  3    firstlight-simulate cannot be built
"""
)
@click.argument("run", default="latest")
@options.mpi
@options.page
@results_folder
@as_json
def validate(run: str, mpi: str | None, output: Path | None, results: Path, as_json: bool) -> int:
    """Compare predictions with the measurements of a run.

    The collectives, neighbour exchanges and patterns of RUN (default: the newest run) are predicted from the ping-pong
    of the same run.
    """
    from firstlight import __version__
    from firstlight.commands.shared import runs
    from firstlight.commands.simulate import validate as validation
    from firstlight.commands.simulate import validation_page as page
    from firstlight.commands.simulate.steps import Asks
    from firstlight.execute.network import program
    from firstlight.execute.network.prediction import Prediction

    judgement, workloads, _ = runs.judged(runs.find(run, results))
    built = program.build()
    found = validation.validate(
        judgement,
        workloads,
        Asks(
            lambda question: program.predict(built, question),
            lambda *schedule: program.predict_schedule(built, *schedule),
            lambda words: program.decode(program.ask(built, words)[0], Prediction),
        ),
        __version__,
        mpi,
    )
    if output is not None:
        page.write(found, output)
    if as_json:
        print_json(found)
    else:
        tell(page.summary(found, output, width()))
    return OK


@command.command(
    epilog="""\b
Example:
  ./fl simulate networks

\b
Exit status:
  0    done
  2    wrong usage
"""
)
@as_json
def networks(as_json: bool) -> int:
    """List the named networks, with their published figures."""
    from firstlight.commands.simulate import page
    from firstlight.core import networks

    known = networks.load()
    if as_json:
        print_json(tuple(known.values()))
    else:
        tell(page.known(known.values(), width()))
    return OK


def _predict(own: SimulationRequest, shared: options.Shared, goal: bool = False) -> int:
    """Predict what the subcommand requests with the shared options, or export its schedule."""
    from msgspec.structs import replace

    from firstlight.commands.simulate import page, queries

    output, as_json, fit = shared["output"], shared["as_json"], shared["network"] == "fitted"
    if goal and as_json:
        raise UsageError("--goal makes no prediction; omit --json")
    _refuse_profile(own.subject, shared["results"])
    request = replace(
        own,
        topology=shared["topology"],
        scale=shared["scale"],
        algorithms=shared["algorithm"],
        machine="" if fit else shared["network"],
        noise=shared["noise"],
        evaluator=shared["evaluator"],
        loads=output is not None and not goal,
    )
    fits = _fitted(shared["run_name"], shared["results"], shared["mpi"]) if fit else []
    fitted = fits[0] if fits else None
    if goal:
        click.echo(queries.export(request, fitted, output), nl=False)
        return OK
    simulated = queries.simulate(request, fitted, fits[1:], _progress)
    if output is not None:
        page.write(simulated, output)
    if as_json:
        print_json(simulated)
    else:
        tell(page.summary(simulated, output, width()))
    return _code(simulated)


def _refuse_with_file(context: click.Context) -> None:
    """Raise UsageError for options that the schedule in a file already decides."""
    from click.core import ParameterSource

    decided = ("sizes", "segments", "segment_bytes", "root", "missing", "goal", "scale", "algorithm")
    for option in context.command.params:
        if option.name in decided and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"a file contains one complete schedule; omit {option.opts[0]}")


def _refuse_profile(subject: str, results: Path) -> None:
    """Raise UsageError if the subject is a profile: its folder, its file, or its name among the results."""
    from firstlight.core import shell
    from firstlight.results.traffic import PROFILE

    places = (Path(subject), results / subject)
    found = next((p for p in places if (p / PROFILE).is_file() or (p.name == PROFILE and p.is_file())), None)
    if found is not None:
        raise UsageError(
            f"{subject} is a profile; simulate requires a collective, FILE.goal, a pattern or stages; "
            f"{shell.command('map', found, '--topology', 'torus:32x32')} predicts its messages"
        )


def _progress(done: int, total: int) -> None:
    """Overwrite one line with the progress, only on a terminal."""
    if sys.stderr.isatty():
        line = "" if done == total else f"{done} of {total} predictions"
        click.echo(f"\r{line:<40}\r", err=True, nl=False)


def _code(simulated: Simulated) -> int:
    if any(p.wrong for p in simulated.predictions):
        return REGRESSION
    return OK if any(p.usable for p in simulated.predictions) else INCONCLUSIVE


def _fitted(name: str, results: Path, mpi: str | None) -> list[Fitted]:
    """Return the parameters from the medians of a run's messages, from its fast launches and from its slow ones.

    Only the first if there were too few launches for an interval.
    """
    from firstlight.analysis import loggops
    from firstlight.commands.shared import runs

    judgement, workloads, _ = runs.judged(runs.find(name, results))
    fitted = loggops.fitted(judgement, workloads, mpi)[0]
    tails = loggops.TAILS if fitted.spanned else ()
    return [fitted, *(loggops.fitted(judgement, workloads, mpi, percentile=p)[0] for p in tails)]


def _stages(words: tuple[str, ...], name: str, results: Path) -> tuple[Stages, ...]:
    from firstlight.commands.shared import runs
    from firstlight.commands.simulate.stages import measured
    from firstlight.execute.network.stages import MEASURED, read

    if words != (MEASURED,):
        return read(words)
    judgement, workloads, _ = runs.judged(runs.find(name, results))
    return measured(judgement, workloads)
