"""Embedded MPI: pip's packages of MPI libraries, each in an environment of its own, for systems that have none."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock

from firstlight.system import packages
from firstlight.system.machine import user_cache
from firstlight.system.mpi_families import Family, every, of
from firstlight.toolchain import Absent, Mpi
from firstlight.toolchain.host import Host
from firstlight.toolchain.wrappers import first_of_family

STAMP = "complete"
"""The file that is written last: an environment without it is incomplete, and is made again."""

ALONE = {"PYTHONPATH": ""}
"""No foreign module replaces one of Python or of pip, which starts Python again."""


def wants_embedding(libraries: Sequence[Mpi]) -> tuple[tuple[str, ...], bool]:
    """Return (families without a library, whether to install them): only if the system has no MPI of its own."""
    here = {library.family for library in libraries}
    missing = tuple(family.name for family in every() if family.embedded and family.name not in here)
    return missing, not any(m.origin == "system" for m in libraries)


def embed(
    host: Host, wanted: tuple[tuple[str, ...], bool], allowed: bool, say: Callable[[str], None]
) -> tuple[list[Mpi], list[Absent]]:
    """Return embedded libraries of the wanted families: existing ones, and new ones if wanted and allowed."""
    families, install = wanted
    root = place(host)
    if root is None:
        if not install:
            return [], []
        why = f"the cache's path has a blank ({host.cache_dir}), which compiler wrappers do not support"
        return [], [Absent("embedded MPI", why, "set FIRSTLIGHT_CACHE to a folder without blanks in its path")]
    with ThreadPoolExecutor(max(1, len(families))) as pool:
        answers = list(pool.map(lambda name: _one(host, root / name, of(name), install and allowed, say), families))
    return (
        [answer for answer in answers if isinstance(answer, Mpi)],
        [answer for answer in answers if isinstance(answer, Absent)],
    )


def place(host: Host) -> Path | None:
    """Return `<cache>/mpi`; if that path has a blank, that of the user's own cache folder; None if both have one."""
    # another kind of machine that shares the cache has a Python environment of another name, and its own libraries
    prefix = Path(sys.prefix)
    other = prefix.name.removeprefix("venv") if prefix.parent == host.cache_dir else ""
    choices = (host.cache_dir / f"mpi{other}", user_cache(host.environ) / f"mpi{other}")
    return next((path for path in choices if not re.search(r"\s", str(path))), None)


def _one(host: Host, folder: Path, family: Family, install: bool, say: Callable[[str], None]) -> Mpi | Absent | None:
    """Return the library in `folder`, installed first if necessary; None if it is missing and not wanted."""
    if not (folder / STAMP).exists():
        if not install:
            return None
        where = packages.source(host.cache_dir, host.environ)
        if where is None:
            fix = "./fl setup --offline --wheelhouse DIR, or ./fl setup with a network"
            return Absent(f"embedded {family.label}", "offline: nothing is installed", fix)
        error = _install(host, folder, family, where, say)
        if error:
            fix = f"connect to a package index, or install {family.label} with your package manager"
            return Absent(f"embedded {family.label}", f"pip install {family.name}: {error}", fix)
    found = first_of_family(host, family, [folder / "bin" / "mpicxx"], "embedded")
    if isinstance(found, Mpi):
        return found
    return Absent(f"embedded {family.label}", found, f"remove {folder} and run again to rebuild it")


def _install(host: Host, folder: Path, family: Family, where: Sequence[str], say: Callable[[str], None]) -> str | None:
    """Make the environment, one process at a time. Return the reason for a failure, or None."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f"{family.name}.lock"):
        if (folder / STAMP).exists():
            return None
        say(f"installing {family.label} (no MPI on this system; about 50 MB, once)")
        shutil.rmtree(folder, ignore_errors=True)
        made = host.run([sys.executable, "-I", "-m", "venv", "--without-pip", folder], ALONE, timeout=120)
        if made.ok:
            python = folder / "bin" / "python"
            options = [*packages.COMMON, "--retries=2", *where]
            made = host.run(
                [sys.executable, "-I", "-m", "pip", "--python", str(python), "install", *options, family.name],
                ALONE,
                timeout=900,
            )
        if not made.ok:
            shutil.rmtree(folder, ignore_errors=True)
            lines = [line for line in (made.out + made.err).splitlines() if line.strip()]
            return lines[-1].strip() if lines else f"exit status {made.code}"
        draft = folder / f"{STAMP}.{os.getpid()}"
        draft.write_text(f"{family.name}\n")
        draft.replace(folder / STAMP)
    return None
