"""Table: a few figures that need no drawing; the title shows the best of each line, the table all of them."""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.analysis.formatting import listing
from firstlight.core import confidence
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, View


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    every = view.selected(workload, plot)
    if not every:
        return []
    key = answers.chooser(plot.lines)
    medians = [
        f"{provenance.median(f)} ({answers.label(view.judgement.run, plot.lines, key(f.identity))})"
        for f in answers.best_of_each(answers.verified(every), key)
    ]
    message = listing(medians) if medians else "no figure was verified"
    title = sentence.capital(f"{plot.subject or plot.metric}: {message}")
    return [
        Drawing(
            name, title, f"Medians over launches with their {confidence.INTERVALS}.", frame.HEAD, frame.table(every)
        )
    ]
