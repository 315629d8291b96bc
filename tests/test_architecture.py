"""The arrows between the rooms run one way."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from firstlight import ROOT, catalogue, mpi_families

ROOMS = [
    "errors", "units", "cmake", "mpi_families", "machine", "toolchains", "doctor", "roles", "catalogue", "plan",
    "build", "native", "launch", "batch", "record", "store", "heritage", "profile", "judge", "simulate", "export",
    "schema", "report", "conduct", "tune", "cli",
]  # fmt: skip
SOURCE = ROOT / "src" / "firstlight"
FILES = sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem not in ("__init__", "__main__"))

DRAWINGS = sorted((ROOT / "workloads").rglob("*.py"))
PUBLIC = {  # what a workload's report.py may build on: changed with care, for others' drawings stand on it
    "firstlight.catalogue", "firstlight.heritage", "firstlight.judge", "firstlight.plan", "firstlight.record",
    "firstlight.roles", "firstlight.units",
    *(f"firstlight.report.{m}" for m in ("answers", "frame", "ghosts", "observed", "sentence", "wording")),
}  # fmt: skip


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


def modules(path: Path) -> set[str]:
    """The modules of firstlight that a file imports from, each room's but the report's as a whole."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            whole = node.module in ("firstlight", "firstlight.report")
            found |= {f"{node.module}.{a.name}" for a in node.names} if whole else {node.module}
    ours = {name for name in found if name.split(".")[0] == "firstlight"}
    return {name if name.startswith("firstlight.report") else ".".join(name.split(".")[:2]) for name in ours}


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda p: str(p.relative_to(ROOT / "workloads")))
def test_a_drawing_of_a_workload_s_own_builds_on_the_public_modules_only(path: Path) -> None:
    assert modules(path) <= PUBLIC


def test_the_report_names_no_workload_and_no_program_of_one() -> None:
    workloads = catalogue.load([ROOT / "workloads"])
    words_of_their_own = {"dot", "latency", "noise", "waiting"}  # a dash of plotly, parts of a time
    names = set(workloads) - words_of_their_own | {
        v.name for w in workloads.values() for v in w.variants if "_" in v.name
    }
    for path in sorted((SOURCE / "report").rglob("*.py")):
        words = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        assert not words & names, f"{path.name} names {sorted(words & names)}: this belongs into the workload's folder"


def texts(path: Path) -> set[str]:
    """The strings in a module's code: not those that only say something about it."""
    tree = ast.parse(path.read_text())
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said)
    return {node.value for node in strings if isinstance(node.value, str)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_family_of_mpi_libraries_is_named_in_its_own_file_only(path: Path) -> None:
    """By its name or a variable of its own; what one library's files look like stands in tune/formats."""
    if room(path) == "mpi_families":
        return
    names = "|".join(rf"\b{family.name}\b" for family in mpi_families.every())
    own = [word for family in mpi_families.every() for word in (*family.variables, f"{family.wrapped}$")]
    variables = "|".join(rf"\b{word}" for word in own)
    pattern = names if path.parent.name == "formats" else f"{names}|{variables}"
    found = sorted(text for text in texts(path) if re.search(pattern, text))
    assert not found, f"{path.name} names a family of MPI libraries: say what it needs in mpi_families ({found})"


def test_one_room_calls_cmake() -> None:
    naming = {room(path) for path in FILES if {"cmake", "ninja"} & literals(path)}
    assert naming <= {"cmake", "doctor"}, "ask firstlight.cmake"


def test_what_a_variant_needs_is_decided_in_one_place() -> None:
    """`catalogue` reads it from the file's name, `plan.ability` says whether it is here, `build.recipe` what it takes;
    CMake hears of none of it."""
    asking = {str(p.relative_to(SOURCE)) for p in FILES if "needs" in attributes(p)}
    assert asking <= {"catalogue.py", "plan/ability.py", "plan/planner.py", "build/recipe.py", "cli/listing.py"}
    words = re.findall(r"[a-z0-9]+", "".join(p.read_text() for p in (ROOT / "cmake").glob("*.cmake")).lower())
    told = {"mpi", "fortran"}  # of a tree: which wrapper compiles, and whether Fortran does
    assert not (set(catalogue.prefixes()) - told) & set(words)


def literals(path: Path) -> set[str]:
    """All strings of a module."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def attributes(path: Path) -> set[str]:
    """What a module asks of objects."""
    return {n.attr for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute)}
