"""`firstlight list`: list what can be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click
import msgspec

from firstlight.commands.shared.output import echo_json, tell

SECTION = "Measure"


class ListedVariant(msgspec.Struct, frozen=True):
    """A variant. `needs`: openmp, mpi, mpi4, shmem, caf, blas1, lapack, fft, fortran."""

    name: str
    needs: tuple[str, ...]


class ListedWorkload(msgspec.Struct, frozen=True):
    """One workload and its variants, without those that test the verification.

    `parameters`: parameters with values in the suites; a program's --describe lists all parameters.
    """

    name: str
    title: str
    question: str
    chapter: str
    suites: tuple[str, ...]
    variants: tuple[ListedVariant, ...]
    parameters: tuple[str, ...] = ()


def listed(names: tuple[str, ...]) -> list[ListedWorkload]:
    """Return the workloads and variants that `names` select, all if it is empty; broken variants are left out."""
    from firstlight.model import catalogue
    from firstlight.model.plan import select
    from firstlight.runner.parameters import declared

    workloads = catalogue.load(catalogue.roots())
    found = []
    for name, wanted in select(workloads, names).items():
        w = workloads[name]
        variants = [v for v in w.variants if not v.broken and (wanted is None or v.name in wanted)]
        shown = tuple(ListedVariant(v.name, v.needs) for v in variants)
        parameters = tuple(sorted(declared(w)))
        found.append(ListedWorkload(name, w.title, w.question, w.chapter, tuple(w.suites), shown, parameters))
    return found


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    return {"list": list[ListedWorkload]}


@click.command(
    epilog="""\b
Examples:
  ./fl list
  ./fl list dot

\b
Exit status:
  0    done
  2    wrong usage: no such workload
"""
)
@click.argument("workload", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema: list).")
def command(workload: tuple[str, ...], as_json: bool) -> None:
    """List the workloads by chapter, or the variants of one."""
    found = listed(workload)
    if as_json:
        echo_json(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    for line in _details(found) if workload else _overview(found):
        tell(line)
    tell("measure one: ./fl run NAME or ./fl run NAME.VARIANT; everything: ./fl run")
    tell("with your own values: ./fl run NAME PARAMETER=VALUE,VALUE")


def _overview(found: Sequence[ListedWorkload]) -> Iterator[str]:
    """Yield the workloads by chapter, those that cannot run on this machine last."""
    from firstlight.model import catalogue
    from firstlight.report import chapters
    from firstlight.system.machine import gpus

    here = bool(gpus.discover(Path("/")))
    width = max(len(w.name) for w in found)
    absent = {w.name for w in found if not here and all(catalogue.on_device(v.needs) for v in w.variants)}
    ordered = sorted(found, key=lambda w: (chapters.place(w.chapter), w.name in absent, w.name))
    for chapter, some in groupby(ordered, lambda w: w.chapter):
        yield chapters.title(chapter)
        for w in some:
            yield f"  {w.name:<{width}}  {w.title}" + (" (not here: requires a GPU)" if w.name in absent else "")
        yield ""
    yield "variants and parameters of a workload: ./fl list NAME"


def _details(found: Sequence[ListedWorkload]) -> Iterator[str]:
    from firstlight.model import catalogue

    for entry in found:
        yield f"{entry.name}  {entry.title}. {entry.question}"
        width = max((len(v.name) for v in entry.variants), default=0)
        for variant in entry.variants:
            needs = f"  needs {', '.join(catalogue.why(n) for n in variant.needs)}" if variant.needs else ""
            yield f"  {variant.name:<{width}}{needs}".rstrip()
        yield f"  suites: {', '.join(entry.suites) or 'none'}"
        yield f"  parameters: {', '.join(entry.parameters) or 'none'}\n"
