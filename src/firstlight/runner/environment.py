"""The environment: the variables that steer OpenMP, MPI and BLAS, and the revision of the sources, without secrets."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from firstlight import INSTALLED, ROOT, __version__
from firstlight.core import caller
from firstlight.execute.launch.environment import DECIDED, PREFIXES, SEARCHED, TEAMS
from firstlight.system import site
from firstlight.system.mpi_families import every, outside
from firstlight.system.process import bounded
from firstlight.system.site import Loaded

_BATCH = frozenset(
    f"SLURM_{name}"
    for name in (
        "JOB_NUM_NODES",
        "NNODES",
        "NTASKS",
        "NPROCS",
        "CPUS_PER_TASK",
        "CPUS_ON_NODE",
        "TASKS_PER_NODE",
        "CPU_BIND",
        "CPU_FREQ_REQ",
        "HINT",
        "MEM_BIND",
        "THREADS_PER_CORE",
    )
)
_PRIVATE = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CRED|COOKIE|URI|URL|HOST|ADDR|USER|NODELIST|SERVER", re.IGNORECASE)
HIDDEN = "(set)"
LONGEST = 1000  # characters kept of a value


def variables(
    environment: Mapping[str, str] = os.environ, external: bool = False, placed: bool = False
) -> dict[str, str]:
    """Return the variables that reach a program, by name. One that may contain a secret or a host has no value.

    Files in the home folder that configure MPI libraries are among them, with a hash of their content.
    `external`: the program is an external command; `placed`: its placement sets OMP_NUM_THREADS. The host is replaced;
    in search paths the user and their home too. A long value is cut, with a hash of all of it.
    """
    kept = _home_files(environment.get("HOME", ""))
    for name, value in sorted(outside(environment).items()):
        folders = name in SEARCHED or name in caller.STEERING
        passed = name.startswith(PREFIXES) and name not in TEAMS
        if not value or not (name in _BATCH or folders or passed) or (name in DECIDED and not external):
            continue
        if name == "OMP_NUM_THREADS" and placed:
            continue
        if passed and _PRIVATE.search(name):
            kept[name] = HIDDEN
        else:
            hidden = _without_user(value, environment) if folders else value
            text = _without(socket.gethostname(), "<host>", hidden)
            kept[name] = _short(text.encode("utf-8", "backslashreplace").decode())  # a folder's name may not be text
    return kept


def _home_files(home: str) -> dict[str, str]:
    """Return `~/.openmpi/mca-params.conf`: `sha256 1f2e...` for each file that sets something."""
    found = {}
    for name in sorted(name for family in every() for name in family.home_files) if home else ():
        with contextlib.suppress(OSError):
            content = (Path(home) / name).read_bytes()
            if any(line.strip() and not line.strip().startswith(b"#") for line in content.splitlines()):
                found[f"~/{name}"] = f"sha256 {hashlib.sha256(content).hexdigest()[:16]}"
    return found


def loaded() -> Loaded | None:
    """Return the loaded modules and what they changed, or None; a variable that may be private has no value."""
    found = site.load()
    if found is None:
        return None
    shown = {n: "" if _PRIVATE.search(n) else _short(_without_user(v, os.environ)) for n, v in found.changed.items()}
    return Loaded(found.toolchain, found.modules, shown)


def _without_user(paths: str, environment: Mapping[str, str]) -> str:
    if len(home := environment.get("HOME", "").rstrip("/")) > 1:
        paths = re.sub(rf"(?<![\w./~-]){re.escape(home)}(?![\w.-])", "~", paths)
    return _without(environment.get("USER", ""), "<user>", paths)


def _without(name: str, shown: str, text: str) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", shown, text) if name else text


def _short(value: str) -> str:
    """Return the beginning of a long value with the hash of all of it, so that different values stay different."""
    if len(value) <= LONGEST:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()
    return f"{value[:LONGEST]}… (SHA-256 of all {len(value)} characters: {digest[:16]})"


def revision() -> str:
    """Return the commit of the sources, with `+` if they were changed since; the version of an installed package.

    The commit is empty if the checkout itself is not a repository, even if it is inside another repository.
    """
    if INSTALLED:
        return __version__
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return ""
    return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


_GIT = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Options that keep git from starting programs that the repository's configuration names."""


def _git(*arguments: str) -> str:
    """Return git's answer; "" without git or a repository: a run from an archive has no revision."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CEILING_DIRECTORIES": str(ROOT.parent), "GIT_OPTIONAL_LOCKS": "0"}
    return bounded.output(["git", *_GIT, "-C", str(ROOT), *arguments], environment=environment).strip()
