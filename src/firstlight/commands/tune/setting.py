"""Setting: an MPI library with one of its own algorithms forced, as another library of the plan."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from firstlight.toolchain import Mpi

PATIENCE = 60.0
"""Time limit in seconds for each program that is started to list the algorithms of a library."""
HINT = "--for preload does not require this program"


class Setting(msgspec.Struct, frozen=True):
    """`algorithm` of `collective`, forced by `environment`. `word` is what a file of the library calls it."""

    collective: str
    algorithm: str
    word: str
    environment: dict[str, str]


def applied(mpi: Mpi, setting: Setting) -> Mpi:
    """Return the library with the setting. It starts the same programs, so they are not built again."""
    name = f"{mpi.name}-{setting.collective}-{setting.algorithm}"
    return under(mpi, name, f"{setting.collective} by {setting.algorithm}", setting.environment)


def under(mpi: Mpi, name: str, words: str, environment: Mapping[str, str]) -> Mpi:
    """Return the library with an environment under another name; `setting` is the name of the library itself."""
    return replace(
        mpi, name=name, label=f"{mpi.label}, {words}", environment=mpi.environment | dict(environment), setting=mpi.name
    )
