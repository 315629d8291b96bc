"""`firstlight doctor`: show what is here, what is missing, and one fix for each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from firstlight.commands.shared.output import as_json, print_json, tell, width
from firstlight.core.errors import ENVIRONMENT, OK

if TYPE_CHECKING:
    from firstlight.toolchain import Toolbox

SECTION = "Measure"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.commands.doctor.diagnosis import Diagnosis
    from firstlight.commands.doctor.lines import Examined

    return {"doctor": Diagnosis, "doctor-site": Examined}


@click.command(
    epilog="""\b
Examples:
  ./fl doctor
  ./fl doctor --site

\b
Exit status:
  0    a run can start; with --site: every line is valid, or there is no file
  2    wrong usage; with --site: a line is wrong
  3    a requirement of every run is missing; with --site: a line names an item
       that this machine does not have
"""
)
@click.option(
    "--site",
    "of_site",
    is_flag=True,
    help="Show the effect of each line of the site file, and the line numbers of errors.",
)
@as_json
def command(of_site: bool, as_json: bool) -> int:
    """Show what this machine has, and how to add what is missing."""
    from firstlight.commands.doctor import diagnosis as doctor
    from firstlight.runner import discover
    from firstlight.runner.interrupt import leaving_nothing
    from firstlight.runner.progress import display

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
    from firstlight.commands.doctor.lines import Examined, examine, text
    from firstlight.system import batch, site

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
    """Return the toolbox with the requested modules, before the site file excludes anything."""
    from firstlight.runner.progress import display
    from firstlight.system import machine, site
    from firstlight.toolchain.discovery import survey

    site.load()
    with display() as progress:
        return survey(machine.discover(), machine.cache_directory(), embed_mpi=False, say=progress.note)
