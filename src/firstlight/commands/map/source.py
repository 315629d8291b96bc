"""Source: find the traffic to map: a profile, a file with a pattern, or a pattern of native/patterns by its name or as
a run measured it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import between_processes
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.core.roles import PATTERN
from firstlight.core.units import percent
from firstlight.model.catalogue import Workload
from firstlight.results.traffic import PROFILE, Phase, Traffic, whole

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Source(msgspec.Struct, frozen=True):
    """`words`: options of firstlight-map; `text`: the content of its input file, "" for a pattern of its own."""

    title: str
    words: tuple[str, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()


def find(what: str, results: Path, processes: int | None, parameters: str, phases: bool) -> Source:
    """Find the source: a profile (folder, file or name in `results`), a file of messages, or the name of a pattern.

    Raises UsageError if it is none of them, with what would be valid.
    """
    path = Path(what)
    if what == "latest":
        path = _latest(results)
    elif not path.exists() and (results / what).is_dir():
        path = results / what
    if path.is_dir():
        return _folder(path, phases)
    if path.is_file():
        return _file(path, phases)
    if not _NAME.fullmatch(what):
        raise UsageError(f"{what}: no such profile, file or pattern; ./fl profile -- COMMAND makes a profile")
    if processes is None:
        raise UsageError(
            f"{what}: the number of processes is missing: add --processes 1024, or name an existing profile"
        )
    words = ["--parameters", parameters] if parameters else []
    title = f"{what}{f' ({parameters})' if parameters else ''}, {processes} processes, one iteration"
    return Source(title, _named(what, processes, words, phases))


def of_run(judgement: Judgement, workloads: Mapping[str, Workload], processes: int | None, phases: bool) -> Source:
    """Return the verified communication pattern that a run measured with so many processes (None: any number).

    Raises UsageError if the run measured none between processes, or several, which the message lists.
    """
    between, _ = between_processes(judgement, workloads, PATTERN, None, lambda p: p.pattern)
    measured = {(p.pattern, p.identity.placement.ranks, p.role.small) for p in between}
    some = sorted(one for one in measured if processes in (None, one[1]))
    run = judgement.run.id
    if not some:
        among = "" if processes is None else f" among {processes} processes"
        raise UsageError(
            f"{run} contains neither a communication matrix nor a communication pattern{among}: profile the program, "
            f"for example with ./fl profile -- mpiexec -n 4 ./program"
        )
    if len(some) > 1:
        known = ", ".join(f"{name} among {ranks}" for name, ranks, _ in some)
        name, ranks, _ = some[0]
        raise UsageError(
            f"{run} measured several patterns of communication ({known}); name one, for example ./fl map {name} "
            f"--processes {ranks}"
        )
    name, ranks, small = some[0]
    title = f"{name} as in {run}, {ranks} processes, one iteration"
    return Source(title, _named(name, ranks, ["--small"] if small else [], phases))


def _named(name: str, processes: int, more: Sequence[str], phases: bool) -> tuple[str, ...]:
    return ("--named", name, "--processes", str(processes), *more, *(() if phases else ("--whole",)))


def _latest(results: Path) -> Path:
    found = sorted(results.glob(f"*/{PROFILE}"), key=lambda p: p.stat().st_mtime)
    if not found:
        raise UsageError(f"no profile in {results}; ./fl profile -- COMMAND makes one")
    return found[-1].parent


def _folder(path: Path, phases: bool) -> Source:
    file = path / PROFILE
    if not file.is_file():
        raise UsageError(
            f"{path} contains no communication matrix: profile the program, for example with ./fl profile -- mpiexec "
            f"-n 4 ./program"
        )
    return _file(file, phases)


def _file(path: Path, phases: bool) -> Source:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if data.lstrip()[:1] != b"{":
        if not data.startswith(b"ranks "):
            raise UsageError(f"{path} is neither a profile nor a pattern, which begins with `ranks P`")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not text") from error
        return Source(path.name, text=text if phases else _as_one(text))
    try:
        traffic = reading.json(data, Traffic)
    except reading.MalformedError as error:
        raise UsageError(f"{path} is not a profile: {error}") from error
    return of_profile(traffic, phases)


def _as_one(text: str) -> str:
    """Return the text with all phases merged into one: messages of later phases continue the first."""
    lines, seen = [], False
    for line in text.splitlines():
        if line.startswith("phase "):
            if seen:
                continue
            line, seen = "phase all phases", True
        lines.append(line)
    return "\n".join(lines) + "\n"


def of_profile(traffic: Traffic, phases: bool) -> Source:
    """Return the pairs of a profile as a source. Raises UsageError if it has none."""
    some = [p for p in traffic.phases if p.pairs] if phases else [whole(traffic)]
    if not any(p.pairs for p in some):
        raise UsageError("no message in this profile names its receiver, so no map can help")
    lines = [f"ranks {traffic.ranks}"]
    for phase in some:
        lines.append(f"phase {phase.level if phases else 'all phases'}")
        lines += [f"{p.source} {p.target} {p.bytes}" for p in phase.pairs]
    return Source(
        f"profile {traffic.id}, {traffic.ranks} ranks", text="\n".join(lines) + "\n", notes=tuple(_notes(some))
    )


def _notes(phases: Sequence[Phase]) -> list[str]:
    together = sum(k.bytes for p in phases for k in p.kinds if k.group == "collective")
    named = sum(p.bytes for p in phases)
    if not together:
        return []
    share = together / (together + named)
    return [f"collective operations ({percent(share)} of the bytes) are not included: MPI prescribes no route for them"]
