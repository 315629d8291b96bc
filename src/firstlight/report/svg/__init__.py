"""Inline SVG: a drawing, which is plain data, becomes one `<svg>` of the page."""

from firstlight.report.svg.chart import has_ghosts, is_wide, svg
from firstlight.report.svg.element import typeset

__all__ = ["has_ghosts", "is_wide", "svg", "typeset"]
