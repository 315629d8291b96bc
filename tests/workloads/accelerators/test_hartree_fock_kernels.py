"""hartree_fock: Boys functions, integrals of random shells and G, as numbers and in vectors of every width."""

from __future__ import annotations

from ctypes import CDLL, POINTER, byref, c_double, c_int, c_longlong
from decimal import Decimal, getcontext

import numpy as np
import pytest
from numpy.typing import NDArray

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

WIDTHS = (1, 4, 8)  # of two each simd variant with base flags is made
FOLDER = ROOT / "workloads/accelerators/hartree_fock"
Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def functions() -> CDLL:
    flags = ("-O1", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", f"-I{ROOT}/native/harness/include", f"-I{FOLDER}")
    library = drivers.library(ROOT / "tests/workloads/accelerators/hartree_fock_functions.cpp", *flags)
    library.worst_bound.restype = c_double
    return library


def pointer(numbers: Array) -> object:
    return numbers.ctypes.data_as(POINTER(c_double))


# --- Boys functions


def exact(m: int, t: float) -> float:
    """F_m(t) by its series of positive terms, in sixty digits; where exp(-t) is below them all, in closed form."""
    getcontext().prec = 60
    x = Decimal(t)
    if t > 150:
        value = (Decimal("3.14159265358979323846264338327950288419716939937511") / x).sqrt() / 2
        for k in range(m):
            value *= (2 * k + 1) / (2 * x)
        return float(value)
    term = total = Decimal(1) / (2 * m + 1)
    k = 1
    while term > total * Decimal("1e-40"):
        term *= 2 * x / (2 * (m + k) + 1)
        total += term
        k += 1
    return float((-x).exp() * total)


@pytest.mark.parametrize("m", range(5))
def test_boys_functions_to_1e_14(functions: CDLL, m: int) -> None:
    """The arguments are between points of the table, on them, around its end, and far beyond it, also in adjacent
    lanes.
    """
    random = np.random.default_rng(m)
    near, far = random.uniform(0, 36, 60), 10 ** random.uniform(1.5, 6, 40)
    edges = [
        0,
        1e-300,
        1e-17,
        1 / 24,
        1 / 12,
        0.5,
        1,
        35.96,
        35.99,
        36,
        np.nextafter(36, 37),
        36.05,
        1e3,
        1e8,
        3.25,
        700,
    ]
    t = np.concatenate([edges, random.permutation(np.concatenate([near, far]))])
    t = t[: len(t) // 8 * 8]
    wanted = np.array([[exact(k, x) for x in t] for k in range(m + 1)])
    for width in WIDTHS:
        for at in range(0, len(t), width):
            found = np.zeros((m + 1, width))
            functions.boys_functions(width, m, pointer(t[at : at + width].copy()), pointer(found))
            assert np.abs(found - wanted[:, at : at + width]).max() < 1e-14


# --- integrals


def shells(seed: int, count: int, exponents: tuple[float, float], spread: float) -> Array:
    """Return shells as the driver reads them: s and p, of one to three primitives, some on or near the one before."""
    random = np.random.default_rng(seed)
    made, first = np.zeros((count, 12)), 0
    for k, shell in enumerate(made):
        shell[0], shell[1], shell[5] = (k + seed) % 3 == 1, 1 + random.integers(3), first
        first += 1 + 2 * int(shell[0])
        shell[2:5] = random.uniform(-spread, spread, 3)
        if k > 0 and random.random() < 0.4:
            shell[2:5] = made[k - 1, 2:5] + random.choice([0, 1e-12, 1e-6]) * random.normal(size=3)
        primitives = int(shell[1])
        shell[6 : 6 + primitives] = np.exp(random.uniform(*np.log(exponents), primitives))
        norm = (2 * shell[6 : 6 + primitives] / np.pi) ** 0.75 * (2 * shell[6 : 6 + primitives] ** 0.5) ** shell[0]
        shell[9 : 9 + primitives] = norm * random.uniform(-1, 1, primitives)
    return made


CASES = {
    "ordinary": ((0.1, 10), 2),
    "tight": ((1e2, 1e6), 0.1),
    "diffuse": ((1e-4, 1e-1), 5),
    "mixed": ((1e-3, 1e5), 1),
    "far": ((1, 1e3), 40),  # t up to 1e6
    "one place": ((0.1, 1e3), 1e-9),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_integral_to_1e_12(functions: CDLL, width: int, case: str) -> None:
    for seed in range(3):
        worst = np.full(6, np.nan)
        made = shells(seed, 6, *CASES[case])
        functions.worst_integrals(width, len(made), pointer(made), pointer(worst))
        assert worst.max() < 1e-12, worst


@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_right_however_small(functions: CDLL, seed: int) -> None:
    """This includes shells far from each other: a threshold may be smaller than any integral that counts."""
    made = shells(seed, 12, (0.1, 100), 6)
    assert functions.worst_bound(len(made), pointer(made)) < 1e-9


# --- G


@pytest.mark.parametrize("tau", [0, 1e-6, 1e-2])
@pytest.mark.parametrize("seed", range(2))
def test_g_is_its_definition(functions: CDLL, seed: int, tau: float) -> None:
    """From every quartet the bounds leave once, whatever its symmetry; what they leave out is below them."""
    made = shells(seed, 9, (0.2, 5), 1.5)
    n = int(made[-1, 5] + 1 + 2 * made[-1, 0])
    density = np.random.default_rng(seed).uniform(-1, 1, (n, n))
    density += density.T
    wanted, left = np.zeros((n, n)), (c_longlong * 6)()
    functions.plain_matrix(len(made), pointer(made), c_double(tau), pointer(density), pointer(wanted), byref(left))
    allowed, first = 1e-11 + 1.5 * tau * np.abs(density).sum(), np.zeros((n, n))
    for width in (1, 8):
        g, quartets = np.full((n, n), np.nan), (c_longlong * 6)()
        functions.matrix(
            c_int(width), len(made), pointer(made), c_double(tau), pointer(density), pointer(g), byref(quartets)
        )
        assert list(quartets) == list(left)
        assert np.array_equal(g, g.T)
        assert np.abs(g - wanted).max() < allowed
        first = g if width == 1 else first
        assert np.abs(g - first).max() < 1e-11
    assert tau > 0 or all(left)
