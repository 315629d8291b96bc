"""The verdict, first on both pages: health of the machine, flags, MPI library, share of nominal peaks, what next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from firstlight.analysis import Judgement, libraries, nominal_peaks, provenance
from firstlight.analysis.evidence import NOTICED, diverged, unfit
from firstlight.analysis.flags_advice import advice
from firstlight.analysis.formatting import listing
from firstlight.analysis.ordinary import ordinary
from firstlight.analysis.roles import played, players
from firstlight.analysis.steadiness import disturbed, sentence
from firstlight.analysis.verdict import DISTURBED, Failed, Verified
from firstlight.core.roles import OS_NOISE
from firstlight.core.shell import command
from firstlight.core.units import percent
from firstlight.model.catalogue import Workload
from firstlight.report import answers, external_commands, wording
from firstlight.report.sentence import capital
from firstlight.report.unmeasured import unanswered, unmeasured
from firstlight.results.record import Run
from firstlight.system.machine import NOT_ALONE, Machine, busy

NOISY = 2.0
"""Percent of the processors' time that OS noise may use on a machine that is fit for measuring."""
WITHHELD = "no advice: the machine was not fit for measuring"
MOST_ROWS = 4  # of a kind in a sentence about MPI libraries


class Advice(msgspec.Struct, frozen=True):
    """One line: `sentence` has the sources of its numbers; `command` is what to type, "" if nothing."""

    subject: str
    sentence: provenance.Sentence
    command: str = ""


def verdict(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Advice]:
    """Return the lines, in the order of the questions that a reader has. A line without an answer is left out."""
    run = judgement.run
    lines = [
        ("health", health(judgement, workloads), ""),
        ("flags", flags(judgement, workloads), ""),
        ("MPI", mpi(judgement, workloads), ""),
        ("hardware", nominal_peaks.sentence(judgement, workloads), ""),
        ("next", *following(judgement, workloads)),
    ]
    if run.brought:  # the page of a user's own commands is about these alone
        result = [("result", text, "") for text in external_commands.sentences(judgement)]
        lines = result + [line for line in lines if line[0] not in ("flags", "MPI", "hardware")]
    return [Advice(subject, provenance.settle(text), what) for subject, text, what in lines if text]


def flags(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return the advice on flags, and whether it is about C++ alone."""
    if unfit(judgement.run, judgement.records):
        return WITHHELD if len(judgement.run.toolbox.toolchains) > 1 else ""
    text = advice(ordinary(judgement, workloads))
    fortran = any(t.fortran for t in judgement.run.toolbox.toolchains)
    return f"{text}. Fortran was not measured: no compiler was found" if text and not fortran else text


def health(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return whether the machine was fit for measuring, and the strongest reason if it was not entirely."""
    if not diverged(judgement.records)[1] or judgement.run.machine.emulated:
        return ""
    busy = _busy(judgement.run.machine)
    if unfit(judgement.run, judgement.records):
        return _sentences("not fit for measuring", _shared(judgement), busy, "the figures do not support any choice")
    if why := list(filter(None, (_disturbance(judgement), _noise(judgement, workloads)))):
        return _sentences(
            "usable with care", *why, busy, "rely on the choices of this page, not on the order of the medians"
        )
    return _sentences("fit for measuring: no disturbance exceeded the thresholds of the method", busy)


def _sentences(first: str, *others: str) -> str:
    """Join sentences; the first one continues the subject of the line."""
    return ". ".join([first, *(capital(text) for text in others if text)])


def _busy(machine: Machine) -> str:
    """Return that the processors were not idle before the run, with the load average; "" if they were idle."""
    if not busy(machine.load, len(machine.cpus)):
        return ""
    load = provenance.number(f"{machine.load:.1f}", "load()")
    cpus = provenance.number(str(len(machine.cpus)), "cpus()")
    return NOT_ALONE.format(load=load, cpus=cpus)


def _disturbance(judgement: Judgement) -> str:
    """Return the strongest sign that the machine was disturbed; "" if there is none, or if no time was measured."""
    some, samples = diverged(judgement.records)
    if not samples or judgement.run.machine.emulated:
        return ""
    share = some / samples
    if share < DISTURBED and (slow := disturbed(judgement.steadiness)):
        return sentence(slow[0])
    return _shared(judgement) if share > NOTICED else ""


def _noise(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return the largest share of the processors' time that was measured as OS noise; "" if it is small.

    It is often the only sign of a hypervisor that uses the processors.
    """
    some = played(judgement.figures, players(workloads, OS_NOISE), judgement.run.machine)
    lost = [f for p in some if (f := p.figure).unit == "%" and _low(f) > NOISY]
    if not lost:
        return ""
    worst = max(lost, key=lambda f: f.estimate.median)
    few = f" ({provenance.launches(worst)})" if worst.estimate.low is None else ""
    who = "OS noise or the hypervisor" if judgement.run.machine.virtual else "OS noise"
    return f"{who} used {provenance.median(worst)} of the processors' time{few}"


def _low(f: Verified) -> float:
    """Return the lower end of the interval; from too few launches, the smallest one."""
    return min(f.estimate.launches) if f.estimate.low is None else f.estimate.low


def _shared(judgement: Judgement) -> str:
    some, samples = diverged(judgement.records)
    many = provenance.number(percent(some / samples), "diverged() / samples()")
    return f"other processes used the processors in {many} of the samples"


def mpi(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return which library to use for which purpose: `small messages: MPICH (message latency: 1.8 x faster, ...)`."""
    if unfit(judgement.run, judgement.records):
        return WITHHELD if len(judgement.run.toolbox.mpis) > 1 else ""
    cases = libraries.headlines(case for case in libraries.table(judgement, workloads) if not case.few)
    lacking = libraries.not_compared(judgement, workloads)
    missing = f"too few figures for a comparison: {', '.join(map(libraries.named, lacking))}" if lacking else ""
    if not cases:
        return missing
    nodes = max(f.identity.placement.nodes for case in cases for f in case.rivals)
    run = judgement.run
    installed = all(mpi.origin == "embedded" for mpi in run.toolbox.mpis)
    own = ", with MPI libraries that firstlight installed" if installed else ""
    return _sentences(
        libraries.sentence(cases, ";\n"), missing, f"all ranks were on one node{own}" if nodes == 1 else ""
    )


def _some(what: Sequence[str]) -> str:
    return "; ".join(what[:MOST_ROWS]) + ("; and others" if len(what) > MOST_ROWS else "")


def following(judgement: Judgement, workloads: Mapping[str, Workload]) -> tuple[str, str]:
    """Return what to do next, and the command: continue the run, measure again, or run the larger suite."""
    run = judgement.run
    failed = [f.identity.variant for f in judgement.figures if isinstance(f, Failed)]
    if failed and any(not brought.reporter for brought in run.brought):
        names = listing([provenance.name(name) for name in dict.fromkeys(failed)])
        return f"correct {names}: failed commands have no figures", command("figures", run.id)
    if run.state != "complete":
        how, go_on = state(run)
        killed = "; if the run was killed, continue it" if run.state == "running" else ""
        if run.state in ("budget", "interrupted") and _disturbance(judgement):
            how = f"when no other program uses the processors, {how}"
        return how + _still_to_come(judgement, workloads) + killed, go_on
    if unfit(run, judgement.records) or any(table.disturbed for table in external_commands.tables(judgement)):
        return "measure again when no other program uses the processors", wording.again(run)
    if unmeasured(run, workloads) and run.suite == "quick":
        return "measure more workloads, sizes and variants", command("run", "--standard", "--budget", "20m")
    return "", ""


def _still_to_come(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return the rows that a run will answer if it goes on, "" if it has ended: `; still missing: message latency`."""
    if judgement.run.state != "running":
        return ""
    titles = unanswered(judgement, workloads, {a.row.title for a in answers.answers(judgement, workloads) if a.best})
    return f"; still missing: {_some([provenance.name(title) for title in titles])}" if titles else ""


def state(run: Run) -> tuple[str, str]:
    """Return how an incomplete run ended, and the command that continues it."""
    if run.state == "changed":
        return "start a new run: a program changed during the measurement", wording.again(run)
    how = {
        "budget": "continue: the budget ended before every figure had enough launches; a resumed run adds launches",
        "interrupted": "continue: the run was interrupted and part of the suite is missing; a resumed run adds "
        "launches",
        "running": "wait: the run is in progress and will update this page",
    }.get(run.state, run.state)
    return how, command("run", "--resume", run.id, *run.more())
