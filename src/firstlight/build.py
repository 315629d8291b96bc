"""Build: programs from sources, once per toolchain, cached by content; what fails keeps the compiler's words in full.

One CMake tree a toolchain, and one more for each MPI library it is combined with. Finished executables lie in a store
named by the hash of everything that made them, so a changed source never touches an executable that a run refers to,
and nothing is built twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from firstlight import ROOT
from firstlight.catalogue import Workload, roots
from firstlight.errors import BuildError
from firstlight.machine import parse
from firstlight.plan import Program, family
from firstlight.toolchains import Linking, Mpi, Toolbox, Toolchain

Progress = Callable[[int, int, str], None]
"""Called with (programs done, programs in all, what was just finished)."""


class Options(msgspec.Struct, frozen=True):
    """How to build beyond the toolchain: `strict` makes warnings errors, `sanitize` is a list for -fsanitize."""

    strict: bool = False
    sanitize: str = ""


class Built(msgspec.Struct, frozen=True):
    """One program's outcome: an executable with the JSON text of its --describe, or the error in full."""

    program: Program
    executable: Path | None
    describe: bytes
    seconds: float
    sha256: str
    error: str


class _Tree(msgspec.Struct, frozen=True):
    """One CMake build tree: a toolchain, perhaps with an MPI library."""

    toolchain: Toolchain
    mpi: Mpi | None
    toolbox: Toolbox
    options: Options
    roots: tuple[Path, ...]

    @property
    def environment(self) -> dict[str, str]:
        extra: dict[str, str] = {}
        if self.mpi is not None:
            extra |= self.mpi.environment
            for wrapper in ("OMPI", "MPICH", "I_MPI"):
                extra[f"{wrapper}_CXX"] = self.toolchain.cxx
                if self.toolchain.fortran:
                    extra[f"{wrapper}_FC"] = extra[f"{wrapper}_F90"] = self.toolchain.fortran
        return os.environ | extra

    @property
    def fortran(self) -> str | None:
        if self.mpi is None:
            return self.toolchain.fortran
        return self.mpi.fortran if family(self.toolchain.compiler) in self.mpi.f08 and self.toolchain.fortran else None

    @property
    def extras(self) -> list[tuple[str, Linking]]:
        """The MPI library's runtimes that work with this compiler, by capability."""
        every = sorted(self.mpi.extras.items()) if self.mpi is not None else []
        return [(n, e) for n, e in every if not e.compilers or family(self.toolchain.compiler) in e.compilers]

    def definitions(self) -> list[str]:
        """The -D options of CMake."""
        blas = ";".join(
            f"{b.name}|{b.prefix}|{shlex.join(b.compile_flags)}|{shlex.join(b.link_flags)}" for b in self.toolbox.blas
        )
        nvcc = self.toolbox.cuda if self.mpi is None else None
        cuda = f"{nvcc.nvcc}|{nvcc.host}|{nvcc.architecture}|{shlex.join(nvcc.link_flags)}" if nvcc else ""
        values = {
            "CMAKE_MAKE_PROGRAM": _tool("ninja"),
            "CMAKE_CXX_COMPILER": self.mpi.cxx if self.mpi else self.toolchain.cxx,
            "FL_FLAGS": " ".join(self.toolchain.flags),
            "FL_OPENMP": " ".join(self.toolchain.openmp),
            "FL_WITH_MPI": "ON" if self.mpi else "OFF",
            "FL_WITH_MPI4": "ON" if self.mpi and self.mpi.mpi4 else "OFF",
            "FL_EXTRAS": ";".join(
                f"{name}|{shlex.join(e.compile_flags)}|{shlex.join(e.link_flags)}" for name, e in self.extras
            ),
            "FL_WITH_FORTRAN": "ON" if self.fortran else "OFF",
            "FL_BLAS": blas,
            "FL_CUDA": cuda,
            "FL_WORKLOAD_ROOTS": ";".join(str(r) for r in self.roots),
            "FL_STRICT": "ON" if self.options.strict else "OFF",
            "FL_SANITIZE": self.options.sanitize,
        }
        if self.fortran:
            values["CMAKE_Fortran_COMPILER"] = self.fortran
            if self.mpi is not None:
                values["FL_MPI_FORTRAN_LINK"] = shlex.join(_fortran_link_flags(self.fortran, self.environment))
        return [f"-D{name}={value}" for name, value in values.items()]

    def signature(self) -> str:
        """`native` means another thing on another processor; login and compute nodes may share one cache."""
        native = any("native" in flag for flag in self.toolchain.flags)
        processor = (parse.instructions(Path("/proc/cpuinfo").read_text(errors="replace")),) if native else ()
        wrapper = (self.mpi.label, self.mpi.cxx) if self.mpi else ()
        compiler = (self.toolchain.cxx, self.toolchain.version, self.toolchain.fortran_version)
        cuda = (self.toolbox.cuda.label,) if self.toolbox.cuda else ()
        return _digest([repr((wrapper, compiler, self.definitions(), *processor, *cuda)).encode()])[:12]

    @property
    def name(self) -> str:
        return self.toolchain.name + (f"+{self.mpi.name}" if self.mpi else "")


def build(
    programs: Iterable[Program],
    toolbox: Toolbox,
    workloads: dict[str, Workload],
    cache: Path,
    progress: Progress = lambda done, total, text: None,
    jobs: int | None = None,
    options: Options | None = None,
) -> dict[Program, Built]:
    """Build every program (or find it in the store) and return one `Built` each, failed ones included.

    Raises BuildError when CMake or Ninja are missing or the cache directory cannot be written.
    """
    wanted = list(dict.fromkeys(programs))
    jobs = jobs or len(os.sched_getaffinity(0))
    options = options or Options()
    try:
        (cache / "programs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            f"cannot write the cache {cache}: {error.strerror}; set FIRSTLIGHT_CACHE to another place"
        ) from error

    trees: dict[tuple[str, str | None], list[Program]] = {}
    for program in wanted:
        trees.setdefault((program.toolchain, program.mpi), []).append(program)
    harness = _digest_files(_harness_files())
    results: dict[Program, Built] = {}

    def waiting() -> None:
        progress(len(results), len(wanted), "another firstlight builds in this cache: waiting for it")

    def work(key: tuple[str, str | None]) -> list[Built]:
        tree = _tree(key, toolbox, options)
        return _build_tree(tree, trees[key], workloads, harness, cache, jobs_each, waiting)

    workers = max(1, min(jobs, len(trees)))
    jobs_each = -(-jobs // workers)
    with ThreadPoolExecutor(workers) as pool:
        for key, built in zip(trees, pool.map(work, trees), strict=True):
            results |= {b.program: b for b in built}
            progress(len(results), len(wanted), key[0] + (f" with {key[1]}" if key[1] else ""))
    return {program: results[program] for program in wanted}


@contextlib.contextmanager
def _alone(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Two that build one tree at once would spoil it. The lock goes with the process that holds it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a cache that is only read, or a file system without locks
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(folder.with_name(f"{folder.name}.lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tree(key: tuple[str, str | None], toolbox: Toolbox, options: Options) -> _Tree:
    toolchain = next(t for t in toolbox.toolchains if t.name == key[0])
    mpi = next((m for m in toolbox.mpis if m.name == key[1]), None)
    return _Tree(toolchain, mpi, toolbox, options, tuple(root.resolve() for root in roots()))


def _build_tree(
    tree: _Tree,
    programs: Sequence[Program],
    workloads: dict[str, Workload],
    harness: str,
    cache: Path,
    jobs: int,
    waiting: Callable[[], None],
) -> list[Built]:
    """The programs of one tree: those in the store, then those that CMake and Ninja make now."""
    signature = tree.signature()
    store = {
        p: cache / "programs" / _program_key(p, workloads[p.workload], signature, harness) / p.target for p in programs
    }

    def absent() -> list[Program]:
        return [p for p in programs if not (store[p].parent / "describe.json").exists()]

    errors: dict[Program, str] = {}
    missing, seconds = absent(), 0.0
    if missing:
        folder = cache / "build" / f"{tree.name}-{signature}"
        with _alone(folder, waiting):
            missing, started = absent(), time.monotonic()  # whoever was waited for may have made them
            if missing:
                errors = _make(tree, folder, missing, jobs)
            for program in missing:
                if program not in errors:
                    errors |= _deposit(folder / "bin" / program.target, store[program], program, tree)
            seconds = (time.monotonic() - started) / max(1, len(missing))
    return [_built(p, store[p], errors.get(p, ""), seconds if p in missing else 0.0) for p in programs]


def _built(program: Program, executable: Path, error: str, seconds: float) -> Built:
    if error:
        return Built(program, None, b"", seconds, "", error)
    describe = (executable.parent / "describe.json").read_bytes()
    return Built(program, executable, describe, seconds, _digest([executable.read_bytes()]), "")


def _make(tree: _Tree, folder: Path, programs: Sequence[Program], jobs: int) -> dict[Program, str]:
    """Configure and build; returns the failed programs with the compiler's output."""
    configured = folder / "configured"
    if not configured.exists():
        # A half-configured tree (killed, or failed) could fail for ever; the next attempt starts from nothing.
        shutil.rmtree(folder, ignore_errors=True)
    configure = [_tool("cmake"), "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *tree.definitions()]
    code, output = _run(configure, tree.environment)
    if code != 0:
        configured.unlink(missing_ok=True)
        return {p: f"{' '.join(configure)}\n{output}" for p in programs}
    configured.touch()
    for program in programs:
        (folder / "bin" / program.target).unlink(missing_ok=True)
    targets = [p.target for p in programs]
    known = _known_targets(folder, tree.environment)
    unknown = {
        p: f"{p.target} is no target of {tree.name}: this toolchain lacks what it needs"
        for p in programs
        if p.target not in known
    }
    code, output = _run(
        [_tool("ninja"), "-C", str(folder), "-k", "0", f"-j{jobs}", *(t for t in targets if t in known)],
        tree.environment,
    )
    failed = {p: _blame(p, output) for p in programs if p not in unknown and not (folder / "bin" / p.target).exists()}
    return unknown | failed


def _known_targets(folder: Path, environment: dict[str, str]) -> set[str]:
    _, output = _run([_tool("ninja"), "-C", str(folder), "-t", "targets", "all"], environment)
    return {line.split(":", 1)[0] for line in output.splitlines() if ": phony" in line}


def _blame(program: Program, output: str) -> str:
    """The blocks of Ninja's output that speak of this program; all failures where none does (the harness failed)."""
    blocks = re.split(r"(?m)^(?=FAILED: |\[\d+/\d+\] )", output)
    failures = [b for b in blocks if b.startswith("FAILED: ")]
    own = [b for b in failures if f"{program.target}.dir/" in b or f"bin/{program.target}" in b]
    return "".join(own or failures or [output]).strip()


def _deposit(fresh: Path, place: Path, program: Program, tree: _Tree) -> dict[Program, str]:
    """Copy an executable into the store with its description, the description last: it marks the entry complete."""
    code, output = _run([str(fresh), "--describe"], tree.environment, merge=False)
    if code != 0:
        return {program: f"{program.target} was built but does not start (status {code}): {output}"}
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}.{os.getpid()}")
    shutil.copy2(fresh, partial)
    partial.replace(place)
    described = place.parent / f".describe.{os.getpid()}"
    described.write_text(output)
    described.replace(place.parent / "describe.json")
    return {}


def _tool(name: str) -> str:
    """CMake and Ninja come as wheels beside the interpreter; those on PATH serve as well."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not there; ./fl brings it, or: pip install {name}")
    return found


def _run(command: Sequence[str], environment: dict[str, str], merge: bool = True) -> tuple[int, str]:
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        text=True,
        errors="replace",
    )
    return done.returncode, done.stdout if merge or done.returncode == 0 else done.stdout + done.stderr


def _fortran_link_flags(wrapper: str, environment: dict[str, str]) -> list[str]:
    """What the MPI Fortran wrapper adds when it links: the C++ wrapper, which links here, does not know it."""
    code, output = _run([wrapper, "-show"], environment)
    if code != 0:
        raise BuildError(f"{wrapper} -show failed: {output.strip().splitlines()[-1:]}; check the MPI installation")
    return [token for token in shlex.split(output) if token.startswith(("-l", "-L", "-Wl,"))]


def _program_key(program: Program, workload: Workload, signature: str, harness: str) -> str:
    """Hash of what makes the executable: toolchain, harness, headers of the folder and of the one above, own source."""
    shared = [p for p in workload.folder.iterdir() if p.suffix == ".hpp" or p.name == "c_abi.cpp"]
    shared += workload.folder.parent.glob("*.hpp")  # of workloads that belong together
    variant = next(
        (v for v in workload.variants if program.variant == v.name or program.variant.startswith(f"{v.name}_")), None
    )
    exact = next((v for v in workload.variants if program.variant == v.name), variant)
    sources = shared + ([exact.source] if exact else [])
    if any(_SCHEDULES.encode() in p.read_bytes() for p in sources):
        sources += _files("collectives")
    return _digest([program.key.encode(), signature.encode(), harness.encode(), _digest_files(sources).encode()])[:24]


_SCHEDULES = '"firstlight/collectives/'
"""What a program includes that runs schedules; all others do without that library."""


def _harness_files() -> list[Path]:
    """What is part of every program: not the libraries beside the harness, which have no part in most."""
    prefixes = ROOT / "native" / "prefixes.json"
    return [*_files("harness"), prefixes, *(ROOT / "cmake").glob("*.cmake"), ROOT / "CMakeLists.txt"]


def _files(room: str) -> list[Path]:
    return [p for p in (ROOT / "native" / room).rglob("*") if p.is_file()]


def _digest_files(paths: Iterable[Path]) -> str:
    parts: list[bytes] = []
    for path in sorted(paths):
        parts += [path.name.encode(), path.read_bytes()]
    return _digest(parts)


def _digest(parts: Iterable[bytes]) -> str:
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()
