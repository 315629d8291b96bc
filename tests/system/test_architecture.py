"""Packages import in one direction only, and general code names no workload and no MPI family."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import shipped
from commands import SIDE, here
from firstlight import ROOT
from firstlight.model import catalogue
from firstlight.system import mpi_families

SOURCE = ROOT / "src" / "firstlight"
SHIPPED = shipped.workloads()
FILES = sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem not in ("__init__", "__main__"))

DRAWINGS = sorted((ROOT / "workloads").rglob("*.py"))
PUBLIC = {  # what a workload's report.py may build on: changed with care, because others' drawings depend on it
    "firstlight.analysis", "firstlight.model.catalogue", "firstlight.model.plan", "firstlight.results.record",
    "firstlight.results.description",
    *(f"firstlight.core.{m}" for m in ("confidence", "heritage", "roles", "units")),
    *(f"firstlight.report.{m}" for m in ("answers", "frame", "ghosts", "observed", "pictures", "sentence", "wording")),
}  # fmt: skip


@cache
def packages() -> list[str]:
    """Return the packages in the order of docs/architecture.md: each imports from those above it only."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    return re.findall(r"^\| `(\w+)` \|", text.partition("## Ten packages")[2].partition("\n## ")[0], re.MULTILINE)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


def below(path: Path, folder: str) -> bool:
    return path.is_relative_to(SOURCE / folder)


def imported(path: Path) -> set[str]:
    """Return the packages that a module imports from, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "firstlight" else [f"firstlight.{a.name}" for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("firstlight.")}
    return {name for name in found if (SOURCE / name).is_dir()}


def imports_from_above(path: Path) -> None:
    above = packages()[: packages().index(package(path)) + 1]
    wrong = imported(path) - {*above}
    assert not wrong, f"{path.name} ({package(path)}) imports {sorted(wrong)}, which come later"


def test_the_document_names_every_package() -> None:
    assert sorted(packages()) == sorted(p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists())


def modules(path: Path) -> set[str]:
    """Return the modules of firstlight that a file imports from, or the modules that it imports."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            folder = (ROOT / "src").joinpath(*node.module.split("."))
            inside = {a.name for a in node.names if (folder / a.name).is_dir() or (folder / f"{a.name}.py").exists()}
            found |= {f"{node.module}.{name}" for name in inside}
            found |= {node.module} if len(inside) < len(node.names) else set()
    return {name for name in found if name.split(".")[0] == "firstlight"}


def own_test(path: Path, command: str) -> bool:
    """Return whether a file in tests belongs to a command: `test_NAME.py`, `test_NAME_more.py`, `NAME_samples.py`."""
    return f"{re.sub('^(test|bench)_', '', path.stem)}_".startswith(f"{command}_")


@cache
def references(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, helpers of tests among them, and its strings that name a command's."""
    plain = {a.name for node in ast.walk(parsed(path)) if isinstance(node, ast.Import) for a in node.names}
    plain |= {node.module or "" for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom)}
    return frozenset(modules(path) | plain | {text for text in literals(path) if "firstlight.commands." in text})


@pytest.mark.full
@pytest.mark.parametrize("command", SIDE)
def test_nothing_imports_a_side_product(command: str) -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    others = [p for p in FILES if not below(p, f"commands/{command}")] + DRAWINGS
    others += [p for p in tests if not own_test(p, command)]
    own = {p.stem for p in tests if own_test(p, command)}
    for path in others:
        found = {r for r in references(path) if re.search(rf"firstlight\.commands\.{command}\b", r) or r in own}
        assert not found, f"{path.relative_to(ROOT)} imports {sorted(found)}"


@pytest.mark.full
@pytest.mark.parametrize("command", list(filter(here, SIDE)))
def test_a_side_product_can_be_removed(command: str, tmp_path: Path) -> None:
    """The others are still there, with their help, their schemas and the catalogue."""
    for path in (p for p in ROOT.iterdir() if p.is_dir() and p.name not in ("src", "tests", ".git")):
        (tmp_path / path.name).symlink_to(path)
    source = tmp_path / "src" / "firstlight"
    shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(source / "commands" / command)
    code = "import sys; from firstlight.commands.shared.command_line import call; call(sys.argv[1:])"
    outputs = []
    for words in (["--help"], ["schema", "--help"], ["schema"], ["list"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "src")}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "") and done.stdout, words
        outputs.append(done.stdout)
    help_, _, schemas, listed = outputs
    assert "\n  compare " in help_ and f"\n  {command} " not in help_
    assert "figures" in schemas and not re.search(rf"^{command}$", schemas, re.MULTILINE)
    assert "stream" in listed


def builds_on_public_modules(path: Path) -> None:
    other = {m for m in modules(path) if not any(m == p or m.startswith(f"{p}.") for p in PUBLIC)}
    assert not other, f"{path.parent.name}/{path.name} imports {sorted(other)}"


def texts(path: Path) -> set[str]:
    """Yield the strings in a module's code, without docstrings and the end of a command's help."""
    tree = parsed(path)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    documentation |= {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "epilog"
    }
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documentation)
    return {node.value for node in strings if isinstance(node.value, str)}


def names_no_family(path: Path) -> None:
    """The module contains no family's name or variable; tune/formats contains the formats of single libraries."""
    if below(path, "system/mpi_families"):
        return
    names = "|".join(rf"\b{family.name}\b" for family in mpi_families.every())
    own = [word for family in mpi_families.every() for word in (*family.variables, f"{family.wrapped}$")]
    variables = "|".join(rf"\b{word}" for word in own)
    pattern = names if path.parent.name == "formats" else f"{names}|{variables}"
    found = sorted(text for text in texts(path) if re.search(pattern, text))
    assert not found, f"{path.name} names a family of MPI libraries: say what it needs in mpi_families ({found})"


def test_one_module_calls_cmake() -> None:
    naming = {path for path in FILES if {"cmake", "ninja"} & literals(path) and not below(path, "commands/doctor")}
    assert naming <= {SOURCE / "toolchain/cmake.py"}, "ask firstlight.toolchain.cmake"


def test_what_a_variant_needs_is_decided_in_one_place() -> None:
    """`catalogue` reads it from the file's name, `plan.requirements` finds whether the machine has it, and
    `build.recipe` what it adds to the build. CMake does not know it."""
    readers = {str(p.relative_to(SOURCE)) for p in FILES if "needs" in attributes(p)}
    assert readers <= {
        "model/catalogue/__init__.py",
        "model/catalogue/capabilities.py",
        "model/plan/requirements.py",
        "model/plan/planner.py",
        "model/plan/selectors.py",
        "execute/build/recipe.py",
        "commands/list.py",
    }
    words = re.findall(r"[a-z0-9]+", "".join(p.read_text() for p in (ROOT / "cmake").glob("*.cmake")).lower())
    exempt = {"mpi", "fortran"}  # of a tree: which wrapper compiles, and whether Fortran does
    exempt |= {"target"}  # a word of CMake's own
    assert not (set(catalogue.prefixes()) - exempt) & set(words)


def test_one_module_of_the_store_touches_files() -> None:
    """Tests inject faults there, so it has to be the only one; the others may read user ids and /proc."""
    changing = {"write_bytes", "write_text", "unlink", "mkdir", "rmdir", "symlink_to", "hardlink_to", "chmod", "rmtree"}
    for path in (p for p in FILES if below(p, "results/store") and p.name != "disk.py"):
        nodes = list(ast.walk(parsed(path)))
        used = {n.attr for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "os"}
        assert used <= {"strerror", "getpid", "geteuid"}, f"{path.name}: ask disk.py, not os ({sorted(used)})"
        assert not changing & attributes(path), f"{path.name}: ask disk.py"


def literals(path: Path) -> set[str]:
    """Yield all strings of a module."""
    nodes = ast.walk(parsed(path))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def attributes(path: Path) -> set[str]:
    """Yield the attributes of objects that a module uses."""
    return {n.attr for n in ast.walk(parsed(path)) if isinstance(n, ast.Attribute)}


SUBJECTS = {"workload", "variant", "metric"}
"""Attributes with the name of a workload, a variant or a metric."""
TABLES = re.compile(r"(?:^|_)(?:workload|variant)s?$")
"""Identifiers of a mapping or a parameter for which such a name selects a value."""


@cache
def programs() -> frozenset[str]:
    return frozenset(f"{w.name}.{v.name}" for w in SHIPPED.values() for v in w.variants)


def addressed(text: str) -> set[str]:
    """Return the programs and workloads that a string addresses: `dot.simd`, `./fl run noise`."""
    found = set(re.findall(r"(?<![\w.])[a-z0-9_]+\.[a-z0-9_]+(?!\w)", text)) & programs()
    for command in re.findall(r"\bfl (?:run|list|submit)\b[^`\n]*", text):
        found |= set(re.findall(r"[a-z0-9_]+", command)) & SHIPPED.keys()
    return found


def _compared(node: ast.Compare) -> set[str]:
    """Return the strings that are compared with the name of a workload, a variant or a metric."""
    sides = [list(ast.walk(side)) for side in (node.left, *node.comparators) if not isinstance(side, ast.JoinedStr)]
    subjects = [any(isinstance(n, ast.Attribute) and n.attr in SUBJECTS for n in side) for side in sides]
    texts_ = [{n.value for n in side if isinstance(n, ast.Constant) and isinstance(n.value, str)} for side in sides]
    others = (found for subject, found in zip(subjects, texts_, strict=True) if not subject)
    return set().union(*others) - {""} if any(subjects) else set()


def _selected(node: ast.Subscript | ast.Call) -> set[str]:
    """Return the strings that look up a workload or a variant: `workloads["x"]`, `pick(workload="x")`."""
    if isinstance(node, ast.Subscript):
        given = [(node.value, node.slice)]
    else:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node
        given = [(owner, a) for a in node.args] if owner is not node else []
        given += [(ast.Name(k.arg or ""), k.value) for k in node.keywords]
    names = {getattr(key, "value", None) for owner, key in given if TABLES.search(_identifier(owner))}
    return {name for name in names if isinstance(name, str)}


def _identifier(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def distinguished_names(tree: ast.AST) -> set[str]:
    """Return the strings with which code distinguishes workloads, variants or metrics.

    No other string or identifier counts: a workload may be called `sort`, `sum` or `copy`.
    """
    nodes = list(ast.walk(tree))
    found = {name for n in nodes if isinstance(n, ast.Compare) for name in _compared(n)}
    looked_up = {name for n in nodes if isinstance(n, ast.Subscript | ast.Call) for name in _selected(n)}
    return found | (looked_up & {*SHIPPED, *(v.name for w in SHIPPED.values() for v in w.variants)})


def knows_no_workload(path: Path) -> None:
    """Findings, fits, tuning and pages use roles, rows and plots that workload.toml declares.

    Docstrings may give an example: the help of `./fl run` does.
    """
    found = {name for text in texts(path) for name in addressed(text)} | distinguished_names(parsed(path))
    assert not found, f"{path.name} names {sorted(found)}: ask for a role (roles.py), or move it into the folder"


def test_neither_native_rooms_nor_templates_know_a_workload_by_name() -> None:
    files = [p for p in (ROOT / "native").rglob("*") if p.suffix in (".hpp", ".cpp", ".cu", ".f90", ".txt", ".json")]
    files += [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*")]
    files += [p for p in SOURCE.rglob("*") if p.suffix in (".j2", ".js", ".css")]
    assert len(files) > 50
    for path in files:
        found = {name for line in path.read_text().splitlines() for name in addressed(line) | _quoted(line)}
        assert not found, f"{path.relative_to(ROOT)} names {sorted(found)}"


def _quoted(line: str) -> set[str]:
    """Return the workloads that a line of another language names in quotation marks together with the word workload."""
    return set(re.findall(r"[\"']([a-z0-9_]+)[\"']", line)) & SHIPPED.keys() if "workload" in line else set()


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("x = 'see dot.simd'", True), ("x = '`./fl run noise --quick`'", True), ("x = 'the noise of it'", False),
        ("x = f.identity.workload == 'noise'", True), ("x = (i.metric, 1) == ('time', 1)", True),
        ("x = i.variant == f'{a}_{b}'", False), ("x = i.variant == j.variant", False),
        ("x = i.workload in ('dot', 'stream')", True), ("x = 'mpi_library' != v.variant", True),
        ("x = workloads['pingpong']", True), ("x = workloads.get('pingpong')", True), ("x = pick(workload='lu')", True),
        ("x = rows['pingpong']", False), ("x = 'pingpong'", False), ("halo = peak(noise, 'dot')", False),
        ("pingpong_time = sum(copy)", False), ("x = sort_by(workload, key='name')", False),
    ],
)  # fmt: skip
def test_such_names_are_noticed(tmp_path: Path, code: str, named: bool) -> None:
    path = tmp_path / "module.py"
    path.write_text(code + "\n")
    if named:
        with pytest.raises(AssertionError, match=r"module\.py"):
            knows_no_workload(path)
    else:
        knows_no_workload(path)


def test_a_workload_may_have_an_ordinary_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sort", "sum", "copy", "scan", "checkpoint", "metadata", "search", "time", "serial", "x"):
        monkeypatch.setitem(SHIPPED, name, SHIPPED["dot"])
    assert offences(knows_no_workload, FILES) == []
    test_neither_native_rooms_nor_templates_know_a_workload_by_name()


def test_a_package_says_in_one_sentence_what_it_is() -> None:
    for path in [p for p in FILES if p.name == "__init__.py"]:
        first = (ast.get_docstring(parsed(path)) or "").split("\n\n")[0].replace("\n", " ")
        assert first.endswith(".") and ". " not in first, f"{path.relative_to(SOURCE)}: {first!r}"


def offences(rule: Callable[[Path], None], paths: list[Path]) -> list[str]:
    """List the violations of a rule by file: one test per rule, because a thousand tests are slower than the checks."""
    assert paths
    found = []
    for path in paths:
        try:
            rule(path)
        except AssertionError as offence:
            found.append(f"{path.relative_to(ROOT)}: {str(offence).splitlines()[0]}")
    return found


@pytest.mark.parametrize(
    "rule",
    [imports_from_above, names_no_family, knows_no_workload],
    ids=lambda rule: rule.__name__,
)
def test_every_module_keeps_the_rule(rule: Callable[[Path], None]) -> None:
    assert offences(rule, FILES) == []


def test_every_drawing_of_a_workload_s_own_builds_on_the_public_modules_only() -> None:
    assert offences(builds_on_public_modules, DRAWINGS) == []


def test_every_offence_is_told() -> None:
    def none(path: Path) -> None:
        assert path.name != "roles.py", "a first line\na second"

    two = [*[SOURCE / "core" / f"{name}.py" for name in ("roles", "units", "roles")]]
    assert offences(none, two) == ["src/firstlight/core/roles.py: a first line"] * 2
