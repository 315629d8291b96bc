"""Check, before the first launch, whether the system can start a command as it is written."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import msgspec

from firstlight.commands.bench.placeholders import OUT, names
from firstlight.commands.bench.request import for_a_shell
from firstlight.core.errors import UsageError
from firstlight.core.shell import line
from firstlight.core.units import binary
from firstlight.model.plan import ExternalCommand
from firstlight.runner import external_commands

LONGEST = (1 << 17) - 1
"""Linux passes at most this many bytes of one argument to a program."""
SPARE = 1 << 17
"""Bytes that stay free among all arguments, for the variables of a launch and the words of a launcher."""
_FIRST_LINE = 256  # Linux reads this many bytes of it
_SETS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


def require(external: ExternalCommand) -> None:
    """Raise UsageError if the command's program, or the reference of its output, cannot be used."""
    command, folder = external.command, Path(external.folder)
    if OUT in names(command[:1]):
        raise UsageError(f"{command[0]}: {{out}} is the output file and cannot be started as a command")
    if (file := external_commands.found(command[0], folder)) is None:
        raise UsageError(f"{_short(command[0])}: {_absent(command, folder)}")
    for flaw in filter(None, (_script(file), _arguments(external), _reference(external))):
        raise UsageError(f"{_short(command[0])}: {flaw}")


def _short(word: str) -> str:
    shown = word if word.isprintable() else line([word])
    return shown if len(shown) <= 100 else f"{shown[:97]}..."


def _absent(command: tuple[str, ...], folder: Path) -> str:
    word = command[0]
    if len(command) > 1 and all(" " in one.strip() for one in command):
        return f"no such command; put -- between commands: {_short(' '.join(f'-- {line([one])}' for one in command))}"
    if _SETS.fullmatch(word):
        return f"no such command; set a variable with --env {line([_short(word)])}"
    file = folder / word
    if "/" not in word or not file.exists():
        return "; ".join(filter(None, ("no such command", for_a_shell(word))))
    return "is a folder, not a program" if file.is_dir() else "cannot be executed (chmod +x it)"


def _script(file: Path) -> str:
    """Return why a script cannot be started, "" for any other file."""
    try:
        with file.open("rb") as opened:
            head = opened.read(_FIRST_LINE)
    except OSError:
        return ""  # a file that can be executed but not read is not a script
    shebang, end, _ = head.partition(b"\n")
    if not head.startswith(b"#!"):
        if b"\0" in head:
            return ""
        mark = ", because a byte order mark precedes it" if head.startswith(b"\xef\xbb\xbf#!") else ""
        return f"is a script that does not start with #!{mark}; make #!/bin/sh its first line"
    words = shebang[2:].decode("utf-8", "surrogateescape").split()
    if shebang.endswith(b"\r"):
        return f"its lines end with carriage returns; remove these characters: sed -i 's/\\r$//' {line([file])}"
    if not end and len(head) == _FIRST_LINE:
        return f"its first line is longer than the {_FIRST_LINE} bytes that Linux reads"
    if not words:
        return "its first line names no interpreter; write #!/bin/sh"
    if not os.access(words[0], os.X_OK):
        return f"its first line names {words[0]}, which does not exist or cannot be executed"
    called = words[1] if len(words) > 1 and Path(words[0]).name == "env" else ""
    if called and not called.startswith("-") and "=" not in called and shutil.which(called) is None:
        return f"its first line names {called}, which is not on PATH"
    return ""


def _arguments(external: ExternalCommand) -> str:
    """Return why the system would refuse the words, "" if it accepts them."""
    longest = max(len(os.fsencode(word)) for word in (*external.command, *external.environment.values()))
    if longest > LONGEST:
        return f"an argument or variable has {longest} bytes, but Linux accepts at most {LONGEST}; use a file instead"
    together = sum(len(os.fsencode(word)) + 9 for word in external.command)
    most = os.sysconf("SC_ARG_MAX") - SPARE
    if max(together, len(msgspec.json.encode(external))) > most:
        return f"the arguments have {binary(together)} together, more than this system accepts; use a file instead"
    return ""


def _reference(external: ExternalCommand) -> str:
    """Return why the reference cannot be read, "" if it can. A command that prepares may create it."""
    if external.like is None:
        return ""
    reference = Path(external.like.reference)
    if Path(external.folder) / external.like.file == reference:
        return f"--like compares {reference} with itself"
    if not reference.exists():
        return "" if external.prepare else f"--like: the reference {reference} does not exist"
    if not reference.is_file():
        return f"--like: the reference {reference} is not a regular file"
    return "" if os.access(reference, os.R_OK) else f"--like: the reference {reference} cannot be read"
