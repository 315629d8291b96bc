"""Tests may use processors simultaneously as they declare, and their waiting time is accounted separately."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

import spent
import turns


@pytest.fixture(autouse=True)
def two_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "FOLDER", tmp_path)
    monkeypatch.setattr(turns, "CPUS", 2)
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")


@pytest.mark.parametrize(
    ("there", "comes", "beside"),
    [
        ([(2, True)], (2, True), True),
        ([(2, True), (2, True)], (2, True), False),
        ([(2, True)], (2, False), False),
        ([(2, False)], (2, True), False),
        ([(2, False)], (1, False), True),
        ([(4, True)], (3, True), True),
    ],
)
def test_parties_share_processors_where_both_give_way(
    there: list[tuple[int, bool]], comes: tuple[int, bool], beside: bool
) -> None:
    began, done = threading.Event(), threading.Event()

    def enter(size: int, yielding: bool) -> None:
        with turns.party(size, yielding):
            began.set()
            assert done.wait(60)

    waiting = threading.Thread(target=enter, args=comes)
    with ExitStack() as parties:
        for one in there:
            parties.enter_context(turns.party(*one))
        waiting.start()
        assert began.wait(60 if beside else 0.1) == beside
    assert began.wait(60)  # what had to wait begins when the others have ended
    done.set()
    waiting.join()


def test_waiting_for_processors_is_told_apart_from_launching() -> None:
    spent.take()
    with spent.charge(spent.LAUNCH, "dot"), turns.party(2):
        pass
    assert set(spent.take()) == {f"{spent.WAIT}/", f"{spent.LAUNCH}/dot"}
