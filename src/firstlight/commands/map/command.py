"""`firstlight map`: compute which rank belongs on which slot, so that messages share as few links as possible."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import as_json, output_folder, print_json, quiet, results_folder, tell, width
from firstlight.commands.shared.pattern_options import parameters, processes
from firstlight.core import shell
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INCONCLUSIVE, INTERRUPTED, OK, UsageError

if TYPE_CHECKING:
    from firstlight.commands.map.answer import Mapped
    from firstlight.commands.map.program import Best
    from firstlight.commands.map.slots import Slots
    from firstlight.commands.map.source import Source
    from firstlight.toolchain import Mpi

SECTION = "Improve"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.map.answer import Mapped

    return {"map": Mapped}


@click.command(
    epilog="""\b
Example:
  ./fl map npb_cg -n 64 -p class=A --topology torus:8x8

\b
Topologies: those of `./fl simulate` except flat; tree:CORESxNUMAxSOCKETS; and `allocation`:
the cores of this node, or the nodes of the batch job behind one switch.

\b
Exit status:
  0    a map is recommended, or the default order is the best one
  2    wrong usage
  3    firstlight-map cannot be built
  4    the measurements of --try do not show whether the map helps
  130  interrupted; the best map so far is written
"""
)
@click.argument("what", metavar="PROFILE|PATTERN|RUN|FILE")
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--topology", required=True, metavar="SPEC|allocation", help="The network, such as torus:32x32; see below."
)
@click.option(
    "--ranks-per-node",
    "per_node",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="The number of ranks on each node (default: 1).",
)
@click.option(
    "--inside",
    default="",
    metavar="SPEC",
    help="The structure of a node, such as tree:8x2x2: cores, NUMA nodes, sockets.",
)
@click.option(
    "--phases",
    is_flag=True,
    help="Minimise the load of each phase separately, because only simultaneous messages share links.",
)
@processes("The number of processes of a named pattern.")
@parameters
@click.option("--holes", default="", metavar="NODES", help="Nodes to leave empty, comma separated, counted from 0.")
@click.option(
    "--faulty",
    default="",
    metavar="NODES",
    help="Nodes to leave empty, as for --holes. Routes also avoid these nodes if the network supports that.",
)
@click.option(
    "--node-names",
    "hosts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file with the names of the nodes, one per line.",
)
@click.option(
    "--budget",
    default="45s",
    show_default=True,
    metavar="TIME",
    help="The maximum time of the search.",
)
@click.option(
    "--moves",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="The number of annealing moves per start; 0: automatic.",
)
@click.option(
    "--starts",
    type=click.IntRange(0, 1000),
    default=4,
    show_default=True,
    help="The number of starts of the annealing search.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="The seed of the random numbers: the same seed produces the same map.",
)
@click.option(
    "--by", "judged", type=click.Choice(["events", "links"]), default="events", show_default=True,
    help="How to choose among the best maps: by simulated events, or only by the sum of the busiest links.",
)  # fmt: skip
@click.option(
    "--network", default="", metavar="NAME|PARAMETERS", help="The network for predicted times, as in `./fl simulate`."
)
@output_folder("Write the files to DIR (default: a new folder next to the runs).")
@click.option(
    "--map", "kept", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Use this map without a search: FILE has one slot per line, like the file DIR/best-so-far that a killed "
    "search leaves.",
)  # fmt: skip
@click.option(
    "--try",
    "attempt",
    is_flag=True,
    help="Launch COMMAND alternately with the map and in the default order, with the same binding.",
)
@click.option(
    "--launches",
    type=click.IntRange(LAUNCHES, 1000),
    default=8,
    show_default=True,
    help="The number of launches of each side of --try.",
)
@click.option("--mpi", metavar="NAME", help="The MPI library of COMMAND, if firstlight does not recognise it.")
@results_folder
@quiet
@as_json
def command(
    what: str,
    words: tuple[str, ...],
    topology: str,
    per_node: int | None,
    inside: str,
    phases: bool,
    processes: int | None,
    given: tuple[str, ...],
    holes: str,
    faulty: str,
    hosts: Path | None,
    budget: str,
    moves: int,
    starts: int,
    seed: int,
    judged: str,
    network: str,
    output: Path | None,
    kept: Path | None,
    attempt: bool,
    launches: int,
    mpi: str | None,
    results: Path,
    as_json: bool,
) -> int:
    """Find a better rank map for a program, and measure its effect.

    PROFILE is a profile of `./fl profile`: its folder, its name, or `latest`. PATTERN is the name of a communication
    pattern, such as npb_cg, with --processes. RUN is a run that measured such a pattern. FILE is a text file with
    `ranks P`, `phase NAME` and lines FROM TO BYTES. The search minimises the load of the busiest link, summed over
    phases. If the default order is the best, no other map is recommended.
    """
    from firstlight.commands.map import page, source
    from firstlight.commands.map.runner import MappingRequest, carry_out
    from firstlight.core.units import parse_duration
    from firstlight.results import store

    if attempt != bool(words):
        raise UsageError(
            "--try requires a command, and a command requires --try: ./fl map latest ... --try -- "
            "mpiexec -n 4 ./program"
        )
    found = _measured(what, results, processes, given, phases) or source.find(
        what, results, processes, ",".join(given), phases
    )
    stands = _slots(topology, per_node, inside, hosts)
    effort = ["--seed", str(seed), "--moves", str(moves), "--starts", str(starts)]
    effort += ["--by-links"] if judged == "links" else []
    for name, nodes in (("--holes", holes), ("--faulty", faulty)):
        effort += [name, nodes] if nodes else []
    request = MappingRequest(
        found, stands, _machine(network), parse_duration(budget, "time of the search"), tuple(effort),
        output or store.new_folder(results, time.time(), "map"), words,
        _mpi(words, mpi) if words else None, launches, kept,
    )  # fmt: skip
    shown = _Line()
    made = carry_out(request, shown.best, shown.launched, shown.stage)
    shown.end()
    html = Path(made.folder) / "report.html"
    page.write(made, html)
    if as_json:
        print_json(made)
    else:
        tell(page.summary(made, html, width()))
    return _code(made)


def _measured(what: str, results: Path, processes: int | None, given: tuple[str, ...], phases: bool) -> Source | None:
    """Return the pattern that the run `what` measured; None if `what` is a profile or not a run."""
    from firstlight.commands.map import source
    from firstlight.commands.shared import runs
    from firstlight.results.traffic import PROFILE

    folder = runs.named(what, results)
    if folder is None or (folder / PROFILE).is_file():
        return None
    if given:
        raise UsageError(
            f"-p sets a parameter of a named pattern; {what} is a run, which already determines its parameters"
        )
    judgement, workloads, _ = runs.judged(folder)
    return source.of_run(judgement, workloads, processes, phases)


def _code(made: Mapped) -> int:
    if made.answer.interrupted:
        return INTERRUPTED
    return INCONCLUSIVE if made.trial is not None and made.trial.outcome == "inconclusive" else OK


def _slots(topology: str, per_node: int | None, inside: str, hosts: Path | None) -> Slots:
    from firstlight.commands.map import slots

    if topology == slots.HERE:
        from firstlight.system import machine
        from firstlight.system.machine import allocation

        if inside or hosts:
            raise UsageError("--inside and --node-names apply only to a named network, not to an allocation")
        return slots.here(machine.discover(), allocation.discover(), per_node)
    names = slots.names_in(hosts) if hosts is not None else ()
    notes = ("links inside a node are assumed to be 4 times as fast as links between nodes",) if inside else ()
    return slots.Slots(topology, per_node or 1, inside, names, notes=notes)


def _machine(text: str) -> str:
    from firstlight.core import networks

    return text if not text or "=" in text else networks.named(text).word


def _mpi(words: tuple[str, ...], named: str | None) -> Mpi:
    from firstlight import toolchain
    from firstlight.system import machine
    from firstlight.toolchain import used_mpi

    here = toolchain.discover(machine.discover(), machine.cache_directory(), embed_mpi=False)
    return used_mpi.mpi_of(words, here.mpis, named)


class _Line:
    """One line of progress that is overwritten; it is shown only on a terminal."""

    def __init__(self) -> None:
        self._seen = sys.stderr.isatty() and not shell.call().quiet

    def stage(self, text: str) -> None:
        self._show(f"{text} ...")

    def best(self, best: Best) -> None:
        from firstlight.core.units import quantity

        self._show(f"{best.seconds:.0f} s: {quantity(best.maxima, 'B')} on the busiest links, by {best.best}")

    def launched(self, done: int, total: int) -> None:
        self._show(f"{done} of {total} launches")

    def end(self) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        if self._seen:
            click.echo(f"\r{text:<78}\r", err=True, nl=False)
