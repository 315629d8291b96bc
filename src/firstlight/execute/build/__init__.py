"""Build programs from sources, cached by content; a failure keeps the compiler's output in full.

There is one CMake tree per compiler, and one more for each MPI library that it is combined with; flag sets share it.
Objects that depend on neither flags nor MPI are made once per compiler, before the programs (`parts`). Finished
executables are in a store, named by the hash of everything that made them. So a changed source never touches an
executable that a run refers to, nothing is built twice, and users get what tests built.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import msgspec

from firstlight.core import reading
from firstlight.core.errors import BuildError
from firstlight.execute.build import kernels
from firstlight.execute.build.configuration import MANIFEST, Configuration, Options
from firstlight.execute.build.kernels import Kernel
from firstlight.execute.build.parts import Part, blame, unmade
from firstlight.execute.build.recipe import LOG_SUFFIX, SCHEDULES, Recipe, key, recipe, runs_schedules
from firstlight.execute.build.repeated import repeated
from firstlight.execute.build.stored import Entry
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Program
from firstlight.system.machine import compilers_at_once
from firstlight.toolchain import Toolbox, native
from firstlight.toolchain.cmake import run
from firstlight.toolchain.sources import Sources

Progress = Callable[[int, int, str], None]
"""A function that is called with (programs done, programs in all, what was just finished or is built now)."""
REPORT_EVERY = 5.0
"""Seconds between two calls of it while compilers run."""


class Built(msgspec.Struct, frozen=True):
    """One program's outcome: an executable with the JSON text of its --describe, or the error in full."""

    program: Program
    executable: Path | None
    describe: bytes
    seconds: float
    sha256: str  # of the executable's content
    recipe: str  # the hash of all that it is made from
    error: str
    kernels: tuple[Kernel, ...] = ()  # for GPUs, as their compiler speaks of them


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
    jobs = jobs or compilers_at_once()
    try:
        (cache / "programs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            f"cannot write the cache {cache}: {error.strerror}; set FIRSTLIGHT_CACHE to another folder"
        ) from error
    shops = _shops(wanted, toolbox, workloads, cache, options or Options.usual())
    results: dict[Program, Built] = {}

    turn = Lock()

    def finished(text: str) -> None:
        with turn:  # called by two threads
            progress(sum(shop.finished for shop in shops), len(wanted), text)

    def waiting() -> None:
        finished("waiting: another firstlight process is building in this cache")

    for shop in shops:
        shop.missing = shop.lacking()
    with repeated(lambda: finished(_unfinished(shops)), REPORT_EVERY):
        _share(shops, jobs, waiting)
        workers = max(1, min(jobs, len(shops)))
        jobs_each = max(1, jobs // workers)
        with ThreadPoolExecutor(workers) as pool:
            for shop, built in zip(shops, pool.map(lambda shop: shop.build(jobs_each, waiting), shops), strict=True):
                results |= {b.program: b for b in built}
                finished(shop.configuration.label)
    return {program: results[program] for program in wanted}


def _unfinished(shops: Sequence[_Shop]) -> str:
    """Return what is built now: parts with their number, or the configurations that lack programs."""
    building = [shop for shop in shops if not shop.over]
    shared = {part.object: shop.parts.made(part) for shop in building if shop.missing for part in shop.shared}
    if not all(shared.values()):
        return f"shared parts: {sum(shared.values())} of {len(shared)}"
    return ", ".join(shop.configuration.label for shop in building)


def _share(shops: Sequence[_Shop], jobs: int, waiting: Callable[[], None]) -> None:
    """Make what the programs of several shops are linked with, before any program is built."""
    shops = [shop for shop in shops if shop.missing]
    for folder in {shop.parts.tree.folder: None for shop in shops}:
        alike = [shop for shop in shops if shop.parts.tree.folder == folder]
        wanted = {part.name: part for shop in alike for part in shop.shared}
        unmade = alike[0].parts.make(wanted.values(), jobs, waiting)
        for shop in alike:
            shop.unmade = unmade


def known(
    programs: Iterable[Program],
    toolbox: Toolbox,
    workloads: dict[str, Workload],
    cache: Path,
    options: Options | None = None,
) -> dict[Program, Built]:
    """Return those of the programs that are in the store, as `build` would return them; build nothing."""
    found: dict[Program, Built] = {}
    for shop in _shops(list(programs), toolbox, workloads, cache, options or Options.usual()):
        found |= {b.program: b for b in shop.known()}
    return found


class Commands(msgspec.Struct, frozen=True):
    """How one program is made of its variant's own file: `compile` lacks the file and -o, `link` takes `object`, which
    that file becomes, and makes `output`; both below `folder`, where `link` is a shell's line.
    """

    compile: tuple[str, ...]
    link: str
    object: str
    output: str
    folder: Path
    environment: dict[str, str]


def commands(
    programs: Iterable[Program], toolbox: Toolbox, workloads: dict[str, Workload], cache: Path, options: Options
) -> dict[Program, Commands]:
    """Build all that the programs are linked with; return commands that compile a file instead of the variant's.

    Raises BuildError if one cannot be built, or is not C++.
    """
    found: dict[Program, Commands] = {}
    shops = _shops(list(programs), toolbox, workloads, cache, options)
    for shop in shops:
        shop.missing = list(shop.orders)
    _share(shops, compilers_at_once(), lambda: None)
    for shop in shops:
        found |= shop.commands(compilers_at_once())
    return found


def _shops(
    programs: Sequence[Program], toolbox: Toolbox, workloads: dict[str, Workload], cache: Path, options: Options
) -> list[_Shop]:
    """Group the programs by the tree that they are built in."""
    sources = Sources()
    toolchains = {t.name: t for t in toolbox.toolchains}
    mpis = {m.name: m for m in toolbox.mpis}
    shops: dict[tuple[str, str | None], _Shop] = {}
    for program in programs:
        toolchain, mpi = toolchains[program.toolchain], mpis.get(program.mpi or "")
        place = (toolchain.compiler, program.mpi)
        shop = shops.get(place) or shops.setdefault(
            place, _Shop(Configuration(toolchain, mpi, options, toolbox.emulator), cache, sources)
        )
        workload = workloads[program.workload]
        made = recipe(program, workload, toolbox, toolchain, mpi, shop.configuration.environment)
        name = key(made, sources, toolchain, mpi, toolbox.cuda, options.sanitize)
        judge = shop.judge(made, sources)
        call = made.written(options.strict, runs_schedules(made, sources), judge)
        shop.orders[program] = _Order(made, call, Entry(cache / "programs" / name, program.target), judge)
    return list(shops.values())


class _Order(msgspec.Struct, frozen=True):
    """A program to be made: its recipe, the same as a call of CMake's, and its place in the store."""

    recipe: Recipe
    call: str
    stored: Entry
    judge: Path | None  # an object that is shared


class _Shop:
    """One build tree and the programs wanted of it."""

    def __init__(self, configuration: Configuration, cache: Path, sources: Sources) -> None:
        self.configuration = configuration
        self.tree = configuration.tree(cache)
        self.cache = cache
        self.orders: dict[Program, _Order] = {}
        self.parts = configuration.parts(cache)
        self.harness = self.parts.harness(sources)
        self.judges: dict[Path, Part | None] = {}  # by header
        self.missing: list[Program] = []  # what is to be made
        self.unmade: dict[str, str] = {}  # parts by name, with the compiler's words
        self.over = False  # nothing more is built

    def judge(self, made: Recipe, sources: Sources) -> Path | None:
        """Return the object that its programs share with others; None if the tree makes its own."""
        if made.header not in self.judges:
            self.judges[made.header] = self.parts.judge(made.workload, made.header, sources)
        part = self.judges[made.header]
        return None if part is None else part.object

    @property
    def shared(self) -> list[Part]:
        return [self.harness, *(part for part in self.judges.values() if part is not None)]

    @property
    def finished(self) -> int:
        """Return the number of its programs that are built, or that failed."""
        return len(self.orders) - (0 if self.over else sum(not self._fresh(p).exists() for p in self.missing))

    def build(self, jobs: int, waiting: Callable[[], None]) -> list[Built]:
        """Build the programs that the store lacks with CMake and Ninja; return all programs."""
        errors: dict[Program, str] = {}
        missing, seconds = self.missing, 0.0
        if missing:
            with self._alone(waiting):
                # Again: the process that was waited for may have made them.
                missing, started = self.lacking(), time.monotonic()
                if missing:
                    errors = self._make(missing, jobs)
                for program in missing:
                    if program not in errors:
                        errors |= self._deposit(program)
                seconds = (time.monotonic() - started) / max(1, len(missing))
        self.over = True
        return [self._built(p, errors.get(p, ""), seconds if p in missing else 0.0) for p in self.orders]

    def known(self) -> list[Built]:
        """Return the programs that are in the store."""
        missing = self.lacking()
        return [self._built(p, "", 0.0) for p in self.orders if p not in missing]

    @contextlib.contextmanager
    def _alone(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Build in a tree that no other process builds in, while the body runs."""
        shared = self.tree
        with shared.alone(waiting) as self.tree:
            yield
        self.tree = shared

    def lacking(self) -> list[Program]:
        """Return what the store lacks. A strict build also requires that a program was made without a warning."""
        strict = self.configuration.options.strict
        return [p for p, order in self.orders.items() if not order.stored.whole(self.configuration.environment, strict)]

    def commands(self, jobs: int) -> dict[Program, Commands]:
        """Build all its programs in the tree once more and return their commands."""
        with self._alone(lambda: None):
            if errors := self._make(self.missing, jobs):
                raise BuildError("\n".join(errors.values()))
            return {program: self._commands(order.recipe) for program, order in self.orders.items()}

    def _commands(self, made: Recipe) -> Commands:
        own, output = made.sources[0], f"bin/{made.folder}/{made.name}"
        lines = self.tree.commands(made.target)
        compiled = next((shlex.split(line) for line in lines if line.endswith(f" -c {own}")), None)
        link = next((line for line in reversed(lines) if f" -o {output} " in line), None)
        if compiled is None or link is None:
            raise BuildError(f"{made.target}: Ninja does not print how {own.name} is compiled and linked")
        with_argument = ("-MT", "-MF", "-o", "-c")  # with a word after each
        kept = [
            w
            for before, w in zip(["", *compiled], compiled, strict=False)
            if before not in with_argument and w not in with_argument
        ]
        words = tuple(word for word in kept if word not in ("-MD", "-Werror"))
        made_of = compiled[compiled.index("-o") + 1]
        return Commands(words, link, made_of, output, self.tree.folder, dict(self.tree.environment))

    def _fresh(self, program: Program) -> Path:
        made = self.orders[program].recipe
        return self.tree.folder / "bin" / made.folder / made.name

    def _make(self, programs: Sequence[Program], jobs: int) -> dict[Program, str]:
        """Configure if that is due and build; return the failed programs with the compiler's output."""
        errors = {p: reason for p in programs if (reason := unmade(self.unmade, p.workload))}
        programs = [p for p in programs if p not in errors]
        return errors | (self._make_with_parts(programs, jobs) if programs else {})

    def _make_with_parts(self, programs: Sequence[Program], jobs: int) -> dict[Program, str]:
        for program in programs:
            self._fresh(program).unlink(missing_ok=True)
        try:
            self._write_manifest(programs)
        except BuildError as error:
            return dict.fromkeys(programs, str(error))
        # Once configured, Ninja runs CMake again by itself where the manifest or a rule changed.
        if not (self.tree.folder / "configured").exists() and (failed := self.tree.configure()):
            return dict.fromkeys(programs, failed)
        _, output = self.tree.make([self.orders[p].recipe.target for p in programs], jobs)
        made = {p: self.orders[p].recipe for p in programs if not self._fresh(p).exists()}
        return {p: blame(output, f"{r.target}.dir/", f"bin/{r.folder}/{r.name}") for p, r in made.items()}

    def _write_manifest(self, programs: Sequence[Program]) -> None:
        """Add programs to those of the tree so far: CMake would rebuild a program that was missing from the list once.

        Raises BuildError if the schedules that one of them runs do not build.
        """
        kept = self.tree.folder / "manifest.json"
        calls: dict[str, _Call] = {}
        with contextlib.suppress(FileNotFoundError, reading.MalformedError):  # damaged: all is named, and made, anew
            calls = reading.json(kept.read_bytes(), dict[str, _Call])
        calls = {target: call for target, call in calls.items() if all(Path(f).exists() for f in call.files)}
        for order in (self.orders[p] for p in programs):
            files = (*order.recipe.files, self.harness.object, *((order.judge,) if order.judge else ()))
            calls[order.recipe.target] = _Call(order.call, tuple(map(str, files)))
        self.tree.folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_name(f".{kept.name}.{os.getpid()}")
        part.write_bytes(msgspec.json.encode(calls))
        part.replace(kept)  # whole or not at all: half of it would stop every later build in this tree
        archive = self._schedules() if any(SCHEDULES in call.text for call in calls.values()) else ""
        harness = f"target_sources(harness PRIVATE [==[{self.harness.object}]==])\n"
        manifest, text = self.tree.folder / MANIFEST, harness + archive + "".join(calls[t].text for t in sorted(calls))
        if not manifest.exists() or manifest.read_text() != text:
            manifest.write_text(text)

    def _schedules(self) -> str:
        """Return CMake's line for the archive of all schedules, which the compiler makes without its MPI library."""
        sanitize = {"FL_SANITIZE": self.configuration.options.sanitize} if self.configuration.options.sanitize else {}
        archive = native.schedules(self.configuration.toolchain.cxx, self.cache, sanitize | self.configuration.binutils)
        return f"target_link_libraries(collectives INTERFACE [==[{archive}]==])\n"

    def _deposit(self, program: Program) -> dict[Program, str]:
        words = [*self.configuration.emulator, str(self._fresh(program)), "--describe"]
        code, output = run(words, self.configuration.environment, merge=False)
        if code != 0:
            return {program: f"{program.target} was built but does not start (status {code}): {output}"}
        order = self.orders[program]
        order.stored.fill(self._fresh(program), output, self.configuration.options.strict, self._kernels(order.recipe))
        return {}

    def _kernels(self, made: Recipe) -> tuple[Kernel, ...]:
        """Return the kernels of the object that another compiler made."""
        if made.foreign is None:
            return ()
        log = self.tree.folder / f"{made.foreign.object}{LOG_SUFFIX}"
        return kernels.parse_kernels(log.read_text(encoding="utf-8", errors="replace"), self.configuration.environment)

    def _built(self, program: Program, error: str, seconds: float) -> Built:
        stored = self.orders[program].stored
        if error:
            return Built(program, None, b"", seconds, "", stored.folder.name, error)
        name, sha256 = stored.folder.name, stored.sum()
        return Built(
            program, stored.executable, stored.description(), seconds, sha256, name, "", stored.kernels()
        )  # fmt: skip


class _Call(msgspec.Struct, frozen=True):
    """The manifest's entry of one target, and the files that must be there for it."""

    text: str
    files: tuple[str, ...]
