"""ocean_nlom: one ocean on any grid of processes and threads, Stommel's gyre, what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

import native
from firstlight.execute.observer import execution
from firstlight.model.plan import plan
from native import Output, Placement

pytestmark = pytest.mark.native

SMALL = ("problem=waves,jet,basin", "nx=19", "ny=17", "layers=3", "steps=3")


def run_case(folder: Path, *words: str, variant: str = "serial", place: Placement | None = None) -> Output:
    built = native.plain("ocean_nlom", variant)
    return native.verified(built, place or Placement(), folder, *words, effort=native.COUNTED)


def bits(output: Output) -> dict[tuple[int, float], float]:
    """Return the combined bits of all cells, by case and length of a time step, which changes from step to step of a
    launch.
    """
    found = {}
    for sample in output.of("sample"):
        values = sample["values"]
        found[sample["case"], values["dt"][0]] = values["digest"][0]
    return found


def same_bits(folder: Path, variant: str, place: Placement, *words: str) -> None:
    alone, others = bits(run_case(folder, *SMALL)), bits(run_case(folder, *SMALL, *words, variant=variant, place=place))
    assert {case for case, _ in alone} == {0, 1, 2}
    assert alone == others


@pytest.mark.parametrize(
    ("ranks", "px", "py", "halo", "strip"),
    [(1, 1, 1, "two_sided", 512), (2, 2, 1, "one_sided", 8), (4, 2, 2, "shared", 512)],
)
def test_no_grid_of_processes_changes_a_bit(
    ranks: int, px: int, py: int, halo: str, strip: int, tmp_path: Path
) -> None:
    same_bits(tmp_path, "mpi", Placement(ranks=ranks), f"px={px}", f"py={py}", f"halo={halo}", f"strip={strip}")


@pytest.mark.full
@pytest.mark.parametrize(
    ("ranks", "px", "py", "halo"),
    [(3, 3, 1, "one_sided"), (5, 1, 5, "shared"), (6, 2, 3, "two_sided"), (7, 7, 1, "one_sided"), (8, 4, 2, "shared")],
)
def test_no_other_grid_changes_a_bit(ranks: int, px: int, py: int, halo: str, tmp_path: Path) -> None:
    same_bits(tmp_path, "mpi", Placement(ranks=ranks), f"px={px}", f"py={py}", f"halo={halo}", "strip=8")


@pytest.mark.parametrize("variant", ["omp", "omp_tiles"])
@pytest.mark.parametrize(("threads", "strip"), [(2, 512), (3, 8)])
def test_threads_change_no_bit(variant: str, threads: int, strip: int, tmp_path: Path) -> None:
    same_bits(tmp_path, variant, Placement(threads=threads), f"strip={strip}")


@pytest.mark.parametrize("words", [("time=explicit", "problem=basin,rectangle"), ("time=semi", "problem=rectangle")])
def test_viscosity_of_fourth_derivatives(words: tuple[str, ...], tmp_path: Path) -> None:
    """The check computes it as a Laplacian of a Laplacian; here the number of processes changes no bit, and it changes
    the ocean.
    """
    words = (*words, "slip=free,none", "nx=19", "ny=17", "layers=2", "steps=3")
    curved = bits(run_case(tmp_path, *words, "biharmonic=1e13"))
    assert not set(curved.values()) & set(bits(run_case(tmp_path, *words)).values())
    for variant, place in (("mpi", Placement(ranks=2)), ("omp", Placement(threads=3))):
        assert bits(run_case(tmp_path, *words, "biharmonic=1e13", "strip=8", variant=variant, place=place)) == curved


def test_strips_are_whole_lines(tmp_path: Path) -> None:
    """One thread stores such flows past second caches of up to 2.4 MiB, two threads do not."""
    words = ("problem=basin,waves", "nx=1031", "ny=64", "layers=2", "steps=2")
    whole = bits(run_case(tmp_path, *words, "strip=2000", variant="omp", place=Placement(threads=2)))
    for strip in (512, 137):
        assert bits(run_case(tmp_path, *words, f"strip={strip}")) == whole


def test_an_explicit_ocean_keeps_no_array_that_it_does_not_use(tmp_path: Path) -> None:
    """There are four flows of three arrays and, with one layer, six more; a viscosity of the fourth derivatives needs
    four more.
    """
    built = native.plain("ocean_nlom", "serial")
    assert built.executable is not None, built.error

    files = execution.Files(*(str(tmp_path / name) for name in ("out", "stdout", "stderr")))

    def arrays(*words: str) -> float:
        """Return the number of arrays with five layers, from the additional memory of a larger ocean."""
        sizes = {}
        for lines in (256, 768):
            given = (str(built.executable), "nx=512", f"ny={lines}", "layers=5", "steps=1", "strip=512", *words)
            used = execution.peak_memory([*given, *native.COUNTED], os.environ, files)
            assert used is not None
            sizes[lines] = used
        return (sizes[768] - sizes[256]) / (8 * 5 * 512 * 512)

    assert 13 < arrays("problem=atlantic") < 13.8
    assert 17 < arrays("problem=atlantic", "biharmonic=1e9") < 17.8


def test_a_plan_takes_na825_where_the_memory_holds_it() -> None:
    def planned(gib: int) -> tuple[bool, list[str]]:
        machine = replace(native.here, memory=gib << 30, memory_available=gib << 30)
        made = plan("full", native.workloads, ["ocean_nlom"], native.toolbox(), machine)
        cells = [c for c in made.cells if "nx=4096" in c.arguments]
        return bool(cells), [a.why for a in made.absent if a.what == "ocean_nlom with nx=4096"]

    assert planned(16) == (True, [])
    assert planned(8) == (False, ["this size requires 5.72 GiB, but a launch can use only 4.80 GiB here"])


def over_files(folder: Path, *words: str, variant: str = "serial", place: Placement | None = None) -> None:
    """No bit changes where a run is saved, discarded and restored after each step, or after two of them."""
    words = ("nx=19", "ny=17", "layers=3", "steps=5", *words)
    whole = bits(run_case(folder, *words, variant=variant, place=place))
    for every in (1, 2):
        assert bits(run_case(folder, *words, f"restart={every}", variant=variant, place=place)) == whole


def test_a_run_that_is_taken_up_from_files_has_the_same_bits(tmp_path: Path) -> None:
    over_files(tmp_path, "problem=waves,jet,basin", "strip=8")
    over_files(tmp_path, "problem=rectangle", "time=semi", "courant=5")


def test_processes_take_theirs_up_too(tmp_path: Path) -> None:
    over_files(tmp_path, "problem=basin", variant="mpi", place=Placement(ranks=2))
    over_files(tmp_path, "problem=rectangle", "time=semi", "courant=5", variant="mpi", place=Placement(ranks=2))


def test_a_run_ends_where_no_file_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    program = native.plain("ocean_nlom", "serial")
    monkeypatch.setenv("TMPDIR", "/proc/self")
    done = native.direct(program, "problem=waves", "nx=8", "ny=8", "restart=1")
    assert done.returncode == 3 and "cannot be opened" in done.stderr and done.stderr.count("\n") == 1


def diary(folder: Path, *words: str, variant: str = "serial", place: Placement | None = None) -> dict[str, list[float]]:
    """Return the first rank's output for the whole ocean."""
    output = run_case(folder, "nx=19", "ny=17", "layers=3", *words, variant=variant, place=place)
    return {s["name"]: s["values"] for s in output.of("series") if s["rank"] == 0}


def test_a_diary_tells_what_a_frictionless_ocean_keeps(tmp_path: Path) -> None:
    for form in ("energy", "enstrophy"):
        kept = diary(tmp_path, "problem=waves", f"form={form}", "steps=6", "diary=1", "strip=8")
        assert len(kept["time"]) == 7 and kept["time"][-1] == pytest.approx(6 * kept["time"][1])
        assert max(map(abs, kept["mass"])) < 1e-15
        assert min(kept["energy"]) > 0.99 * kept["energy"][0] and max(kept["energy"]) < 1.0001 * kept["energy"][0]
        assert kept["enstrophy"] == pytest.approx([kept["enstrophy"][0]] * 7, rel=1e-4)


def test_processes_write_one_diary(tmp_path: Path) -> None:
    words = ("problem=rectangle", "time=semi", "courant=5", "steps=40", "diary=4")
    alone, together = diary(tmp_path, *words), diary(tmp_path, *words, variant="mpi", place=Placement(ranks=2))
    assert alone["energy"][-1] < alone["energy"][0]
    for name in ("time", "energy", "enstrophy"):
        assert together[name] == pytest.approx(alone[name], rel=1e-12)


def test_the_bits_differ_where_the_oceans_do(tmp_path: Path) -> None:
    assert len(set(bits(run_case(tmp_path, *SMALL)).values())) >= 3


def gyre_error(folder: Path, cells: int, *steps: str) -> float:
    """Return the error of the transport, relative to its largest value, after fifteen times the friction time."""
    words = ("problem=stommel", "layers=1", f"nx={cells}", f"ny={cells}", *steps)
    (error, *_) = {s["values"]["gyre_error"][0] for s in run_case(folder, *words).of("sample")}
    return error


def test_stommels_gyre_on_a_coarse_grid(tmp_path: Path) -> None:
    assert gyre_error(tmp_path, 20, "steps=66000", "courant=0.86") == pytest.approx(4.08e-2, rel=2e-3)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("problem=stommel", "layers=2"), "needs layers=1"),
        (("problem=stommel", "layers=1", "nx=20", "ny=10"), "a square"),
        (("problem=stommel", "layers=1", "wind=0"), "needs wind"),
        (("problem=munk", "layers=1", "nx=32", "ny=32"), "a boundary layer of one cell"),
        (("problem=basin", "steps=1000"), "use fewer steps"),
        (("px=2",), "no process grid"),
        (("problem=jet", "steps=5000", "diary=1"), "a diary of 5000 entries"),
        (("courant=5",), "courant=0.86 or less"),
        (("time=semi",), "a flat rectangle"),
        (("time=semi", "problem=waves", "solver=cg"), "a closed basin"),
        (("time=semi", "problem=rectangle", "courant=40", "nx=8", "ny=8"), "rotation"),
        (("problem=seiche", "layers=1", "nx=12"), "nx=16 or more"),
        (("viscosity=1e6", "nx=1024", "ny=1024"), "shorter"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    program = native.plain("ocean_nlom", "serial")
    done = native.direct(program, *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
