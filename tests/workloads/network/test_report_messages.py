"""The drawing of messages compares the growth of processes with the messenger's count."""

from __future__ import annotations

from msgspec.structs import replace
from test_report_noise import drawings, judged

from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord
from synthetic_figures import Point

METRICS = (
    Metric("message", "us", "operations", "time", 1e6, "lower"),
    Metric("resident", "MiB", "resident", "value", 2.0**-20, "lower"),
    Metric("buffers", "MiB", "buffers", "value", 2.0**-20, "lower"),
)
MIB = 2.0**20


def grown(record: LaunchRecord, number: int) -> LaunchRecord:
    """Return a run in which each rank has grown by half a MiB per peer; two tiers count 2 KiB of that."""
    ranks = int(record.start.cell.split("x")[1])
    values = {"resident": (MIB * ranks / 2,) * 3}
    if "two_tier" in record.start.cell:
        values["buffers"] = (2048.0 * ranks,) * 3
    return replace(record, samples=tuple(replace(s, values=values) for s in record.samples))


def seen(*ranks: int) -> list[Drawing]:
    points = [Point({"bytes": 8}, 2, {"operations": 2.0}, 0.0, 1e-5)]
    cells = [
        (v, "openmpi", Placement(1, n, 1), points) for v in ("mpi_library", "mpi_two_tier") for n in ranks
    ]  # fmt: skip
    return drawings(
        *judged("messages", METRICS, cells, (Plot("memory", "placement", "resident", "variant"),), grown)
    )  # fmt: skip


def test_growth_and_account_stand_over_the_processes() -> None:
    (drawing,) = seen(2, 4)
    assert drawing.title == "The memory of a mpi_library process grows by up to 2.00 MiB with 4 ranks"
    library, two, own = drawing.data
    assert (library["x"], library["y"]) == ([2, 4], [1, 2]) == (two["x"], two["y"])
    assert own["name"].endswith("buffers")
    assert (own["x"], own["y"]) == ([2, 4], [2048 * 2 / MIB, 2048 * 4 / MIB])
    assert len(drawing.rows) == 6


def test_one_number_of_processes_is_no_line() -> None:
    assert seen(2) == []
