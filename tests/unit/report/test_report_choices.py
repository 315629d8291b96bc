"""Choices: like is compared with like, and only what differs is something to choose."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight.analysis import Judgement, ranking
from firstlight.analysis.interval import estimate
from firstlight.analysis.states import states
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core.errors import UsageError
from firstlight.model import catalogue
from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan import Placement
from firstlight.report import answers
from firstlight.report.matrix import Matrix, matrices
from report_samples import sample

DOT = Row("scalar product", "rate", 1, {"n": 1000})


def figure(
    variant: str, level: float, toolchain: str = "gcc-native", noise: float = 0.003, n: int = 12, **more: object
) -> Verified:
    r = random.Random(f"{variant} {toolchain} {level}")
    values = [level * r.lognormvariate(0, noise) for _ in range(n)]
    return of(variant, values, toolchain, **more)


def of(variant: str, values: list[float], toolchain: str = "gcc-native", **more: object) -> Verified:
    parameters = tuple(sorted({"n": 1000, **more}.items()))
    identity = Identity("dot", variant, toolchain, None, Placement(), parameters, "rate")
    two = states(values)
    return Verified(identity, "Gflop/s", "higher", estimate(values), 16e3, {"flops": 2e3}, None, 0.0, states=two)


def shown(*figures: Verified, row: Row = DOT) -> tuple[str, list[Matrix]]:
    """Return the row's recommendation, and its tables of choices."""
    judgement, _ = sample()
    dot = replace(catalogue.load(catalogue.roots())["dot"], rows=(row,))
    judged: Judgement = replace(judgement, figures=tuple(figures))
    workloads: dict[str, Workload] = {"dot": dot}
    (answer,) = answers.answers(judged, workloads)
    return answer.choose, matrices(judged, workloads)


def test_a_compensated_sum_is_no_wrong_choice_of_a_plain_one() -> None:
    kahan = [figure("kahan", 1.3, t) for t in ("gcc-native", "gcc-base")]
    plain = [figure("simd", 60.0), figure("simd", 30.0, "gcc-base")]
    choose, (one, other) = shown(*plain, *kahan)
    assert choose == "gcc-native"
    assert one.title.endswith("product: the worst choice is 2.00 × worse") and one.columns == ("simd",)
    assert other.title.startswith("Scalar product, compensated: any, ")
    assert other.columns == ("kahan",) and other.id != one.id


def test_flags_are_chosen_for_the_variant_that_the_row_names() -> None:
    """Vectors by hand suit any flags; the plain loop, here the best, needs its own."""
    loops = [figure("serial", 26.0, "clang-fast"), figure("serial", 2.0, "clang-native")]
    vectors = [figure("simd", 25.9, t) for t in ("clang-fast", "clang-native")]
    assert shown(*loops, *vectors)[0] == "clang-fast"
    assert shown(*loops, figure("simd", 60.0), figure("simd", 60.0, "clang-native"))[0] == "any"


def test_a_row_never_takes_its_figure_from_another_class() -> None:
    judgement, _ = sample()
    dot = replace(catalogue.load(catalogue.roots())["dot"], rows=(DOT,))
    figures = (figure("kahan", 99.0), figure("simd", 60.0))
    (answer,) = answers.answers(replace(judgement, figures=figures), {"dot": dot})
    assert answer.best is figures[1]
    named = replace(dot, rows=(replace(DOT, variants=["kahan"]),))
    (answer,) = answers.answers(replace(judgement, figures=figures), {"dot": named})
    assert answer.best is figures[0]


def test_with_one_candidate_there_is_nothing_to_choose() -> None:
    assert shown(figure("simd", 60.0))[0] == ""
    assert shown(figure("simd", 60.0), figure("simd", 60.0, "clang-native"))[0] == "any"


def test_a_parameter_may_be_the_choice() -> None:
    row = replace(DOT, choose="method")
    choose, (made,) = shown(figure("simd", 10.0, method="cg"), figure("simd", 33.0, method="bicgstab"), row=row)
    assert choose == "bicgstab"
    assert made.columns == ("simd, bicgstab", "simd, cg")
    assert made.title.endswith("the worst choice is 3.29 × worse")


def test_near_medians_are_the_same_within_three_percent_and_no_title_says_one() -> None:
    _, (made,) = shown(figure("simd", 60.0), figure("simd", 59.3, "clang-native"))
    assert made.title.endswith(": any, no difference within the intervals")
    assert sorted(c.text for _, cells in made.rows for c in cells) == ["any", "any"]
    _, (made,) = shown(figure("simd", 60.0), figure("simd", 57.0, "clang-native"))
    assert made.title.endswith("the worst choice is 1.05 × worse")
    assert "1.05 ×" in [c.text for _, cells in made.rows for c in cells]


def test_what_cannot_be_told_apart_costs_nothing_and_is_not_called_any() -> None:
    low, high = [150.0, 152.0] * 6 + [48.0] * 3, [49.0, 48.0] * 6 + [151.0] * 3
    choose, (made,) = shown(of("simd", low), of("simd", high, "clang-native"))
    assert choose == ranking.UNCLEAR
    assert made.title.endswith(": unclear, launches differ too much")
    both = [c for _, cells in made.rows for c in cells]
    assert [c.text for c in both] == ["unclear", "unclear"] and all("bimodal" in c.why for c in both)
    assert all("launches differ too much" in c.why and c.shade is None for c in both)


def test_the_title_counts_what_its_cells_show() -> None:
    """The second parameter is the better one in each cell: what it hides is not a wrong choice in this table."""
    _, (made,) = shown(
        figure("simd", 60.0, k=1), figure("simd", 2.0, k=2), figure("simd", 40.0, "gcc-base", k=1),
    )  # fmt: skip
    assert made.title.endswith("the worst choice is 1.50 × worse")


def test_a_class_is_declared_with_a_name_and_variants(tmp_path: Path) -> None:
    folder = tmp_path / "thing"
    folder.mkdir()
    (folder / "serial.cpp").write_text("")
    text = 'title = "t"\nquestion = "q"\n[[classes]]\nname = "exact"\nvariants = ["exact_*"]\n'
    (folder / "workload.toml").write_text(text)
    thing = catalogue.load([tmp_path])["thing"]
    assert (thing.work("exact_sum"), thing.work("serial")) == ("exact", "")
    (folder / "workload.toml").write_text(text + "other = 1\n")
    with pytest.raises(UsageError, match="classes"):
        catalogue.load([tmp_path])
