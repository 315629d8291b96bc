"""Ranking: equal things share a place, only verified figures are ranked, and the type checker sees to it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import synthetic
from firstlight import ROOT
from firstlight.analysis.interval import estimate
from firstlight.analysis.ranking import advantage, best, choice, rank
from firstlight.analysis.states import ratio
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core.confidence import LEVEL
from firstlight.model.plan import Placement

SOURCE = ROOT / "src"


def figure(
    toolchain: str, level: float, seed: int, n: int = 8, noise: float = 0.01, better: str = "higher"
) -> Verified:
    rng = random.Random(seed)
    identity = Identity("dot", "simd", toolchain, None, Placement(), (("n", 1000),), "rate")
    values = [level * rng.lognormvariate(0, noise) for _ in range(n)]
    return Verified(identity, "Gflop/s", better, estimate(values), 16e3, {"flops": 2000.0}, None, 0.0)


def names(figures: tuple[Verified, ...]) -> list[str]:
    return [f.identity.toolchain for f in figures]


def by_toolchain(f: Verified) -> str:
    return f.identity.toolchain


def test_groups_of_equals() -> None:
    levels = {"gcc-base": 9.0, "clang-base": 9.1, "gcc-native": 17.0, "clang-native": 17.2}
    groups = rank(figure(name, level, k) for k, (name, level) in enumerate(levels.items()))
    assert [set(names(g.figures)) for g in groups] == [{"gcc-native", "clang-native"}, {"gcc-base", "clang-base"}]
    assert groups[0].behind == 1 and groups[1].behind == pytest.approx(17 / 9, rel=0.05)
    assert choice(groups, by_toolchain) == "any native"


def test_lower_may_be_better() -> None:
    slow, fast = (figure(n, v, 1, better="lower") for n, v in (("slow", 98.0), ("fast", 50.0)))
    assert best([slow, fast]) is fast
    assert advantage(fast, slow) == pytest.approx(98 / 50)
    assert [names(g.figures) for g in rank([slow, fast])] == [["fast"], ["slow"]]


def test_choices_in_words() -> None:
    def chosen(**levels: float) -> str:
        figures = [figure(k.replace("_", "-"), v, i) for i, (k, v) in enumerate(levels.items())]
        return choice(rank(figures), by_toolchain)

    assert chosen(gcc_native=10) == ""  # there was no choice
    assert chosen(gcc_native=10, clang_native=10) == "any"
    assert chosen(gcc_native=10, clang_native=8, gcc_base=5) == "gcc-native"
    assert chosen(gcc_native=10, gcc_fast=10, clang_native=10, clang_fast=10, gcc_base=5) == "avoid base"
    assert chosen(gcc_native=10, clang_fast=10.05, clang_native=7, gcc_fast=7) in (
        "gcc-native, clang-fast",
        "clang-fast, gcc-native",
    )
    assert chosen() == ""


def test_a_small_clear_difference_is_none_that_matters() -> None:
    assert len(rank([figure("a", 10.0, 1, noise=1e-4), figure("b", 10.2, 2, noise=1e-4)])) == 1
    assert len(rank([figure("a", 10.0, 1, noise=1e-4), figure("b", 10.5, 2, noise=1e-4)])) == 2


def test_too_few_launches_separate_nothing() -> None:
    assert len(rank([figure("a", 10.0, 1, n=3), figure("b", 5.0, 2, n=3)])) == 1


def test_an_interval_that_touches_one_is_no_difference() -> None:
    """Pages print an end at 1.004 as 1.00."""
    level = replace(figure("level", 10.0, 1), estimate=estimate([10.0] * 6))
    for end, separate in ((1.004, False), (1.006, True)):
        some = estimate([12.0, 12.0, *(10.0 * end,) * 5])
        better = replace(figure("better", 10.0, 2), estimate=replace(some, median=11.0))
        found = ratio(level, better, LEVEL)
        assert found.low == pytest.approx(end) and found.high == pytest.approx(1.2)
        assert len(rank([better, level])) == 1 + separate


def test_oversubscribed_is_never_ranked() -> None:
    over = replace(figure("a", 100.0, 1), oversubscribed=True)
    honest = figure("b", 10.0, 2)
    assert best([over, honest]) is honest
    assert [names(g.figures) for g in rank([over, honest])] == [["b"]]
    assert best([over]) is None and rank([]) == []


def test_metrics_are_not_mixed() -> None:
    other = replace(figure("b", 1.0, 2), unit="GB/s")
    with pytest.raises(ValueError, match="different metrics"):
        best([figure("a", 1.0, 1), other])


def test_equal_toolchains_are_seldom_separated() -> None:
    apart = sum(len(rank([figure("a", 10, 2 * k, noise=0.05), figure("b", 10, 2 * k + 1, noise=0.05)])) > 1
                for k in range(400))  # fmt: skip
    assert apart <= 0.06 * 400


def test_no_group_contains_a_median_that_is_worse_than_a_loser() -> None:
    best, loser = (figure(n, v, k, noise=0.001) for k, (n, v) in enumerate({"best": 10.0, "loser": 9.0}.items()))
    values = [4.0, 6.0, 8.0, 8.4, 8.6, 9.9, 10.1, 10.2]
    scattered = replace(figure("scattered", 1.0, 1), estimate=estimate(values))
    assert [names(g.figures) for g in rank([best, scattered])] == [["best", "scattered"]]
    assert [names(g.figures) for g in rank([best, loser, scattered])] == [["best"], ["loser", "scattered"]]


def test_every_figure_has_one_place() -> None:
    figures = [f for f in synthetic.judgement(2, 6, only=["dot"]).figures if isinstance(f, Verified)]
    same = [f for f in figures if f.identity.parameters == (("n", 1000),)]
    placed = [f.identity for g in rank(same) for f in g.figures]
    assert sorted(map(str, placed)) == sorted(str(f.identity) for f in same)


@pytest.mark.full
def test_the_type_checker_rejects_what_is_not_verified(tmp_path: Path) -> None:
    """One call a line; the lines that must be errors are marked in the text."""
    lines = [
        "from firstlight.analysis.compare import compare_figures",
        "from firstlight.analysis.ranking import best, rank",
        "from firstlight.analysis.verdict import Failed, Unverified, Verified",
    ]
    for kind in ("Verified", "Failed", "Unverified"):
        lines.append(f"def use_{kind.lower()}(figure: {kind}) -> None:")
        mark = "" if kind == "Verified" else "  # error"
        lines += [
            f"    {call}{mark}" for call in ("best([figure])", "rank([figure])", "compare_figures(figure, figure)")
        ]
        lines.append(f"    print(figure.estimate){mark}")
    snippet = tmp_path / "snippet.py"
    snippet.write_text("\n".join(lines) + "\n")
    options = ["--strict", "--follow-imports", "silent", "--no-pretty", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(snippet)],
        env={"MYPYPATH": str(SOURCE), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    rejected = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "snippet.py:" in line}
    wanted = {k for k, line in enumerate(lines, 1) if line.endswith("# error")}
    assert len(wanted) == 8
    assert rejected == wanted, done.stdout + done.stderr
