"""Looking: judge the runs of a folder again, and compare the nodes."""

from __future__ import annotations

from pathlib import Path

from firstlight import __version__
from firstlight.analysis.stored import judged
from firstlight.commands.nodes import folder, runner
from firstlight.commands.nodes import page as pages
from firstlight.commands.nodes.comparison import Nodes, NodesResult, nodes_of
from firstlight.commands.nodes.folder import NodesRun
from firstlight.core.errors import RecordError


def look(path: Path) -> Nodes:
    """Return all that is measured by now. Raises RecordError if the folder is not a measurement of nodes."""
    record = folder.read(path)
    runs = [_answered(path, part) for part in record.parts]
    return nodes_of(path.name, record.hosts, runs, record.no_pairs, record.left_out)


def page(path: Path, found: Nodes, output: Path | None = None) -> Path:
    """Write the page into the folder, or to `output`. Raises OSError."""
    place = output or path / folder.PAGE
    pages.write(found, __version__, place)
    return place


def _answered(path: Path, part: NodesRun) -> NodesResult:
    """Return what the run of this part shows, however it ended."""
    if part.status not in runner.ENDED and not (path / part.name / "run.json").exists():
        return NodesResult(part.name, part.members, None, {}, part.why or "not started")
    try:
        found = judged(path / part.name)
    except RecordError as error:
        return NodesResult(part.name, part.members, None, {}, str(error))
    return NodesResult(part.name, part.members, found.judgement, found.workloads)
