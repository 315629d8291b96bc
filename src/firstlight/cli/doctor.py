"""`firstlight doctor`: what is here, what is missing, and one fix for each."""

from __future__ import annotations

import click

from firstlight.cli.output import as_json, print_json, tell, width
from firstlight.errors import ENVIRONMENT, OK


@click.command(
    epilog="""\b
Example:
  ./fl doctor
"""
)
@as_json
def command(as_json: bool) -> int:
    """What is here, what is missing, and one fix for each.

    The exit status is 3 if something is missing that a run cannot do without.
    """
    from firstlight import doctor
    from firstlight.conduct import discover
    from firstlight.conduct.interrupt import leaving_nothing
    from firstlight.conduct.progress import display

    with leaving_nothing(), display() as progress:
        machine, toolbox = discover(progress, set_up=False)
        diagnosis = doctor.diagnose(machine, toolbox, ranks=True)
    if as_json:
        print_json(diagnosis)
    else:
        tell(doctor.text(diagnosis, width()))
    return OK if diagnosis.healthy else ENVIRONMENT
