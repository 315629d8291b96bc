"""Sources: the files of a program, as its #include lines show, and a hash of their content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from firstlight import ROOT

NATIVE = ROOT / "native"
HARNESS = "harness"
LIBRARIES = (HARNESS, "grid", "checkpoint", "collectives", "patterns", "network")
"""Folders of native/ with headers for all, "firstlight/...": a program is linked with the library that it includes."""

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


class Sources:
    """Files as they are now, each read once."""

    def __init__(self) -> None:
        self._digests: dict[Path, bytes] = {}
        self._includes: dict[Path, tuple[Path, ...]] = {}
        self._libraries: dict[str, frozenset[Path]] = {}

    def closure(self, files: Iterable[Path]) -> frozenset[Path]:
        """Return the files and all that they include in quotes, directly or not, regardless of any #if."""
        found: set[Path] = set()
        left = [file.resolve() for file in files]
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                left += self._included(path)
        return frozenset(found)

    def linked(self, files: Iterable[Path]) -> frozenset[Path]:
        """Return the sources of the libraries that are linked: the harness, and those with headers in `files`."""
        given = list(files)
        names = [name for name in LIBRARIES if name == HARNESS or uses(given, name)]
        return frozenset(path for name in names for path in self._library(name))

    def digest(self, files: Iterable[Path]) -> str:
        """Return a digest of names and contents: a checkout in another folder has the same."""
        return digest(word for _, word in sorted((path.name, self._content(path)) for path in files))

    def _library(self, name: str) -> frozenset[Path]:
        if name not in self._libraries:
            self._libraries[name] = self.closure((NATIVE / name).rglob("*.cpp"))
        return self._libraries[name]

    def _content(self, path: Path) -> bytes:
        self._included(path)
        return self._digests[path]

    def _included(self, path: Path) -> tuple[Path, ...]:
        if path not in self._includes:
            content = path.read_bytes()
            self._digests[path] = f"{path.name} {hashlib.sha256(content).hexdigest()}".encode()
            folders = (path.parent, path.parent.parent, *(NATIVE / name / "include" for name in LIBRARIES))
            places = ([f / name.decode(errors="replace") for f in folders] for name in _INCLUDE.findall(content))
            first = (next((p.resolve() for p in some if p.is_file()), None) for some in places)
            self._includes[path] = tuple(p for p in first if p is not None)
        return self._includes[path]


def uses(files: Iterable[Path], library: str) -> bool:
    """Return whether a header of this library is among the files."""
    return any(path.is_relative_to(NATIVE / library) for path in files)


def digest(parts: Iterable[bytes]) -> str:
    """Return the SHA-256, in hexadecimal, of the parts and of the length of each."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()
