"""Input that no user means, and programs that do not answer: one line that names the cause, and never a traceback."""

from __future__ import annotations

import io
import multiprocessing
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import many_runs
import synthetic
from firstlight.bench import request
from firstlight.conduct import Prepared, costs
from firstlight.conduct.progress import Plain
from firstlight.errors import ENVIRONMENT, FirstlightError, UsageError
from firstlight.plan import Plan
from firstlight.process import bounded
from firstlight.profile import which
from firstlight.project import machines
from firstlight.store import layout
from firstlight.toolchains import Mpi
from firstlight.tune import carrying
from firstlight.tune.formats import rules, selection

# -- programs that do not answer


def _mpi(folder: Path) -> Mpi:
    return Mpi("mine", "mine", "Mine 1", "1", "system", str(folder / "mpicxx"), None, (), str(folder / "mpiexec"), {})


def _installed(folder: Path) -> None:
    which._of_installation(which.Trace("openmpi", folder / "lib" / "libmpi.so"), None)


ASKED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "launcher": ("mpiexec", lambda folder: which.mpi_of([str(folder / "mpiexec"), "-n", "2", "true"], [], None)),
    "linker": ("ldd", lambda folder: which.linked(Path("/bin/true"))),
    "wrapper": ("bin/mpicxx", _installed),
    "rules": ("ompi_info", lambda folder: rules.settings(_mpi(folder), "broadcast", 2)),
    "selection": ("mpicxx", lambda folder: selection.settings(_mpi(folder), "broadcast", 2)),
}
SILENT = {
    "hangs": ("#!/bin/sh\nsleep 1000\n", "no answer within 0.2 s"),
    "floods": ("#!/bin/sh\nexec cat /dev/zero\n", "printed more than 0 MiB"),
    "cannot be started": ("#!/no/such/shell\n", "No such file or directory"),
}


@pytest.mark.parametrize("how", SILENT)
@pytest.mark.parametrize("who", ASKED)
def test_a_program_that_does_not_answer_is_one_line(
    who: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, ask = ASKED[who]
    script, said = SILENT[how]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)
    others = "" if how == "cannot be started" else f":{os.environ['PATH']}"  # a search goes on to the next folder
    monkeypatch.setenv("PATH", f"{tmp_path}{others}")
    monkeypatch.setattr(bounded, "MOST", 1 << 16)
    for module in (which, rules, selection):
        monkeypatch.setattr(module, "PATIENCE", 0.2 if how == "hangs" else 60.0)
    with pytest.raises(FirstlightError, match=re.escape(said)) as told:
        ask(tmp_path)
    assert name in str(told.value) and "\n" not in str(told.value) and "--" in str(told.value)
    assert told.value.code == ENVIRONMENT


# -- files


def _keeping(folder: str, number: int) -> None:
    costs.keep(Path(folder), {f"cell{number}": 1.0})


def test_runs_that_end_at_the_same_time_all_keep_their_costs(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.starmap(_keeping, [(str(tmp_path), number) for number in range(64)], chunksize=1)
    assert len(costs.load(tmp_path)) == 64


READ = {"bench": (request.read, request.MOST), "class": (machines.named, machines.MOST)}


@pytest.mark.parametrize("what", ["large", "endless", "pipe", "folder", "missing"])
@pytest.mark.parametrize("kind", READ)
def test_a_file_of_the_user_is_read_within_a_bound(kind: str, what: str, tmp_path: Path) -> None:
    read, most = READ[kind]
    path = tmp_path / "mine.toml"
    if what == "large":
        path.write_bytes(b"#" * (most + 1))
    elif what == "endless":
        path.symlink_to("/dev/zero")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    said = {"large": f"is larger than {most >> 10} KiB", "missing": "No such file", "folder": "Is a directory"}
    with pytest.raises(UsageError, match=said.get(what, "is not a plain file")) as told:
        read(path if kind == "bench" else str(path))  # type: ignore[operator]
    assert str(told.value).startswith(f"{path}: ")


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\n"])
def test_a_tuning_prints_the_launches_that_it_passes_over(tmp_path: Path, damage: bytes) -> None:
    scene = synthetic.run(1, 2)
    path = many_runs.write(scene, tmp_path, "tuned", synthetic.STARTED)
    file = min((path / layout.LAUNCHES).iterdir())
    file.write_bytes(damage)
    prepared = Prepared(scene.run.machine, scene.run.toolbox, dict(scene.workloads), Plan((), ()))
    stream = io.StringIO()
    judged = carrying._judged(path, prepared, Plain(stream))
    assert judged.figures and f"passed over {layout.LAUNCHES}/{file.name}" in stream.getvalue()
