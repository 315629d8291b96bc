"""`firstlight doctor`: what is here, what is missing, and one fix for each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from firstlight.cli.output import as_json, print_json, tell, width
from firstlight.errors import ENVIRONMENT, OK

if TYPE_CHECKING:
    from firstlight.toolchains import Toolbox


@click.command(
    epilog="""\b
Examples:
  ./fl doctor
  ./fl doctor --site

\b
Exit status:
  0    a run can start; with --site: every line does what it says, or there is no file
  2    wrong usage; with --site: a line is wrong
  3    something is missing that a run cannot do without; with --site: a line asks for
       what is not here
"""
)
@click.option(
    "--site", "of_site", is_flag=True, help="What each line of the site file did; wrong ones by their number."
)
@as_json
def command(of_site: bool, as_json: bool) -> int:
    """What is here, what is missing, and one fix for each."""
    from firstlight import doctor
    from firstlight.conduct import discover
    from firstlight.conduct.interrupt import leaving_nothing
    from firstlight.conduct.progress import display

    if of_site:
        return _site(as_json)
    with leaving_nothing(), display() as progress:
        machine, toolbox = discover(progress, set_up=False)
        diagnosis = doctor.diagnose(machine, toolbox, ranks=True)
    if as_json:
        print_json(diagnosis)
    else:
        tell(doctor.text(diagnosis, width()))
    return OK if diagnosis.healthy else ENVIRONMENT


def _site(as_json: bool) -> int:
    from firstlight import batch, site
    from firstlight.doctor.lines import Examined, examine, text

    path = site.find(os.environ)
    if path is None:
        examined = Examined(None, (), ())
    else:
        submitting = {name: system.COMMAND for name, system in batch.systems().items()}
        examined = examine(site.read(path), _survey, submitting, dict(os.environ))
    if as_json:
        print_json(examined)
    else:
        tell(text(examined))
    return examined.code


def _survey() -> Toolbox:
    """With the modules that are asked for, before the file leaves anything out."""
    from firstlight import machine, site
    from firstlight.conduct.progress import display
    from firstlight.toolchains.discovery import survey

    site.load()
    with display() as progress:
        return survey(machine.discover(), machine.cache_directory(), embed_mpi=False, say=progress.note)
