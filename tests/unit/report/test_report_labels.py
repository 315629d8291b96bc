"""Labels in drawings: none stands on another, whatever the caches and the speeds of a machine are."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

from msgspec.structs import replace

import invented
import invented_run
from firstlight.analysis.figures import judge
from firstlight.core import heritage
from firstlight.report import labels, plots
from firstlight.report.frame import Drawing, View
from firstlight.report.palette import Palette
from firstlight.report.plots import roofline

MIB = 1 << 20


def test_a_label_gets_the_lowest_row_where_it_has_room() -> None:
    assert labels.rows([(1e3, "L1 32 KiB"), (1e5, "L2 1 MiB"), (1e7, "L3 32 MiB")], 1e2, 1e8) == [0, 0, 0]
    assert labels.rows([(9e5, "L3 120 MiB"), (5e5, "L2 64 MiB")], 1e2, 1e8) == [1, 0]
    assert labels.rows([(5e5, "L2 64 MiB"), (6e5, "L3"), (7e5, "L4"), (5e7, "L5")], 1e2, 1e8) == [0, 1, 2, 0]
    assert labels.rows([(5.0, "one")], 5.0, 5.0) == [0] and labels.rows([], 1.0, 2.0) == []


def test_a_label_is_lifted_off_the_one_below() -> None:
    assert labels.lifts([1e3, 1e1, 1e2], 1.0, 1e4) == [0.0, 0.0, 0.0]
    assert labels.lifts([10.0, 10.0, 10.0], 1.0, 100.0) == [0.0, labels.LINE, 2 * labels.LINE]
    assert labels.lifts([5.0], 5.0, 5.0) == [0.0]


def test_no_label_of_a_large_machine_stands_on_another(tmp_path: Path) -> None:
    machine = invented.machine(tmp_path, "server")
    near = tuple(replace(c, size=24 * MIB) if c.level == 2 else c for c in machine.caches)
    judgement = judge(*invented_run.run(replace(machine, caches=near), names=("dot", "peak", "stream"), launches=1))
    alike = max(limit.value for limit in judgement.limits if limit.working_set is not None)
    limits = [limit if limit.working_set is None else replace(limit, value=alike) for limit in judgement.limits]
    judgement = replace(judgement, limits=tuple(limits))
    page = View(judgement, invented_run.WORKLOADS, heritage.load(), Palette(judgement.run))
    roofs = roofline.draw_limits(page, "roofline")
    drawn = [*plots.draw(page, page.workloads["dot"]), *roofs]
    assert roofs and {"L2 24 MiB", "L3 32 MiB"} <= {a["text"] for d in drawn for a in d.layout["annotations"]}
    for drawing in drawn:
        boxes = [_box(drawing, a) for a in drawing.layout["annotations"]]
        for one, other in combinations(boxes, 2):
            assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2], drawing.id


def _box(drawing: Drawing, a: dict[str, object]) -> tuple[float, float, float, float]:
    """(left, right, bottom, top) of a label in pixels of a small drawing, from the data that are drawn."""
    shown = [(x, y) for t in drawing.data for x, y in zip(t["x"], t["y"], strict=True) if x and y]
    left, right = (math.log10(f(x for x, _ in shown)) for f in (min, max))
    low, high = (math.log10(f(y for _, y in shown)) for f in (min, max))
    at = 400 * (float(str(a["x"])) - left) / (right - left)
    y = 240.0 if a.get("yref") == "paper" else 240 * (float(str(a["y"])) - low) / (high - low)
    width, up = 6 * len(str(a["text"])), y + float(str(a.get("yshift", 0)))
    start = at - width * {"left": 0.0, "center": 0.5, "right": 1.0}[str(a["xanchor"])]
    return start, start + width, up, up + 14
