"""The description of a program: its parameters, metrics and method of verification, as `--describe` prints them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

MOST_TOLD = 256
"""Maximum number of parameters, metrics and phases of a program: each figure is compared with all metrics."""
Better = Literal["higher", "lower"]


class Parameter(msgspec.Struct, frozen=True):
    name: str
    unit: str
    default: str
    help: str
    kind: Literal["integer", "real", "choice", "file", "storage", ""] = ""  # "": in records of older programs
    least: float | None = None
    most: float | None = None
    options: tuple[str, ...] = ()  # of a choice and of a file: those that the program has
    replaced_by: str = ""  # this parameter has no meaning if the parameter named here names a file


class Metric(msgspec.Struct, frozen=True):
    """A metric of a case. The first metric of a case decides how often its cells are launched.

    `form` rate: scale * cost[quantity] * steps / wall. `form` time: scale * wall / (cost[quantity] * steps). `form`
    value: scale * the observed value `quantity`, maximum over ranks, median over samples; it may be 0. `form` told: the
    same for a speed that the program itself prints, which is ranked and compared like a rate or a time. With a `phase`,
    a rate or a time refers to that phase: its share of the cost, and its time on the rank on which the phase lasts
    longest. Three keys follow from measured energy (`analysis/energy.py`): `metered` is a measured value, `per_watt` a
    rate divided by the power, and `joules` a time multiplied by the power.
    """

    name: str
    unit: str
    quantity: str
    form: Literal["rate", "time", "value", "told", "metered", "per_watt", "joules"]
    scale: float
    better: Better
    phase: str = ""  # "": of the whole step


class Description(msgspec.Struct, frozen=True):
    """The output of an executable's --describe."""

    workload: str
    variant: str
    title: str
    parameters: Annotated[tuple[Parameter, ...], msgspec.Meta(max_length=MOST_TOLD)]
    metrics: Annotated[tuple[Metric, ...], msgspec.Meta(max_length=MOST_TOLD)]
    cost: str
    verified: str
    tolerance: str
    unverified: str = ""  # why this variant is timed and never checked, "" where it is checked
    phases: Annotated[
        tuple[str, ...], msgspec.Meta(max_length=MOST_TOLD)
    ] = ()  # that its workload declares; a variant need not mark all
    kernels: tuple[str, ...] = ()  # values of the parameter `kernel`, each a function of its own, where it has many
    device: str = ""  # OpenMP, OpenACC, CUDA: by what its steps run on a device; "": they run on the host

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Return the words that each parameter accepts, by its name."""
        return {p.name: p.options for p in self.parameters}
