"""D x = b: iterations by an independent implementation, the same for every layout, precision and number of threads."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.plan import Program
from mpi_programs import for_ranks
from native import Placement
from wilson import Array, Wilson, gamma5, psi, random_links

pytestmark = [pytest.mark.native, pytest.mark.full]

SOLVER = native.workloads["dirac_solver"]
METHODS = ("cg", "bicgstab", "mixed_cg", "mixed_bicgstab")


@cache
def built() -> dict[Program, Built]:
    """Build with the flags of the processor: lanes of one width are those that `test_workloads` builds."""
    tools = [t for name in ("base", "native") if (t := native.toolchain(name))]
    if not tools:
        pytest.skip("no gcc here")
    good = [v for v in SOLVER.variants if not v.broken]
    wanted = [p for v in good if "mpi" not in v.needs for t in tools for p in native.programs(SOLVER, v, t)]
    wanted += [p for v in good if "mpi" in v.needs for p in native.on_each_library(SOLVER, v)]
    return native.make(wanted)


def program(variant: str, flag_set: str = "native") -> Built:
    found = [b for p, b in built().items() if p.variant == variant and p.toolchain == f"gcc-{flag_set}"]
    if not found:
        pytest.skip(f"no {variant} here")
    assert found[0].error == ""
    return found[0]


# -- an independent implementation: D on the whole lattice from its definition, Dhat by projecting on even sites


class Dirac(Wilson):
    """Dhat and the source of the even sites."""

    def __init__(self, extents: tuple[int, ...], antiperiodic: bool, mass: float) -> None:
        super().__init__(random_links(extents), mass, antiperiodic)
        self.even = (np.indices(extents).sum(axis=0) % 2 == 0)[..., None, None]
        self.b = psi(extents)

    def dhat(self, psi: Array) -> Array:
        return self.even * (self.m * psi - self.hop(self.hop(psi)) / self.m)

    def adjoint(self, psi: Array) -> Array:
        return gamma5(self.dhat(gamma5(psi)))

    def source(self) -> Array:
        return self.even * (self.b - self.hop(~self.even * self.b) / self.m)

    def cg(self, digits: int) -> int:
        r = self.source()
        goal = np.linalg.norm(r) * 10.0**-digits
        s = p = self.adjoint(r)
        for count in range(1000):
            if np.linalg.norm(r) <= goal:
                return count
            q = self.dhat(p)
            r = r - np.vdot(s, s).real / np.vdot(q, q).real * q
            before, s = s, self.adjoint(r)
            p = s + np.vdot(s, s).real / np.vdot(before, before).real * p
        raise AssertionError("no convergence")

    def bicgstab(self, digits: int) -> int:
        r = self.source()
        goal = np.linalg.norm(r) * 10.0**-digits
        shadow = p = r
        rho = np.vdot(shadow, r)
        for count in range(1000):
            if np.linalg.norm(r) <= goal:
                return count
            v = self.dhat(p)
            alpha = rho / np.vdot(shadow, v)
            s = r - alpha * v
            t = self.dhat(s)
            omega = np.vdot(t, s) / np.vdot(t, t)
            r = s - omega * t
            before, rho = rho, np.vdot(shadow, r)
            p = r + rho / before * alpha / omega * (p - omega * v)
        raise AssertionError("no convergence")


@cache
def independent(boundary: str, mass: int, digits: int, extents: tuple[int, ...] = (4, 4, 4, 4)) -> tuple[int, int]:
    """Return the iterations of conjugate gradients and BiCGStab."""
    dirac = Dirac(extents, boundary == "antiperiodic", mass / 1000)
    return dirac.cg(digits), dirac.bicgstab(digits)


# -- what the programs count

LATTICE = ("t=4", "x=4", "y=4", "z=4", f"method={','.join(METHODS)}", "boundary=periodic,antiperiodic")


@pytest.mark.parametrize(
    ("variant", "flag_set"), [("serial", "base"), ("virtual_nodes", "base"), ("virtual_nodes", "native")]
)
def test_iterations_are_those_of_an_independent_implementation(variant: str, flag_set: str, tmp_path: Path) -> None:
    output = native.verified(program(variant, flag_set), Placement(), tmp_path, *LATTICE, "mass=100,-1000", "digits=8")
    found = output.iterations("method", "boundary", "mass")
    assert len(found) == 16
    for (method, boundary, mass), count in found.items():
        cg, bicgstab = independent(str(boundary), int(str(mass)), 8)
        assert abs(count - (cg if str(method).endswith("cg") else bicgstab)) <= 1, (method, boundary, mass)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_any_number_of_threads_takes_the_iterations_of_one(threads: int, tmp_path: Path) -> None:
    """The sums do not depend on the threads, so nothing does."""
    arguments = ("t=8", "x=4", "y=4", "z=8", f"method={','.join(METHODS)}", "mass=100,-1300")
    alone = native.verified(program("virtual_nodes"), Placement(), tmp_path, *arguments)
    output = native.verified(program("omp_virtual_nodes"), Placement(threads=threads), tmp_path, *arguments)
    assert output.iterations("method", "mass") == alone.iterations("method", "mass")
    residuals = [[s["values"]["residual"][1] for s in one.of("sample")] for one in (alone, output)]
    assert np.allclose(*residuals, rtol=1e-3)


@pytest.mark.parametrize(
    ("ranks", "extents", "grid", "methods"),
    [
        (3, (6, 4, 4, 4), (3, 1, 1, 1), METHODS),
        (4, (4, 4, 4, 4), (1, 2, 0, 2), METHODS),
        (8, (4, 4, 4, 4), (2, 2, 2, 1), ("cg", "bicgstab")),
        (16, (8, 4, 4, 4), (2, 2, 2, 2), ("cg", "bicgstab")),
    ],
)
def test_every_process_grid_takes_the_iterations_of_an_independent_implementation(
    ranks: int, extents: tuple[int, ...], grid: tuple[int, ...], methods: tuple[str, ...], tmp_path: Path
) -> None:
    """Blocks of 2x2x2x4 split into two lanes: 64 bits with the vectors of the base flags."""
    overlapping = [b for p, b in built().items() if p.variant == "mpi_overlap"]
    program = for_ranks(overlapping, ranks, most_of_mpich=3)[0]
    words = [f"{d}={n}" for d, n in zip("txyz", extents, strict=True)]
    words += [f"p{d}={n}" for d, n in zip("txyz", grid, strict=True)]
    output = native.verified(program, Placement(ranks=ranks), tmp_path, *words, f"method={','.join(methods)}")
    cg, bicgstab = independent("antiperiodic", 100, 8, extents)
    wanted = {(method,): cg if method.endswith("cg") else bicgstab for method in methods}
    assert output.iterations("method") == wanted


def test_mixed_precision_reaches_what_32_bits_cannot(tmp_path: Path) -> None:
    """To 11 digits, with the iterations of 64 bits and few residuals in them."""
    output = native.verified(program("virtual_nodes"), Placement(), tmp_path, *LATTICE, "mass=-1000", "digits=11")
    found = output.iterations("method", "boundary")
    for boundary in ("periodic", "antiperiodic"):
        for method in ("cg", "bicgstab"):
            assert abs(found[f"mixed_{method}", boundary] - found[method, boundary]) <= 2
    for sample in output.of("sample"):
        method = output.of("case")[sample["case"]]["parameters"]["method"]
        updates = sample["values"]["updates"][1]
        assert 4 <= updates <= 8 if method.startswith("mixed") else updates == 0


@pytest.mark.parametrize("digits", [2, 5, 12])
def test_the_residual_that_is_asked_for_and_not_much_less(digits: int, tmp_path: Path) -> None:
    output = native.verified(
        program("virtual_nodes"), Placement(), tmp_path, *LATTICE, "mass=-1000", f"digits={digits}"
    )
    for sample in output.of("sample"):
        assert 0 < sample["values"]["residual"][2] <= 10.0**-digits


@pytest.mark.parametrize(
    ("variant", "arguments", "sentence"),
    [
        ("serial", ("t=5",), "dirac_solver needs even extents; t=5 given"),
        ("virtual_nodes", ("t=2", "x=2", "y=2", "z=2"), "2x2x2x2 does not"),
    ],
)
def test_lattices_that_cannot_be_are_refused(
    variant: str, arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    output = native.run(program(variant), Placement(), arguments, tmp_path)
    assert (output.status, output.lines) == (2, [])
    assert sentence in output.stderr


def test_a_solution_that_takes_too_many_iterations_is_rejected_with_advice(tmp_path: Path) -> None:
    words = ("t=2", "x=2", "y=26", "mass=-2997", "method=mixed_cg", "boundary=antiperiodic")
    output = native.run(native.plain("dirac_solver", "serial"), Placement(), words, tmp_path)
    assert output.status == 1 and all(c["what"].endswith("use a larger mass") for c in output.of("check"))
