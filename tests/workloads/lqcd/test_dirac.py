"""dirac on one process: reference numbers in every layout, symmetries, free fields, refusals, broken variants."""

from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path

import pytest

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

DIRAC = native.workloads["dirac"]
LAYOUTS = ("serial", "site", "virtual_nodes", "omp_virtual_nodes")
BROKEN = ("broken_gamma_sign", "broken_missing_conjugate", "broken_boundary_phase")
KINDS = {"scalar": 0, "within_site": 1, "virtual_nodes": 2}
ALL = "operator=D,Dhat,axpy,dot,norm"
ON_4_4 = ("t=4", "x=4", "y=4", "z=4", "bits=32,64", "boundary=periodic,antiperiodic")
NORMS = {
    ("D", "periodic"): 10752.7212084013,
    ("D", "antiperiodic"): 10680.8187278149,
    ("Dhat", "periodic"): 4542.738225674,
}
PSI = 513.0781428890  # |psi|^2
PRODUCT = (2107.6384883855, 8.5471924112)  # <psi, D psi>, periodic
EPSILON = {32: 2.0**-23, 64: 2.0**-52}


@pytest.fixture(scope="module")
def built() -> dict[str, Built]:
    tool = native.toolchain("base")
    if tool is None:
        pytest.skip("no gcc here")
    chosen = [v for v in DIRAC.variants if v.name in LAYOUTS + BROKEN]
    made = native.make([p for v in chosen for p in native.programs(DIRAC, v, tool)])
    assert [b.error for b in made.values()] == [""] * len(made)
    return {p.variant: b for p, b in made.items()}


def placement(variant: str) -> Placement:
    return Placement(threads=3 if variant.startswith("omp") else 1)


@pytest.mark.parametrize("variant", LAYOUTS)
def test_reference_numbers(variant: str, built: dict[str, Built], tmp_path: Path) -> None:
    """They agree to 12 digits in 64 bits, and up to rounding in 32; the check also compares them with each other."""
    output = native.run(built[variant], placement(variant), (*ON_4_4, ALL), tmp_path)
    assert (output.status, output.reason) == (0, ""), output.stderr
    seen = set()
    for check in output.of("check"):
        p = output.of("case")[check["case"]]["parameters"]
        tolerance = max(4 * EPSILON[p["bits"]], 1e-12)
        kind = (p["operator"], p["boundary"])
        if p["operator"] == "norm" and check["when"] == "before":
            assert float(check["what"].split()[3]) == pytest.approx(PSI, rel=tolerance)
        if kind in NORMS:
            found = re.search(r"\|out\|\^2 = (\S+), <psi, out> = (\S+) (\S+) i$", check["what"])
            assert found, check["what"]
            assert float(found[1]) == pytest.approx(NORMS[kind], rel=tolerance)
            seen.add((p["bits"], *kind))
            if kind == ("D", "periodic"):
                size = math.sqrt(PSI * NORMS[kind])
                assert (float(found[2]), float(found[3])) == pytest.approx(PRODUCT, abs=tolerance * size)
    assert seen == {(bits, *kind) for bits in (32, 64) for kind in NORMS}


@pytest.mark.parametrize("variant", LAYOUTS)
@pytest.mark.parametrize("extents", [("t=2", "x=16", "y=16", "z=16"), ("t=2,6", "x=4", "y=8", "z=12")])
def test_other_lattices(variant: str, extents: tuple[str, ...], built: dict[str, Built], tmp_path: Path) -> None:
    output = native.run(built[variant], placement(variant), (*extents, "bits=32,64", "operator=D,axpy,dot"), tmp_path)
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert len(output.of("check")) == 3 * len(output.of("case")) and all(c["ok"] for c in output.of("check"))


@pytest.mark.parametrize("variant", BROKEN)
def test_broken_operators_are_rejected(variant: str, built: dict[str, Built], tmp_path: Path) -> None:
    output = native.run(built[variant], Placement(), (*ON_4_4, "operator=D,Dhat"), tmp_path)
    assert output.status == 1
    assert {c["case"] for c in output.of("check") if not c["ok"]} == set(range(8))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("t=5",), "dirac needs even extents; t=5 given"),
        (("z=7",), "dirac needs even extents; z=7 given"),
        (("y=1",), "y"),
        (("bits=48",), "dirac needs bits=32 or bits=64; 48 given"),
        (("pt=2",), "dirac needs a process grid pt, px, py, pz with a product of 1"),
        (("t=2", "x=2", "y=2", "z=2", "bits=32"), "needs a lattice that splits into"),
    ],
)
def test_what_cannot_be_is_refused(
    words: tuple[str, ...], sentence: str, built: dict[str, Built], tmp_path: Path
) -> None:
    output = native.run(built["virtual_nodes"], Placement(), words, tmp_path)
    assert (output.status, output.lines) == (2, [])
    assert sentence in output.stderr


# --- properties of the kernels on other fields ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def operators() -> ctypes.CDLL:
    source = Path(__file__).with_name("dirac_operators.cpp")
    include = (f"-I{ROOT}/native/harness/include", f"-I{DIRAC.folder.parent}")
    made = drivers.library(source, "-O1", "-march=native", "-Wno-psabi", *include)  # as wide as the processor has it
    for name in ("hermiticity", "covariance", "free_field"):
        getattr(made, name).restype = ctypes.c_double
    return made


def integers(*values: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(values))(*values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("antiperiodic", [0, 1])
@pytest.mark.parametrize("extents", [(4, 4, 4, 4), (2, 8, 8, 4)])
def test_symmetries(kind: str, bits: int, antiperiodic: int, extents: tuple[int, ...], operators: ctypes.CDLL) -> None:
    """g5 D and g5 Dhat are hermitian, D is gauge covariant, to round-off."""
    allowed = 64 * EPSILON[bits]
    for hat in (0, 1):
        assert operators.hermiticity(KINDS[kind], bits, hat, antiperiodic, integers(*extents)) < allowed
    assert operators.covariance(KINDS[kind], bits, antiperiodic, integers(*extents)) < allowed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    ("extents", "n"),
    [
        ((4, 4, 4, 4), (1, 0, 1, 2)),
        ((4, 4, 4, 4), (0, 0, 0, 0)),
        ((8, 4, 4, 8), (3, 2, 1, 5)),
        ((2, 8, 8, 8), (1, 3, 0, 7)),
    ],
)
def test_free_fields_have_the_known_spectrum(
    kind: str, bits: int, extents: tuple[int, ...], n: tuple[int, ...], operators: ctypes.CDLL
) -> None:
    k = [2 * math.pi * a / b for a, b in zip(n, extents, strict=True)]
    re_, im = 0.1 + sum(1 - math.cos(a) for a in k), math.sqrt(sum(math.sin(a) ** 2 for a in k))
    if n == (1, 0, 1, 2):
        assert (re_, im) == pytest.approx((4.1, 1.414214), abs=1e-6)

    def error(re_: float, im: float) -> float:
        values = (ctypes.c_double(re_), ctypes.c_double(im))
        return float(operators.free_field(KINDS[kind], bits, integers(*extents), integers(*n), *values))

    assert error(re_, im) < 512 * EPSILON[bits]
    assert error(re_ + 0.1, im) > 1e-3  # not just anything
