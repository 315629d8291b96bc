"""Classes of nodes: every number has its source, both models of power, limits, and the gaps that R4 published."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.commands.project import machines
from firstlight.commands.project.machines import MODELS, fits, node
from firstlight.core.errors import UsageError
from firstlight.system.machine import rapl

PLAN = machines.roadmap()
CLASSES = machines.load()
SCALED = sorted(name for name, of in CLASSES.items() if of.scales)
POWER = 20e6


def test_every_number_has_a_source() -> None:
    assert set(CLASSES) == {"heavy", "light", "aggressive", "k"} and PLAN.source
    for of in CLASSES.values():
        assert len(of.stated()) >= 6
        assert all(len(x.source) > 10 and ("from memory)" in x.cited) != bool(x.read) for x in of.stated().values())
    assert PLAN.read_at and sum(len(year.read) for year in PLAN.years) == 5


def test_how_many_numbers_were_read_at_their_sources_is_counted() -> None:
    of = CLASSES["light"]
    read = sum(bool(x.read) for x in of.stated().values())
    assert 0 < read < len(of.stated()) == 14
    standing = machines.standing(of, of.year, PLAN)
    assert (
        standing == f"{read} of 14 numbers of the class were checked in their sources; the others are cited from memory"
    )
    later = f"{read + 1} of 17 numbers of the class and of the road map's 2016 were checked"
    assert machines.standing(of, 2016, PLAN).startswith(later)
    assert machines.standing(CLASSES["k"], 2016, PLAN).startswith("5 of 6 numbers of the class were checked")


def test_an_exaflop_in_2018_is_missed_by_as_much_as_published() -> None:
    """R4 reports ten times by quantity alone with the simplistic model, 50 to 60 times with the fully scaled one."""
    simple, full = (fits(CLASSES["light"], 2018, model, PLAN, POWER) for model in MODELS)
    assert simple.missing == pytest.approx(10, rel=0.2) and simple.by == "racks"
    assert 50 <= full.missing <= 60 and full.by == "power"


def test_a_heavy_node_misses_more_and_the_designed_one_less() -> None:
    for model in MODELS:
        light, heavy, designed = (
            fits(CLASSES[name], 2018, model, PLAN, POWER).missing for name in ("light", "heavy", "aggressive")
        )
        assert heavy > light > designed > 1


def test_the_k_computer_as_published() -> None:
    """R4: at twice its power, about 100 times its speed of 10.51 Pflop/s would be needed."""
    of = CLASSES["k"]
    whole = fits(of, 2011, "simplistic", PLAN, POWER)
    assert whole.nodes == 88128 and whole.racks == 864 and whole.by == "racks"
    assert whole.peak * 0.9317 == pytest.approx(10.51e15, rel=0.01)
    assert whole.watts == pytest.approx(12.66e6, rel=0.01) and 1.4 < POWER / whole.watts < 2.1
    assert pytest.approx(100, rel=0.1) == machines.EXA / 10.51e15


@pytest.mark.parametrize("name", SCALED)
def test_processors_keep_their_power_and_parts_are_the_whole(name: str) -> None:
    of = CLASSES[name]
    for model in MODELS:
        for year in range(of.year, 2021):
            one = node(of, year, model, PLAN)
            parts = (one.processor_watts, one.memory_watts, one.router_watts, one.other_watts)
            assert one.watts == pytest.approx(sum(parts)) and min(parts) >= 0
            assert one.processor_watts == pytest.approx(of.watts.value * of.processor_share.value)  # type: ignore[union-attr]
            assert one.flops == pytest.approx(of.flops.value * one.grown) and one.units * one.clock == pytest.approx(
                one.grown
            )
    assert node(of, of.year, "full", PLAN) == node(of, of.year, "full", PLAN)
    assert node(of, of.year, "simplistic", PLAN).watts == pytest.approx(of.watts.value)


@pytest.mark.parametrize("name", SCALED)
def test_fully_scaled_nodes_never_take_less_and_memory_keeps_to_performance(name: str) -> None:
    of = CLASSES[name]
    for year in range(of.year, 2021):
        simple, full = (node(of, year, model, PLAN) for model in MODELS)
        assert full.watts >= simple.watts - 1e-9
        assert simple.memory / of.memory.value == pytest.approx(simple.flops / of.flops.value)


@given(st.sampled_from(sorted(CLASSES)), st.sampled_from(MODELS), st.floats(1e4, 1e9), st.floats(1, 10))
def test_more_power_never_gives_fewer_nodes_and_none_is_exceeded(
    name: str, model: machines.PowerModel, watts: float, more: float
) -> None:
    of = CLASSES[name]
    year = max(of.year, 2015)
    less, much = fits(of, year, model, PLAN, watts), fits(of, year, model, PLAN, more * watts)
    assert less.nodes <= much.nodes and less.watts <= much.watts and less.peak <= much.peak
    assert less.watts <= watts and less.racks * of.rack.value >= less.nodes
    racks = machines.racks_in(of, year)
    assert racks is None or less.racks <= racks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("value = 5.6e9", "value = -1"), "flops without a positive value"),
        (("value = 5.6e9", "value = 'much'"), "flops"),
        (("2026-11-25", "yesterday"), "flops: write the date of reading, such as 2026-11-25"),
        (("title =", "titel ="), "titel"),
        (("value = 0.6,", "value = 0.9,"), "shares of power add up to 1.11"),
        (("feature =", "# feature ="), "scaling requires feature"),
    ],
)
def test_a_defective_file_is_told_in_a_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = (machines.FOLDER / "light.toml").read_text()
    assert change[0] in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(*change, 1))
    with pytest.raises(UsageError, match=message) as caught:
        machines.named(str(file))
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_of_one_s_own_counts_as_those_here(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text((machines.FOLDER / "light.toml").read_text())
    assert fits(machines.named(str(file)), 2018, "full", PLAN, POWER).missing == pytest.approx(
        fits(CLASSES["light"], 2018, "full", PLAN, POWER).missing
    )


@pytest.mark.parametrize(("year", "message"), [(2003, "describes 2004"), (2050, "the road map covers 2004 to 2020")])
def test_years_beyond_the_road_map_are_refused(year: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        node(CLASSES["light"], year, "full", PLAN)


def test_rapl_s_long_term_limits_are_added_up_and_none_is_guessed(tmp_path: Path) -> None:
    assert rapl.package_watts(tmp_path) is None
    for k, watts in enumerate((205, 180)):
        folder = tmp_path / f"intel-rapl:{k}"
        folder.mkdir()
        (folder / "constraint_0_name").write_text("long_term\n")
        (folder / "constraint_0_power_limit_uw").write_text(f"{watts}000000\n")
    (tmp_path / "intel-rapl:0:0").mkdir()
    assert rapl.package_watts(tmp_path) == 385
    (tmp_path / "intel-rapl:1" / "constraint_0_power_limit_uw").write_text("")
    assert rapl.package_watts(tmp_path) is None
