"""Judged runs for the tests of the report: an ordinary one, and one in which everything foreign is hostile."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

import synthetic
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Figure
from firstlight.core import heritage
from firstlight.model.catalogue import Workload
from firstlight.report.frame import View
from firstlight.report.palette import Palette

HOSTILE = '<script>alert(1)</script></script><img src=x onerror="alert(2)"><!--{{7*7}}'


@cache
def sample(seed: int = 1, launches: int = 8) -> tuple[Judgement, dict[str, Workload]]:
    scene = synthetic.run(seed, launches)
    return judge(*scene), scene.workloads


def view_of(judgement: Judgement, workloads: dict[str, Workload]) -> View:
    """Return what every drawing of a judged run reads."""
    return View(judgement, workloads, heritage.load(), Palette(judgement.run))


@cache
def hostile() -> tuple[Judgement, dict[str, Workload]]:
    """Return the ordinary run with HOSTILE in every text that a program, a compiler or another person's run could
    supply.
    """
    judgement, workloads = sample()
    run = judgement.run
    machine = replace(run.machine, processor=HOSTILE, name=HOSTILE, governor=HOSTILE, warnings=(HOSTILE,))
    toolbox = replace(
        run.toolbox,
        mpis=tuple(replace(m, label=HOSTILE + m.name) for m in run.toolbox.mpis),
        absent=tuple(replace(a, what=HOSTILE, why=HOSTILE, fix=HOSTILE) for a in run.toolbox.absent),
    )
    builds = tuple(b if b.ok else replace(b, error=HOSTILE) for b in run.builds)
    run = replace(
        run,
        machine=machine,
        toolbox=toolbox,
        builds=builds,
        environment={"OMP_PROC_BIND": HOSTILE},
        descriptions={k: replace(d, verified=HOSTILE) for k, d in run.descriptions.items()},
        command=("./fl", "run", HOSTILE),
    )
    figures = tuple(_spoiled(f) for f in judgement.figures)
    findings = tuple(
        replace(f, sentence=f"{f.sentence} {HOSTILE}", evidence=(HOSTILE,), command=HOSTILE) for f in judgement.findings
    )
    spoiled = {k: replace(w, title=HOSTILE, question=HOSTILE) for k, w in workloads.items()}
    records = judgement.records
    return Judgement(run, figures, findings, records, (HOSTILE,), judgement.limits), spoiled


def _spoiled(figure: Figure) -> Figure:
    identity = figure.identity
    if identity.variant == "simd":
        identity = replace(identity, variant=HOSTILE)
    if identity.toolchain == "clang-native":
        identity = replace(identity, toolchain=HOSTILE)
    changes: dict[str, object] = {"identity": identity}
    if hasattr(figure, "reason"):
        changes["reason"] = HOSTILE
    return replace(figure, **changes)
