"""A stored run, judged again from its launches."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.overrides import of_run
from firstlight.core.shell import is_text
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.results import store
from firstlight.results.record import Run


class Judged(NamedTuple):
    """A judgement, the workloads with the settings of the run, and the defects of files that were skipped."""

    judgement: Judgement
    workloads: dict[str, Workload]
    defects: list[str]


def in_folder(run: Run, path: Path) -> Run:
    """Return the run with the name of its folder, by which commands find it: users copy and rename folders."""
    return replace(run, id=path.name) if path.name and is_text(path.name) else run


def judged(path: Path) -> Judged:
    """Return the judged run at `path`. Raises RecordError if it cannot be read."""
    opened = store.open(path)
    run = in_folder(opened.run(), path)
    workloads = of_run(catalogue.load(catalogue.roots()), run)
    records = list(opened.records())
    return Judged(judge(run, records, workloads), workloads, [str(defect) for defect in opened.defects])
