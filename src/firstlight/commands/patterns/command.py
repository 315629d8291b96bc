"""`firstlight patterns`: show the communication of applications for any number of processes, without running them."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight.commands.shared.output import as_json, output_file, print_json, tell, width
from firstlight.commands.shared.pattern_options import parameters, processes
from firstlight.core.errors import UsageError

SECTION = "Predict"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.patterns.generator import Pattern, Shown
    from firstlight.results.traffic import Phase

    return {"patterns": Shown, "patterns-known": list[Pattern], "patterns-matrix": Phase}


@click.command(
    epilog="""\b
Examples:
  ./fl patterns
  ./fl patterns npb_cg -n 16 -p class=A

\b
Exit status:
  0    done
  2    wrong usage: no such pattern or parameter, or a number of processes that the pattern does not support
  3    firstlight-simulate cannot be built
"""
)
@click.argument("name", required=False, metavar="[PATTERN]")
@processes("The number of processes.")
@parameters
@output_file("Write a page with a drawing of the communication matrix to FILE.")
@click.option(
    "--matrix",
    "with_matrix",
    is_flag=True,
    help="Print the communication matrix instead, in the format of a profile; requires --json.",
)
@click.option(
    "--memory", "of_memory", is_flag=True, help="Show the memory for message buffers, up to 82,944 processes."
)
@click.option(
    "--node-memory", metavar="SIZE", help="The memory of a node, for --memory (default: the memory of this machine)."
)
@as_json
def command(
    name: str | None,
    processes: int | None,
    given: tuple[str, ...],
    output: Path | None,
    with_matrix: bool,
    of_memory: bool,
    node_memory: str | None,
    as_json: bool,
) -> int:
    """List communication patterns, or describe one pattern.

    The description shows the phases of the pattern, its messages, and the partners of each rank.

    A pattern depends only on the number of processes and on its parameters. Collective operations are listed
    separately. They are not in the matrix, because MPI prescribes no route for them; profiles treat them in the same
    way.

    --memory shows the buffer memory per process for one pattern or for all patterns. It uses the model of
    slow and fast buffers in report R4 (see docs/heritage.md).
    """
    from firstlight.commands.patterns import generator as patterns
    from firstlight.commands.patterns import page
    from firstlight.execute.network import program

    if node_memory is not None and not of_memory:
        raise UsageError("--node-memory requires --memory")
    if of_memory:
        return _memory(name, processes, given, output, with_matrix, node_memory, as_json)
    if name is None and (processes is not None or given or output is not None or with_matrix):
        raise UsageError("no pattern is named; ./fl patterns lists all patterns")
    if with_matrix and not as_json:
        raise UsageError("--matrix requires --json; to draw the matrix, use --output FILE")
    built = program.build()
    if name is None:
        known = patterns.known(built)
        if as_json:
            print_json(known)
        else:
            tell(page.listed(known, width()))
        return 0
    if processes is None:
        raise UsageError(f"the number of processes is missing: ./fl patterns {name} --processes 1024")
    shown = patterns.show(built, name, processes, given)
    if output is not None:
        page.write(shown, patterns.matrix(built, name, processes, given), output)
    if as_json:
        print_json(patterns.matrix(built, name, processes, given) if with_matrix else shown)
    else:
        tell(page.summary(shown, output, width()))
    return 0


def _memory(
    name: str | None,
    processes: int | None,
    given: tuple[str, ...],
    output: Path | None,
    with_matrix: bool,
    node_memory: str | None,
    as_json: bool,
) -> int:
    from firstlight.commands.patterns import generator as patterns
    from firstlight.commands.patterns import memory
    from firstlight.commands.patterns import memory_page as page
    from firstlight.core.units import parse_size
    from firstlight.execute.network import program
    from firstlight.system import machine

    if with_matrix:
        raise UsageError("--matrix and --memory: choose one")
    if name is None and given:
        raise UsageError("-p sets a parameter of one pattern; name the pattern")
    built = program.build()
    names = [name] if name is not None else [p.pattern for p in patterns.known(built)]
    counts = memory.COUNTS if processes is None else (processes,)
    needs = {}
    for one in names:
        try:
            needs[one] = memory.curve(built, one, given, counts)
        except UsageError as refusal:
            if name is not None:
                raise
            tell(f"{one} is left out: {refusal}", err=True)
    node = machine.discover().memory if node_memory is None else parse_size(node_memory)
    if output is not None:
        page.write(needs, node, output)
    if as_json:
        print_json(needs)
    else:
        tell(page.summary(needs, node, output))
    return 0
