"""The matrix of interfaces on the page of a run."""

from __future__ import annotations

from test_judge_storage import Case, scene

from firstlight.analysis.figures import judge
from firstlight.report import plots
from firstlight.report.frame import Drawing
from report_samples import view_of


def drawn(*cases: Case, virtual: str | None = None) -> list[Drawing]:
    s = scene(*cases, virtual=virtual)
    return plots.draw(view_of(judge(*s), s.workloads), s.workloads["file_io"])


def test_interfaces_by_layout_and_transfer() -> None:
    strided = {"layout": "strided", "transfer": 47008}
    (writes,) = drawn(("serial", 0.1, {}), ("direct", 0.2, {}), ("serial", 0.4, strided))
    assert writes.head == ("placement", "layout", "transfer", "direct", "serial")
    assert [row[:3] for row in writes.rows] == [
        ("1 core", "per_process", "1 MiB"),
        ("1 core", "strided", "47,008 B"),
    ]
    assert writes.rows[1][3] == ""
    assert all(row[4].endswith(")") for row in writes.rows)
    assert writes.title.startswith("Durable writes: ")
    assert "(serial, per_process, 1 MiB); lowest: " in writes.title
    assert writes.title.endswith("(serial, strided, 47,008 B)")


def test_reads_have_a_matrix_of_their_own() -> None:
    (reads,) = drawn(("omp", 0.1, {"operation": "read"}))
    assert reads.title.startswith("Cold reads: ")
    assert "lowest" not in reads.title


def test_cold_reads_of_a_virtual_machine_may_come_from_its_host() -> None:
    for virtual, operation, shown in (("KVM", "read", True), (None, "read", False), ("KVM", "write", False)):
        (drawing,) = drawn(("omp", 0.1, {"operation": operation}), virtual=virtual)
        assert ("the host may cache" in drawing.caption) == shown
