"""Rows and drawings that speak of values which the user replaced speak of the user's, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from firstlight.analysis.overrides import MOST, apply_settings
from firstlight.model import catalogue
from firstlight.model.catalogue import Plot, Row, Value, Workload

MINE = "mine.xyz-0123456789abcdef"


def workload(rows: tuple[Row, ...], plots: tuple[Plot, ...] = ()) -> dict[str, Workload]:
    return {"w": Workload("w", Path(), "Orbitals", "q?", "node", True, {}, (), None, (), (), rows, plots)}


def rows(given: dict[str, tuple[Value, ...]], *some: Row) -> list[Row]:
    return list(apply_settings(workload(some), {"w": given})["w"].rows)


def test_a_row_of_a_replaced_value_is_one_of_each_of_the_users() -> None:
    row = Row("G of water", "time", 1, {"molecule": "water", "tau": 1e-10}, headline=True)
    first, second = rows({"molecule": (MINE, "benzene")}, row)
    assert first.title == "Orbitals: mine.xyz, tau = 1e-10, 1 core" and first.headline
    assert first.where == {"molecule": MINE, "tau": 1e-10} and second.where == {"molecule": "benzene", "tau": 1e-10}


def test_what_is_still_measured_is_still_asked() -> None:
    row = Row("G of water", "time", 1, {"molecule": "water"})
    assert rows({"molecule": ("water", "benzene")}, row) == [row]
    assert rows({"basis": ("3-21G",)}, row) == [row]
    some = workload((row,))
    assert apply_settings(some, {}) == some and apply_settings(some, {"v": {"molecule": (MINE,)}}) == some


def test_rows_that_would_ask_the_same_are_one_and_of_several_metrics_each_says_its_own() -> None:
    water, decane = (Row(name, "time", k, {"molecule": name}) for k, name in enumerate(("water", "decane")))
    assert [r.title for r in rows({"molecule": (MINE,)}, water, decane)] == ["Orbitals: mine.xyz, 1 core"]
    all_cores = Row("all", "rate", 3, {"molecule": "water"}, threads="all")
    two = Row("two", "rate", 3, {"molecule": "water"}, ranks=2)
    device = Row("gpu", "rate", 3, {"molecule": "water"}, device=True)
    assert [r.title for r in rows({"molecule": (MINE,)}, water, all_cores, two, device)] == [
        "Orbitals, time: mine.xyz, 1 core",
        "Orbitals, rate: mine.xyz, all cores",
        "Orbitals, rate: mine.xyz, 2 ranks",
        "Orbitals, rate: mine.xyz, GPU",
    ]


def test_a_declared_row_of_the_users_value_keeps_its_title() -> None:
    headline = Row("level 6", "time", 1, {"level": 6}, headline=True)
    declared = Row("level 7", "time", 2, {"level": 7})
    assert rows({"level": (7,)}, headline, declared) == [replace(declared, headline=True)]


def test_the_size_that_a_user_sets_decides_whether_messages_are_small() -> None:
    pingpong = catalogue.load(catalogue.roots())["pingpong"]
    for size, purpose in ((64, "small messages"), (65535, "small messages"), (65536, "large messages")):
        changed = apply_settings({"pingpong": pingpong}, {"pingpong": {"bytes": (size,)}})["pingpong"]
        assert {row.purpose for row in changed.rows} == {purpose}


def test_a_message_of_unknown_size_is_neither_small_nor_large() -> None:
    small = Row("empty", "time", 1, {"n": 0}, purpose="small messages")
    halo = Row("N = 32", "time", 2, {"level": 32}, purpose="halo exchange")
    assert [row.purpose for row in rows({"n": (4096,), "level": (64,)}, small, halo)] == ["", "halo exchange"]
    assert [row.purpose for row in rows({"level": (64,)}, small, halo)] == ["small messages", "halo exchange"]


def test_a_sweep_makes_no_page_of_rows_and_drawings_follow() -> None:
    row = Row("n", "time", 1, {"n": 5})
    assert len(rows({"n": tuple(range(100, 200))}, row)) == MOST
    plots = tuple(Plot("phases", "x", "time", "variant", {"molecule": m}) for m in ("water", "decane"))
    (drawn,) = apply_settings(workload((), plots), {"w": {"molecule": (MINE,)}})["w"].plots
    assert drawn.where == {"molecule": MINE}
