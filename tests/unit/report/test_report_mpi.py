"""Which MPI library: the summary, the cards, the matrix and the findings come from one table of plain calls."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

import agreement
import invented
import invented_run
import sums
import synthetic_halo
from firstlight.analysis import Judgement, libraries, ranking
from firstlight.analysis.figures import judge
from firstlight.analysis.findings import discover
from firstlight.analysis.interval import estimate
from firstlight.analysis.provenance import settle
from firstlight.analysis.verdict import Figure, States, Verified
from firstlight.commands.report import reported
from firstlight.core import heritage
from firstlight.model.catalogue import Row, Workload
from firstlight.report import answers, html, matrix, terminal, verdict, wording
from report_samples import sample

HALO = Row(
    "halo exchange, N = 32", "exchange", 85, {"n": 32, "data": "packed"}, ranks=2, choose="variant", headline=True,
    purpose="halo exchange",
)  # fmt: skip
Scene = tuple[Judgement, dict[str, Workload]]


@cache
def halo(plain: tuple[str, ...] = ("mpi_sendrecv",), launches: int = 8) -> Scene:
    scene = synthetic_halo.run(launches=launches)
    workloads = {"halo": replace(scene.workloads["halo"], rows=(HALO,), plain=plain)}
    return judge(scene.run, scene.records, workloads), workloads


def vector_sums() -> Scene:
    scene = sums.scene(6, factors={("mpich", "mpi_allreduce"): 1.6})
    return judge(*scene), scene.workloads


def scattered(scene: Scene) -> Scene:
    """Return the scene with libraries whose launches are far apart and overlap."""
    judged, workloads = scene
    low, high = (10.0, 12.0, 30.0, 50.0, 11.0, 48.0), (12.0, 30.0, 52.0, 60.0, 14.0, 55.0)

    def changed(f: Figure) -> Figure:
        if not isinstance(f, Verified) or f.identity.mpi is None:
            return f
        by = low if f.identity.mpi == "openmpi" else high
        return replace(f, estimate=estimate([x * f.estimate.median for x in by]), states=None)

    judged = replace(judged, figures=tuple(map(changed, judged.figures)))
    return replace(judged, findings=()), workloads


def shipped_suite(folder: Path, shape: str = "server") -> Scene:
    scene = invented_run.run(invented.machine(folder, shape))
    return judge(*scene), scene.workloads


def one(scene: Scene, title: str) -> answers.Answer:
    judgement, workloads = scene
    front = answers.front(judgement.run, answers.answers(judgement, workloads))
    (found,) = [a for a in front.rows if a.row.title == title]
    return found


@pytest.mark.parametrize(
    "make", [sample, halo, vector_sums, lambda: scattered(halo()), lambda: scattered(sample())],
    ids=["messages", "halo", "sums", "halo unclear", "messages unclear"],
)  # fmt: skip
def test_all_parts_of_a_page_recommend_the_same_library(make: object) -> None:
    judgement, workloads = make()  # type: ignore[operator]
    assert libraries.table(judgement, workloads)
    assert agreement.disagreements(judgement, workloads) == []


def test_all_parts_agree_in_the_suites_that_are_shipped(tmp_path: Path) -> None:
    judgement, workloads = shipped_suite(tmp_path)
    cases = libraries.table(judgement, workloads)
    assert {c.row.purpose for c in cases} == {"small messages", "large messages", "collectives", "halo exchange"}
    assert agreement.disagreements(judgement, workloads) == []


def test_a_part_that_recommends_another_library_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement, workloads = halo()
    (case,) = libraries.table(judgement, workloads)
    other = replace(case, choice="MPICH", second=None)
    monkeypatch.setattr(verdict.libraries, "table", lambda *_: [other])  # type: ignore[attr-defined]
    assert case.choice == "Open MPI" and len(agreement.disagreements(judgement, workloads)) >= 2


def test_the_line_of_the_summary_has_every_purpose_with_factor_and_interval() -> None:
    sentence = settle(verdict.mpi(*sample()))
    assert sentence.startswith("small messages (below 64 KiB): MPICH (message latency, 8 B, 2 ranks: 1."), sentence
    large = ";\nlarge messages (64 KiB and more): Open MPI (message bandwidth, 1 MiB: 1."
    assert " x faster, 1." in sentence and large in sentence
    assert sentence.endswith("). All ranks were on one node")


def test_a_factor_between_nearer_states_is_the_least() -> None:
    judgement, workloads = sample()

    def bimodal(f: Figure) -> Figure:
        if not isinstance(f, Verified) or f.identity.mpi != "mpich" or f.identity.metric != "latency":
            return f
        return replace(f, states=States(f.estimate.median, 1.02 * f.estimate.median, 6, 4))

    split = replace(judgement, figures=tuple(map(bimodal, judgement.figures)))
    sentence = settle(verdict.mpi(split, workloads))
    assert sentence.startswith("small messages (below 64 KiB): MPICH (message latency, 8 B, 2 ranks: at least 1.")
    assert " x faster);\nlarge messages" in sentence, sentence


def test_plain_calls_come_first_and_own_algorithms_are_what_is_possible() -> None:
    scene = halo()
    judgement, workloads = scene
    front = answers.front(judgement.run, answers.answers(judgement, workloads))
    (card,), (beyond,) = front.rows, front.possible
    assert card.program_and_library == "halo.mpi_sendrecv, Open MPI" and card.advice == "MPI: Open MPI"
    assert beyond.program == "halo.mpi_shared_flags" and beyond.subject == "method"
    page = html.render(judgement, workloads, heritage.load())
    cards, _, rest = page[page.index('<ul class="cards">') :].partition('<h3 id="possible">')
    assert "halo.mpi_sendrecv, Open MPI" in cards and "shared_flags" not in cards
    assert "halo.mpi_shared_flags" in rest[: rest.index("</table>")]
    shown = " ".join(terminal.summary(judgement, workloads).split())
    first, possible, second = ("(halo.mpi_sendrecv, Open MPI)", "what is possible", "mpi_shared_flags, ")
    assert shown.index(first) < shown.index(possible) < shown.index(second)


def test_without_plain_variants_all_variants_decide() -> None:
    scene = halo(())
    assert one(scene, HALO.title).program == "halo.mpi_shared_flags" and one(scene, HALO.title).subject == "MPI"
    judgement, workloads = scene
    assert answers.front(judgement.run, answers.answers(judgement, workloads)).possible == []


def test_the_card_of_a_message_names_the_library_of_its_figure() -> None:
    judgement, workloads = sample()
    card = one((judgement, workloads), "message latency, 8 B, 2 ranks")
    assert card.best is not None and card.best.identity.mpi == "mpich" and card.library == "MPICH"
    assert f"{card.program}, MPICH" in html.render(judgement, workloads, heritage.load())


def test_any_and_unclear_are_the_words_of_every_part() -> None:
    judgement, workloads = scattered(halo())
    card = one((judgement, workloads), HALO.title)
    table = matrix.of_libraries(judgement, workloads)
    assert table is not None
    assert [c.text for _, cells in table.rows for c in cells] == ["unclear", "unclear"]
    assert card.choose == ranking.UNCLEAR
    assert "halo exchange: unclear (halo exchange, N = 32)" in settle(verdict.mpi(judgement, workloads))
    page = html.render(judgement, workloads, heritage.load())
    assert "MPI: <b>unclear</b>" in page and "unclear: launches differ too much" in page
    assert "unclear: launches differ too much" in " ".join(terminal.summary(judgement, workloads).split())
    equal = tuple(
        replace(f, estimate=estimate([10 + 0.1 * k for k in range(8)]), states=None) if isinstance(f, Verified) else f
        for f in judgement.figures
    )
    same = replace(judgement, figures=equal)
    table = matrix.of_libraries(same, workloads)
    assert table is not None and {c.text for _, cells in table.rows for c in cells} == {"any"}
    assert one((same, workloads), HALO.title).choose == ranking.ANY
    assert "halo exchange: any (halo exchange, N = 32)" in settle(verdict.mpi(same, workloads))


def test_the_finding_comes_from_the_table_too() -> None:
    judgement, workloads = sample()
    (found,) = [f for f in judgement.findings if f.rule == "mpi_differs"]
    line = settle(verdict.mpi(judgement, workloads)).removesuffix(". All ranks were on one node")
    sentence = " ".join(line.split())
    assert found.sentence == f"MPI libraries differ in plain calls. {sentence[:1].upper()}{sentence[1:]}"
    assert {i.mpi for i in found.about} == {"openmpi", "mpich"}


def test_launches_too_few_for_an_interval_are_in_no_sentence() -> None:
    judgement, workloads = halo(launches=3)
    assert verdict.mpi(judgement, workloads) == "too few figures for a comparison: halo exchange"
    assert one((judgement, workloads), HALO.title).choose == ranking.UNCLEAR


def test_a_library_that_is_better_in_another_case_is_named_as_well() -> None:
    """The front page has one of the two sums."""
    scene = sums.scene(8, factors={("mpich", "mpi_allreduce"): 0.5})
    judged, workloads = judge(*scene), scene.workloads
    slow = tuple(
        replace(f, estimate=estimate([6 * x for x in f.estimate.launches]), states=None)
        if isinstance(f, Verified) and f.identity.mpi == "mpich" and ("n", 2**20) in f.identity.parameters else f
        for f in judged.figures
    )  # fmt: skip
    sentence = settle(verdict.mpi(replace(judged, figures=slow), workloads))
    assert "collectives, depending on the case: MPICH (allreduce of 8 KiB, 2 ranks: " in sentence, sentence
    assert ", Open MPI (allreduce of 8 MiB, 2 ranks: " in sentence
    assert agreement.disagreements(replace(judged, figures=slow, findings=()), workloads) == []


def test_a_machine_that_was_not_fit_for_measuring_supports_no_choice() -> None:
    judgement, workloads = sample()
    records = tuple(replace(r, samples=tuple(replace(s, cpu=0.5) for s in r.samples)) for r in judgement.records)
    shared = replace(judgement, records=records)
    shared = replace(shared, findings=tuple(discover(shared, workloads)))
    assert verdict.mpi(shared, workloads) == "no advice: the machine was not fit for measuring"
    assert libraries.table(shared, workloads) == [] and matrix.matrices(shared, workloads) == []
    found = answers.answers(shared, workloads)
    assert found and all(a.choose == a.first.choose == "" for a in found)
    rules = {f.rule for f in shared.findings}
    assert "divergence" in rules and "fast_but_wrong" in rules and not rules & {"mpi_differs", "compiler_wins"}
    page = html.render(shared, workloads, heritage.load())
    assert page.count("no advice: the machine was not fit for measuring") == 2 and "MPI: <b>" not in page
    assert " ".join(terminal.summary(shared, workloads).split()).count("no advice: the machine was not fit") == 2
    assert not reported(shared, None).fit and reported(judgement, None).fit


def test_a_purpose_that_one_library_measured_is_named() -> None:
    judgement, workloads = sample()
    some = [f for f in judgement.figures if f.identity.metric != "bandwidth" or f.identity.mpi != "mpich"]
    sentence = settle(verdict.mpi(replace(judgement, figures=tuple(some)), workloads))
    assert (
        sentence.startswith("small messages (below 64 KiB): MPICH (")
        and "large messages" not in sentence.partition(". ")[0]
    )
    assert ". Too few figures for a comparison: large messages (64 KiB and more). All ranks" in sentence


def test_every_row_of_a_chapter_is_shown_once() -> None:
    judgement, workloads = sample()
    front = answers.front(judgement.run, answers.answers(judgement, {n: lone(w) for n, w in workloads.items()}))
    shown = [(a.row.title, a.program) for a in (*front.rows, *front.possible, *front.others)]
    assert len(shown) == len(set(shown)) and len(front.others) > 2


def lone(workload: Workload) -> Workload:
    """Return a workload whose first row alone is a headline."""
    rows = workload.rows
    return replace(workload, rows=tuple(replace(r, headline=workload.name == "peak") for r in rows))


def test_ceilings_are_named_with_their_level_and_size() -> None:
    """Copies within a cache are faster than copies in memory: the two ceilings must not look alike."""
    judgement, workloads = sample()
    rows = {a.row.title: a.first for a in answers.answers(judgement, workloads)}
    near, far = (rows[f"scalar product in {place}"].best for place in ("L1", "memory"))
    assert near is not None and far is not None
    assert wording.resource(far) == "load bandwidth of memory"
    assert re.fullmatch(
        r" \(best launch: [\d.]+ GB/s with [\d.]+ [KM]iB on 1 core\)", settle(wording.measured_with(far))
    )
    assert near.ceiling is not None and near.ceiling.place in ("", "L1")
    page = html.render(judgement, workloads, heritage.load())
    assert "load bandwidth of memory (" in page
