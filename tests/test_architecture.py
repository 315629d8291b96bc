"""The arrows between the rooms run one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from firstlight import ROOT

ROOMS = [
    "errors", "machine", "toolchains", "doctor", "catalogue", "plan", "build", "native", "launch", "batch", "record",
    "store", "heritage", "profile", "judge", "simulate", "export", "schema", "report", "conduct", "tune", "cli",
]  # fmt: skip
SOURCE = ROOT / "src" / "firstlight"
FILES = sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem not in ("__init__", "__main__"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "firstlight" else [f"firstlight.{a.name}" for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("firstlight.")}
    return {name for name in found if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_from_rooms_above(path: Path) -> None:
    own = room(path)
    assert own in ROOMS, f"{own} is a new room: give it a place in the order and in docs/architecture.md"
    below = {name for name in imported(path) if ROOMS.index(name) > ROOMS.index(own)}
    assert not below, f"{path.name} ({own}) imports {sorted(below)}, which come later"
