"""The Wilson-Dirac operator once more, in numpy: any number of colours, the whole lattice, from its definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.complex128]
Extents = tuple[int, ...]

PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
ZERO, ONE = np.zeros((2, 2)), np.eye(2)
GAMMA = [np.block([[ZERO, -ONE], [-ONE, ZERO]])] + [np.block([[ZERO, -1j * s], [1j * s, ZERO]]) for s in PAULI]
GAMMA5 = np.diag([1, 1, -1, -1])


def uniform(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5


def complexes(first: int, shape: Extents) -> Array:
    count = 2 * int(np.prod(shape))
    pairs = uniform(np.uint64(first) + np.arange(count, dtype=np.uint64)).reshape(-1, 2)
    return (pairs[:, 0] + 1j * pairs[:, 1]).reshape(shape)


def psi(extents: Extents) -> Array:
    """Return the spinor field of the reference numbers: site, spin, colour."""
    return complexes(2**40, (*extents, 4, 3))


def random_links(extents: Extents) -> Array:
    """Return the gauge field of the reference numbers: site, direction, row, column."""
    u = complexes(0, (*extents, 4, 3, 3))
    a = u[..., 0, :] / np.linalg.norm(u[..., 0, :], axis=-1, keepdims=True)
    b = u[..., 1, :] - np.sum(a.conj() * u[..., 1, :], axis=-1, keepdims=True) * a
    b /= np.linalg.norm(b, axis=-1, keepdims=True)
    return np.stack([a, b, np.cross(a, b).conj()], axis=-2)


def flux_links(extents: Extents, charge: int) -> Array:
    """Return one colour in a constant field: one quantum times `charge` through every (0, 1) and every (2, 3) plane."""
    angle = np.zeros((*extents, 4))
    x = np.indices(extents)
    for first in (0, 2):
        field = 2 * np.pi * charge / (extents[first] * extents[first + 1])
        angle[..., first + 1] = field * x[first]
        last = x[first] == extents[first] - 1
        angle[..., first] = np.where(last, -field * extents[first] * x[first + 1], 0)
    return np.exp(1j * angle)[..., None, None]


def plaquettes(u: Array, mu: int, nu: int) -> Array:
    """U_mu(x) U_nu(x+mu) U_mu(x+nu)^+ U_nu(x)^+ at every site."""
    a, b = u[..., mu, :, :], u[..., nu, :, :]
    there, back = a @ np.roll(b, -1, axis=mu), b @ np.roll(a, -1, axis=nu)
    return np.asarray(there @ np.swapaxes(back.conj(), -1, -2))


class Wilson:
    """D = m + H with m = 4 + mass and the hopping term H; fields have the axes site (4), spin, colour, perhaps more."""

    def __init__(self, links: Array, mass: float, antiperiodic: bool = False) -> None:
        self.m = 4 + mass
        self.u = links.copy()
        if antiperiodic:
            self.u[-1, ..., 0, :, :] *= -1

    def hop(self, psi: Array) -> Array:
        total = np.zeros_like(psi)
        for mu in range(4):
            u = self.u[..., mu, :, :]
            forward = np.einsum("xyztab,xyztsb...->xyztsa...", u, np.roll(psi, -1, axis=mu), optimize=True)
            back = np.roll(np.einsum("xyztba,xyztsb...->xyztsa...", u.conj(), psi, optimize=True), 1, axis=mu)
            total += np.einsum("rs,xyzts...->xyztr...", np.eye(4) - GAMMA[mu], forward)
            total += np.einsum("rs,xyzts...->xyztr...", np.eye(4) + GAMMA[mu], back)
        return -0.5 * total

    def apply(self, psi: Array) -> Array:
        return self.m * psi + self.hop(psi)

    def matrix(self) -> Array:
        """D as a dense matrix."""
        shape = (*self.u.shape[:4], 4, self.u.shape[-1])
        size = int(np.prod(shape))
        return self.apply(np.eye(size, dtype=complex).reshape(*shape, size)).reshape(size, size)


def gamma5(psi: Array) -> Array:
    return np.einsum("rs,xyzts...->xyztr...", GAMMA5, psi)
