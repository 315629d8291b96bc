"""Both conjugate gradients of fem2d with sparse matrices, from their definitions: tests hold the reference to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as linalg

Vector = np.ndarray
Preconditioner = Callable[[Vector], Vector]
OMEGA = 0.8  # damps Jacobi's steps


class Course(NamedTuple):
    iterations: int
    rho: list[float]  # r^T C^-1 r after each update of x, the first before any


def stiffness(n: int) -> sp.csr_matrix:
    """Linear elements on n x n cells, natural conditions on all sides."""
    k = sp.diags([-np.ones(n), np.r_[1, 2 * np.ones(n - 1), 1], -np.ones(n)], [-1, 0, 1])
    m = sp.diags(np.r_[0.5, np.ones(n - 1), 0.5])
    return (sp.kron(m, k) + sp.kron(k, m)).tocsr()


def quadratic(n: int) -> sp.csr_matrix:
    """Quadratic elements whose nodes are those of n x n cells (A_P2 = 4/3 A_P1(h/2) - 1/3 A_P1(h) on vertices)."""
    side = n // 2 + 1
    every_other = sp.csr_matrix((np.ones(side), (np.arange(0, n + 1, 2), np.arange(side))), shape=(n + 1, side))
    vertices = sp.kron(every_other, every_other)
    return (4 / 3 * stiffness(n) - 1 / 3 * vertices @ stiffness(n // 2) @ vertices.T).tocsr()


def prolongation(n: int) -> sp.csr_matrix:
    """Interpolate from n/2 cells per side to n. The centre of a cell is on the diagonal from (1, 0) to (0, 1)."""
    half = n // 2 + 1
    p = sp.lil_matrix(((n + 1) ** 2, half**2))
    for j, i in np.ndindex(n + 1, n + 1):
        x, y = i // 2, j // 2
        ends = ((x + 1, y), (x, y + 1)) if i % 2 and j % 2 else ((x, y), (x + i % 2, y + j % 2))
        for ex, ey in ends:
            p[j * (n + 1) + i, ey * half + ex] += 0.5
    return p.tocsr()


def free(n: int) -> Vector:
    """Return 1 at the nodes without a Dirichlet condition."""
    nodes = np.ones((n + 1, n + 1))
    nodes[0] = nodes[n] = 0
    return nodes.ravel()


class Levels:
    """Represent nested grids of 8, 16, ... cells per side; the finest has the nodes of the quadratic elements."""

    def __init__(self, level: int) -> None:
        self.n = [8 * 2**k for k in range(level + 2)]
        self.free = [free(n) for n in self.n]
        self.up = [prolongation(n) for n in self.n[1:]]  # from level k to k + 1
        self.linear = [stiffness(n) for n in self.n]
        inside = np.flatnonzero(self.free[0])
        self.inside, self.coarsest = inside, linalg.splu(self.linear[0][inside][:, inside].tocsc())

    def down(self, k: int, r: Vector) -> Vector:
        return self.free[k - 1] * (self.up[k - 1].T @ r)

    def additive(self, r: Vector, k: int = -1) -> Vector:
        k = len(self.n) - 1 if k < 0 else k
        z = r / 4
        return z if k == 0 else self.free[k] * (z + self.up[k - 1] @ self.additive(self.down(k, r), k - 1))

    def v_cycle(self, r: Vector, k: int = -1) -> Vector:
        k = len(self.n) - 1 if k < 0 else k
        if k == 0:
            z = np.zeros_like(r)
            z[self.inside] = self.coarsest.solve(r[self.inside])
            return z
        damped, a = OMEGA * self.free[k] / self.linear[k].diagonal(), self.linear[k]
        z = damped * r
        z = z + self.free[k] * (self.up[k - 1] @ self.v_cycle(self.down(k, self.free[k] * (r - a @ z)), k - 1))
        return z + damped * (r - a @ z)


def course(level: int, digits: int, preconditioner: Callable[[Levels], Preconditioner]) -> Course:
    """Solve problem R: f = 0, u = 0 below and 1 above."""
    levels = Levels(level)
    precondition, inner, n = preconditioner(levels), levels.free[-1], levels.n[-1]
    a = quadratic(n)
    x = np.zeros((n + 1, n + 1))
    x[n] = 1
    r = -inner * (a @ x.ravel())
    s, rho = np.zeros_like(r), list[float]()
    while True:
        z = precondition(r)
        rho.append(float(r @ z))
        if rho[-1] <= rho[0] * 10.0 ** (-2 * digits):
            return Course(len(rho) - 1, rho)
        s = z + (rho[-1] / rho[-2] if len(rho) > 1 else 0) * s
        q = inner * (a @ s)
        r = r - rho[-1] / (s @ q) * q
