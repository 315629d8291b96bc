"""`firstlight nodes`: compare the nodes of a machine, and show which of them are not like the others."""

from __future__ import annotations

from pathlib import Path

import click

from firstlight.commands.shared.output import (
    as_json,
    colour,
    note,
    output_file,
    print_json,
    results_folder,
    tell,
    width,
)

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.nodes.comparison import Nodes

    return {"nodes": Nodes}


@click.command(
    epilog="""\b
Example:
  ./fl nodes latest

\b
Exit status:
  0    no node or link is an outlier
  1    a node or a link is an outlier
  2    wrong usage, or no measurement of nodes
  4    a node or a pair could not be measured
"""
)
@click.argument("place", metavar="FOLDER")
@output_file("Write the page to FILE instead of nodes.html in the folder.")
@as_json
@results_folder
def command(place: str, output: Path | None, as_json: bool, results: Path) -> int:
    """Show the nodes that `./fl run --each-node` measured.

    The page shows every node and pair of nodes, and marks outliers.

    FOLDER is the folder of such a measurement, its name in the results folder, or `latest`. firstlight judges all its
    runs again.
    """
    from firstlight.commands.nodes import folder

    found = folder.find(place, results)
    return show(found, output, as_json)


def show(path: Path, output: Path | None, as_json: bool) -> int:
    """Write the page into the folder or to `output`, print the summary, and return the exit status."""
    from firstlight.commands.nodes import looking
    from firstlight.commands.nodes.page import summary

    found = looking.look(path)
    written: Path | None = None
    try:
        written = looking.page(path, found, output)
    except OSError as error:
        if output is not None:
            raise
        note(f"{path}: the page cannot be written there ({error.strerror}); --output FILE selects another place")
    if as_json:
        print_json(found)
    else:
        tell(summary(found, width(200), colour(), written))
    return found.code
