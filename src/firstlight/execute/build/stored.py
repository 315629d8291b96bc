"""The store of executables: a folder for each, named by the hash of all that made it; damage is found and repaired."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from firstlight.core import reading
from firstlight.execute.build.kernels import Kernel
from firstlight.toolchain.cmake import run

DESCRIPTION, SUM, STRICT, KERNELS = "describe.json", "SHA256SUMS", "strict", "kernels.json"


class Entry(msgspec.Struct, frozen=True):
    """One executable `name` in its folder, with what it answers to --describe and its hash as sha256sum writes it."""

    folder: Path
    name: str

    @property
    def executable(self) -> Path:
        return self.folder / self.name

    def whole(self, environment: Mapping[str, str], strict: bool) -> bool:
        """Return whether it is there, undamaged, and for a strict build was made without a warning."""
        if strict and not (self.folder / STRICT).exists():
            return False
        try:
            described = (self.folder / DESCRIPTION).read_text(encoding="utf-8")
            sums = self._sums()
            if (kept := self.folder / SUM).exists():
                return kept.read_text(encoding="utf-8") == sums
            # Put here before there were hashes: it is whole if its content is the same as then.
            if run([str(self.executable), "--describe"], environment, merge=False) != (0, described):
                return False
        except (OSError, UnicodeDecodeError):
            return False
        with contextlib.suppress(OSError):  # a cache that is only read is looked at in this way every time
            self._write(SUM, sums)
        return True

    def fill(self, made: Path, described: str, strict: bool, kernels: tuple[Kernel, ...] = ()) -> None:
        """Copy an executable into the store, each file atomically, the description last to mark it complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self._partial(self.name)
        shutil.copy2(made, partial)
        partial.replace(self.executable)
        if kernels:
            self._write(KERNELS, msgspec.json.encode(kernels).decode())
        self._write(SUM, self._sums())
        if strict:
            (self.folder / STRICT).touch()
        self._write(DESCRIPTION, described)

    def description(self) -> bytes:
        return (self.folder / DESCRIPTION).read_bytes()

    def kernels(self) -> tuple[Kernel, ...]:
        """Return the GPU kernels in the compiler's output; () for a program that has none."""
        kept = self.folder / KERNELS
        return reading.json(kept.read_bytes(), tuple[Kernel, ...]) if kept.exists() else ()

    def sum(self) -> str:
        """Return the SHA-256 of the executable, in hexadecimal."""
        return self._sum(self.executable)

    def _sums(self) -> str:
        """Return the checksums of all files that must not change."""
        others = [path for path in (self.folder / KERNELS,) if path.exists()]
        return "".join(f"{self._sum(path)}  {path.name}\n" for path in (self.executable, *others))

    @staticmethod
    def _sum(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def _write(self, name: str, text: str) -> None:
        partial = self._partial(name)
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.folder / name)

    def _partial(self, name: str) -> Path:
        return self.folder / f".{name}.{os.getpid()}"
