"""The page of a very large run: tables and drawings keep to their room; what is left out is named and linked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synthetic
from firstlight.core import heritage
from firstlight.report import bounds, html
from firstlight.report.frame import Drawing


def drawing(name: str, rows: int, points: int) -> Drawing:
    data = [{"x": list(range(points)), "y": [0.5] * points}] if points else []
    return Drawing(name, name, "", ("a",), [("1",)] * rows, data)


@given(st.lists(st.integers(0, 5000), max_size=60))
def test_all_tables_together_keep_to_their_room(lengths: list[int]) -> None:
    most = bounds.most_rows([drawing("d", n, 0) for n in lengths], 1500)
    assert 1 <= most <= 1500 and sum(min(n, most) for n in lengths) <= bounds.ROWS
    if sum(min(n, 1500) for n in lengths) <= bounds.ROWS:
        assert most == 1500


def test_the_largest_drawings_are_left_to_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [drawing("small", 5, 10), drawing("large", 5, 4000), drawing("middle", 5, 1000)]
    monkeypatch.setattr(bounds, "DATA", 20_000)
    bounds.lighten(some)
    assert [bool(d.data) for d in some] == [True, False, True]
    assert some[1].notes == ("not drawn: 4000 points exceed the limit of this page",) and some[1].rows
    bounds.lighten(some)
    assert some[1].notes == ("not drawn: 4000 points exceed the limit of this page",)


def test_what_the_page_does_not_carry_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = synthetic.run(1, 2, only=("dot", "latency"))
    judgement = synthetic.judgement(1, 2, only=("dot", "latency"))
    whole = html.render(judgement, scene.workloads, heritage.load())
    assert "data:application/gzip;base64," in whole and 'href="figures.json"' not in whole
    for name, value in (("LARGE", 10), ("ROWS", 20), ("DATA", 5000), ("EMBEDDED", 1000), ("LISTED", 2), ("RECORDS", 3)):
        monkeypatch.setattr(bounds, name, value)
    short = html.render(judgement, scene.workloads, heritage.load())
    assert "data:application/gzip;base64," not in short and len(short) < len(whole)
    for text in (
        'href="figures.json"',
        'href="SHA256SUMS"',
        "--launches prints the value",
        "exceed the limit of this page",
    ):
        assert text in short
    assert str(len(judgement.records)) + " launch records" in short
