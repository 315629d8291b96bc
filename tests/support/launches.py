"""Launches of programs with MPI, made once more where Open MPI 4 killed a rank that had printed everything.

In MPI_Init a rank of Open MPI 4 hands a notice of its own to a thread of the library. Where processors are busy that
thread may get its turn only after MPI_Finalize has unloaded the component whose function it is then to call
(open-mpi/ompi issue 10117: orte_finalize closes mca_pmix_* and stops the thread afterwards). No setting of Open MPI
or PMIx prevents it; PMIX_MCA_gds=hash, which is advised for other faults, does not either: docs/tests.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import turns

_FAULT = re.compile(r"^(\[.+:\d+\]) Signal: Segmentation fault", re.MULTILINE)


def died_leaving(stderr: str) -> bool:
    """Return whether ranks were killed as above. Each reports the signal, but no function in which it
    occurred. The code that the thread executes was unloaded, so that Open MPI's walk of the stack is a second fault."""
    ranks = set(_FAULT.findall(stderr))
    return bool(ranks) and not any(f"{rank} [ 0] " in stderr for rank in ranks)


class _Ended(Protocol):
    @property
    def stderr(self) -> str: ...


_Any = TypeVar("_Any", bound=_Ended)


def settled(launch: Callable[[], _Any]) -> _Any:
    """Return the result of `launch`; call it once more if ranks died while leaving. A second failure is our fault."""
    ended = launch()
    if not died_leaving(ended.stderr):
        return ended
    warnings.warn(f"a rank died inside MPI_Finalize; once more: {ended.stderr}", stacklevel=2)
    return launch()


def by_hand(
    words: Sequence[str | Path], environment: Mapping[str, str], timeout: float = turns.PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run a command that contains MPI's launcher to its end, with these variables and all that are set."""
    own = {**os.environ, **environment}
    return settled(
        lambda: subprocess.run(
            words, env=own, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout
        )
    )
