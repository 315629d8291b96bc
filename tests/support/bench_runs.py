"""Runs of programs that are not firstlight's, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Captured, call


def run(capsys: Captured, *words: str) -> tuple[int, list[dict[str, object]], str]:
    """Return the status, the figures and the messages of a run of few launches."""
    name = f"r{len(list(Path.cwd().glob('results/r*'))) or ''}"
    code, _, err = call(capsys, "bench", "--launches", "2", "--as", name, *words)
    _, out, _ = call(capsys, "figures", name, "--json")
    return code, json.loads(out), err
