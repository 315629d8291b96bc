"""A stored run, judged again from its launches."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.overrides import of_run
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.results import store


class Judged(NamedTuple):
    """A judgement, the workloads with the settings of the run, and the defects of files that were skipped."""

    judgement: Judgement
    workloads: dict[str, Workload]
    defects: list[str]


def judged(path: Path) -> Judged:
    """Return the judged run at `path`. Raises RecordError if it cannot be read."""
    opened = store.open(path)
    run = opened.run()
    workloads = of_run(catalogue.load(catalogue.roots()), run)
    records = list(opened.records())
    return Judged(judge(run, records, workloads), workloads, [str(defect) for defect in opened.defects])
