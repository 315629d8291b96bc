"""hartree_fock's check: a wrong result is reported by the check for what is wrong; right ones are accepted."""

from __future__ import annotations

import ctypes
from ctypes import CDLL, c_double

import pytest
import test_hartree_fock

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

HARNESS = ROOT / "native" / "harness"
SOURCES = (
    ROOT / "tests/workloads/accelerators/hartree_fock_check.cpp",
    *(HARNESS / "src" / f"{name}.cpp" for name in ("support", "comm_serial")),
)
SETS = test_hartree_fock.SETS
MOLECULES = [name for name in test_hartree_fock.SMALL if name != "formamide"]


@pytest.fixture(scope="module")
def library() -> CDLL:
    include = (f"-I{HARNESS}/include", f"-I{HARNESS}/src", f"-I{test_hartree_fock.HARTREE_FOCK.folder}")
    flags = ("-O1", "-fPIC", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", "-DFL_JUDGE", *include)
    return CDLL(str(drivers.linked("hartree_fock_check.so", drivers.objects(SOURCES, *flags), "-shared")))


def checked(
    library: CDLL, molecule: str, basis: int, task: str, spoiled: str = "", by: float = 0
) -> tuple[bool, str, float]:
    """Return whether the check accepts the result of a step, its message, and the virial ratio."""
    words, ratio = ctypes.create_string_buffer(512), c_double()
    xyz = test_hartree_fock.SHIPPED[molecule][2] if molecule in test_hartree_fock.SHIPPED else molecule
    took = library.checked(
        xyz.encode(), basis, task == "energy", spoiled.encode(), c_double(by), words, ctypes.byref(ratio)
    )
    return bool(took), words.value.decode(), ratio.value


def refused(library: CDLL, task: str, spoiled: str, by: float) -> str:
    """Return the message about water in STO-3G."""
    took, message, _ = checked(library, "water", 0, task, spoiled, by)
    assert not took
    return message


@pytest.mark.parametrize("molecule", MOLECULES)
@pytest.mark.parametrize("basis", [0, 1], ids=SETS)
def test_right_results_are_taken_and_the_virial_ratio_of_molecules_at_rest_is_near_2(
    library: CDLL, molecule: str, basis: int
) -> None:
    assert checked(library, molecule, basis, "matrix")[0]
    took, message, ratio = checked(library, molecule, basis, "energy")
    assert took, message
    assert 1.92 < ratio < 2.02


@pytest.mark.parametrize(("apart", "basis", "near"), [(0.3, 1, 1.352), (1.1, 0, 1.890), (2, 0, 1.585), (2, 1, 2.239)])
def test_a_molecule_on_whose_nuclei_forces_act_is_taken_whatever_its_virial_ratio(
    library: CDLL, apart: float, basis: int, near: float
) -> None:
    """Hydrogen, stretched or pressed."""
    took, message, ratio = checked(library, f"2\n\nH 0 0 0\nH 0 0 {apart}\n", basis, "energy")
    assert took, message
    assert ratio == pytest.approx(near, abs=1e-3)


def test_a_large_molecule_of_hydrogen_alone_is_checked(library: CDLL) -> None:
    """The check of a large molecule draws p shells, which hydrogen does not have."""
    chain = "6\n\n" + "".join(f"H {0.8 * k} 0 0\n" for k in range(6))
    assert checked(library, chain, 0, "matrix")[0]
    assert not checked(library, chain, 0, "matrix", "upper triangle", 1e-3)[0]


def test_a_field_that_does_not_converge_is_reported_as_such(library: CDLL) -> None:
    """Restricted orbitals cannot describe two separate hydrogen atoms: this field oscillates."""
    took, message, _ = checked(library, "2\n\nH 0 0 0\nH 0 0 1000\n", 1, "energy")
    assert not took
    assert message.startswith("not converged after 100 iterations: the largest element of F D S - S D F")


@pytest.mark.parametrize("task", ["matrix", "energy"])
def test_a_matrix_that_is_not_symmetric_is_told(library: CDLL, task: str) -> None:
    """Only elements below the diagonal are compared with integrals; those above are compared with them."""
    assert "G[0][6] is" in refused(library, task, "upper triangle", 2e-11)
    assert checked(library, "water", 0, task, "upper triangle", 5e-12)[0]


@pytest.mark.parametrize("task", ["matrix", "energy"])
def test_an_element_that_is_wrong_in_both_triangles_is_told(library: CDLL, task: str) -> None:
    assert ", should be" in refused(library, task, "both triangles", 2e-9)


@pytest.mark.parametrize("by", [1, -1])
def test_quartets_too_many_or_too_few_are_told(library: CDLL, by: int) -> None:
    assert f"{1 + by} quartets (pp,pp) were computed, but 1 are above" in refused(library, "matrix", "quartets", by)


def test_a_density_that_is_not_idempotent_is_told(library: CDLL) -> None:
    """A millionth of an electron is in the next orbital; everything else is computed from that density."""
    assert refused(library, "energy", "occupation", 1e-6).startswith("the largest element of D S D - 2 D is 1.99")
    assert refused(library, "energy", "occupation", 1e-8).startswith("the largest element of D S D - 2 D is 2.00")


@pytest.mark.parametrize(
    ("spoiled", "by", "message"),
    [
        ("electrons", 1e-8, "the number of electrons, tr D S, is 10.0000001, should be 10"),
        ("orbitals", 1e-4, "the largest element of F D S - S D F is"),
        ("energy", 1e-9, "the energy is"),
        ("kinetic energy", 1e-9, "the kinetic energy is"),
    ],
)
def test_a_field_that_is_wrong_in_one_thing_is_told(library: CDLL, spoiled: str, by: float, message: str) -> None:
    """Electrons too many, a density that its own field does not reproduce, energies of another density."""
    assert refused(library, "energy", spoiled, by).startswith(message)
