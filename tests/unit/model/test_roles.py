"""Roles: declared in workload.toml, checked when it is read, played by whichever workloads declare them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_catalogue import TOML, folder

import shipped
import sums
import synthetic
import synthetic_machine
from firstlight.analysis import Judgement, loggops
from firstlight.analysis.findings import poor_collective
from firstlight.analysis.roles import advice, measuring, missing, played, players
from firstlight.analysis.verdict import Estimate, Identity, Verified
from firstlight.core import roles
from firstlight.core.errors import UsageError
from firstlight.core.roles import KINDS, Role
from firstlight.model import catalogue
from firstlight.model.catalogue import Selection, Workload
from firstlight.model.plan import Placement

SHIPPED = shipped.workloads()
OF_FOLDERS = sorted(KINDS.keys() - roles.OF_COMMANDS)
HERE = synthetic_machine.machine()


def messenger(name: str, role: Role, suites: dict[str, list[Selection]] | None = None) -> Workload:
    """Return a workload of another name, with other variants, another metric and another parameter."""
    return replace(SHIPPED["pingpong"], name=name, roles=(role,), suites=suites or {}, provides=())


LETTERS = Role("message", "trip", ["mpi_pigeon"], {"stamps": 1}, size="pages", bytes_per_element=1024)


def letter(pages: int, nanoseconds: float, name: str = "letters", stamps: int = 1, **more: Any) -> Verified:
    identity = Identity(
        name, "mpi_pigeon", "gcc-native", "mpich", Placement(1, 2, 1), (("pages", pages), ("stamps", stamps)), "trip"
    )
    estimate = Estimate(nanoseconds, 0.9 * nanoseconds, 1.1 * nanoseconds, (nanoseconds,) * 6)
    return Verified(identity, "ns", "lower", estimate, 0.0, {}, None, 0.0, **more)


def judgement(figures: list[Verified]) -> Any:
    run = SimpleNamespace(id="here", machine=HERE, toolbox=synthetic_machine.mpich_alone())
    return SimpleNamespace(run=run, figures=tuple(figures), limits=())


@pytest.mark.parametrize("role", OF_FOLDERS)
def test_every_role_is_played_by_a_shipped_workload_and_has_a_sentence(role: str) -> None:
    assert players(SHIPPED, role) and missing(SHIPPED, role) == ""
    assert KINDS[role].sentence[0].islower() and not KINDS[role].sentence.endswith(".")


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ("role = 'herald'\nmetric = 't'\n", "roles[0] `role`: unknown role 'herald'"),
        ("role = 'message'\nmetric = 't'\n", "roles[0] `size`: the role message requires this key"),
        ("role = 'os_noise'\nmetric = 't'\nsize = 'n'\n", "roles[0] `size`: the role os_noise has no such key"),
        ("role = 'os_noise'\nmetric = 't'\nvariants = ['omp*']\n", "roles[0] `variants`: no variant matches 'omp*'"),
        ("role = 'os_noise'\nmetric = 't'\nvariants = ['broken_x']\n", "`variants`: no variant matches 'broken_x'"),
        ("role = 'os_noise'\nmetric = 't'\ntitles = { x = 'y' }\n", "roles[0] `titles`: there is no variant 'x'"),
        ("role = 'message'\nmetric = 't'\nsize = 'n'\nbytes_per_element = 0\n", "roles[0] `bytes_per_element`: 0"),
        (
            "role = 'library_sum'\nmetric = 't'\nsize = 'n'\ncall = 'MPI_Scan'\nlibrary = 'scan'\n",
            "roles[0] `library`: there is no variant 'scan'",
        ),
        ("role = 'os_noise'\n", "$.roles[0]"),
        ("role = 'os_noise'\nmetric = 't'\ncolour = 'red'\n", "colour"),
    ],
)
def test_a_defect_is_named_with_file_and_key(tmp_path: Path, entry: str, named: str) -> None:
    place = folder(tmp_path, "copy", "serial.cpp", "broken_x.cpp", toml=f"{TOML}\n[[roles]]\n{entry}")
    with pytest.raises(UsageError) as caught:
        catalogue.load([tmp_path])
    assert str(caught.value).startswith(str(place / "workload.toml")) and named in str(caught.value)


def test_a_folder_of_the_user_s_may_play_a_role(tmp_path: Path) -> None:
    folder(tmp_path, "copy", "serial.cpp", toml=f"{TOML}\n[[roles]]\nrole = 'os_noise'\nmetric = 'lost'\n")
    (player,) = players(catalogue.load([tmp_path]), roles.OS_NOISE)
    assert (player.workload.name, player.role.metric) == ("copy", "lost")


def test_only_verified_figures_of_the_declared_cases_play() -> None:
    known = players({"letters": messenger("letters", LETTERS)}, roles.MESSAGE)
    figures = [letter(1, 5), letter(2, 6, stamps=2), letter(3, 7, oversubscribed=True), letter(4, 8, name="parcels")]
    (one,) = played(figures, known, HERE)
    assert (one.size, one.seconds(), one.program) == (1024.0, pytest.approx(5e-9), "letters.mpi_pigeon")


def test_a_fit_needs_no_workload_of_a_certain_name() -> None:
    [found] = loggops.fitted(
        judgement([letter(n, 1000 + n) for n in (0, 1, 2, 4)]), {"l": messenger("letters", LETTERS)}
    )
    assert found.source == "fitted to letters.mpi_pigeon of MPICH 4 in run here"
    assert [r.bytes for r in found.rates] == [1024, 2048, 4096]
    assert pytest.approx(1e-6) == found.L + 2 * found.o


def test_of_two_workloads_that_play_a_role_the_first_with_enough_sizes_counts() -> None:
    both = {"letters": messenger("letters", LETTERS), "parcels": messenger("parcels", LETTERS)}
    parcels = [letter(n, 5000 + n, "parcels") for n in (0, 1, 2)]
    [found] = loggops.fitted(judgement([*parcels, *(letter(n, 1000 + n) for n in (0, 1, 2))]), both)
    assert found.workload == "letters" and pytest.approx(1e-6) == found.L + 2 * found.o
    [found] = loggops.fitted(judgement([*parcels, letter(0, 1000), letter(1, 1001)]), both)
    assert found.workload == "parcels" and pytest.approx(5e-6) == found.L + 2 * found.o


def test_what_nobody_plays_is_told_with_what_it_is() -> None:
    assert advice({}, [roles.MESSAGE]) == f"no workload here has the role message: {KINDS['message'].sentence}"
    with pytest.raises(UsageError, match="no workload here has the role message"):
        loggops.fitted(judgement([]), {})


@given(st.sets(st.sampled_from(OF_FOLDERS), min_size=1), st.sampled_from([None, "openmpi"]))
def test_the_command_measures_what_was_asked_for(wanted: set[str], mpi: str | None) -> None:
    """Every named workload has a suite, with a variant that has the role."""
    words = measuring(SHIPPED, sorted(wanted), ["copy_bandwidth"], mpi).split()
    assert words[:2] == ["./fl", "run"]
    suite = next((s for s in ("standard", "full") if f"--{s}" in words), "quick")
    assert ("--mpi" in words) == (mpi is not None)
    named = [w for w in words[2:] if w in SHIPPED]
    assert all(suite in SHIPPED[name].suites for name in named)
    assert all(players(SHIPPED, role)[0].workload.name in named for role in wanted)


def test_the_smallest_suite_that_has_it_is_enough() -> None:
    quick = {"quick": [Selection(["mpi_blocking"])], "standard": [Selection(["mpi_put"], parameters={"stamps": [1]})]}
    role = Role("message", "trip", ["mpi_put"], size="pages")
    assert measuring({"l": messenger("letters", role, quick)}, [roles.MESSAGE]) == "./fl run letters --standard"
    assert measuring({"l": messenger("letters", replace(role, variants=["*"]), quick)}, [roles.MESSAGE]) == (
        "./fl run letters"
    )
    stamped = replace(role, where={"stamps": 2})
    assert measuring({"l": messenger("letters", stamped, quick)}, [roles.MESSAGE]) == "./fl run letters"


def test_findings_ask_for_roles() -> None:
    """A run whose workloads declare nothing has no finding that needs a role, and raises nothing."""
    from firstlight.analysis import findings

    silent = {name: replace(w, roles=()) for name, w in SHIPPED.items()}
    rules = {f.rule for f in findings.discover(synthetic.judgement(), silent)}
    assert not rules & {"poor_collective", "busy_waiting"}


def renamed(judgement: Judgement, name: str) -> list[Verified]:
    """Return the sums of the run, as if another workload had measured them."""
    some = [f for f in judgement.figures if isinstance(f, Verified) and f.identity.workload == "vector_sum"]
    return [replace(f, identity=replace(f.identity, workload=name)) for f in some]


def test_a_finding_speaks_of_whichever_workload_plays_the_role() -> None:
    run = sums.judgement(mpis=["openmpi"], variants=["mpi_allreduce", "mpi_cube"],
                         factors={("openmpi", "mpi_allreduce"): 5.0})  # fmt: skip
    role = replace(SHIPPED["vector_sum"].roles[0], call="MPI_Reduce", titles={"mpi_cube": "my own"})
    known = {name: replace(SHIPPED["vector_sum"], name=name, roles=(role,)) for name in ("totals", "sums")}
    both = replace(run, figures=(*renamed(run, "totals"), *renamed(run, "sums")))
    (found,) = poor_collective.find(both, known)
    assert found.sentence.startswith("Open MPI's MPI_Reduce is slow")
    assert "my own with messages of the same library" in found.sentence
    assert found.command == "./fl run totals.mpi_allreduce totals.mpi_cube --mpi openmpi"
    assert poor_collective.find(both, {}) == []
