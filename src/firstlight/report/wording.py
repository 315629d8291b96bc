"""Wording: the names of toolchains, MPI libraries, cache levels and groups of them in a sentence."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from firstlight.analysis import formatting, provenance, ranking
from firstlight.analysis.ceilings import cores
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core.shell import command
from firstlight.core.units import binary, count, quantity
from firstlight.model.catalogue import Value
from firstlight.model.plan import AS_IT_IS
from firstlight.results.record import Run, TunedDefault
from firstlight.results.store import documents
from firstlight.toolchain import Toolbox

MOST_TOOLS = 2
"""The most tools that the title of an imported run names."""

NO_DIFFERENCE = "no difference can be shown"
"""How every page words that choices look different, but may be equal."""
MEANINGS = {ranking.ANY: "no difference within the intervals", ranking.UNCLEAR: "launches differ too much"}
"""What the two words mean that every page uses where nothing is better."""
mpi_label, mpi_name = formatting.mpi_label, formatting.mpi_name


def repeat(identity: Identity, run: Run | None = None) -> str:
    """Return the command that measures this figure again, with its files and settings, or the command of the run."""
    if run is not None and any(identity.workload == one.name for one in run.brought):
        return again(run)
    mpi = ("--mpi", identity.mpi) if identity.mpi else ()
    files: dict[str, Sequence[Value]] = {
        name: (v,) for name, v in identity.parameters if isinstance(v, str) and documents.is_name(v)
    }
    settings = run.settings.get(identity.workload, {}) if run else {}
    given = documents.typed(settings | files, run.id) if run else ()
    targets = [v for _, v in identity.parameters] + [v for some in settings.values() for v in some]
    storage = run.storage(targets) if run else ()
    words = (f"{identity.workload}.{identity.variant}", *given, "--toolchain", identity.toolchain, *mpi, *storage)
    return command("run", *words)


def again(run: Run) -> str:
    """Return the command that started the run, without the directory and the name of its results here."""
    given = {name: some for of in run.settings.values() for name, some in of.items()}
    kept = {name: some for name, some in given.items() if any(map(documents.is_document, some))}
    copies = dict(zip(documents.named_settings(kept), documents.typed(kept, run.id), strict=True))
    words = [copies.get(word, word) for word in run.command[1:]]  # the first one is arbitrary text of the file
    for option in ("--results", "--programs", "--as"):
        while option in words:
            del words[words.index(option) : words.index(option) + 2]
        words = [w for w in words if not w.startswith(f"{option}=")]
    return command(*words)


def effort(run: Run) -> str:
    """Return `quick suite`; "" for a run of a user's own programs, which belong to no suite."""
    return "" if run.brought else f"{run.suite} suite"


def title(run: Run) -> str:
    """Return the title of a page: the first light of a machine, or the title of the user's programs."""
    own = [one.title for one in run.brought]
    if run.imported and len(own) > MOST_TOOLS:
        own = [f"Results of {len(own)} tools"]
    return f"{', '.join(own)} on {run.machine.title}" if own else f"First light of {run.machine.title}"


def date(run: Run) -> str:
    """Return when the run was started, or when it was imported if its results have no date."""
    local = time.strftime("%d %b %Y %H:%M", time.localtime(run.started)).lstrip("0")
    return f"date unknown, imported {local}" if run.undated else local


def took(run: Run) -> float | None:
    """Return the seconds that a run lasted; None if it has not ended or was imported."""
    return None if run.finished is None or run.imported else run.finished - run.started


def unseen(run: Run) -> str:
    """Return the description of a machine that firstlight did not see."""
    return f"processor and system of {run.machine.title} are unknown; results were imported"


def verified(run: Run) -> str:
    """Return how a user's programs are verified, in one sentence; "" if the run has none."""
    own = {one.name for one in run.brought if one.reporter is None}
    ways = dict.fromkeys(d.verified for d in run.descriptions.values() if d.workload in own)
    return "; ".join(f"verified by {way}" if way else "unverified, so nothing is ranked" for way in ways)


def chains(run: Run) -> str:
    """Return the compilers, flag sets and MPI libraries on one line; "" if the run used none of them.

    An imported run used none that firstlight recognises, and neither did commands that a user built.
    """
    own = [one for one in run.brought if one.reporter is None]
    if run.imported or (own and all(c.program.toolchain == AS_IT_IS and c.program.mpi is None for c in run.cells)):
        return ""
    sets = ", ".join(dict.fromkeys(t.flag_set for t in run.toolbox.toolchains))
    mpis = ", ".join(m.label for m in run.toolbox.mpis) or "no MPI"
    return "  ×  ".join([", ".join(tools(run)) or "no compiler", sets, mpis])


def answered(some: Iterable[TunedDefault], toolbox: Toolbox) -> list[str]:
    """Return a sentence for each tuned default of a run: the value of a parameter that was not set, and its source."""
    labels = {m.name: m.label for m in toolbox.mpis}
    groups: dict[tuple[str, ...], list[TunedDefault]] = {}
    for one in some:
        groups.setdefault((one.parameter, one.value, one.mpi, one.role, one.run, one.program), []).append(one)
    sentences = []
    for (parameter, value, mpi, role, run, program), alike in groups.items():
        names = listing(sorted({one.workload for one in alike}))
        taken = f"{parameter}={value} for {names} with {labels.get(mpi, mpi)}"
        by = f"with messages of {listing([binary(int(size)) for size in sorted({one.size for one in alike})])}"
        if not run:
            sentences.append(f"{taken}: no earlier run of this machine measured which value is the best (role {role})")
        elif program:
            sentences.append(f"{taken}: {program} was the best in run {run} {by}")
        else:
            sentences.append(f"{taken}: no value was better in run {run} {by}")
    return sentences


def tools(run: Run) -> list[str]:
    """Return `gcc 12.2`, `nvcc 13.0`: each compiler of the run once."""
    here = [f"{t.compiler} {_short(t.version)}" for t in run.toolbox.toolchains]
    return list(dict.fromkeys(here + ([_short(run.toolbox.cuda.label)] if run.toolbox.cuda else [])))


def _short(version: str) -> str:
    """Return the first two parts of a version."""
    return ".".join(version.split(".")[:2])


def resource(figure: Verified) -> str:
    """Return the resource that limits a figure: `load bandwidth of L2`, `32-bit arithmetic`; "" if it is not known."""
    ceiling = figure.ceiling
    if ceiling is None or ceiling.own:
        return ""
    return resource_name(ceiling.resource) + (f" of {ceiling.place}" if ceiling.place else "")


def resource_name(ceiling: str) -> str:
    """Return the name of a ceiling for readers: `load bandwidth`, `32-bit arithmetic`."""
    name = "triad_bandwidth" if ceiling == "bandwidth" else ceiling
    if name.startswith("flops_"):
        return f"{name.removeprefix('flops_')}-bit arithmetic"
    return name.replace("_", " ")


def measured_with(figure: Verified) -> str:
    """Return ` (best launch: 179 GB/s with 320 KiB on 2 cores)`: how the ceiling was measured; "" without a size."""
    ceiling = figure.ceiling
    if ceiling is None or not ceiling.place or ceiling.working_set is None or ceiling.source is None:
        return ""
    formula = "working_set(a) * a.ranks / a.nodes"
    size = provenance.number(binary(ceiling.working_set), formula, "B", (ceiling.source,))
    many = provenance.number(count(cores(ceiling.source), "core"), "a.cores", of=(ceiling.source,))
    with_size = f"{size} on {many}"
    if ceiling.rate is None:
        return f" (with {with_size})"
    best = provenance.number(quantity(ceiling.rate / 1e9, "GB/s"), "best(a)", "GB/s", (ceiling.source,))
    return f" (best launch: {best} with {with_size})"
