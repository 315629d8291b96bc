"""`firstlight doctor`: what is here, what is missing, and one fix for each."""

from __future__ import annotations

import click

from firstlight.cli.output import as_json, print_json, width


@click.command()
@as_json
def command(as_json: bool) -> None:
    """What is here, what is missing, and one fix for each."""
    from firstlight import doctor
    from firstlight.conduct import discover
    from firstlight.conduct.progress import display

    with display() as progress:
        machine, toolbox = discover(progress)
        diagnosis = doctor.diagnose(machine, toolbox)
    if as_json:
        print_json(diagnosis)
    else:
        click.echo(doctor.text(diagnosis, width()))
