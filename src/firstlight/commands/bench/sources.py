"""The files of a user's folder that a build gets a copy of: all but those that an earlier build made of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from pathlib import Path

from firstlight.core.errors import UsageError
from firstlight.core.units import binary
from firstlight.runner import external_commands

MOST_BYTES, MOST_FILES = 1 << 30, 50_000
"""Limits of a folder that is copied for every toolchain."""
PASSED_OVER = frozenset({".git", ".hg", ".svn", ".fl", "__pycache__", "results"})
THIN = b"!<thin>\n"
"""The first bytes of a static library that names objects in other files instead of containing them."""
MAGIC = (b"\x7fELF", b"!<arch>\n", THIN)
"""The first bytes of programs, objects and shared libraries, and of static libraries."""
SOURCE = re.compile(rb"(?<=\0)[\w.+-]+\.(?:[cCfFm]|cc|cp|cpp|cxx|c\+\+|CPP|[fF](?:or|pp|tn|90|95|03|08)|cu|[sS])(?=\0)")
"""A name of a source file as the symbol table of an object contains it."""


def files(folder: Path) -> list[Path]:
    """Return the files and links to copy: all but the programs, objects and libraries that a recipe must make.

    These are all compiled programs, and the objects and libraries that were made of one of the other files. Without
    them, each program in a copy is the recipe's: `make` would keep them, whatever compiler and flags they are of.
    Raises UsageError for a folder that is too large.
    """
    found = _all_files(folder)
    old = set(_old(found))
    new = [path for path in found if path not in old]
    if sum(path.lstat().st_size for path in new) > MOST_BYTES:
        raise _too_large(folder)
    return new


def compiled_files(folder: Path) -> list[str]:
    """Return the programs, objects and libraries in a folder, relative to it."""
    return [str(path.relative_to(folder)) for path in _all_files(folder) if _is_compiled(path)]


def old_files(folder: Path) -> list[str]:
    """Return the programs, objects and libraries in a folder that are not copied, relative to it."""
    return [str(path.relative_to(folder)) for path in _old(_all_files(folder))]


def old_programs(folder: Path) -> list[Path]:
    """Return the compiled programs in a folder, which are not copied."""
    return [path for path in _all_files(folder) if _is_program(path)]


def not_copied(folder: Path) -> Callable[[str, list[str]], set[str]]:
    """Return what `copytree` leaves out: all but `files`; sockets, pipes and devices cannot be copied."""
    wanted = set(files(folder))

    def left_out(above: str, names: list[str]) -> set[str]:
        return {
            name
            for name in names
            if name in PASSED_OVER
            or ((path := Path(above) / name) not in wanted and (path.is_symlink() or not path.is_dir()))
        }

    return left_out


def _all_files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for above, names, others in os.walk(folder):
        names[:] = sorted(set(names) - PASSED_OVER)
        links = [name for name in names if (Path(above) / name).is_symlink()]
        found += [p for name in sorted(others + links) if (p := Path(above) / name).is_file() or p.is_symlink()]
        if len(found) > MOST_FILES:
            raise _too_large(folder)
    return found


def _too_large(folder: Path) -> UsageError:
    most = f"{binary(MOST_BYTES)} or {MOST_FILES} files"
    return UsageError(f"{folder}: too large to copy for every toolchain (more than {most}); start in another folder")


def _old(found: Collection[Path]) -> list[Path]:
    compiled = [path for path in found if _is_compiled(path)]
    sources = {os.fsencode(path.name) for path in {*found} - {*compiled}}
    stems = {os.fsencode(path.stem) for path in {*found} - {*compiled}}
    return [path for path in compiled if _is_program(path) or _is_made_of(path, sources, stems)]


def _is_made_of(path: Path, sources: Collection[bytes], stems: Collection[bytes]) -> bool:
    """Return whether an object or library is named after a source, or names one in the symbol table of an object."""
    stem, content = os.fsencode(path.stem), path.read_bytes()
    if content.startswith(THIN) or (path.suffix == ".o" and (stem in sources or stem in stems)):
        return True
    return not set(SOURCE.findall(content)).isdisjoint(sources)


def _is_program(path: Path) -> bool:
    """Return whether it is an executable of the system, and not a shared library, whose sources are often elsewhere."""
    if path.is_symlink() or ".so" in path.suffixes:
        return False
    return os.access(path, os.X_OK | os.R_OK) and external_commands.compiled(path)


def _is_compiled(path: Path) -> bool:
    if path.is_symlink() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as opened:
        return opened.read(8).startswith(MAGIC)
