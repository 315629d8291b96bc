"""Apply the options in front of a command, and read the defaults of its own options from the site file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from firstlight.core.errors import UsageError

_TIMED = ("bench", "submit", "tune")
"""Commands that measure times and are of no use if nothing is timed."""


def ask(site_file: str | None, modules: str | None, launcher: str | None, target: str | None, name: str | None) -> None:
    """Store the options in the environment, which child processes inherit. Raises UsageError for a wrong one."""
    if site_file is not None:
        if not Path(site_file).exists():
            raise UsageError(f"--site-file: the file {site_file} does not exist")
        os.environ["FIRSTLIGHT_SITE"] = str(Path(site_file).absolute())
    if launcher:
        from firstlight.system.site.launchers import check

        check(launcher)
    if name:
        from firstlight.system.site.entries import check_name

        check_name(name)
    options = {
        "FIRSTLIGHT_MODULES": modules, "FIRSTLIGHT_LAUNCHER": launcher, "FIRSTLIGHT_TARGET": target,
        "FIRSTLIGHT_NAME": name,
    }  # fmt: skip
    for variable, value in options.items():
        if value is not None:
            os.environ[variable] = value


def refuse_target(command: str) -> None:
    """Raise UsageError if programs are to be emulated and the command measures times, which they do not have."""
    if command in _TIMED and os.environ.get("FIRSTLIGHT_TARGET"):
        raise UsageError(
            f"--target: {command} measures times, which emulated programs do not have; only run, setup and doctor "
            f"accept --target"
        )


def defaults(with_results: Iterable[str]) -> dict[str, Any]:
    """Return the defaults of options by command, from the site file, in the form of click's `default_map`.

    `with_results`: the commands and subcommands that have `--results`.

    Raises UsageError if a line of the site file is wrong.
    """
    from firstlight.system import site
    from firstlight.system.site.entries import OPTIONS, folder

    settings = site.current().site
    found: dict[str, Any] = {}
    if settings.results:
        where = {"results": folder(settings.results)}
        for name, _, inner in (command.partition(" ") for command in with_results):
            found.setdefault(name, {}).update({inner: where} if inner else where)
    submit = settings.submit
    given = {name: getattr(submit, name) for name in submit.__struct_fields__ if getattr(submit, name)}
    found.setdefault("submit", {}).update({OPTIONS.get(name, name): value for name, value in given.items()})
    return found
