"""Programs that do not answer and files that cannot be read, for the tests of what calls and reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from firstlight.core.errors import ENVIRONMENT, FirstlightError, UsageError
from firstlight.system.process import bounded

SILENT = {
    "hangs": ("#!/bin/sh\nsleep 1000\n", "no answer within 0.2 s"),
    "floods": ("#!/bin/sh\nexec cat /dev/zero\n", "printed more than 0 MiB"),
    "cannot be started": ("#!/no/such/shell\n", "No such file or directory"),
}
UNREADABLE = ("large", "endless", "pipe", "folder", "missing")


def reports_a_silent_program(
    name: str,
    how: str,
    query: Callable[[Path], object],
    module: ModuleType,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Require one line from a query that calls the program `name`, which fails in one of the ways of SILENT.

    `module` has the time limit of the query, `PATIENCE`.
    """
    script, message = SILENT[how]
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)
    others = "" if how == "cannot be started" else f":{os.environ['PATH']}"  # a search continues in the next folder
    monkeypatch.setenv("PATH", f"{folder}{others}")
    monkeypatch.setattr(bounded, "MOST", 1 << 16)
    monkeypatch.setattr(module, "PATIENCE", 0.2 if how == "hangs" else 60.0)
    with pytest.raises(FirstlightError, match=re.escape(message)) as caught:
        query(folder)
    assert name in str(caught.value) and "\n" not in str(caught.value) and "--" in str(caught.value)
    assert caught.value.code == ENVIRONMENT


def refuses_an_unreadable_file(read: Callable[[Path], object], most: int, what: str, folder: Path) -> None:
    """Require the path and the cause from a reader of at most `most` bytes, of a file as UNREADABLE names it."""
    path = folder / "mine.toml"
    if what == "large":
        path.write_bytes(b"#" * (most + 1))
    elif what == "endless":
        path.symlink_to("/dev/zero")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    messages = {"large": f"is larger than {most >> 10} KiB", "missing": "No such file", "folder": "Is a directory"}
    with pytest.raises(UsageError, match=messages.get(what, "is not a regular file")) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
