"""Read charts: the SVG of a drawing as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from firstlight.report import svg
from firstlight.report.frame import Drawing

SVG = "{http://www.w3.org/2000/svg}"


def tree(drawing: Drawing, ghosts: bool = False) -> ElementTree.Element:
    """Return the chart as a tree. Raises ParseError if it is not well-formed XML."""
    return ElementTree.fromstring(svg.svg(drawing.title, drawing.data, drawing.layout, ghosts))


def of_page(page: str) -> dict[str, ElementTree.Element]:
    """Return the charts of a page by their names. Raises ParseError if one is not well-formed XML."""
    found = re.findall(r'<div class="canvas" id="([^"]*)">(.*?)</div>', page, flags=re.S)
    return {name: ElementTree.fromstring(chart) for name, chart in found}


def of_class(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """Yield the elements of a class."""
    return (e for e in root.iter() if name in e.get("class", "").split())


def words(root: ElementTree.Element) -> list[str]:
    """Return every text that is shown."""
    return ["".join(e.itertext()) for e in root.iter(f"{SVG}text")]


def hovers(root: ElementTree.Element) -> list[str]:
    """Return the text of every mark that has one."""
    return [e.text or "" for e in root.iter(f"{SVG}title")]
