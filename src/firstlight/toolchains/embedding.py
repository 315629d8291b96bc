"""Embedded MPI: pip's MPICH and Open MPI, each in an environment of its own, for systems that have none."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock

from firstlight.toolchains import Absent, Mpi
from firstlight.toolchains.host import Host
from firstlight.toolchains.wrappers import LABELS, first_of_family

FAMILIES = ("openmpi", "mpich")
STAMP = "complete"
"""Written last: an environment without it is half made, and made anew."""


def wants_embedding(libraries: Sequence[Mpi]) -> tuple[tuple[str, ...], bool]:
    """(families without a library, whether to install them): only a system without any MPI of its own gets one."""
    here = {library.family for library in libraries}
    return tuple(f for f in FAMILIES if f not in here), not any(m.origin == "system" for m in libraries)


def embed(
    host: Host, wanted: tuple[tuple[str, ...], bool], allowed: bool, say: Callable[[str], None]
) -> tuple[list[Mpi], list[Absent]]:
    """Embedded libraries of the wanted families: those already there, and new ones where that is wanted and allowed."""
    families, install = wanted
    root = place(host)
    if root is None:
        if not install:
            return [], []
        why = f"the cache's path has a blank ({host.cache_dir}), which MPICH's compiler wrapper does not survive"
        return [], [Absent("embedded MPI", why, "set FIRSTLIGHT_CACHE to a folder without blanks in its path")]
    with ThreadPoolExecutor(max(1, len(families))) as pool:
        answers = list(pool.map(lambda family: _one(host, root / family, family, install and allowed, say), families))
    return (
        [answer for answer in answers if isinstance(answer, Mpi)],
        [answer for answer in answers if isinstance(answer, Absent)],
    )


def place(host: Host) -> Path | None:
    """`<cache>/mpi`; where that path has a blank, the user's own cache folder; None where both have one."""
    user = Path(host.environ.get("XDG_CACHE_HOME") or Path(host.environ.get("HOME") or "/nonexistent") / ".cache")
    choices = (host.cache_dir / "mpi", user / "firstlight" / "mpi")
    return next((path for path in choices if not re.search(r"\s", str(path))), None)


def _one(host: Host, folder: Path, family: str, install: bool, say: Callable[[str], None]) -> Mpi | Absent | None:
    """The library in `folder`, installed first where need be. None: not there and not wanted."""
    if not (folder / STAMP).exists():
        if not install:
            return None
        error = _install(host, folder, family, say)
        if error:
            fix = f"connect to a package index, or install {LABELS[family]} with your package manager"
            return Absent(f"embedded {LABELS[family]}", f"pip install {family}: {error}", fix)
    found = first_of_family(host, family, [folder / "bin" / "mpicxx"], "embedded")
    if isinstance(found, Mpi):
        return found
    return Absent(f"embedded {LABELS[family]}", found, f"remove {folder} and run again: it is then made anew")


def _install(host: Host, folder: Path, family: str, say: Callable[[str], None]) -> str | None:
    """Make the environment; of two that start at once one waits for the other. The reason why it failed, or None."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f"{family}.lock"):
        if (folder / STAMP).exists():
            return None
        say(f"installing {LABELS[family]} (no MPI on this system; about 50 MB, once)")
        shutil.rmtree(folder, ignore_errors=True)
        made = host.run([sys.executable, "-m", "venv", "--without-pip", folder], timeout=120)
        if made.ok:
            python = folder / "bin" / "python"
            options = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries=2", "--only-binary=:all:"]
            made = host.run(
                [sys.executable, "-m", "pip", "--python", str(python), "install", *options, family], timeout=900
            )
        if not made.ok:
            shutil.rmtree(folder, ignore_errors=True)
            lines = [line for line in (made.out + made.err).splitlines() if line.strip()]
            return lines[-1].strip() if lines else f"exit status {made.code}"
        draft = folder / f"{STAMP}.{os.getpid()}"
        draft.write_text(f"{family}\n")
        draft.replace(folder / STAMP)
    return None
