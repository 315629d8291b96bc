"""`firstlight simulate`: predict the time of a collective on a network, and the error of such predictions here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import as_json, html_page, print_json, results_folder, tell, to_write, width
from firstlight.commands.shared.pattern_options import parameters, processes
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, UsageError

if TYPE_CHECKING:
    from firstlight.analysis.loggops import Fitted
    from firstlight.commands.simulate.answer import Simulated
    from firstlight.execute.network.program import Evaluator
    from firstlight.execute.network.stages import Stages

SECTION = "Predict"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.simulate.answer import Simulated
    from firstlight.commands.simulate.validate import Validated

    return {"simulate": Simulated, "validate": Validated}


@click.command(
    epilog="""\b
Examples:
  ./fl simulate allreduce --topology torus:8x8 --bytes 8,64KiB
  ./fl simulate --pattern npb_cg -n 64 -p class=A --topology torus:8x8
  ./fl simulate --stages measured --topology flat:1024 --scale 64..4096

\b
Topologies: tofu:24x18x16 (the K computer's six axes; each has 2x3x2 nodes inside),
torus:8x8x8, mesh:16x16, fattree:..., dragonfly:..., hypercube:10, and flat:1024
(no links, every rank is equally far from every other).

\b
Exit status:
  0    predicted
  1    a schedule is wrong or can never end: the checker shows why
  2    wrong usage
  3    firstlight-simulate cannot be built
  4    nothing could be predicted: every algorithm refused the problem
"""
)
@click.argument("subject", required=False, metavar="[COLLECTIVE|FILE.goal]")
@click.option("--topology", metavar="SPEC", help="The network, as tofu:24x18x16; see below.")
@click.option(
    "--bytes",
    "sizes",
    default="1MiB",
    show_default=True,
    metavar="SIZES",
    help="1MiB, 8,64KiB or 1KiB..16MiB: of the whole message, or of a rank's block.",
)
@click.option(
    "--algorithm",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="One or more, comma separated; of a pattern, allreduce=ring,...",
)
@click.option(
    "--segments", default="auto", show_default=True, metavar="auto|K", help="Segments of a pipelined message."
)
@click.option("--segment-bytes", metavar="SIZE", help="The size of a segment, instead of --segments.")
@click.option("--root", type=click.IntRange(0), default=0, show_default=True, help="The root of a broadcast or reduce.")
@click.option(
    "--scale",
    metavar="SHAPES",
    help="Predict for these shapes of the same kind as well: 4x4x4,8x8x8 or 64..65536 (for flat).",
)
@click.option("--missing", default="", metavar="RANKS", help="Ranks that do not participate, comma separated.")
@click.option(
    "--machine",
    default="",
    metavar="NAME|PARAMETERS",
    help="A real network by its name (see --machines), parameters as key=value,... (L, o, g, hop, overhead in ns; G, O "
    "in ns/B; S in B; bandwidth in B/s), or `fitted`: to the ping-pong of a run (see --run, --mpi).",
)
@click.option("--machines", is_flag=True, help="List the networks known by name, with their published figures.")
@click.option("--run", "run_name", default="latest", show_default=True, metavar="RUN", help="The run for `fitted`.")
@click.option("--mpi", metavar="NAME", help="The MPI library whose ping-pong is used, if the run has several.")
@click.option("--noise", default="", metavar="PARAMETERS", help="period_us=1000,duration_us=100,phase=independent,...")
@click.option(
    "--evaluator",
    type=click.Choice(["auto", "maxplus", "rounds", "events"]),
    default="auto",
    show_default=True,
    help="auto: what the checker's verdict allows.",
)
@click.option(
    "--validate",
    is_flag=False,
    flag_value="latest",
    metavar="[RUN]",
    help="Predict the collectives, exchanges with neighbours and patterns that a run measured from its own ping-pong, "
    "and report the error.",
)
@click.option(
    "--pattern", metavar="NAME", help="Predict an iteration of this pattern instead (./fl patterns lists them)."
)
@processes("The number of processes of a pattern; one per node if not given.")
@parameters
@click.option(
    "--stages",
    multiple=True,
    metavar="NAME=STAGES|measured",
    help="Predict an iteration given stage by stage instead, as classic='near:800|work:5200,sum:8'; repeatable. "
    "`measured`: those of the run (see --run).",
)
@click.option(
    "--goal",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=to_write,
    metavar="FILE",
    help="Write the schedule of one algorithm and size, or of a pattern, in the GOAL language.",
)
@html_page("Write a page to FILE as well.")
@results_folder
@as_json
def command(
    subject: str | None,
    topology: str | None,
    sizes: str,
    algorithm: str,
    segments: str,
    segment_bytes: str | None,
    root: int,
    scale: str | None,
    missing: str,
    machine: str,
    machines: bool,
    run_name: str,
    mpi: str | None,
    noise: str,
    evaluator: Evaluator,
    validate: str | None,
    pattern: str | None,
    processes: int | None,
    given: tuple[str, ...],
    stages: tuple[str, ...],
    goal: Path | None,
    html: Path | None,
    results: Path,
    as_json: bool,
) -> int:
    """Predict the time of a collective or a pattern.

    It predicts each algorithm of a collective on a network, an iteration of a pattern, or a collective in stages.

    COLLECTIVE is broadcast (bcast), reduce, allreduce, allgather, reduce_scatter, alltoall or barrier; FILE.goal is a
    schedule in the GOAL language. Schedules are checked before they are evaluated, and the same schedules run on MPI.
    """
    if machines:
        return _machines(as_json)
    if validate is not None:
        if pattern is not None:
            raise UsageError("--validate predicts what a run measured, patterns included; leave out --pattern")
        if subject is not None:
            raise UsageError(f"--validate requires a run, not {subject!r}; write --validate RUN or --validate alone")
        return _validate(validate, results, mpi, html, as_json)
    if pattern is None and (processes is not None or given):
        raise UsageError("--processes and --parameter are of a pattern: --pattern NAME (./fl patterns lists them)")
    if pattern is not None and subject is not None:
        raise UsageError(f"--pattern {pattern} or {subject}, not both")
    if stages and (subject, pattern, goal) != (None, None, None):
        raise UsageError("--stages describes iterations; leave out a collective, --pattern and --goal")
    subject = "an iteration" if stages else subject if pattern is None else pattern
    if subject is None:
        raise UsageError("simulate what? name a collective, as ./fl simulate broadcast --topology tofu:24x18x16")
    _refuse_profile(subject, results)
    from firstlight.commands.simulate import page as simulation
    from firstlight.commands.simulate import queries

    order = queries.SimulationRequest(
        subject=subject,
        topology=topology,
        sizes=sizes,
        algorithms=algorithm,
        segments=segments,
        segment_bytes=segment_bytes,
        root=root,
        scale=scale,
        missing=missing,
        machine="" if machine == "fitted" else machine,
        noise=noise,
        evaluator=evaluator,
        loads=html is not None,
        pattern=pattern is not None,
        processes=processes,
        given=given,
        stages=_stages(stages, run_name, results),
    )
    fitted = _fitted(run_name, results, mpi) if machine == "fitted" else None
    if goal is not None:
        if html is not None or as_json:
            raise UsageError("--goal writes a schedule and predicts nothing; leave out --html and --json")
        queries.export(order, fitted, goal)
        return OK
    simulated = queries.simulate(order, fitted, _progress)
    if html is not None:
        simulation.write(simulated, html)
    if as_json:
        print_json(simulated)
    else:
        tell(simulation.summary(simulated, html, width()))
    return _code(simulated)


def _refuse_profile(subject: str, results: Path) -> None:
    """Raise UsageError if the subject is a profile: its folder, its file, or its name among the results."""
    from firstlight.core import shell
    from firstlight.results.traffic import PROFILE

    places = (Path(subject), results / subject)
    found = next((p for p in places if (p / PROFILE).is_file() or (p.name == PROFILE and p.is_file())), None)
    if found is not None:
        raise UsageError(
            f"{subject} is a profile; simulate requires a collective, FILE.goal, --pattern or --stages; "
            f"{shell.command('map', found, '--topology', 'torus:32x32')} predicts its messages"
        )


def _machines(as_json: bool) -> int:
    from firstlight.commands.simulate import page as simulation
    from firstlight.core import networks

    known = networks.load()
    if as_json:
        print_json(tuple(known.values()))
    else:
        tell(simulation.known(known.values(), width()))
    return OK


def _progress(done: int, total: int) -> None:
    """Overwrite one line with the progress, only on a terminal."""
    if sys.stderr.isatty():
        line = "" if done == total else f"{done} of {total} predictions"
        click.echo(f"\r{line:<40}\r", err=True, nl=False)


def _code(simulated: Simulated) -> int:
    if any(p.wrong for p in simulated.predictions):
        return REGRESSION
    return OK if any(p.usable for p in simulated.predictions) else INCONCLUSIVE


def _fitted(name: str, results: Path, mpi: str | None) -> Fitted:
    from firstlight.analysis import loggops
    from firstlight.commands.shared import runs

    judgement, workloads, _ = runs.judged(runs.find(name, results))
    return loggops.fitted(judgement, workloads, mpi)[0]


def _stages(words: tuple[str, ...], name: str, results: Path) -> tuple[Stages, ...]:
    from firstlight.commands.shared import runs
    from firstlight.commands.simulate.stages import measured
    from firstlight.execute.network.stages import MEASURED, read

    if words != (MEASURED,):
        return read(words)
    judgement, workloads, _ = runs.judged(runs.find(name, results))
    return measured(judgement, workloads)


def _validate(name: str, results: Path, mpi: str | None, html: Path | None, as_json: bool) -> int:
    from firstlight import __version__
    from firstlight.commands.shared import runs
    from firstlight.commands.simulate import validation_page as validation
    from firstlight.commands.simulate.steps import Asks
    from firstlight.commands.simulate.validate import validate
    from firstlight.execute.network import program
    from firstlight.execute.network.prediction import Prediction

    judgement, workloads, _ = runs.judged(runs.find(name, results))
    built = program.build()
    found = validate(
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
    if html is not None:
        validation.write(found, html)
    if as_json:
        print_json(found)
    else:
        tell(validation.summary(found, html, width()))
    return OK
