"""Stages: an iteration as stages that follow each other, on any network.

`classic=near:800|work:5200,sum:8,work:900` has three stages. The parts of a stage, separated by `|`, are simultaneous:
work in nanoseconds, a sum of so many bytes over all processes, messages of so many bytes to the previous and the next
process. `s_step=.../4` means four iterations. Work does not delay messages and sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from firstlight.core.errors import UsageError

MEASURED = "measured"
"""The word, instead of stages, for those that a run measured."""
_WRITTEN = re.compile(r"([A-Za-z0-9_ -]{1,40})=([^/=]{1,4000})(?:/([1-9][0-9]{0,3}))?")
_WORK = re.compile(r"\bwork:([0-9]+(?:\.[0-9]+)?)")


class Stages(msgspec.Struct, frozen=True):
    """`text` as firstlight-simulate accepts it, of so many `iterations`."""

    name: str
    text: str
    iterations: int = 1

    @property
    def written(self) -> str:
        return f"{self.name}={self.text}" + (f"/{self.iterations}" if self.iterations > 1 else "")

    def lasting(self, seconds: float) -> Stages:
        """Return stages whose work lasts `seconds` per iteration, by its shares. Raises UsageError without work."""
        whole = sum(float(share) for share in _WORK.findall(self.text))
        if whole <= 0:
            raise UsageError(
                f"the stages of {self.name} have no stage such as work:1, to which the measured time could apply"
            )
        ns = 1e9 * seconds * self.iterations / whole
        return msgspec.structs.replace(self, text=_WORK.sub(lambda m: f"work:{ns * float(m[1]):.0f}", self.text))


def read(words: Iterable[str]) -> tuple[Stages, ...]:
    """Parse stages as written on a command line. Raises UsageError."""
    found: dict[str, Stages] = {}
    for word in words:
        known = _WRITTEN.fullmatch(word)
        if known is None:
            raise UsageError(
                f"{word[:80]!r} is not an iteration: write NAME=STAGES, such as classic=near:800|work:5200, or "
                f"{MEASURED}"
            )
        if known[1] in found:
            raise UsageError(f"{known[1]} is described twice")
        found[known[1]] = Stages(known[1], known[2], int(known[3] or 1))
    return tuple(found.values())
