"""Heritage: every published figure reads, names its source, and defects are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.core import heritage
from firstlight.core.errors import UsageError

SOURCE = '[source]\nid = "X"\nauthor = "A"\ntitle = "T"\nvenue = "V"\ndate = "2001"\nyear = 2001\n'


def test_every_entry_names_its_source_and_unit() -> None:
    entries = heritage.load().entries
    assert {e.source.id for e in entries} == {"R1", "R2", "R3", "R4", "R5"}
    for e in entries:
        assert e.machine and e.metric and e.place and e.better in ("higher", "lower", "none") and 1980 < e.year < 2030


def test_published_pingpong_is_found_by_workload_and_metric() -> None:
    found = {(e.mpi, e.value, e.unit) for e in heritage.load().matching("pingpong", "bandwidth")}
    assert ("MPI/SX, threads", 4.2, "GB/s") in found
    assert ("MPICH", 2.1, "GB/s") in found


def test_a_dash_is_not_a_figure() -> None:
    level_7 = [
        e for e in heritage.load().matching("fem2d", "time") if e.machine == "hpcLine" and e.parameters["level"] == 7
    ]
    assert level_7 == []


@pytest.mark.parametrize(
    ("table", "defect"),
    [
        ('place = "p"\ncolumns = ["machine"]\nvalues = [{}]\nrows = [["m"]]', "a row has 1 items instead of 2"),
        (
            'place = "p"\ncolumns = ["machine"]\nvalues = [{}]\nrows = [["m", 1]]',
            "workload, metric, unit, better missing",
        ),
        (
            'place = "p"\nmachine = "m"\nworkload = "w"\nmetric = "t"\nunit = "s"\nbetter = "lower"\n'
            "columns = []\nvalues = [{}]\nrows = [[nan]]",
            'p: nan is not a published number; write "-" for an unknown one',
        ),
        ('place = "p"\ncolour = 3\ncolumns = []\nvalues = []\nrows = []', "colour"),
    ],
)
def test_a_defect_is_named_with_its_file(tmp_path: Path, table: str, defect: str) -> None:
    (tmp_path / "bad.toml").write_text(SOURCE + "[[tables]]\n" + table + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=defect) as error:
        heritage.load(tmp_path)
    assert "bad.toml" in str(error.value)
