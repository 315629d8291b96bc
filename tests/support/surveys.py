"""Surveys of folders that tests invent: g++ and nothing else, programs that print a given text."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox
from firstlight.toolchain.discovery import survey

GXX = shutil.which("g++")
needs_gcc = pytest.mark.skipif(GXX is None, reason="no g++ here")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def look(machine: Machine, tmp_path: Path, *folders: Path, embed: bool = False, say=None, **environ: str) -> Toolbox:
    """Return a survey that sees only `folders` on its search path."""
    world = {"PATH": os.pathsep.join(map(str, folders)), "HOME": str(tmp_path / "home"), **environ}
    return survey(machine, tmp_path / "cache", embed_mpi=embed, say=say or (lambda _: None), environ=world)


def only_gcc_in(folder: Path) -> Path:
    """Return a folder that contains only g++, which still finds its assembler and linker."""
    return script(folder / "g++", f'PATH=/usr/bin:/bin exec "{GXX}" "$@"').parent
