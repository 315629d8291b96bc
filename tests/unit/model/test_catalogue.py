"""The catalogue: folders become workloads, file names become variants, defects are named with file and key."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from firstlight import ROOT
from firstlight.core.errors import UsageError
from firstlight.model import catalogue
from firstlight.report import answers

SHIPPED = catalogue.load([ROOT / "workloads"])
TOML = """
title = "Copy"
question = "How fast?"

[[suites.quick]]
variants = ["*"]
parameters = { n = [10, "L1"] }
"""


def folder(root: Path, name: str, *sources: str, toml: str = TOML) -> Path:
    place = root / name
    place.mkdir(parents=True)
    (place / "workload.toml").write_text(textwrap.dedent(toml))
    for source in sources:
        (place / source).write_text(f"// {source}\n")
    return place


def test_file_names_become_variants(tmp_path: Path) -> None:
    folder(
        tmp_path,
        "copy",
        *(
            "serial.cpp",
            "omp.cpp",
            "omp_blocked.cpp",
            "mpi_omp_ring.cpp",
            "mpi4_omp_pieces.cpp",
            "shmem_put.cpp",
            "caf_put.f90",
            "blas.cpp",
            "fortran_loop.f90",
            "mpi_f08.f90",
        ),
        *("broken_mpi_lost.cpp", "ompish.cpp", "c_abi.cpp", "copy.hpp", "README.md"),
    )
    variants = {v.name: v for v in catalogue.load([tmp_path])["copy"].variants}
    assert {name: v.needs for name, v in variants.items()} == {
        "serial": (),
        "omp": ("openmp",),
        "omp_blocked": ("openmp",),
        "mpi_omp_ring": ("mpi", "openmp"),
        "mpi4_omp_pieces": ("mpi", "mpi4", "openmp"),
        "shmem_put": ("mpi", "shmem"),
        "caf_put": ("mpi", "caf", "fortran"),
        "blas": ("blas1",),
        "fortran_loop": ("fortran",),
        "mpi_f08": ("mpi", "fortran"),
        "broken_mpi_lost": ("mpi",),
        "ompish": (),
    }
    assert [v.name for v in variants.values() if v.broken] == ["broken_mpi_lost"]


def test_groups_and_several_roots(tmp_path: Path) -> None:
    folder(tmp_path / "a", "copy", "serial.cpp")
    folder(tmp_path / "b" / "group", "add", "serial.cpp")
    assert list(catalogue.load([tmp_path / "a", tmp_path / "b"])) == ["add", "copy"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("colour = 3\n", "colour"),
        ("[sizes]\nparameter = 'n'\nbytes_per_element = 'many'\n", "$.sizes.bytes_per_element"),
        ("[[suites.quick]]\nvariants = ['*']\nrank = 2\n", "rank"),
        ("[[suites.slow]]\nvariants = ['*']\n", "suites.slow"),
        ("title = \n", "workload.toml"),
        ("[[elsewhere]]\nsuite = 'x'\nname = 'Y'\nrow = 'none'\n", "elsewhere[0] names the row 'none'"),
        ("[[elsewhere]]\nsuite = 'x'\nname = 'Y'\nrow = 'none'\nscale = 0\n", "scale"),
    ],
)
def test_a_defect_is_named_with_file_and_key(tmp_path: Path, line: str, named: str) -> None:
    place = folder(tmp_path, "copy", "serial.cpp", toml=line + TOML if "=" in line.splitlines()[0] else TOML + line)
    with pytest.raises(UsageError) as caught:
        catalogue.load([tmp_path])
    assert str(place / "workload.toml") in str(caught.value)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    folder(tmp_path, "copy", toml="title = 'x'\n")
    with pytest.raises(UsageError, match="question"):
        catalogue.load([tmp_path])


def test_the_chapter_is_the_folder(tmp_path: Path) -> None:
    """One workload folder in a root is the user's own; those in a chapter's folder belong to it."""
    folder(tmp_path, "copy", "serial.cpp")
    folder(tmp_path / "sparse", "spmv", "serial.cpp")
    found = catalogue.load([tmp_path])
    assert (found["copy"].chapter, found["spmv"].chapter) == ("own", "sparse")


def test_names_are_safe_and_unique(tmp_path: Path) -> None:
    folder(tmp_path / "a", "copy", "serial.cpp")
    folder(tmp_path / "b", "copy", "serial.cpp")
    with pytest.raises(UsageError, match="is also a workload named 'copy'"):
        catalogue.load([tmp_path / "a", tmp_path / "b"])
    folder(tmp_path / "c", "co py")
    with pytest.raises(UsageError, match="lower-case"):
        catalogue.load([tmp_path / "c"])
    folder(tmp_path / "d", "copy", "Serial.cpp")
    with pytest.raises(UsageError, match=r"Serial\.cpp"):
        catalogue.load([tmp_path / "d"])
    folder(tmp_path / "e", "copy", "fortran.cpp", "fortran.f90")
    with pytest.raises(UsageError, match="variant 'fortran' has two sources"):
        catalogue.load([tmp_path / "e"])


def test_a_root_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FIRSTLIGHT_WORKLOADS"):
        catalogue.load([tmp_path / "nowhere"])


def test_roots_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_WORKLOADS", "/a:/b")
    assert catalogue.roots() == [ROOT / "workloads", Path("/a"), Path("/b")]


def test_every_pattern_of_the_shipped_workloads_selects_a_variant() -> None:
    """A misspelt variant would silently measure nothing. `blas_openblas` is made from `blas` when planned."""
    workloads = catalogue.load([ROOT / "workloads"])
    assert workloads
    for workload in workloads.values():
        names = [v.name for v in workload.variants if not v.broken]
        names += [
            f"{v.name}_{b}"
            for v in workload.variants
            if catalogue.of_library(v.needs)
            for b in ("openblas", "blis", "mkl", "netlib", "fftw3", "eigen")
        ]
        for suite, selections in workload.suites.items():
            for selection in selections:
                for pattern in selection.variants:
                    assert any(fnmatch(name, pattern) for name in names), f"{workload.name} {suite}: {pattern}"


def test_the_quick_suite_is_a_fixed_core() -> None:
    """It fills its 170 seconds: a new workload joins `standard` and `full`, and the page names its command."""
    core = {
        "peak", "noise", "dot", "stream", "latency", "pingpong", "halo", "vector_sum", "waiting", "fem2d", "dirac",
        "dirac_solver", "matmul", "transpose", "himeno", "file_io",
    }  # fmt: skip
    workloads = catalogue.load([ROOT / "workloads"])
    assert {name for name, w in workloads.items() if "quick" in w.suites} == core
    assert not {name for name, w in workloads.items() if "standard" not in w.suites}


def test_the_quick_suite_compares_flags_in_eight_plain_kernels() -> None:
    """Advice for ordinary code rests on them: each with every toolchain, in the case of a row."""
    kernels = {
        (name, variant)
        for name, w in catalogue.load([ROOT / "workloads"]).items()
        for entry in w.suites.get("quick", [])
        for variant in w.plain
        if entry.toolchains == ["*"] and any(fnmatch(variant, p) for p in entry.variants)
        if w.toolchain_sensitive and any(_in(row, entry) for row in w.rows)
    }
    assert len(kernels) >= 8, kernels


def _in(row: catalogue.Row, entry: catalogue.Selection) -> bool:
    return all(value in entry.parameters.get(name, []) for name, value in row.where.items())


ALLOWED = "variant|split|workload|role|phase|grid|host_device"
EXPLICIT = re.compile(rf'#include "firstlight/(?!{ALLOWED})|__builtin_prefetch|vector_size|<(imm|arm)')
"""Ordinary code does not use these: our headers for vectors, stores, blocks and libraries."""


@pytest.mark.parametrize("name", sorted(name for name, w in SHIPPED.items() if w.plain))
def test_a_plain_variant_is_ordinary_code(name: str) -> None:
    workload = SHIPPED[name]
    for variant in (workload.variant(v) for v in workload.plain):
        assert not catalogue.of_library(variant.needs) and not catalogue.on_device(variant.needs)
        for source in _sources(variant.source, workload.folder):
            found = EXPLICIT.search(source.read_text())
            assert not found, f"{variant.name} is declared plain, and {source.name} has {found and found[0]}"


def _sources(source: Path, folder: Path) -> Iterator[Path]:
    """Return a variant's source and the headers of the workload that only timed code includes."""
    yield source
    for included in re.findall(r'#include "([^"]+)"', source.read_text()):
        for place in (source.parent, folder):
            header = place / included
            if header.exists() and "kernels" in header.parts:
                yield from _sources(header, folder)
                break


def test_plain_names_a_variant(tmp_path: Path) -> None:
    place = folder(tmp_path, "copy", "serial.cpp")
    document = place / "workload.toml"
    document.write_text('plain = ["fast"]\n' + document.read_text())
    with pytest.raises(UsageError, match="`plain` names 'fast', which is not a variant of copy"):
        catalogue.load([tmp_path])


def test_the_front_page_has_room_for_every_headline_that_is_shipped() -> None:
    rows = [row for w in catalogue.load([ROOT / "workloads"]).values() for row in w.rows]
    assert 0 < sum(row.headline for row in rows) <= answers.MOST
    assert len({row.title for row in rows}) == len(rows), "two rows have one title"
