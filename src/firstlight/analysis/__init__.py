"""Judgement: from launches to figures with verdicts, ceilings, comparisons and findings."""

from __future__ import annotations

import msgspec

from firstlight.analysis.levels import Hierarchy, nominal
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import Figure, Identity, Limit, Steadiness
from firstlight.results.record import LaunchRecord, Run


class Finding(msgspec.Struct, frozen=True):
    """One oddity, discovered: a sentence, its evidence and the next command to try.

    `weight` orders them, larger first; `about` are the figures that it speaks of, those to show first at the front.
    """

    rule: str
    sentence: str
    evidence: tuple[str, ...]
    command: str
    weight: float
    about: tuple[Identity, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "sentence", settle(self.sentence))
        msgspec.structs.force_setattr(self, "evidence", tuple(map(settle, self.evidence)))


class Judgement(msgspec.Struct, frozen=True):
    """Everything a report shows of one run.

    `lost` lists launches that did not finish, with the reason; `limits` are the measured ceilings themselves;
    `steadiness` shows by class of launches whether the machine was steady; `levels` are the caches as measured.
    """

    run: Run
    figures: tuple[Figure, ...]
    findings: tuple[Finding, ...]
    records: tuple[LaunchRecord, ...]
    lost: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    steadiness: tuple[Steadiness, ...] = ()
    levels: Hierarchy = Hierarchy()

    @property
    def hierarchy(self) -> Hierarchy:
        """Return the sizes of the caches: as measured in this run, else as the system reports."""
        return self.levels if self.levels.levels else nominal(self.run.machine)
