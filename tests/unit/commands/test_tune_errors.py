"""Programs that do not answer and launches that cannot be read, as `tune` meets them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import many_runs
import synthetic
from firstlight.commands.tune import tuner
from firstlight.commands.tune.formats import rules, selection
from firstlight.model.plan import Plan
from firstlight.results.store import layout
from firstlight.runner import Prepared
from firstlight.runner.progress import Plain
from firstlight.toolchain import Mpi
from refusals import SILENT, reports_a_silent_program


def _mpi(folder: Path) -> Mpi:
    return Mpi("mine", "mine", "Mine 1", "1", "system", str(folder / "mpicxx"), None, (), str(folder / "mpiexec"), {})


CALLS: dict[str, tuple[str, ModuleType, Callable[[Path], object]]] = {
    "rules": ("ompi_info", rules, lambda folder: rules.settings(_mpi(folder), "broadcast", 2)),
    "selection": ("mpicxx", selection, lambda folder: selection.settings(_mpi(folder), "broadcast", 2)),
}


@pytest.mark.parametrize("how", SILENT)
@pytest.mark.parametrize("who", CALLS)
def test_a_library_that_does_not_list_its_algorithms_is_named(
    who: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, module, query = CALLS[who]
    reports_a_silent_program(program, how, query, module, tmp_path, monkeypatch)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\n"])
def test_a_tuning_prints_the_launches_that_it_passes_over(tmp_path: Path, damage: bytes) -> None:
    scene = synthetic.run(1, 2)
    path = many_runs.write(scene, tmp_path, "tuned", synthetic.STARTED)
    file = min((path / layout.LAUNCHES).iterdir())
    file.write_bytes(damage)
    prepared = Prepared(scene.run.machine, scene.run.toolbox, dict(scene.workloads), Plan((), ()))
    stream = io.StringIO()
    judged = tuner._judged(path, prepared, Plain(stream))
    assert judged.figures and f"skipped {layout.LAUNCHES}/{file.name}" in stream.getvalue()
