"""CUDA: the kernel as a plain loop against numpy and the reference numbers; the program where nvcc and a GPU are."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from native import Placement
from wilson import Array, Wilson, psi, random_links

pytestmark = [pytest.mark.native, pytest.mark.full]

DIRAC = native.workloads["dirac"]
EPSILON = {32: 2.0**-23, 64: 2.0**-52}
EXTENTS = [(4, 4, 4, 4), (2, 6, 4, 2), (8, 2, 2, 4)]


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    include = (f"-I{ROOT}/native/harness/include", f"-I{DIRAC.folder.parent}")
    flags = ("-O2", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", *include)
    return drivers.library(Path(__file__).with_name("device_functions.cpp"), *flags)


def applied(functions: ctypes.CDLL, extents: tuple[int, ...], bits: int, antiperiodic: bool, dhat: bool) -> Array:
    out = np.zeros((*extents, 4, 3), complex)
    pointer = out.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    functions.apply_device(*extents, bits, int(antiperiodic), int(dhat), pointer)
    return out


@pytest.mark.parametrize("antiperiodic", [False, True])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("extents", EXTENTS)
def test_the_kernel_is_the_operator(
    functions: ctypes.CDLL, extents: tuple[int, ...], bits: int, antiperiodic: bool
) -> None:
    wilson, field = Wilson(random_links(extents), 0.1, antiperiodic), psi(extents)
    even = (np.indices(extents).sum(axis=0) % 2 == 0)[..., None, None]
    hopped = wilson.hop(wilson.hop(even * field))
    wanted = {False: wilson.apply(field), True: even * (wilson.m * field - hopped / wilson.m)}
    for dhat in (False, True):
        out = applied(functions, extents, bits, antiperiodic, dhat)
        error = np.abs((even * out if dhat else out) - wanted[dhat]).max()
        assert error < 64 * EPSILON[bits]


def test_the_reference_numbers(functions: ctypes.CDLL) -> None:
    for antiperiodic, norm in ((False, 10752.7212084013), (True, 10680.8187278149)):
        out = applied(functions, (4, 4, 4, 4), 64, antiperiodic, dhat=False)
        assert np.sum(np.abs(out) ** 2) == pytest.approx(norm, rel=1e-12)
    out = applied(functions, (4, 4, 4, 4), 64, False, dhat=False)
    assert np.vdot(psi((4, 4, 4, 4)), out) == pytest.approx(2107.6384883855 + 8.5471924112j, rel=1e-12)
    even = np.indices((4, 4, 4, 4)).sum(axis=0) % 2 == 0
    out = applied(functions, (4, 4, 4, 4), 64, False, dhat=True)
    assert np.sum(np.abs(out[even]) ** 2) == pytest.approx(4542.738225674, rel=1e-12)


# -- the program


@cache
def built() -> Built:
    tool = native.toolchain("base")
    variant = next(v for v in DIRAC.variants if v.name == "cuda")
    assert variant.needs == ("cuda",)
    programs = native.programs(DIRAC, variant, tool) if tool else []
    if not programs:
        pytest.skip("no nvcc here")
    (result,) = native.make(programs).values()
    assert result.error == ""
    return result


def test_the_program_verifies_on_a_gpu_or_says_that_there_is_none(tmp_path: Path) -> None:
    arguments = ("t=4,8", "x=4", "y=4", "z=6", "bits=32,64", "operator=D,Dhat", "boundary=periodic,antiperiodic")
    output = native.run(built(), Placement(), arguments, tmp_path)
    if output.status == 2:
        assert "this variant of dirac needs a GPU; " in output.stderr
        assert output.lines == []
        return
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert len(output.of("check")) >= 16 and all(check["ok"] for check in output.of("check"))


def test_what_it_does_not_do_it_says(tmp_path: Path) -> None:
    output = native.run(built(), Placement(), ("operator=dot",), tmp_path)
    assert (output.status, output.lines) == (2, [])
    assert "needs a GPU" in output.stderr or "runs operator=D" in output.stderr
