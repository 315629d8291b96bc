"""A ReFrame check of every workload, for a centre whose acceptance tests run under ReFrame already."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from firstlight.model.catalogue import Workload

TEMPLATE = "reframe_check.py.in"


def to_reframe(workloads: Mapping[str, Workload], fl: Path) -> str:
    """Return one Python file, with a check for each workload of the catalogue that any suite measures.

    `fl`: the absolute path of the command that the checks call.
    """
    titles = {name: w.title for name, w in sorted(workloads.items()) if any(w.suites.values())}
    entries = "".join(f"    {_text(name)}: {_text(title)},\n" for name, title in titles.items())
    template = resources.files(__package__).joinpath(TEMPLATE).read_text("utf-8")
    values = {"@WORKLOADS@": f"{{\n{entries}}}", "@FL@": _text(str(fl))}
    return re.sub("@[A-Z]+@", lambda found: values[found[0]], template)


def _text(text: str) -> str:
    """Return a literal in double quotes; Python reads the escapes of JSON in the same way."""
    return json.dumps(text, ensure_ascii=False)
