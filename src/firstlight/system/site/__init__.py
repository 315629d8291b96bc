"""Site: defaults for all users of a machine (modules, queue, folder of results), in one optional file.

The command line has an option for each of them, and a laptop needs no such file.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from firstlight import whole
from firstlight.core import caller
from firstlight.core.errors import UsageError
from firstlight.system.site import modules
from firstlight.system.site.entries import Choice, Site, Target, folder
from firstlight.system.site.file import Fault, Read, find, read
from firstlight.system.site.modules import Loaded

__all__ = [
    "LAUNCHER", "MODULES", "NAME", "SITE", "TARGET", "Choice", "Fault", "Loaded", "Read", "Site",
    "Target", "chosen", "current", "find", "folder", "launcher", "left_out", "load", "name", "read", "target", "wanted",
]  # fmt: skip

SITE = "FIRSTLIGHT_SITE"
"""The variable that names the file; if it is set to nothing, no file is read."""
MODULES = "FIRSTLIGHT_MODULES"
"""The value of --modules, also for the job in which a run goes on."""
LAUNCHER = "FIRSTLIGHT_LAUNCHER"
"""The value of --launcher, likewise."""
NAME = "FIRSTLIGHT_NAME"
"""The value of --name, likewise."""
TARGET = "FIRSTLIGHT_TARGET"
"""The value of --target, likewise."""

_FOLDERS = ("PATH", "LD_LIBRARY_PATH", *caller.SEARCHED)


def current() -> Read:
    """Return the site file of this process, an empty one if there is none. Raises UsageError for a wrong line."""
    path = find(os.environ)
    if path is None:
        return Read(None, Site(), (), {})
    found = _kept(path)
    if found.faults:
        more = f" (and {len(found.faults) - 1} more: ./fl doctor --site)" if len(found.faults) > 1 else ""
        raise UsageError(f"{found.faults[0].format(path)}{more}")
    return found


@cache
def _kept(path: Path) -> Read:
    return read(path)


def wanted() -> tuple[str, tuple[str, ...]]:
    """Return (toolchain of the site file or "", its modules): those of --modules, else the file's own choice."""
    site, named = current().site, os.environ.get(MODULES)
    words = site.modules if named is None else named
    if words in site.toolchains:
        return words, site.toolchains[words].modules
    return "", tuple(word for word in words.split(",") if word)


@cache
def _loaded(name: str, names: tuple[str, ...], folders: tuple[str, ...]) -> Loaded | None:
    os.environ["PATH"] = os.pathsep.join((*folders, os.environ.get("PATH", os.defpath)))
    if not names:
        return None
    changes = {n: v for n, v in modules.changes(names, os.environ).items() if not caller.DROPPED.fullmatch(n)}
    for variable, value in changes.items():
        if value is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = whole(value) if variable in _FOLDERS else value
    return Loaded(name, names, {variable: value or "" for variable, value in changes.items()})


def load() -> Loaded | None:
    """Load the requested modules into this process's environment, once; return None if no modules were requested.

    Raises UsageError if a module cannot be loaded, FirstlightError if there are no modules at all.
    """
    return _loaded(*wanted(), tuple(map(folder, current().site.path)))


def name() -> str:
    """Return what pages call this machine; "" if neither the command line nor the site file names it."""
    return os.environ.get(NAME) or current().site.name


def launcher() -> str:
    """Return the launcher of MPI programs: the name of an allocation's, or a command line; "" to try which works."""
    return os.environ.get(LAUNCHER) or current().site.launcher


def target() -> tuple[str, Target] | None:
    """Return the other processor that programs are made for, with its name in the site file; None: this machine's own.

    Raises UsageError for one that is not there, or lacks what it needs.
    """
    name, read = os.environ.get(TARGET, ""), current()
    if not name:
        return None
    known = read.site.targets
    if name not in known:
        there = f"known targets: {', '.join(sorted(known))}" if known else "add it to the site file, see docs/site.md"
        raise UsageError(f"--target or {TARGET}: no [targets.{name}] is in {read.path or 'a site file'}; {there}")
    for key in ("compilers", "run"):
        if not getattr(known[name], key):
            raise UsageError(f"{read.path}:{read.lines[('targets', name)]}: [targets.{name}] needs `{key}`")
    return name, known[name]


def chosen(choice: Choice, *names: str) -> bool:
    """Return whether the choice includes something with these names."""
    return _any(choice.only, names) and not _any(choice.leave_out, names)


def _any(patterns: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def left_out(read: Read, table: str, *names: str) -> str:
    """Return a message with the line of the file that excludes it."""
    choice: Choice = getattr(read.site, table)
    key = "leave_out" if _any(choice.leave_out, names) else "only"
    return f"{read.path}:{read.lines.get((table, key), 0)}: {table}.{key} excludes it"
