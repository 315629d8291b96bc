"""The quick suite measures every candidate that could win a line of the front page which recommends a variant."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

import shipped
from firstlight.model.catalogue import Row, Workload

WORKLOADS = shipped.workloads()
CHOICES = [
    (w, r)
    for w in WORKLOADS.values()
    for r in w.rows
    if r.headline and r.choose == "variant" and not r.device and "quick" in w.suites
]


@pytest.mark.parametrize(("workload", "row"), CHOICES, ids=lambda x: getattr(x, "title", "").replace(" ", "_"))
def test_a_line_that_recommends_a_variant_measures_several(workload: Workload, row: Row) -> None:
    quick = {v for s in workload.suites.get("quick", ()) for v in s.variants}
    threads = row.threads == "all"
    among = [v for v in quick if any(fnmatchcase(v, p) for p in row.variants) and v.startswith("omp") == threads]
    assert len(among) > 1 or row.ranks > 1 or workload.name == "dirac_solver"


def test_the_published_method_is_measured_in_both_forms() -> None:
    """The classic form was faster than one pass on a machine whose cache keeps what it reads twice."""
    quick = {v for s in WORKLOADS["fem2d"].suites["quick"] for v in s.variants}
    assert {"serial", "one_pass", "mixed", "multigrid"} <= quick
