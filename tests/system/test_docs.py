"""The documents: their examples are built, run and rejected as they must be, and their prose is plain and true."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

import native
import prose
import shipped
import turns
from firstlight import ROOT
from firstlight.analysis import compare
from firstlight.commands.shared.command_line import COMMANDS, group
from firstlight.core import confidence
from firstlight.execute.build import Built, build
from firstlight.model.catalogue import load
from firstlight.model.plan import Placement
from firstlight.model.plan.effort import EFFORT
from firstlight.report import answers
from real_calls import MEASURED

PAGE = ROOT / "docs" / "add-a-workload.md"
BLOCK = re.compile(r"`((?:axpy|heat3d)/[a-z0-9_/]+\.(?:toml|hpp|cpp|cu))`.*?\n```[a-z]+\n(.*?)```", re.S)
FILES = {
    "axpy": ["axpy.hpp", "broken/broken_last.cpp", "omp.cpp", "serial.cpp", "workload.toml"],
    "heat3d": [
        "broken/broken_mpi_stale.cpp", "cuda.cu", "heat3d.hpp", "kernels/run.hpp", "mpi_overlap.cpp", "omp.cpp",
        "serial.cpp",
        "workload.toml",
    ],
}  # fmt: skip
MOST = 200
"""Lines of the application, all files together: what the harness and the grid are for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files of the page, written to their own folder."""
    root: Path = tmp_path_factory.mktemp("workloads")
    for name, text in BLOCK.findall(PAGE.read_text()):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    written = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    assert sorted(written) == sorted(f"{name}/{file}" for name, files in FILES.items() for file in files)
    return root


@pytest.mark.native
@pytest.mark.alone
def test_the_example_is_measured_with_no_edit_elsewhere(folder: Path, tmp_path: Path) -> None:
    words = ["run", "axpy", "--toolchain", "gcc-base", "--launches", "2", "--json", "--results", str(tmp_path)]
    environment = os.environ | {"FIRSTLIGHT_WORKLOADS": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "firstlight", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=turns.PATIENCE,
    )
    assert done.returncode in MEASURED, done.stderr
    assert json.loads(done.stdout)
    figures = subprocess.run(
        [sys.executable, "-m", "firstlight", "figures", str(next(tmp_path.iterdir())), "--json"],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = json.loads(figures.stdout)
    assert {f["variant"] for f in found if f["workload"] == "axpy"} == {"serial", "omp"}
    assert all(f["verdict"] == "verified" and f["median"] > 0 for f in found)


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Callable[[str, str], Built]]:
    """Build a variant of an example; skip the test if its requirements are not met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTLIGHT_WORKLOADS", str(folder))
        workloads = load([folder])

        def make(workload: str, variant: str) -> Built:
            wanted = native.plain_program(workload, variant.removeprefix("broken_"))
            wanted = replace(wanted, variant=variant)
            built = build([wanted], native.toolbox(), workloads, native.CACHE, options=native.STRICT)[wanted]
            assert built.error == ""
            return built

        yield make


@pytest.mark.native
def test_the_broken_example_is_rejected(program: Callable[[str, str], Built]) -> None:
    built = program("axpy", "broken_last")
    assert native.direct(built, "n=100", "--samples", "2", "--sample-seconds", "1e-4").returncode == 1


# --- the application ------------------------------------------------------------------------------

CELLS = ("n=8,13", "steps=1,9", "r=0.1,0.1666")
"""13 cells are cut unevenly."""


def test_the_application_is_short(folder: Path) -> None:
    lines = {p.name: len(p.read_text().splitlines()) for p in (folder / "heat3d").rglob("*.*")}
    assert sum(lines.values()) <= MOST, lines


@pytest.mark.native
@pytest.mark.parametrize(
    ("variant", "place"),
    [
        ("serial", Placement()),
        ("omp", Placement(threads=3)),
        ("mpi_overlap", Placement(ranks=2)),
        *(pytest.param("mpi_overlap", Placement(ranks=n), marks=pytest.mark.full) for n in (1, 3, 4)),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.ranks}x{value.threads}",
)
def test_the_application_is_verified(
    variant: str, place: Placement, program: Callable[[str, str], Built], tmp_path: Path
) -> None:
    """Every cell, whatever the cut; each sample reports the phases."""
    output = native.verified(program("heat3d", variant), place, tmp_path, *CELLS)
    assert len(output.of("case")) == 8
    for sample in output.of("sample"):
        most = {name: spread[2] for name, spread in sample["values"].items()}
        assert set(most) == {f"phase_{name}" for name in ("halo", "inner", "rim", "other")}
        assert min(most["phase_halo"], most["phase_inner"], most["phase_rim"]) > 0


@pytest.mark.native
def test_stale_halos_are_rejected(program: Callable[[str, str], Built], tmp_path: Path) -> None:
    """Not for a NaN: old values are finite, and the check still finds them. With two time steps both halos are new."""
    built = program("heat3d", "broken_mpi_stale")
    output = native.run(built, Placement(ranks=2), ("n=8", "steps=2,9"), tmp_path)
    first = {c["case"]: c for c in output.of("check") if c["when"] == "before"}
    assert output.status == 1 and [first[case]["ok"] for case in (0, 1)] == [True, False]
    assert 1e-6 < first[1]["error"] < 1


@pytest.mark.native
def test_the_application_runs_on_a_gpu_or_says_that_there_is_none(
    program: Callable[[str, str], Built], tmp_path: Path
) -> None:
    if native.toolbox().cuda is None:
        pytest.skip("no nvcc here")
    output = native.run(program("heat3d", "cuda"), Placement(), CELLS, tmp_path)
    if output.status == 2:
        assert "this variant of heat3d needs a GPU; " in output.stderr and output.lines == []
        pytest.skip("compiled and refused: no GPU here")
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert len(output.of("check")) == 24 and all(check["ok"] for check in output.of("check"))


# --- the prose ------------------------------------------------------------------------------------

READMES = "READMEs of workloads"


def _pages() -> dict[str, list[Path]]:
    """Return the documents that people write; the pages of a group share their faults."""
    generated = ROOT / "docs" / "cli.md"
    single = [p for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")) if p != generated]
    pages = {str(p.relative_to(ROOT)): [p] for p in sorted(single)}
    return pages | {READMES: sorted((ROOT / "workloads").glob("*/*/README.md"))}


PAGES = _pages()


@cache
def claims() -> list[prose.Claim]:
    """Return statements of documents with their truth, computed from the files of the checkout."""
    workloads = shipped.workloads()
    patterns = len(list((ROOT / "native/patterns/patterns").glob("*.cpp")))
    kernels = (shipped.folder("vectorise") / "kernels" / "kernels.hpp").read_text().count("FL_KERNEL(")
    (python,) = re.findall(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    strategies = len([v for v in workloads["halo"].variants if not v.broken])
    without = sorted(set(COMMANDS) - set(_with_json()))
    (minutes,) = re.findall(r"(\S+ to \S+) minutes on two cores", (ROOT / "fl").read_text())
    return [
        prose.Claim(r"NUMBER (?:exchange |communication )?strategies", strategies),
        prose.Claim(r"NUMBER algorithms", len(list((ROOT / "native/collectives/algorithms").glob("*.cpp")))),
        prose.Claim(r"NUMBER patterns", patterns),
        prose.Claim(r"(?:fill its|them for) NUMBER seconds", int(EFFORT["quick"].budget)),
        prose.Claim(r"NUMBER chapters", len({w.chapter for w in workloads.values()})),
        prose.Claim(r"NUMBER kinds of machine", len(list((ROOT / "sites").glob("*.toml")))),
        prose.Claim(r"NUMBER packages", len(list((ROOT / "src/firstlight").glob("*/__init__.py")))),
        prose.Claim(r"((?:[\w-]+ to )?[\w-]+) minutes on two cores", minutes.lower()),
        prose.Claim(
            r"NUMBER deliberately wrong variants", sum(v.broken for w in workloads.values() for v in w.variants)
        ),
        prose.Claim(r"describes NUMBER applications", patterns),
        prose.Claim(r"room for NUMBER rows", answers.MOST),
        prose.Claim(r"`workloads/node/vectorise` has NUMBER", kernels),
        prose.Claim(r"at least NUMBER launches", confidence.LAUNCHES),
        prose.Claim(r"with its NUMBER % interval", round(100 * confidence.LEVEL)),
        prose.Claim(r"NUMBER % by default", round(100 * compare.THRESHOLD)),
        prose.Claim(r"Python (\d[\d.]*\d)", python),
        prose.Claim(
            r"every command (?:takes|prints JSON with|accepts|has) `--json`(?:, except ([^.]+))?", _list(without)
        ),
    ]


def _with_json() -> Iterator[str]:
    """Yield the commands that have --json; a group has it if one of its commands has."""
    context = click.Context(group, **group.context_settings)
    for name in COMMANDS:
        command = group.get_command(context, name)
        inner = command.commands.values() if isinstance(command, click.Group) else [command]
        if any("--json" in p.opts for c in inner if c for p in c.params):
            yield name


def _list(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


@pytest.mark.parametrize("name", PAGES)
def test_documents_are_plain_and_true(name: str) -> None:
    faults = [f"{p.relative_to(ROOT)}: {fault}" for p in PAGES[name] for fault in prose.faults(p, claims())]
    assert not faults, "\n".join(faults)


def _sources() -> dict[str, list[Path]]:
    """Return the files whose strings users read, by package of firstlight; those of all workloads together."""
    files = [*ROOT.glob("src/firstlight/*/**/*.py"), *ROOT.glob("src/firstlight/*/**/*.j2")]
    files += [f for kind in ("workload.toml", "**/*.py", "*.hpp") for f in ROOT.glob(f"workloads/*/*/{kind}")]
    found: dict[str, list[Path]] = {}
    for file in sorted(files):
        parts = file.relative_to(ROOT).parts
        found.setdefault("workloads" if parts[0] == "workloads" else parts[2], []).append(file)
    return found


SOURCES = _sources()


@pytest.mark.parametrize("name", SOURCES)
def test_strings_are_plain(name: str) -> None:
    faults = [f"{p.relative_to(ROOT)}: {fault}" for p in SOURCES[name] for fault in prose.faults(p, [])]
    assert not faults, "\n".join(faults)


LINES = 120
"""The most lines of a workload's README."""
HEADINGS = ["Method", "Parameters", "How to run", "How to read the result", "How it is verified", "Variants"]


@pytest.mark.parametrize("name", shipped.workloads())
def test_readmes_of_workloads_are_short_and_complete(name: str) -> None:
    """A variant of several libraries is written with a star, as `blas3_*`."""
    page = (shipped.folder(name) / "README.md").read_text()
    _, _, section = page.partition("\n## Variants\n")
    table = [row.split("|")[1] for row in section.partition("\n## ")[0].splitlines() if row.startswith("| `")]
    named = re.findall(r"`([^`]+)`", " ".join(table))
    sources = {v.name for v in shipped.workloads()[name].variants if not v.broken}
    assert sorted(n.removesuffix("_*") for n in named) == sorted(sources)
    assert len(page.splitlines()) <= LINES
    found = re.findall(r"^## (.+)$", page, re.M)
    assert [h for h in found if h not in {"Measurements", "References"}] == HEADINGS
    question = re.search(r"\*\*Question\.\*\* (.+?)\n\n", page, re.S)
    assert question and " ".join(question[1].split()) == shipped.workloads()[name].question


FAULTY = (
    """# Head

What a message costs is told at once. Of these, nobody knows.

"""
    + "word " * 40
    + """end. Short.

See [it](#no-such-head) and [that](gone.md), with nineteen strategies, at `./fl rnu`.

| a table | without a head |

```
./fl run --nope
```
"""
)


def test_faults_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(FAULTY)
    found = "\n".join(prose.faults(page, claims()))
    parts = (
        "'told'", "'at once'", "'nobody'", "'knows'", "'What a message costs'", "begins with Of", "41 words", "columns",
        "#no-such-head", "gone.md", "the truth is 22", "'rnu'", "--nope", "without a head",
    )  # fmt: skip
    assert [part for part in parts if part not in found] == []


PROGRAM = f'''"""A docstring takes what it wants."""
NAME = "takes"
shown = f"{{count}} launches took as long; `./fl rnu` tells why" + f"of {{among(f'what {{one}} costs is not shown')}}"
long = "{"word " * 31}end"
'''
TEMPLATE = "<p class='text'>It gives <b>{{ many|count('run') }}</b> at once.</p><style>p { of: what it takes }</style>"
DECLARED = 'title = "Nobody waits for it"\n[[rows]]\ntitle = "where data stands"\n'
DESCRIBED = """// takes
inline constexpr fl::About about{
    .title = "A title",
    .cost =
        "flop a cell bes"
        "ide its solver",
};
"""
IN_STRINGS = {
    "program.py": (PROGRAM, ["'took'", "'tells'", "'rnu'", "'what VALUE costs'", "32 words"]),
    "page.j2": (TEMPLATE, ["'gives'", "'at once'"]),
    "workload.toml": (DECLARED, ["'Nobody'", "'stands'"]),
    "program.hpp": (DESCRIBED, ["'beside'"]),
}


@pytest.mark.parametrize("name", IN_STRINGS)
def test_faults_of_strings_are_found(name: str, tmp_path: Path) -> None:
    """Docstrings, single words and styles are not what a user reads."""
    source = tmp_path / name
    text, expected = IN_STRINGS[name]
    source.write_text(text)
    faults = prose.faults(source, [])
    assert len(faults) == len(expected) and all(any(part in fault for fault in faults) for part in expected), faults


def test_what_is_plain_has_no_faults(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A head\n\nW. Gropp wrote a page. It is not told `as told` here: see [it](#a-head).\n\n".replace(
            "told ", "", 1
        )
        + "- one item;\n- another one.\n\n| a | b |\n|---|---|\n| `x\\|y` | 2 |\n\n```\n./fl run dot --budget 1m\n```\n"
    )
    assert prose.faults(page, claims()) == []


def test_every_term_of_the_glossary_is_defined_once() -> None:
    terms = re.findall(r"^\| ([^|]+?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)[1:]
    assert len(terms) <= 40 and terms == sorted(set(terms), key=str.lower)


def test_the_front_page_of_the_repository_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 160
