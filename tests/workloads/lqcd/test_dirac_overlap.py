"""The overlap operator: Zolotarev's errors, the sign by all eigenvalues, Ginsparg-Wilson, zero modes and index."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.model.plan import Program
from native import Placement
from wilson import GAMMA5, Array, Wilson, flux_links, plaquettes

pytestmark = [pytest.mark.native, pytest.mark.full]

OVERLAP = native.workloads["dirac_overlap"]
RHO = 1.0
DOUBLES = ctypes.POINTER(ctypes.c_double)


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    include = (f"-I{ROOT}/native/harness/include", f"-I{OVERLAP.folder}")
    library = drivers.library(Path(__file__).with_name("overlap_functions.cpp"), "-O2", *include)
    library.zolotarev.restype = library.least.restype = ctypes.c_double
    library.overlap.restype = ctypes.c_int64
    return library


def approximation(functions: ctypes.CDLL, poles: int, least: float) -> tuple[float, Array, Array]:
    shift, weight = np.zeros(poles), np.zeros(poles)
    error = functions.zolotarev(
        poles, ctypes.c_double(least), shift.ctypes.data_as(DOUBLES), weight.ctypes.data_as(DOUBLES)
    )
    return error, shift, weight


def rational(x: NDArray[np.float64], shift: Array, weight: Array) -> NDArray[np.float64]:
    return x * np.sum(weight / (x[..., None] ** 2 + shift), axis=-1)


# -- the approximation of the sign


@pytest.mark.parametrize(
    ("poles", "least", "error"),
    [(6, 0.05, 5.4e-6), (8, 0.05, 6.0e-8), (12, 0.01, 1.0e-8), (16, 0.001, 2.2e-8)],
)
def test_the_error_is_the_published_one_and_is_reached_many_times(
    functions: ctypes.CDLL, poles: int, least: float, error: float
) -> None:
    """The best approximation of this degree has its largest error 2 n + 1 times, with alternating sign (Chebyshev)."""
    stated, shift, weight = approximation(functions, poles, least)
    assert stated == pytest.approx(error, rel=0.05)
    x = np.geomspace(least, 1, 20001)
    rest = rational(x, shift, weight) - 1
    assert np.abs(rest).max() == pytest.approx(stated, rel=1e-4)
    inner = np.flatnonzero(np.diff(np.sign(np.diff(rest)))) + 1
    peaks = rest[[0, *inner, -1]]
    assert len(peaks) == 2 * poles + 1
    assert np.allclose(np.abs(peaks), stated, rtol=1e-3)
    assert np.all(peaks[1:] * peaks[:-1] < 0)
    assert np.all(shift > 0) and np.all(weight > 0) and np.all(np.diff(shift) > 0)


@pytest.mark.parametrize("poles", [2, 3, 16, 33])
def test_any_number_of_poles_on_any_interval(functions: ctypes.CDLL, poles: int) -> None:
    for least in (1e-4, 0.03, 0.7):
        stated, shift, weight = approximation(functions, poles, least)
        x = np.geomspace(least, 1, 20001)
        assert np.abs(rational(x, shift, weight) - 1).max() <= stated * (1 + 1e-6) + 1e-13


def test_an_iteration_applies_the_operator_once(functions: ctypes.CDLL) -> None:
    functions.applications.restype = ctypes.c_int64
    iterations = ctypes.c_int64()
    assert functions.applications(ctypes.byref(iterations)) == iterations.value == 7


# -- a constant flux on 4^4, by all eigenvalues of H

LATTICE = (4, 4, 4, 4)


@cache
def spectrum() -> tuple[NDArray[np.float64], Array]:
    """Eigenvalues and vectors of H = g5 D(-rho) for one colour of charge 1."""
    h = turned(Wilson(flux_links(LATTICE, 1), -RHO).matrix())
    assert np.abs(h - h.conj().T).max() < 1e-14
    values, vectors = np.linalg.eigh(h)
    return values, vectors


def turned(matrix: Array) -> Array:
    """g5 times the matrix."""
    return np.einsum("rs,xsk->xrk", GAMMA5, matrix.reshape(256, 4, 1024)).reshape(1024, 1024)


def of_eigenvalues(values: NDArray[np.float64]) -> Array:
    """Return the function of H that has these values at its eigenvalues."""
    _, vectors = spectrum()
    return np.asarray((vectors * values) @ vectors.conj().T)


def free_least() -> float:
    """Return the smallest |eigenvalue| of H of the colour without charge: H^2 = (sum(1 - cos k) - rho)^2 + sum(sin^2
    k).
    """
    k = 2 * np.pi * np.indices(LATTICE) / 4
    return float(np.sqrt((np.sum(1 - np.cos(k), axis=0) - RHO) ** 2 + np.sum(np.sin(k) ** 2, axis=0)).min())


def test_the_flux_is_constant() -> None:
    u = flux_links(LATTICE, 1)
    for mu in range(4):
        for nu in range(mu + 1, 4):
            wanted = np.exp(2j * np.pi / 16) if (mu, nu) in ((0, 1), (2, 3)) else 1
            assert np.abs(plaquettes(u, mu, nu) - wanted).max() < 1e-14


def test_ginsparg_wilson_the_circle_the_index_and_one_zero_mode(functions: ctypes.CDLL) -> None:
    """The rational approximation replaces the sign: its error of 1e-17 satisfies the relation up to round-off."""
    values, _ = spectrum()
    assert np.sum(np.sign(values)) == 2  # the index is minus half of it
    most = 8 - RHO
    _, shift, weight = approximation(functions, 20, np.abs(values).min() / most)
    sign = of_eigenvalues(rational(values / most, shift, weight))
    d = 0.5 * (np.eye(1024) + turned(sign))
    g5d = turned(d)
    dg5 = np.einsum("kxs,rs->kxr", d.reshape(1024, 256, 4), GAMMA5).reshape(1024, 1024)
    assert np.abs(g5d - g5d.conj().T).max() < 1e-14
    assert np.abs(g5d + dg5 - 2 * d @ g5d).max() < 1e-14
    assert np.abs(d + d.conj().T - 2 * d.conj().T @ d).max() < 1e-14  # all eigenvalues have |lambda - 1/2| = 1/2

    # D^+ D = (1 + g5 sign) / 2 within a chirality: zero modes are eigenvectors of sign there
    blocks = sign.reshape(256, 2, 2, 256, 2, 2)
    right, left = (blocks[:, c, :, :, c].reshape(512, 512) for c in (0, 1))
    plus, minus = np.linalg.eigvalsh(0.5 * (np.eye(512) + right)), np.linalg.eigvalsh(0.5 * (np.eye(512) - left))
    assert np.sum(plus < 1e-3) == 0
    assert np.sum(minus < 1e-3) == 1 and abs(minus[0]) < 1e-13


def applied(functions: ctypes.CDLL, psi: Array, least: float, poles: int, tolerance: float) -> Array:
    """D_ov psi by the program, of a field of site, spin and colour."""
    out = np.zeros_like(psi)
    functions.overlap(
        4,
        ctypes.c_int64(1),
        *map(ctypes.c_double, (RHO, least)),
        poles,
        ctypes.c_double(tolerance),
        *(field.ctypes.data_as(DOUBLES) for field in (psi, out)),
    )
    return out


@pytest.mark.parametrize(("poles", "tolerance", "allowed"), [(20, 1e-15, 2e-14), (6, 1e-8, 2e-6)])
def test_the_operator_is_that_of_all_eigenvalues(
    functions: ctypes.CDLL, poles: int, tolerance: float, allowed: float
) -> None:
    values, _ = spectrum()
    rng = np.random.default_rng(7)
    psi = rng.standard_normal((256, 4, 3, 2)) @ np.array([1, 1j])
    least = functions.least(4, ctypes.c_int64(1), ctypes.c_double(RHO))
    smallest = min(np.abs(values).min(), free_least())
    assert 0.9 * smallest < least < smallest
    out = applied(functions, psi, least, poles, tolerance)[:, :, 0]
    one = psi[:, :, 0]
    wanted = 0.5 * (one + (of_eigenvalues(np.sign(values)) @ one.ravel()).reshape(256, 4) @ GAMMA5)
    assert np.linalg.norm(out - wanted) < allowed * np.linalg.norm(wanted)


def test_the_zero_mode_is_one_of_the_program_too(functions: ctypes.CDLL) -> None:
    """Inverse iteration finds it, among the left-handed fields."""
    values, _ = spectrum()
    left = of_eigenvalues(np.sign(values)).reshape(256, 2, 2, 256, 2, 2)[:, 1, :, :, 1].reshape(512, 512)
    zero = np.ones(512, complex)
    for _ in range(3):
        zero = np.linalg.solve((1 + 1e-9) * np.eye(512) - left, zero)
        zero /= np.linalg.norm(zero)
    psi = np.zeros((256, 4, 3), complex)
    psi[:, 2:, 0] = zero.reshape(256, 2)
    assert np.linalg.norm(applied(functions, psi, 0.9 * np.abs(values).min(), 20, 1e-15)) < 1e-11


# -- the programs


@cache
def built() -> dict[Program, Built]:
    """Build with the flags of the processor, for several processes the ones that `test_workloads` builds as well."""
    tool = native.toolchain("native")
    if tool is None:
        pytest.skip("no gcc here")
    good = [v for v in OVERLAP.variants if not v.broken]
    wanted = [p for v in good if "mpi" not in v.needs for p in native.programs(OVERLAP, v, tool)]
    return native.make(wanted + [p for v in good if "mpi" in v.needs for p in native.on_each_library(OVERLAP, v)])


@pytest.mark.parametrize(
    ("variant", "place"),
    [
        ("serial", Placement()),
        ("virtual_nodes", Placement()),
        ("omp_virtual_nodes", Placement(threads=1)),
        ("omp_virtual_nodes", Placement(threads=3)),
        ("mpi_overlap", Placement(ranks=2)),
    ],
)
def test_programs_obey_the_relation_below_1e_14(variant: str, place: Placement, tmp_path: Path) -> None:
    """And need as many iterations, whatever the layout, the number of threads and that of processes."""
    found = [b for p, b in built().items() if p.variant == variant]
    if not found:
        pytest.skip(f"no {variant} here")
    arguments = ("t=4", "x=4", "y=4", "z=4", "field=smooth,flux", "poles=16", "digits=15")
    output = native.run(found[0], place, arguments, tmp_path)
    assert (output.status, output.reason) == (0, ""), output.stderr
    for sample in output.of("sample"):
        assert 0 < sample["values"]["violation"][2] < 1e-14
        field = output.of("case")[sample["case"]]["parameters"]["field"]
        assert abs(sample["values"]["iterations"][1] - {"smooth": 150, "flux": 127}[field]) <= 3


def test_the_smallest_eigenvalue_is_found_however_many_are_near_it(tmp_path: Path) -> None:
    """Lanczos settles late here; an interval that leaves some out makes sign(H) wrong for these."""
    words = ("t=2", "x=2", "y=26", "poles=5", "rho=200", "field=smooth")
    native.verified(native.plain("dirac_overlap", "serial"), Placement(), tmp_path, *words)
