"""The entries of a site file: one field each, whose type and check every line is compared with."""

from __future__ import annotations

import os
import re

import msgspec

from firstlight.core.errors import UsageError
from firstlight.core.units import parse_duration, parse_in, parse_quantity
from firstlight.system.site import launchers


class Modules(msgspec.Struct, frozen=True):
    """`[toolchains.NAME]`: the modules that are loaded, in this order."""

    modules: tuple[str, ...] = ()


class Choice(msgspec.Struct, frozen=True):
    """`[compilers]` and `[mpi]`: patterns of names, as `gcc*`."""

    only: tuple[str, ...] = ("*",)
    leave_out: tuple[str, ...] = ()


class Compilers(Choice, frozen=True):
    """`[compilers]`: a choice, and the flags that the site's compilers need in every flag set."""

    flags: tuple[str, ...] = ()


class Target(msgspec.Struct, frozen=True):
    """`[targets.NAME]`: another processor, whose programs are made here and run under emulation."""

    compilers: tuple[str, ...] = ()  # cross compilers of C++, the first serves as the default of trials
    run: tuple[str, ...] = ()  # the words before a program: the emulator and its options
    native: tuple[str, ...] = ()  # flags for the processor, for which a cross compiler has no `native`
    mpi: tuple[str, ...] = ()  # folders of MPI libraries that were made for it


class Submission(msgspec.Struct, frozen=True):
    """`[submit]`: options of `./fl submit`, where the command line does not give them."""

    system: str = ""
    partition: str = ""
    account: str = ""
    nodes: int = 0
    per_node: int = 0
    gpus: int = 0
    time: str = ""
    setup_time: str = ""
    setup: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()


class Nominal(msgspec.Struct, frozen=True):
    """`[hardware]`: what the system does not show of a node."""

    clock: str = ""  # the highest of a core, as "3.7 GHz"
    memory: str = ""  # channels x transfer rate of all sockets, as "460.8 GB/s"


class EnergyCommand(msgspec.Struct, frozen=True):
    """`[energy]`: a command that prints the power of the node in watts."""

    command: str = ""
    interval: str = "1s"  # between two readings


class Site(msgspec.Struct, frozen=True):
    """The whole file."""

    name: str = ""  # what pages call the machine
    results: str = ""  # the folder of the runs
    path: tuple[str, ...] = ()  # folders in front of PATH
    modules: str = ""  # which of `toolchains` is loaded unless the user names another
    toolchains: dict[str, Modules] = {}
    targets: dict[str, Target] = {}
    compilers: Compilers = Compilers()
    mpi: Choice = Choice()
    launcher: str = ""  # of `launchers`, or a command line
    submit: Submission = Submission()
    hardware: Nominal = Nominal()
    energy: EnergyCommand = EnergyCommand()
    storage: dict[str, str] = {}  # directories by target of storage
    limits: dict[str, str] = {}  # contract values by the title of a row, as "180 GB/s"


OPTIONS = {"time": "limit", "directives": "directive"}
"""Entries of `[submit]` whose parameter of the command has another name."""


def folder(text: str) -> str:
    """Return a folder with `~` and `$NAME` expanded. Raises UsageError for an unset variable or a relative path."""
    found = os.path.expanduser(os.path.expandvars(text))  # noqa: PTH111 (also in the middle of a path)
    if unset := re.search(r"\$\{?\w+", found):
        raise UsageError(f"{text!r}: the variable {unset[0].lstrip('${')} is not set")
    if not os.path.isabs(found):  # noqa: PTH117
        raise UsageError(f"{text!r} is not an absolute path: start with /, ~ or a variable such as $HOME")
    return found


def check_name(text: str) -> None:
    """Check the name of a machine. Raises UsageError if it does not fit into a title."""
    if not re.fullmatch(r"\w[\w .,:()+-]{0,39}", text) or text != text.strip():
        raise UsageError(
            f"{text!r} is not a valid name for a machine: use at most 40 letters, digits, spaces and . , : ( ) + - _"
        )


def check(path: tuple[str, ...], value: object, site: dict[str, object]) -> str:
    """Return what is wrong with a value that has the right type, "" for nothing."""
    key = ".".join(path)
    try:
        if key == "results":
            folder(str(value))
        elif key == "name":
            check_name(str(value))
        elif key == "path" or (path[0] == "targets" and path[-1] == "mpi"):
            assert isinstance(value, list)
            for text in value:
                folder(text)
        elif key == "launcher":
            launchers.check(str(value))
        elif path[0] == "hardware":
            parse_in(str(value), {"clock": "Hz", "memory": "B/s"}[path[-1]])
        elif path[0] == "storage":
            folder(str(value))
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,31}", path[-1]):
                return f"{key}: the name of a target must consist of lower-case letters, digits and _"
        elif path[0] == "limits":
            parse_quantity(str(value))
        elif key in ("submit.time", "submit.setup_time", "energy.interval"):
            parse_duration(str(value), path[-1])
        elif path[-1] in ("nodes", "per_node", "gpus") and isinstance(value, int) and value < 1:
            return f"{key} = {value}: write at least 1, or remove the line"
    except UsageError as error:
        return f"{key}: {error}"
    if key == "modules" and value not in (known := _names(site)):
        return (
            f"modules = {value!r}: this file has no [toolchains.{value}]; known toolchains: "
            f"{', '.join(known) or 'none'}"
        )
    if key == "compilers.flags" and isinstance(value, list):
        odd = [flag for flag in value if not re.fullmatch(r"-[^\s;\"'\\$`]+", flag)]
        return f"{key}: {odd[0]!r} is not a flag: each flag is a single word that starts with -" if odd else ""
    if path[0] == "toolchains" and path[-1] == "modules" and isinstance(value, list):
        odd = [name for name in value if not re.fullmatch(r"[\w.+][\w.+/@:=~-]*", name)]
        return f"{key}: {odd[0]!r} is not a module name" if odd else ""
    return ""


def _names(site: dict[str, object]) -> list[str]:
    named = site.get("toolchains")
    return sorted(named) if isinstance(named, dict) else []
