"""Search for a rank map, write the files that launchers read, and try them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from firstlight import __version__
from firstlight.commands.map import formats, program, trying
from firstlight.commands.map.answer import Answer, Mapped, Trial, Written
from firstlight.commands.map.slots import Slot, Slots, of_ranks
from firstlight.commands.map.source import Source
from firstlight.core import shell
from firstlight.core.errors import BuildError, UsageError
from firstlight.results.store.durable import replace
from firstlight.system.mpi_families import of
from firstlight.system.process import guard
from firstlight.toolchain import Mpi

MAP = "map.json"
KEPT = "best-so-far"
"""The best map during the search: one slot per line, by rank. A search that ends normally removes the file."""
ORDER = "as-it-is"
"""The folder of the files with the present order, for the other side of a trial."""


class MappingRequest(msgspec.Struct, frozen=True):
    """What to map where. `machine`: parameters of the simulation as firstlight-simulate accepts them; `budget`: seconds
    of the search; `effort`: further words of the native program; `command` is tried with the map if it is not empty.
    """

    source: Source
    slots: Slots
    machine: str
    budget: float
    effort: tuple[str, ...]
    folder: Path
    command: tuple[str, ...] = ()
    mpi: Mpi | None = None
    launches: int = 8
    kept: Path | None = None
    """A map that is judged instead of a search."""


def carry_out(
    request: MappingRequest, on_best: program.OnBest, on_launch: trying.OnLaunch, stage: Callable[[str], None]
) -> Mapped:
    """Search for a map, write its files and try it. Raises UsageError, BuildError, and OSError for the files."""
    stage("build firstlight-map")
    built = program.build()
    words = [*request.slots.words(), "--seconds", str(request.budget), *request.effort]
    words += ["--machine", request.machine] if request.machine else []
    stage("search")
    answer = _searched(request, built, words, on_best)
    notes = [*request.source.notes, *request.slots.notes]
    if answer.left_out:
        notes.append(f"collective operations ({', '.join(answer.left_out)}) are not included: MPI prescribes no route")
    if request.command and (answer.interrupted or not answer.better):
        why = "the search was interrupted" if answer.interrupted else "no map is predicted to be better"
        notes.append(f"the command was not tried: {why}")
    stood = of_ranks(answer.places, request.slots)
    files = written(request.folder, stood, answer) if answer.better else ()
    tried = None
    if answer.better and not answer.interrupted and request.command and request.mpi is not None:
        stage("try")
        tried = compared(request, answer, request.mpi, on_launch)
    made = Mapped(
        __version__, request.source.title, request.slots.topology, request.machine, answer, files, tuple(notes),
        str(request.folder), tried, request.budget if request.kept is None else None,
    )  # fmt: skip
    replace(request.folder / MAP, msgspec.json.encode(made) + b"\n")
    if request.kept is None:
        (request.folder / KEPT).unlink(missing_ok=True)
    return made


def _searched(request: MappingRequest, built: Path, words: Sequence[str], on_best: program.OnBest) -> Answer:
    """Search for a map, or judge a kept one. Raises like program.ask; a killed search leaves its best map."""
    mine = not request.folder.exists()
    request.folder.mkdir(parents=True, exist_ok=True)
    kept = request.folder / KEPT
    words = [*words, *(["--map", str(request.kept)] if request.kept is not None else ["--keep", str(kept)])]
    try:
        if not request.source.text:
            answer = program.ask(built, [*request.source.words, *words], on_best)
        else:
            with guard.scratch("firstlight-map-") as folder:
                (folder / "traffic.pattern").write_text(request.source.text)
                answer = program.ask(built, ["--pattern", str(folder / "traffic.pattern"), *words], on_best)
    except BuildError as error:
        if request.kept is None and kept.exists():
            raise BuildError(f"{error}; to use the best map so far: --map {shell.line([str(kept)])}") from error
        raise
    except UsageError:
        if mine and not any(request.folder.iterdir()):
            request.folder.rmdir()
        raise
    return answer


def written(folder: Path, stood: Sequence[Slot], answer: Answer) -> tuple[Written, ...]:
    """Write the map in every format that can express it; for each other format return the reason."""
    found = []
    for name, form in formats.every().items():
        try:
            text = form.text(stood, answer.axes)
        except formats.UnwritableError as error:
            found.append(Written(name, form.TITLE, "", why=str(error)))
            continue
        file = folder / form.FILE
        replace(file, text.encode())
        found.append(Written(name, form.TITLE, str(file), form.use(str(file), answer.ranks)))
    return tuple(found)


def compared(
    request: MappingRequest, answer: Answer, mpi: Mpi, on_launch: trying.OnLaunch = lambda n, m: None
) -> Trial:
    """Measure the command with its ranks where the map puts them, and in their own order.

    Both are bound by the same means, so that only the map differs. Raises UsageError for a launcher without maps.
    """
    order = of_ranks(answer.identity, request.slots), of_ranks(answer.places, request.slots)
    files = request.folder / ORDER, request.folder
    plain, mapped = (
        trying.mapped(request.command, mpi, _file(mpi, stood, folder, answer), stood)
        for stood, folder in zip(order, files, strict=True)
    )
    return trying.trial(plain, mapped, mpi, request.launches, on_launch)


def _file(mpi: Mpi, stood: Sequence[Slot], folder: Path, answer: Answer) -> Path | None:
    """Write the file with which this library places ranks; return None if it has no format that can express the map."""
    form = formats.every().get(of(mpi.family).ranking)
    if form is None:
        return None
    try:
        text = form.text(stood, answer.axes)
    except formats.UnwritableError:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / form.FILE).absolute()
    replace(file, text.encode())
    return file
