"""Numbers of a page whose formulas are Python over a document that a command prints (`--json`), computed again."""

from __future__ import annotations

import html
import json
import re
from types import SimpleNamespace

from firstlight.core import units
from recompute import agrees

_MARKED = re.compile(r'<data value="([^"]*)" data-from="([^"]*)" data-unit="([^"]*)" data-of="">')


def computed(page: str, document: str) -> list[str]:
    """Return the formulas of all numbers in the page; fail at the first number whose digits differ from its value."""
    known = vars(json.loads(document, object_hook=lambda d: SimpleNamespace(**d)))
    known |= {"len": len, "sum": sum, "min": min, "max": max, "__builtins__": {}}
    formulas = []
    for text, escaped, unit in _MARKED.findall(page):
        formula = html.unescape(escaped)
        value = eval(formula, dict(known))  # of our own page
        by, printed = units.scale(value, unit) if " " in text else (1.0, "")
        if printed and printed != "1":
            assert text.endswith(f" {printed}"), (text, formula)
        assert agrees(text.split()[0], value * by * (100 if text.endswith(" %") else 1)), (text, formula, value)
        formulas.append(formula)
    return formulas
