"""The export: a run in external formats, one file per format; only verified and reported figures have numbers."""

from __future__ import annotations

from firstlight.report.export.figures import Row, rows, to_csv, to_json, without_launches

__all__ = ["Row", "rows", "to_csv", "to_json", "without_launches"]
