"""The host as probes see it: a search path, an environment, a way to run commands, and a memory of proved results."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight import whole
from firstlight.core import caller
from firstlight.system.machine import Machine, user_cache
from firstlight.system.mpi_families import outside
from firstlight.system.process import bounded, guard
from firstlight.toolchain import Absent
from firstlight.toolchain.memory import Memory

_RELEVANT = (*caller.STEERING, "LD_LIBRARY_PATH", "LD_PRELOAD")
"""Variables that change what a compiler or a program finds: part of the identity of a trial."""


BARE = "FIRSTLIGHT_BARE"
"""If set, it simulates a machine with Python, g++ and make alone: probes see no other compiler, MPI library, numerical
library or batch system of the system or of a module. Packages from pip (embedded MPI, wheels) are visible."""
_PLAIN = re.compile(r"(g\+\+|gcc|c\+\+|cc)(-[0-9]+)?|make|apt-get|dnf")
_HARMLESS = re.compile(
    r"PATH|HOME|USER|TMPDIR|XDG_.*|LANG|LC_.*|(https?|ftp|all|no)_proxy|PIP_.*|SSL_CERT_.*|\w+_CA_BUNDLE|FIRSTLIGHT_.*",
    re.IGNORECASE,
)
"""Variables of a machine without modules."""


class CommandResult(msgspec.Struct, frozen=True):
    """How a command ended. `code` 127: could not be started; 124: took too long.

    `ran`: the command is the program of a trial, which was built.
    """

    code: int
    out: str
    err: str
    ran: bool = False

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def reason(self) -> str:
        """Return the most informative line of the output: the first with "error", else the last one."""
        lines = [line.strip() for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        telling = next((line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)), None)
        return (telling or (lines[-1] if lines else f"exit status {self.code}"))[:300]


def facts(path: str | Path) -> str:
    """Return a text that changes if a tool is replaced, also at the same path and by one of the same version."""
    real = Path(path).resolve()
    try:
        found = real.stat()
    except OSError:
        return f"{path}|missing"
    return f"{path}|{real}|{found.st_mtime_ns}|{found.st_size}"


class Host:
    """The machine as one discovery sees it. Probes access it only through this object: tests can replace it."""

    def __init__(
        self,
        machine: Machine,
        cache_dir: Path,
        environ: Mapping[str, str],
        memory: Memory,
        emulator: tuple[str, ...] = (),
    ) -> None:
        self.emulator = emulator  # the words before a program of a trial
        self.machine = machine
        self.cache_dir = cache_dir
        self.bare = bool(environ.get(BARE))
        if self.bare:
            environ = {name: value for name, value in environ.items() if _HARMLESS.fullmatch(name)}
        path = whole(environ.get("PATH", "")) or os.devnull
        self.environ = {**outside(environ), "PATH": path, "LC_ALL": "C"}
        self.memory = memory
        self.cxx = "c++"  # the compiler of trials that need just any; set once compilers are known
        self.path = tuple(Path(p) for p in dict.fromkeys(self.environ["PATH"].split(os.pathsep)))

    def shows(self, path: Path) -> bool:
        """Return whether probes may see a file or folder of the machine: with FIRSTLIGHT_BARE not all."""
        if not self.bare or _PLAIN.fullmatch(path.name):
            return True
        own = (self.cache_dir.absolute(), user_cache(self.environ), Path(sys.prefix))
        return any(path.is_relative_to(folder) for folder in own)

    def which(self, name: str) -> Path | None:
        """Return the first executable of that name on the search path, or None."""
        found = shutil.which(name, path=os.pathsep.join(map(str, self.path)))
        return Path(found).absolute() if found and self.shows(Path(found)) else None

    def matching(self, pattern: str) -> list[Path]:
        """Return the executables on the search path whose whole name matches the pattern, the first of each name."""
        found: dict[str, Path] = {}
        for folder in self.path:
            if not os.access(folder, os.R_OK | os.X_OK) or not folder.is_dir():  # root's, after a plain `su`
                continue
            for name in sorted(entry.name for entry in folder.iterdir()):
                fits = name not in found and re.fullmatch(pattern, name) and self.shows(folder / name)
                if fits and os.access(folder / name, os.X_OK):
                    found[name] = (folder / name).absolute()
        return list(found.values())

    def run(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        timeout: float = 60,
        folder: Path | None = None,
    ) -> CommandResult:
        """Run a command with no input and the C locale. Never raises: failure is a CommandResult.

        Without a folder it runs in /, so no file of the current folder, or of one above, configures it.
        """
        words = [str(word) for word in command]
        try:
            done = bounded.run(
                words, timeout=timeout, environment={**self.environ, **(environment or {})}, folder=folder or Path("/")
            )
        except subprocess.TimeoutExpired:
            return CommandResult(124, "", f"{words[0]} lasted longer than {timeout:g} s")
        except OSError as error:
            return CommandResult(127, "", f"{words[0]}: {error.strerror}")
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def trial(
        self,
        source: str,
        suffix: str,
        command: Sequence[str | Path],
        after: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        run: bool = True,
    ) -> CommandResult:
        """Build `source` with `command -o PROGRAM SOURCE after` and run it. Return the first failure, else the run."""
        with guard.scratch("trial-", self.cache_dir) as folder:
            (folder / f"trial{suffix}").write_text(source)
            program = folder / "trial.out"
            built = self.run([*command, "-o", program, f"trial{suffix}", *after], environment, folder=folder)
            if not built.ok or not run:
                return built
            done = self.run([*self.emulator, program], environment, timeout=30, folder=folder)
            return msgspec.structs.replace(done, ran=True)

    def identity(self, *paths: str | Path | None) -> str:
        """Return a key that changes when one of these files, the processor, or a relevant variable changes."""
        parts = [self.machine.architecture, self.machine.processor, self.machine.microarchitecture, *self.emulator]
        parts += [f"{name}={self.environ.get(name, '')}" for name in _RELEVANT]
        parts += [facts(path) for path in paths if path is not None]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    def absent(self, what: str, why: str, *, apt: str = "", dnf: str = "", otherwise: str = "") -> Absent:
        """Return an Absent with its fix: without root first, then this system's package command if it has one."""
        fix = otherwise or f"load a module with {what}, or install it with Spack and add it to PATH"
        if apt and self.which("apt-get"):
            fix += f"; as root: apt install {apt}"
        elif dnf and self.which("dnf"):
            fix += f"; as root: dnf install {dnf}"
        return Absent(what=what, why=why, fix=fix)
