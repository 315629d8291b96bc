"""Environment modules (Lmod, Environment Modules): the changes of `module load`, from a shell's environment."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from firstlight.core.errors import FirstlightError, UsageError
from firstlight.system.process import bounded

_SCRIPT = r"""
type module >/dev/null 2>&1 || { [ -r "${MODULESHOME:-}/init/bash" ] && . "$MODULESHOME/init/bash"; }
type module >/dev/null 2>&1 || exit 97
printf '\0\0'; env -0; printf '\0'
module load "$@" >&2 || exit 98
env -0
"""
_NO_MODULE = 97
_OF_SHELL = ("_", "SHLVL", "PWD", "OLDPWD")
_LISTS = re.compile(r"\w*PATH|LOADEDMODULES|_LMFILES_|XDG_\w+_DIRS")
"""Variables with lists of folders or names, separated by colons; this process's own entries in them remain."""
PATIENCE = 120.0
"""Seconds to wait: module trees are on file systems that thousands of users share."""


class Loaded(msgspec.Struct, frozen=True):
    """Loaded modules: the toolchain of the site file that lists them ("" if the user named them), and the variables
    that they changed.
    """

    toolchain: str
    modules: tuple[str, ...]
    changed: dict[str, str]


def changes(names: Sequence[str], own: Mapping[str, str]) -> dict[str, str | None]:
    """Return what loading the modules changes in the environment `own`; None: the variable is no longer there.

    A login shell has an environment of its own making. So it is read before and after, and only the difference counts.
    """
    words = ["bash", "-lc", _SCRIPT, "bash", *names]
    listed = ", ".join(names)
    try:
        done = bounded.run(words, timeout=PATIENCE, environment=own)
    except subprocess.TimeoutExpired:
        raise FirstlightError(f"module load {listed}: no answer within {PATIENCE:g} s") from None
    except OSError as error:
        raise FirstlightError(f"module load {listed}: bash: {error.strerror}") from error
    if done.returncode == _NO_MODULE:
        raise FirstlightError(f"module load {listed}: login shells (bash -l) have no command `module`; omit --modules")
    messages = " ".join(line.strip() for line in done.stderr.splitlines() if line.strip())
    if done.returncode != 0:
        raise UsageError(f"module load {listed} failed: {messages[-400:] or f'status {done.returncode}'}")
    _, first, last = done.stdout.split("\0\0", 2)
    before, after = _variables(first), _variables(last)
    _require(names, after.get("LOADEDMODULES", ""), messages)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return {name: _changed(name, before.get(name, ""), after.get(name), own.get(name, "")) for name in changed}


def _variables(text: str) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in text.split("\0"))
    return {name: value for name, _, value in pairs if name.isidentifier() and name not in _OF_SHELL}


def _require(names: Iterable[str], loaded: str, messages: str) -> None:
    """Check that the modules are loaded: older versions always end with status 0. Raises UsageError."""
    have = loaded.split(":")
    for name in names:
        if not any(module == name or module.startswith(f"{name}/") for module in have):
            detail = f": {messages[-300:]}" if messages else "; use the name that `module list` shows"
            raise UsageError(f"module load {name} ended, but {name} is not among the loaded modules{detail}")


def _changed(name: str, before: str, after: str | None, own: str) -> str | None:
    if after is None or not _LISTS.fullmatch(name):
        return after
    return os.pathsep.join(merged(_parts(before), _parts(after), _parts(own)))


def _parts(text: str) -> list[str]:
    return [part for part in text.split(os.pathsep) if part]


def merged(before: Sequence[str], after: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return `own` with the entries added in front and behind from `before` to `after`, without the removed ones."""
    gone = set(before) - set(after)
    for k in range(len(after) + 1):
        front, rest = after[:k], after[k:]
        stayed = [part for part in before if part not in gone and part not in front]
        if rest[: len(stayed)] == stayed:
            break
    back = rest[len(stayed) :]
    moved = {*front, *back, *gone}
    return [*front, *(part for part in own if part not in moved), *back]
