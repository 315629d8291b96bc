"""What differs in the environments of two runs, one sentence per difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from firstlight.core.units import binary
from firstlight.results.record import Run
from firstlight.system.machine import Machine
from firstlight.toolchain import Library, Mpi, Toolchain

_T = TypeVar("_T", Toolchain, Mpi, Library)


class Difference(NamedTuple):
    """A thing with its values in A and in B; None if the run does not have it."""

    what: str
    a: str | None
    b: str | None


def differences(a: Run, b: Run) -> Iterator[str]:
    """Yield sentences on machine, system, compilers, libraries, variables and firstlight itself. A is named first."""
    for d in differing(a, b):
        if d.a is None or d.b is None:
            yield f"{d.what}: only in {'A' if d.b is None else 'B'}"
        else:
            yield f"{d.what}: {d.a} in A, {d.b} in B"


def differing(a: Run, b: Run) -> Iterator[Difference]:
    """Yield the differences as data, in the order of `differences`."""
    yield from _fields({"node": a.machine.name} | facts(a.machine), {"node": b.machine.name} | facts(b.machine))
    yield from _tools("toolchain", a.toolbox.toolchains, b.toolbox.toolchains, _toolchain)
    yield from _tools("MPI", a.toolbox.mpis, b.toolbox.mpis, _mpi)
    yield from _tools("library", a.toolbox.libraries, b.toolbox.libraries, _library)
    for key in sorted(a.environment.keys() | b.environment.keys()):
        yield from _fields({key: a.environment.get(key, "not set")}, {key: b.environment.get(key, "not set")})
    yield from _fields(_itself(a), _itself(b))
    given, other = _settings(a), _settings(b)
    for key in sorted(given.keys() | other.keys()):
        yield from _fields({key: given.get(key, "not set")}, {key: other.get(key, "not set")})


def _fields(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for key in list(a) + [k for k in b if k not in a]:
        x, y = a.get(key, "unknown"), b.get(key, "unknown")
        if x != y:
            yield Difference(key, x, y)


def facts(m: Machine) -> dict[str, str]:
    """Return what nodes of one kind have in common: the machine, its settings and its system; {} if it is not known."""
    if not m.cpus:  # the machine of imported results
        return {}
    caches = {c.level: f"L{c.level} {binary(c.size)}" for c in m.caches}
    return {
        "processor": m.processor,
        "microarchitecture": m.microarchitecture,
        "cores": f"{m.cores} in {m.sockets} sockets",
        "usable CPUs": str(len(m.cpus)),
        "threads per core": str(m.threads_per_core),
        "NUMA nodes": str(len(m.numa)),
        "caches": ", ".join(caches[k] for k in sorted(caches)) or "unknown",
        "memory": binary(m.memory // 2**28 * 2**28),  # to a quarter of a GiB: kernels reserve a little more or less
        "operating system": m.system,
        "kernel": m.kernel,
        "virtual machine": m.virtual or "no",
        "frequency governor": m.governor or "unknown",
        "turbo": {True: "on", False: "off", None: "unknown"}[m.turbo],
        "huge pages": m.huge_pages or "unknown",
        "inherited settings": ", ".join(m.inherited) or "none",
    } | {f"limit {k}": v for k, v in sorted(m.limits.items())}


def _tools(
    kind: str, a: Sequence[_T], b: Sequence[_T], describe: Callable[[_T], dict[str, str]]
) -> Iterator[Difference]:
    in_a, in_b = {t.name: t for t in a}, {t.name: t for t in b}
    for name in sorted(in_a.keys() | in_b.keys()):
        if name not in in_b or name not in in_a:
            here, there = (None if name not in some else "there" for some in (in_a, in_b))
            yield Difference(f"{kind} {name}", here, there)
            continue
        x, y = describe(in_a[name]), describe(in_b[name])
        yield from _fields({f"{name} {k}": v for k, v in x.items()}, {f"{name} {k}": v for k, v in y.items()})


def _toolchain(t: Toolchain) -> dict[str, str]:
    return {
        "version": t.version,
        "flags": " ".join(t.flags),
        "OpenMP flags": " ".join(t.openmp) or "none",
        "Fortran": t.fortran_version or "none",
    }


def _mpi(m: Mpi) -> dict[str, str]:
    variables = " ".join(f"{k}={v}" for k, v in sorted(m.environment.items()))
    return {"version": m.version, "origin": m.origin, "variables": variables or "none"}


def _library(library: Library) -> dict[str, str]:
    return {"library": library.label}


def _settings(r: Run) -> dict[str, str]:
    """Return the user's settings; files with the hash of their contents."""
    return {
        f"{workload} {name}": ",".join(map(str, values))
        for workload, some in r.settings.items()
        for name, values in some.items()
    }


def _itself(r: Run) -> dict[str, str]:
    return {
        "firstlight": r.firstlight,
        "source revision": r.revision,
        "suite": r.suite,
    } | {one.name: str(one.reporter) for one in r.brought if one.reporter is not None}
