"""CMake: one tree, configured where that is due, and asked for targets; nothing else calls CMake or Ninja."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import filelock
import msgspec

from firstlight import ROOT
from firstlight.errors import BuildError
from firstlight.process import bounded


class Tree(msgspec.Struct, frozen=True):
    """A build tree in `folder`: the cache's definitions and the environment of its compilers."""

    folder: Path
    definitions: Mapping[str, str]
    environment: Mapping[str, str]

    def configure(self) -> str:
        """Configure, from nothing where the last attempt did not end; returns CMake's words where it fails, else ""."""
        configured = self.folder / "configured"
        if not configured.exists():
            for rest in self.folder.glob("CMake*"):  # half configured: it could fail for ever
                shutil.rmtree(rest) if rest.is_dir() else rest.unlink()
        values = {"CMAKE_MAKE_PROGRAM": tool("ninja"), **self.definitions}
        words = [tool("cmake"), "-S", str(ROOT), "-B", str(self.folder), "-G", "Ninja"]
        words += [f"-D{name}={value}" for name, value in values.items()]
        code, output = run(words, self.environment)
        if code != 0:
            configured.unlink(missing_ok=True)
            return f"{' '.join(words)}\n{output}"
        configured.touch()
        return ""

    def make(self, targets: Sequence[str], jobs: int | None = None) -> tuple[int, str]:
        """Build the targets and go on where one fails; (status, what Ninja and the compilers said)."""
        limit = [f"-j{jobs}"] if jobs else []
        return run([tool("ninja"), "-C", str(self.folder), "-k", "0", *limit, *targets], self.environment)

    def commands(self, target: str) -> list[str]:
        """All that would be run for a target that is built from nothing, in that order."""
        code, output = run([tool("ninja"), "-C", str(self.folder), "-t", "commands", target], self.environment, False)
        if code != 0:
            raise BuildError(f"Ninja cannot say how {target} is made: {output.strip()}")
        return output.splitlines()

    @contextlib.contextmanager
    def alone(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Two that build one tree at once would spoil it. `waiting` is called where another has it; the lock goes with
        the process that holds it. A cache that is only read, or a file system without locks, is used without.
        """
        lock = filelock.FileLock(self.folder.with_name(f"{self.folder.name}.lock"))
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError, NotImplementedError):
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                try:
                    stack.enter_context(lock.acquire(blocking=False))
                except filelock.Timeout:
                    waiting()
                    stack.enter_context(lock.acquire())
            yield


def rules() -> list[Path]:
    """The files that tell how everything is compiled."""
    return [*(ROOT / "cmake").glob("*.cmake"), ROOT / "CMakeLists.txt"]


def tool(name: str) -> str:
    """CMake and Ninja come as wheels beside the interpreter; those on PATH serve as well. Raises BuildError."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not there; ./fl brings it, or: pip install {name}")
    return found


def run(command: Sequence[str], environment: Mapping[str, str], merge: bool = True) -> tuple[int, str]:
    """(status, output); the errors' stream is part of it where `merge` is set or the command failed."""
    done = bounded.run(command, timeout=None, environment=environment, merge=merge)
    return done.returncode, done.stdout if merge or done.returncode == 0 else done.stdout + done.stderr
