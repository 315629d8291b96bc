"""CMake: one tree that is configured if necessary and builds targets; no other module calls CMake or Ninja."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight import ROOT, typed
from firstlight.core.errors import BuildError
from firstlight.system.process import bounded, guard


class Tree(msgspec.Struct, frozen=True):
    """A build tree in `folder`: the cache's definitions and the environment of its compilers."""

    folder: Path
    definitions: Mapping[str, str]
    environment: Mapping[str, str]

    def configure(self) -> str:
        """Configure, from nothing if the last attempt did not complete; return CMake's output if it fails, else ""."""
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

    def make(self, targets: Sequence[str], jobs: int) -> tuple[int, str]:
        """Build the targets, also after one fails; return (status, the output of Ninja and the compilers)."""
        return run([tool("ninja"), "-C", str(self.folder), "-k", "0", f"-j{jobs}", *targets], self.environment)

    def commands(self, target: str) -> list[str]:
        """Return all commands that would build a target from nothing, in order. Raises BuildError."""
        code, output = run([tool("ninja"), "-C", str(self.folder), "-t", "commands", target], self.environment, False)
        if code != 0:
            raise BuildError(f"Ninja does not print how {target} is built: {output.strip()}")
        return output.splitlines()

    @contextlib.contextmanager
    def alone(self, waiting: Callable[[], None]) -> Iterator[Tree]:
        """Hold the lock of the tree while the body builds in the yielded tree: simultaneous builds would damage it.

        `waiting` is called if another process has the lock, which ends with that process. If the file system refuses
        locks (NFS without its daemon), the body has its own tree next to this one, made from nothing and removed
        afterwards. Raises BuildError if the cache cannot be written.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            lock = self.folder.with_name(f"{self.folder.name}.lock").open("w")
        except OSError as error:
            raise BuildError(
                f"cannot write the cache {self.folder.parent}: {error.strerror}; set FIRSTLIGHT_CACHE to another folder"
            ) from error
        with lock:
            if _locked(lock.fileno(), waiting):
                yield self
                return
        with guard.scratch(f"{self.folder.name}.", self.folder.parent) as folder:
            moved = {name: value.replace(str(self.folder), str(folder)) for name, value in self.definitions.items()}
            yield Tree(folder, moved, self.environment)


def _locked(descriptor: int, waiting: Callable[[], None]) -> bool:
    """Lock the file, after the process that has it; return False if the file system refuses."""
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def rules() -> list[Path]:
    """Return the files that define how everything is compiled."""
    return [*(ROOT / "cmake").glob("*.cmake"), ROOT / "CMakeLists.txt"]


def tool(name: str) -> str:
    """Return the path of CMake or Ninja: from a wheel next to the interpreter, else on PATH. Raises BuildError."""
    beside = Path(sys.executable).with_name(name)  # where it is a script, it names the place that it was installed in
    inside = Path(sysconfig.get_path("purelib")) / name / "data" / "bin" / name
    found = next((str(path) for path in (inside, beside) if path.exists()), None) or shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not installed; {typed(Path(sys.executable))} -m pip install {name}")
    return found


def run(command: Sequence[str], environment: Mapping[str, str], merge: bool = True) -> tuple[int, str]:
    """Run the command and return its status and output, with standard error if `merge` is set or the command failed.

    The command runs in /, so no file of the current folder, or of one above, configures it.
    """
    done = bounded.run(command, timeout=None, environment=environment, folder=Path("/"), merge=merge)
    return done.returncode, done.stdout if merge or done.returncode == 0 else done.stdout + done.stderr
