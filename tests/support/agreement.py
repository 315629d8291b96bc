"""Read from the pages of a run which MPI library each of their parts recommends, and return where two parts differ.

Each part is read as a reader would: the line of the summary, the cards, the table of libraries and the findings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from firstlight.analysis import Judgement, ranking
from firstlight.analysis.provenance import settle
from firstlight.model.catalogue import Workload
from firstlight.report import answers, matrix, verdict

GROUP = re.compile(r"(?:[:,] )([\w ]+) \(((?:[^()]|\([^()]*\))*)\)")
"""A choice in a sentence, and the titles for which it is the choice."""


def of_sentence(sentence: str, titles: set[str]) -> dict[str, str]:
    """Return the choice by the title of the row."""
    found: dict[str, str] = {}
    for choice, inside in GROUP.findall(sentence):
        found |= {title: choice for title in titles if re.search(rf"(?:^|; ){re.escape(title)}(?=:|;|$)", inside)}
    return found


def of_matrix(judgement: Judgement, workloads: Mapping[str, Workload]) -> dict[str, str]:
    """Return the choice by the title of the row: the libraries without a loss, or their word if none has a loss."""
    made = matrix.of_libraries(judgement, workloads)
    found: dict[str, str] = {}
    for line, cells in made.rows if made else ():
        texts = {name: c.text for name, c in zip(made.columns, cells, strict=True) if c.text != matrix.NOTHING}
        good = {name: text for name, text in texts.items() if text in (matrix.BEST, ranking.ANY, ranking.UNCLEAR)}
        # One that is worse decides; libraries that tie are then named together.
        choice = ", ".join(good) if len(good) < len(texts) else max(good.values())  # unclear comes after any
        found[line.partition(": ")[2]] = choice
    return found


def of_cards(judgement: Judgement, workloads: Mapping[str, Workload]) -> dict[str, tuple[str, str]]:
    """Return the choice and the library of the best figure by the title of the row."""
    front = answers.front(judgement.run, answers.answers(judgement, workloads))
    return {a.row.title: (a.choose, a.library) for a in (*front.rows, *front.others) if a.subject == "MPI"}


def disagreements(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[str]:
    """Return one sentence for each two parts that differ about a row."""
    table, cards = of_matrix(judgement, workloads), of_cards(judgement, workloads)
    line = of_sentence(settle(verdict.mpi(judgement, workloads)), set(table))
    told = [f.sentence for f in judgement.findings if f.rule == "mpi_differs" and "plain calls" in f.sentence]
    findings = of_sentence(" ".join(told), set(table))
    wrong = [f"{title}: the table has no line" for title in (line | findings).keys() - table.keys()]
    for title, choice in table.items():
        if title not in cards:
            wrong.append(f"{title}: no card")
        elif cards[title][0] != choice:
            wrong.append(f"{title}: the card recommends {cards[title][0]}, the table {choice}")
        if choice not in (ranking.ANY, ranking.UNCLEAR) and cards.get(title, ("", choice))[1] not in choice:
            wrong.append(f"{title}: the card's figure is of {cards[title][1]}, the table recommends {choice}")
        for name, part in (("summary", line), ("findings", findings)):
            if part.get(title, choice) != choice:
                wrong.append(f"{title}: the {name} recommends {part[title]}, the table {choice}")
    return wrong
