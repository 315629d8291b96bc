"""Roles in a run: the verified figures of the workloads that have a role, and the command that measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core import formulas
from firstlight.core.roles import KINDS, Role
from firstlight.core.shell import command
from firstlight.core.units import convert
from firstlight.model.catalogue import SUITES, Provides, Selection, Workload
from firstlight.model.plan.selectors import selects
from firstlight.system.machine import Machine

if TYPE_CHECKING:
    from firstlight.analysis import Judgement


class Player(NamedTuple):
    """A workload that declares the role, with its declaration."""

    workload: Workload
    role: Role

    @property
    def library(self) -> str:
        """Return the program that calls the MPI library, as `./fl run` accepts it."""
        return f"{self.workload.name}.{self.role.library}"


class RoleFigure(NamedTuple):
    """A verified figure of a role. `place`: of its workload and of its variant among those with the role; 0 first."""

    player: Player
    place: tuple[int, int]
    figure: Verified

    @property
    def role(self) -> Role:
        return self.player.role

    @property
    def identity(self) -> Identity:
        return self.figure.identity

    @property
    def program(self) -> str:
        return f"{self.identity.workload}.{self.identity.variant}"

    @property
    def size(self) -> float | None:
        """Return the bytes of the message or the vector; None if the record does not contain them."""
        numbers = {name: v for name, v in self.identity.parameters if isinstance(v, int | float)}
        try:
            return formulas.value(self.role.size, numbers) * self.role.bytes_per_element
        except formulas.FormulaError:
            return None

    @property
    def operation(self) -> str:
        return str(dict(self.identity.parameters).get(self.role.operation, ""))

    @property
    def pattern(self) -> str:
        """Return the name of the measured pattern of communication, "" if the figure has none."""
        return str(dict(self.identity.parameters).get(self.role.pattern, ""))

    @property
    def algorithm(self) -> str:
        """Return the variant's name without `mpi_`."""
        return self.identity.variant.removeprefix("mpi_")

    @property
    def by_library(self) -> bool:
        return self.identity.variant == self.role.library

    @property
    def title(self) -> str:
        """Return the variant's name in a sentence: as declared, else its algorithm."""
        return self.role.titles.get(self.identity.variant, self.algorithm)

    def seconds(self, value: float | None = None) -> float | None:
        """Return the median, or another value of this figure, in seconds; None if it is not a time."""
        return convert(self.figure.estimate.median if value is None else value, self.figure.unit, "s")

    def launches(self) -> list[float]:
        """Return the seconds of each launch, in the order of time; nothing if the figure is not a time."""
        return [s for v in self.figure.estimate.launches if (s := self.seconds(v)) is not None]


def players(workloads: Mapping[str, Workload], role: str) -> list[Player]:
    """Return every declaration of the role, in the order of names."""
    assert role in KINDS
    return [Player(w, r) for w in workloads.values() for r in w.roles if r.role == role]


def played(figures: Iterable[Figure], known: Sequence[Player], machine: Machine) -> Iterator[RoleFigure]:
    """Yield the verified figures of these players, in order, once each; oversubscribed figures are left out."""
    for figure in figures:
        if not isinstance(figure, Verified) or figure.oversubscribed:
            continue
        for k, player in enumerate(known):
            r = player.role
            if figure.identity.metric == r.metric and selects(figure.identity, r, player.workload, machine):
                place = next(n for n, p in enumerate(r.variants) if fnmatchcase(figure.identity.variant, p))
                yield RoleFigure(player, (k, place), figure)
                break


def between_processes(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    role: str,
    mpi: str | None,
    name: Callable[[RoleFigure], str],
) -> tuple[list[RoleFigure], list[str]]:
    """Return the times of a role between processes of one thread each, and why the others are left out, by name."""
    found: list[RoleFigure] = []
    missing: list[str] = []
    for p in played(judgement.figures, players(workloads, role), judgement.run.machine):
        place = p.identity.placement
        if p.identity.mpi is None or mpi not in (None, p.identity.mpi) or p.seconds() is None:
            continue
        if place.ranks < 2 or place.threads > 1:
            missing.append(f"{name(p)} on {place.ranks} x {place.threads}: a ping-pong does not measure this placement")
        else:
            found.append(p)
    return found, missing


def measuring(
    workloads: Mapping[str, Workload],
    roles: Sequence[str],
    ceilings: Sequence[str] = (),
    mpi: str | None = None,
    beside: Sequence[str] = (),
) -> str:
    """Return the command that measures these roles and ceilings: `./fl run pingpong stream --standard`.

    If several workloads have a role, the first is used, in the smallest suite that contains it. `beside`: further
    programs to name first. Roles that no workload declares are left out (see `missing`).
    """
    entries: list[tuple[Workload, Role | Provides]] = []
    for role in roles:
        entries += [(p.workload, p.role) for p in players(workloads, role)[:1]]
    for ceiling in ceilings:
        some = [(w, p) for w in workloads.values() for p in w.provides if p.ceiling == ceiling]
        entries += some[:1]
    suites = [_suite(workload, declared) for workload, declared in entries]
    suite = max(suites, key=SUITES.index, default=SUITES[0])
    words = ["run", *dict.fromkeys([*beside, *(w.name for w, _ in entries)])]
    words += [] if suite == SUITES[0] else [f"--{suite}"]
    return command(*words, *(["--mpi", mpi] if mpi else []))


def advice(
    workloads: Mapping[str, Workload], roles: Sequence[str], ceilings: Sequence[str] = (), mpi: str | None = None
) -> str:
    """Return how to measure what a run lacks: "`./fl run ...` measures it", or why no workload can."""
    lacking = [why for role in roles if (why := missing(workloads, role))]
    return "; ".join(lacking) or f"`{measuring(workloads, roles, ceilings, mpi)}` measures it"


def missing(workloads: Mapping[str, Workload], role: str) -> str:
    """Return `no workload here plays the role message: ...` if no workload has the role, else ""."""
    return "" if players(workloads, role) else f"no workload here has the role {role}: {KINDS[role].sentence}"


def _suite(workload: Workload, declared: Role | Provides) -> str:
    """Return the smallest suite that measures what is declared; the smallest of all if none does."""
    for suite in SUITES:
        if any(_measures(entry, workload, declared) for entry in workload.suites.get(suite, [])):
            return suite
    return SUITES[0]


def _measures(entry: Selection, workload: Workload, declared: Role | Provides) -> bool:
    def among(name: str, patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(name, p) for p in patterns)

    names = [v.name for v in workload.variants if not v.broken]
    wanted = all(v in entry.parameters.get(k, [v]) for k, v in declared.where.items())
    return wanted and any(among(n, entry.variants) and among(n, declared.variants) for n in names)
