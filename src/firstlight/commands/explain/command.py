"""`firstlight explain`: show how one figure came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight import __version__
from firstlight.commands.shared import runs
from firstlight.commands.shared.output import (
    as_json,
    colour,
    note,
    output_file,
    print_json,
    results_folder,
    tell,
    width,
)
from firstlight.core import shell
from firstlight.core.errors import OK, REGRESSION, UsageError
from firstlight.core.roles import CHECKPOINT_TIME, RESTART_TIME

if TYPE_CHECKING:
    from firstlight.analysis import Judgement
    from firstlight.analysis.verdict import Figure, Verified
    from firstlight.execute.build.assembly import Loop
    from firstlight.model.catalogue import Workload
    from firstlight.results.record import Run

MOST = 8
NODES = (1, 10, 100, 1000, 10_000, 100_000)
"""Numbers of nodes for which intervals between checkpoints are shown."""

SECTION = "Read"


def schemas() -> dict[str, object]:
    """Return the types that this command prints as JSON, by the name of their schema."""
    from firstlight.analysis.checkpoints import Plan
    from firstlight.commands.explain.page import Explained

    return {"explain": Explained, "explain-checkpoints": Plan}


@click.command(
    epilog="""\b
Examples:
  ./fl explain dot.simd rate gcc-native
  ./fl explain dot.simd rate --output dot.html
  ./fl explain checkpoint

\b
Exit status:
  0    done
  1    the figure failed verification: the page shows the reason and no number
  2    wrong usage: no figure or more than one figure matches
"""
)
@click.argument("words", nargs=-1, required=True, metavar="FIGURE...")
@click.option(
    "--run", "run", default="latest", show_default=True, metavar="RUN", help="The run that measured the figure."
)
@output_file("Also write the page to FILE.")
@as_json
@results_folder
def command(words: tuple[str, ...], run: str, output: Path | None, as_json: bool, results: Path) -> int:
    """Explain one figure.

    The page shows the samples of the figure and their distribution, what limits the figure, its hot loop, and how to
    narrow its interval.

    FIGURE is one or more words that identify the figure in the output of `./fl figures`. If several figures
    match and differ only in the toolchain or a parameter, the best one is shown.

    For a workload that saves checkpoints, FIGURE can be its name. The page then shows the best interval between
    checkpoints.
    """
    from firstlight.analysis.formatting import name
    from firstlight.analysis.verdict import Verified
    from firstlight.commands.explain import page

    judgement, workloads, _ = runs.judged(runs.find(run, results))
    if saves_checkpoints(workloads, words):
        if output is not None:
            raise UsageError(
                "--output writes a page about one figure; select that figure by its name from `./fl figures`"
            )
        return intervals(judgement, workloads, as_json)
    figure = choose(judgement.figures, words, shell.command("figures", judgement.run.id))
    if not isinstance(figure, Verified):
        verdict = str(figure.__struct_config__.tag)
        note(f"{name(figure.identity)}: " + ("" if verdict == "reported" else f"{verdict}: ") + figure.reason)
        return REGRESSION if verdict == "failed" else OK
    explained = page.explain(judgement, figure, workloads, loop_of(judgement.run, figure))
    if output is not None:
        page.write(explained, figure, __version__, output)
    if as_json:
        print_json(explained)
    else:
        tell(page.summary(explained, width(), colour(), output))
    return OK


def saves_checkpoints(workloads: Mapping[str, Workload], words: Sequence[str]) -> bool:
    """Return whether the words are only the name of a workload that measures checkpoints."""
    roles = workloads[words[0]].roles if len(words) == 1 and words[0] in workloads else ()
    return any(role.role == CHECKPOINT_TIME for role in roles)


def intervals(judgement: Judgement, workloads: Mapping[str, Workload], as_json: bool) -> int:
    """Print the best interval between checkpoints, by number of nodes. Raises UsageError if the run has no costs."""
    from firstlight.analysis import checkpoints, roles
    from firstlight.report import checkpoints as page
    from firstlight.report.ink import wrap

    whole, local = checkpoints.measured(judgement, workloads)
    if whole is None:
        wanted = (CHECKPOINT_TIME, RESTART_TIME)
        raise UsageError(
            f"run {judgement.run.id} has no verified time of a checkpoint; {roles.advice(workloads, wanted)}"
        )
    plan = checkpoints.plan(whole, local, checkpoints.NODE_MTBF, NODES)
    if as_json:
        print_json(plan)
        return OK
    lines = [f"checkpoints, from run {judgement.run.id}", ""]
    for line in page.lines(plan):
        lines += wrap(line, width(), "  ", "    ")
    lines += ["", *(f"  {row}" for row in page.text_table(plan)), ""]
    lines += wrap(
        "for other numbers of nodes and failure rates: ./fl project --nodes N --mtbf HOURS", width(), "  ", "    "
    )
    tell("\n".join(lines))
    return OK


def choose(figures: Sequence[Figure], words: Sequence[str], listing: str = "./fl figures") -> Figure:
    """Return the figure with all these words, the best of similar ones. Raises UsageError for none, or dissimilar ones.

    Similar figures differ only in toolchain, MPI library and parameters. Whole words match first: `time` is not
    `cpu_time`. A word that no name has as a whole may be a part of one.
    """
    from firstlight.analysis.formatting import name
    from firstlight.analysis.ranking import best
    from firstlight.analysis.verdict import Verified

    asked = [part.strip(",()") for word in words for part in word.split()]
    text = " ".join(asked)
    words_of = {f.identity: {part.strip(",()") for part in name(f.identity).split()} for f in figures}
    whole = set().union(*words_of.values())
    found = [
        f
        for f in figures
        if all(part in (words_of[f.identity] if part in whole else name(f.identity)) for part in asked)
    ]
    found = found or [f for f in figures if all(part in name(f.identity) for part in asked)]
    if not found:
        known = sorted({part for f in figures for part in words_of[f.identity]})
        near = next((m for part in asked if part not in known for m in get_close_matches(part, known, n=1)), "")
        hint = f"did you mean {near}?" if near else f"`{listing}` lists them"
        raise UsageError(f"no figure matches {text!r}; {hint}")
    kinds = {(f.identity.workload, f.identity.variant, f.identity.metric, f.identity.placement) for f in found}
    if len(found) > 1 and len(kinds) > 1:
        shown = "; ".join(name(f.identity) for f in found[:MOST])
        more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
        raise UsageError(f"{len(found)} figures match {text!r}; add more words: {shown}{more}")
    if len(found) > 1:
        note(f"{len(found)} figures match {text!r}: this page explains the best one; add words to select another")
    return best([f for f in found if isinstance(f, Verified)]) or found[0]


def loop_of(run: Run, figure: Verified) -> Loop | str:
    """Return the figure's hot loop, or why it is not available: the cache must contain the launched executable."""
    from firstlight.execute.build.assembly import hot_loop, root_of
    from firstlight.execute.build.stored import Entry
    from firstlight.system.machine import cache_directory

    i = figure.identity
    build = next(
        (b for b in run.builds if b.ok and (b.program.workload, b.program.variant, b.program.toolchain, b.program.mpi)
         == (i.workload, i.variant, i.toolchain, i.mpi)), None,
    )  # fmt: skip
    if build is None or not build.recipe.isalnum():
        return "not available: the run does not record how its program was built"
    entry = Entry(cache_directory() / "programs" / build.recipe, build.program.target)
    try:
        if entry.sum() != build.sha256:
            return "not available: the executable in the cache is not the one that was launched"
    except OSError:
        return "not available: the executable is no longer in the cache, or was built on another machine"
    description = run.descriptions.get(build.program.target)
    kernel = dict(i.parameters).get("kernel") if description is not None and description.kernels else None
    return hot_loop(entry.executable) if kernel is None else hot_loop(entry.executable, root_of(kernel))
