"""hartree_fock: published energies and integrals, molecules from files, and what does not change an energy."""

from __future__ import annotations

import ctypes
import os
import re
from ctypes import CDLL, POINTER, c_double
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from native import Placement

HARTREE_FOCK = native.workloads["hartree_fock"]
SETS = ("STO-3G", "3-21G")
BOHR = 0.52917721092  # angstrom

# Restricted Hartree-Fock by PySCF 2.14, hartree; the header's own values are compared with these.
PUBLISHED = {
    ("water", "STO-3G"): -74.9631198616,
    ("water", "3-21G"): -75.5854290537,
    ("benzene", "STO-3G"): -227.8910064819,
    ("benzene", "3-21G"): -229.4179154599,
    ("water8", "STO-3G"): -599.6586202378,
    ("decane", "STO-3G"): -386.9411518606,
    ("h2", "STO-3G"): -1.1167143251,
}
SMALL = ("h2", "water", "ammonia", "hydrogen_cyanide", "formamide")
EXACT = ("task=energy", "tau=1e-12")


def shipped() -> dict[str, tuple[dict[str, float], dict[str, int], str]]:
    """Return the content of molecules.hpp: energies and iterations by basis set, and the file."""
    text = (HARTREE_FOCK.folder / "molecules.hpp").read_text(encoding="utf-8")
    entry = r'\{"(\w+)",\s*\{([^}]*)\},\s*\{([^}]*)\},\s*R"\(([^)]*)\)"\}'
    found = {}
    for name, energies, iterations, xyz in re.findall(entry, text):
        by_set = dict(zip(SETS, map(float, energies.split(",")), strict=True))
        found[name] = by_set, dict(zip(SETS, map(int, iterations.split(",")), strict=True)), xyz
    return found


SHIPPED = shipped()


def program(variant: str) -> Built:
    built = native.plain("hartree_fock", variant)
    assert built.error == ""
    return built


def test_the_energies_are_those_that_were_published() -> None:
    assert {key: SHIPPED[key[0]][0][key[1]] for key in PUBLISHED} == PUBLISHED
    assert set(SMALL) | {"benzene", "water8", "decane"} == set(SHIPPED)


@pytest.mark.native
@pytest.mark.parametrize(
    ("molecules", "sets"),
    [
        (SMALL, SETS),
        pytest.param(("benzene",), SETS, marks=pytest.mark.full),
        pytest.param(("water8", "decane"), SETS[:1], marks=pytest.mark.full),
    ],
)
def test_energies_to_1e_9_in_as_many_iterations(
    molecules: tuple[str, ...], sets: tuple[str, ...], tmp_path: Path
) -> None:
    """The check compares energy, idempotency and elements of G; it is trusted because it rejects broken variants."""
    output = native.verified(
        program("simd"), Placement(), tmp_path, f"molecule={','.join(molecules)}", f"basis={','.join(sets)}", *EXACT
    )
    wanted = {(m, b): SHIPPED[m][1][b] for m in molecules for b in sets}
    assert output.iterations("molecule", "basis") == wanted
    ratios = [s["values"]["virial_ratio"][1] for s in output.of("sample")]
    assert all(1.92 < ratio < 2.02 for ratio in ratios)


TEAMS = [
    *(("serial", Placement()), ("simd", Placement()), ("emulated", Placement())),
    *(("omp", Placement(1, 1, n)) for n in (1, 2, 3, 5, 8)),
    *(("mpi_tasks", Placement(1, n, 1)) for n in range(1, 9)),
]


@pytest.mark.full
@pytest.mark.native
@pytest.mark.parametrize(("variant", "place"), TEAMS, ids=lambda x: getattr(x, "label", x))
def test_every_variant_on_any_number_of_cores_takes_the_same_iterations(
    variant: str, place: Placement, tmp_path: Path
) -> None:
    """Sums come together in another order each time, and on several processes all must stop at the same matrix."""
    molecules = ("h2", "water") if variant == "emulated" else ("h2", "water", "ammonia")
    words = f"molecule={','.join(molecules)}", "basis=STO-3G,3-21G"
    output = native.verified(program(variant), place, tmp_path, *words, *EXACT)
    assert output.iterations("molecule", "basis") == {(m, b): SHIPPED[m][1][b] for m in molecules for b in SETS}


def xyz(atoms: list[tuple[str, NDArray[np.float64]]]) -> str:
    return f"{len(atoms)}\n\n" + "".join(f"{symbol} {x:.15f} {y:.15f} {z:.15f}\n" for symbol, (x, y, z) in atoms)


def atoms_of(text: str) -> list[tuple[str, NDArray[np.float64]]]:
    lines = (line.split() for line in text.splitlines()[2:])
    return [(words[0], np.array([float(w) for w in words[1:]])) for words in lines]


@pytest.mark.native
def test_turned_and_moved_molecules_have_the_same_energy(tmp_path: Path) -> None:
    """By any rotation and displacement, atoms in any order; the program turns them by itself in each step, too."""
    random = np.random.default_rng(14)
    atoms = atoms_of(SHIPPED["formamide"][2])
    files = []
    for k in range(3):
        q, _ = np.linalg.qr(random.normal(size=(3, 3)))
        shift = 5 * random.normal(size=3)
        moved = [(s, q @ x + shift) for s, x in atoms]
        files.append(tmp_path / f"turned_{k}.xyz")
        files[-1].write_text(xyz([moved[i] for i in random.permutation(len(moved))]))
    done = native.direct(program("simd"), f"molecule={','.join(map(str, files))},formamide", "basis=3-21G", *EXACT)
    assert done.returncode == 0, done.stderr
    found = [float(e) for e in re.findall(r'"binding_energy":\[([\d.e+-]+)', done.stdout)]
    assert len(found) > 8 and max(found) - min(found) < 1e-10
    assert found[0] == pytest.approx(-SHIPPED["formamide"][0]["3-21G"], abs=1e-9)
    names = set(re.findall(r'"molecule":"([^"]*)"', done.stdout))
    assert len(names) == 4 and all(re.fullmatch(r"turned_\d\.xyz-[0-9a-f]{16}|formamide", n) for n in names)


# --- files of molecules


@pytest.fixture(scope="module")
def functions() -> CDLL:
    harness, molecules = ROOT / "native/harness", ROOT / "tests/workloads/accelerators/hartree_fock_molecules.cpp"
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", f"-I{harness}/include", f"-I{HARTREE_FOCK.folder}")
    others = [harness / "src" / name for name in ("support.cpp", "comm_serial.cpp")]
    library = drivers.library(molecules, *flags, others=others)
    library.repulsion.restype = c_double
    return library


def read(functions: CDLL, content: bytes) -> tuple[list[list[float]], str]:
    """Charge and place of each atom in bohr, and what is wrong."""
    numbers, why = (c_double * 400)(), ctypes.create_string_buffer(512)
    count = functions.read_xyz(content, ctypes.c_longlong(len(content)), numbers, why)
    return [list(numbers[4 * k : 4 * k + 4]) for k in range(max(count, 0))], why.value.decode()


CHARGES = {"H": 1, "C": 6, "N": 7, "O": 8}
PLACES = st.tuples(*[st.floats(-1000, 1000)] * 3)


@given(st.lists(st.tuples(st.sampled_from("CNO"), PLACES), min_size=1, max_size=100), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=100)
def test_what_was_written_is_read(functions: CDLL, atoms: list[tuple[str, tuple[float, ...]]], end: str) -> None:
    places = np.array([p for _, p in atoms])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 10 * np.eye(len(atoms))
    even = sum(CHARGES[s] for s, _ in atoms) % 2 == 0
    text = end.join(
        [f" {len(atoms)} ", "any words", *(f"{s}\t{x!r}  {y!r} +{z!r}".replace("+-", "-") for s, (x, y, z) in atoms)]
    )
    found, why = read(functions, text.encode())
    if apart.min() < 0.3:
        assert not found and re.fullmatch(r"line \d+: nearer than 0.3 angstrom to atom \d+", why)
    elif not even:
        assert not found and why.endswith("an odd number, and this program computes closed shells only")
    else:
        assert why == "" and [a[0] for a in found] == [CHARGES[s] for s, _ in atoms]
        assert np.allclose([a[1:] for a in found], places / BOHR, rtol=1e-15, atol=0)


@given(st.binary(max_size=200) | st.text("12\n HCO.-e+", max_size=60).map(str.encode))
@settings(max_examples=300)
def test_any_bytes_are_read_or_refused_in_one_line(functions: CDLL, content: bytes) -> None:
    found, why = read(functions, content)
    assert bool(found) != bool(why)
    assert re.fullmatch(r"[ -~]*", why) and len(why) < 200


WRONG = {
    "": "line 1: the number of atoms is missing",
    "two\n": 'line 1: expected the number of atoms, from 1 to 100, not "two"',
    "0\n": 'line 1: expected the number of atoms, from 1 to 100, not "0"',
    "101\n": 'line 1: expected the number of atoms, from 1 to 100, not "101"',
    "2 atoms\n": 'line 1: expected the number of atoms, from 1 to 100, not "2"',
    "2": "line 2: the line of comment is missing",
    "2\n\nH 0 0 0\n": "line 4: atom 2 of 2 is missing",
    "2\n\nH 0 0 0\nHe 0 0 1\n": 'line 4: the element "He" is not one of H, C, N, O',
    "2\n\nH 0 0 0\nH 0 0\n": 'line 4: "" should be a coordinate in angstrom, at most 1000',
    "2\n\nH 0 0 0\nH 0 0 inf\n": 'line 4: "inf" should be a coordinate in angstrom, at most 1000',
    "2\n\nH 0 0 0\nH 0 0 1001\n": 'line 4: "1001" should be a coordinate in angstrom, at most 1000',
    "2\n\nH 0 0 0\nH 0 0 1 1\n": "line 4: more than an element and three coordinates",
    "2\n\nH 0 0 0\nH 0 0 0.05\n": "line 4: nearer than 0.3 angstrom to atom 1",
    "2\n\nH 0 0 0\nH 0 0 1\nH 0 0 2\n": "line 5: more than the 2 atoms of the first line",
    "1\n\nH 0 0 0\n": "1 electrons: an odd number, and this program computes closed shells only",
}


@pytest.mark.parametrize("content", WRONG)
def test_wrong_files_are_told_by_line(functions: CDLL, content: str) -> None:
    assert read(functions, content.encode()) == ([], WRONG[content])


@pytest.mark.native
def test_files_that_cannot_be_read_get_one_line_and_status_2(tmp_path: Path) -> None:
    """The message names the line that is wrong. The program never waits, and nothing moves the reader's cursor."""
    (tmp_path / "wrong\x1b[2J.xyz").write_text("2\n\nH 0 0 0\nX\x1b 0 0 1\n")
    (tmp_path / "empty.xyz").write_text("")
    with (tmp_path / "large.xyz").open("wb") as file:
        file.truncate((64 << 20) + 1)
    os.mkfifo(tmp_path / "pipe.xyz")
    contents = {
        "none": "0\n\n",
        "helium": "1\n\nHe 0 0 0\n",
        "twice": "2\n\nH 0 0 1\nH 0 0 1\n",
        "odd": "1\n\nN 0 0 0\n",
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.xyz").write_text(content)
    messages = {
        "water9": "molecule must be one of h2|water|",
        "absent.xyz": "molecule: absent.xyz: No such file or directory",
        str(tmp_path): "not an ordinary file",
        str(tmp_path / "pipe.xyz"): "not an ordinary file",
        str(tmp_path / "empty.xyz"): "the file is empty",
        str(tmp_path / "large.xyz"): "the file is larger than 64 MiB",
        str(tmp_path / "none.xyz"): "none.xyz:1: expected the number of atoms, from 1 to 100",
        str(tmp_path / "helium.xyz"): 'helium.xyz:3: the element "He" is not one of H, C, N, O',
        str(tmp_path / "twice.xyz"): "twice.xyz:4: nearer than 0.3 angstrom to atom 1",
        str(tmp_path / "odd.xyz"): "odd.xyz: 7 electrons: an odd number, and this program computes closed shells only",
        str(tmp_path / "wrong\x1b[2J.xyz"): 'wrong__2J.xyz:4: the element "X?" is not one of H, C, N, O',
    }
    for value, sentence in messages.items():
        done = native.direct(program("simd"), f"molecule={value}")
        assert done.returncode == 2 and done.stdout == ""
        assert sentence in done.stderr and done.stderr.count("\n") == 1 and "\x1b" not in done.stderr


# --- integrals


def test_integrals_of_hydrogen(functions: CDLL) -> None:
    """The two functions of STO-3G at 1.4 bohr: A. Szabo, N. S. Ostlund, Modern Quantum Chemistry (1989), table 3.5."""
    content = SHIPPED["h2"][2].encode()
    published = {
        (0, 0, 0, 0): 0.7746059439,
        (0, 0, 1, 1): 0.5696759256,
        (1, 0, 0, 0): 0.4441076580,
        (1, 0, 1, 0): 0.2970285403,
    }
    for (a, b, c, d), value in published.items():
        assert functions.repulsion(content, 0, a, b, c, d) == pytest.approx(value, abs=1e-9)
        assert functions.repulsion(content, 0, c, d, a, b) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("molecule", ["water", "formamide"])
@pytest.mark.parametrize("basis", [0, 1])
def test_one_electron_integrals_obey_what_they_must(functions: CDLL, molecule: str, basis: int) -> None:
    """Functions of norm 1, overlap and kinetic energy positive, attraction negative: on random vectors."""
    content = SHIPPED[molecule][2].encode()
    n = functions.one_electron(content, basis, None)
    numbers = np.empty((3, n, n))
    functions.one_electron(content, basis, numbers.ctypes.data_as(POINTER(c_double)))
    overlap, kinetic, attraction = numbers
    assert np.array_equal(numbers, numbers.transpose(0, 2, 1))
    assert np.allclose(np.diag(overlap), 1, atol=1e-14)
    assert np.linalg.eigvalsh(overlap)[0] > 1e-3
    assert np.linalg.eigvalsh(kinetic)[0] > 0 > np.linalg.eigvalsh(attraction)[-1]


def test_a_field_by_another_way_has_the_published_energies(functions: CDLL) -> None:
    """Roothaan's iteration in NumPy, of the judge's integrals; of the energy also the part of two electrons."""
    content = SHIPPED["water"][2].encode()
    n = functions.one_electron(content, 0, None)
    one, two = np.empty((3, n, n)), np.empty((n, n, n, n))
    functions.one_electron(content, 0, one.ctypes.data_as(POINTER(c_double)))
    functions.repulsions(content, 0, two.ctypes.data_as(POINTER(c_double)))
    overlap, core = one[0], one[1] + one[2]
    charges, places = np.array([8, 1, 1]), np.array([x for _, x in atoms_of(SHIPPED["water"][2])]) / BOHR
    nuclear = sum(charges[i] * charges[k] / np.linalg.norm(places[i] - places[k]) for i in range(3) for k in range(i))
    values, vectors = np.linalg.eigh(overlap)
    root = vectors / np.sqrt(values) @ vectors.T
    density = np.zeros((n, n))
    for _ in range(100):
        g = np.einsum("mnls,ls", two, density) - np.einsum("mlns,ls", two, density) / 2
        orbitals = root @ np.linalg.eigh(root @ (core + g) @ root)[1][:, :5]
        before, density = density, 2 * orbitals @ orbitals.T
        if np.abs(density - before).max() < 1e-10:
            break
    assert np.allclose(two, two.transpose(2, 3, 1, 0), atol=1e-14)
    assert np.allclose(density @ overlap @ density, 2 * density, atol=1e-9)
    energy_of_two = np.vdot(density, g) / 2
    assert energy_of_two == pytest.approx(38.2041808379, abs=1e-9)
    energy = nuclear + np.vdot(density, core) + energy_of_two
    assert energy == pytest.approx(PUBLISHED["water", "STO-3G"], abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("kind", ["random", "degenerate", "one", "graded"])
def test_eigenvalues(functions: CDLL, n: int, kind: str) -> None:
    random = np.random.default_rng(n)
    matrix = random.normal(size=(n, n))
    if kind == "degenerate":
        q, _ = np.linalg.qr(matrix)
        matrix = q @ np.diag(np.arange(n) // 3) @ q.T
    elif kind == "one":
        matrix = np.ones((n, n))
    elif kind == "graded":
        scale = 10.0 ** -np.arange(n / 4, step=0.25)[:n]
        matrix *= scale[:, None] * scale
    matrix = matrix + matrix.T
    values, vectors = np.empty(n), np.empty((n, n))
    functions.eigen(n, *(a.ctypes.data_as(POINTER(c_double)) for a in (np.ascontiguousarray(matrix), values, vectors)))
    size = np.abs(matrix).max()
    assert np.allclose(vectors @ vectors.T, np.eye(n), atol=1e-13)
    assert np.allclose(vectors @ matrix, values[:, None] * vectors, atol=1e-13 * n * size)
    assert np.allclose(values, np.linalg.eigvalsh(matrix), atol=1e-13 * n * size)
