"""Labels in drawings do not overlap, for any caches and speeds of a machine."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

from msgspec.structs import replace

import chart_tree
import invented
import invented_run
from firstlight.analysis.figures import judge
from firstlight.report import plots
from firstlight.report.plots import roofline
from firstlight.report.svg import element
from report_samples import view_of

MIB = 1 << 20


def test_no_label_of_a_large_machine_stands_on_another(tmp_path: Path) -> None:
    machine = invented.machine(tmp_path, "server")
    near = tuple(replace(c, size=24 * MIB) if c.level == 2 else c for c in machine.caches)
    judgement = judge(*invented_run.run(replace(machine, caches=near), names=("dot", "peak", "stream"), launches=1))
    alike = max(limit.value for limit in judgement.limits if limit.working_set is not None)
    limits = [limit if limit.working_set is None else replace(limit, value=alike) for limit in judgement.limits]
    judgement = replace(judgement, limits=tuple(limits))
    page = view_of(judgement, invented_run.WORKLOADS)
    roofs = roofline.draw_limits(page, "roofline")
    made = [*plots.draw(page, page.workloads["dot"]), *roofs]
    assert roofs and {"L2 24 MiB", "L3 32 MiB"} <= {a["text"] for d in made for a in d.layout["annotations"]}
    for drawing in made:
        boxes = [_box(e) for e in chart_tree.of_class(chart_tree.tree(drawing), "label")]
        for one, other in combinations(boxes, 2):
            assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2], drawing.id


def _box(label: ElementTree.Element) -> tuple[float, float, float, float]:
    """Return (left, right, top, bottom) of a label in pixels."""
    wide, x, y = element.width(label.text or ""), float(label.get("x", "")), float(label.get("y", ""))
    left = x - {"middle": wide / 2, "end": wide}.get(label.get("text-anchor", ""), 0)
    return left, left + wide, y - 9, y + 3
