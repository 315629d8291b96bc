"""Unintended input and programs that do not answer cause one line that names the cause, and never a traceback."""

from __future__ import annotations

import io
import math
import multiprocessing
import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import many_runs
import synthetic
from commands import Captured, call
from firstlight.commands.bench import request
from firstlight.commands.project import machines, projector
from firstlight.commands.tune import tuner
from firstlight.commands.tune.formats import rules, selection
from firstlight.core.errors import ENVIRONMENT, USAGE, FirstlightError, UsageError
from firstlight.model.plan import Plan
from firstlight.results.record import Run
from firstlight.results.store import layout
from firstlight.runner import Prepared, costs
from firstlight.runner.progress import Plain
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi, used_mpi

# -- programs that do not answer


def _mpi(folder: Path) -> Mpi:
    return Mpi("mine", "mine", "Mine 1", "1", "system", str(folder / "mpicxx"), None, (), str(folder / "mpiexec"), {})


def _installed(folder: Path) -> None:
    used_mpi._of_installation(used_mpi.Trace("openmpi", folder / "lib" / "libmpi.so"), None)


CALLS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "launcher": ("mpiexec", lambda folder: used_mpi.mpi_of([str(folder / "mpiexec"), "-n", "2", "true"], [], None)),
    "linker": ("ldd", lambda folder: used_mpi.linked(Path("/bin/true"))),
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
@pytest.mark.parametrize("who", CALLS)
def test_a_program_that_does_not_answer_is_one_line(
    who: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, query = CALLS[who]
    script, message = SILENT[how]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)
    others = "" if how == "cannot be started" else f":{os.environ['PATH']}"  # a search continues in the next folder
    monkeypatch.setenv("PATH", f"{tmp_path}{others}")
    monkeypatch.setattr(bounded, "MOST", 1 << 16)
    for module in (used_mpi, rules, selection):
        monkeypatch.setattr(module, "PATIENCE", 0.2 if how == "hangs" else 60.0)
    with pytest.raises(FirstlightError, match=re.escape(message)) as caught:
        query(tmp_path)
    assert name in str(caught.value) and "\n" not in str(caught.value) and "--" in str(caught.value)
    assert caught.value.code == ENVIRONMENT


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
    messages = {"large": f"is larger than {most >> 10} KiB", "missing": "No such file", "folder": "Is a directory"}
    with pytest.raises(UsageError, match=messages.get(what, "is not a plain file")) as caught:
        read(path if kind == "bench" else str(path))  # type: ignore[operator]
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\n"])
def test_a_tuning_prints_the_launches_that_it_passes_over(tmp_path: Path, damage: bytes) -> None:
    scene = synthetic.run(1, 2)
    path = many_runs.write(scene, tmp_path, "tuned", synthetic.STARTED)
    file = min((path / layout.LAUNCHES).iterdir())
    file.write_bytes(damage)
    prepared = Prepared(scene.run.machine, scene.run.toolbox, dict(scene.workloads), Plan((), ()))
    stream = io.StringIO()
    judged = tuner._judged(path, prepared, Plain(stream))
    assert judged.figures and f"passed over {layout.LAUNCHES}/{file.name}" in stream.getvalue()


# -- numbers that no computation can use

CLASS = (machines.FOLDER / "light.toml").read_text()
NUMBERS = re.findall(r"^(\w+) = \{ value = ", CLASS, re.MULTILINE)


@pytest.mark.parametrize("number", ["0", "0.0", "-1.0", "1e-320", "1e-300", "1e300", "inf", "nan", "1e400"])
def test_a_class_of_nodes_has_numbers_within_bounds(tmp_path: Path, number: str) -> None:
    file = tmp_path / "mine.toml"
    for name in NUMBERS:
        file.write_text(re.sub(rf"^{name} = \{{ value = [^,]+,", f"{name} = {{ value = {number},", CLASS, flags=re.M))
        with pytest.raises(UsageError, match=f": {name} without a value above 0"):
            machines.named(str(file))


def test_a_rack_has_at_least_one_node(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(CLASS.replace("value = 1024", "value = 0.3"))
    with pytest.raises(UsageError, match="rack without a value above 0"):
        machines.named(str(file))


@pytest.mark.parametrize("number", [machines.LEAST_VALUE, machines.MOST_VALUE])
@pytest.mark.parametrize("name", [name for name in NUMBERS if not name.endswith("_share")])
def test_a_class_at_its_bounds_is_computed(tmp_path: Path, name: str, number: float) -> None:
    number = max(number, 1.0) if name == "rack" else number
    file = tmp_path / "mine.toml"
    file.write_text(re.sub(rf"^{name} = \{{ value = [^,]+,", f"{name} = {{ value = {number},", CLASS, flags=re.M))
    of, plan = machines.named(str(file)), machines.roadmap()
    for model in machines.MODELS:
        fits = machines.fits(of, 2018, model, plan, projector.MOST_WATTS)
        assert math.isfinite(fits.peak) and math.isfinite(fits.watts)


@pytest.mark.parametrize(
    "text", ["9" * 400 + "W", "9" * 300 + "GW", "1000001GW", "0." + "0" * 400 + "1W", "0kW", "-1W", "infW", "nanW", "W"]
)
def test_a_power_is_within_bounds(text: str) -> None:
    with pytest.raises(UsageError, match="write a power of at most") as caught:
        projector.watts(text, "--power")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "a", "b", "--threshold", "nan"], "nan is not a finite number"),
        (["compare", "a", "b", "--threshold", "inf"], "--threshold"),
        (["compare", "a", "b", "--threshold", "1e400"], "--threshold"),
        (["history", "--threshold", "nan"], "nan is not a finite number"),
        (["bench", "--threshold", "nan", "--", "true"], "nan is not a finite number"),
        (["bench", "--tolerance", "nan", "--", "true"], "nan is not a finite number"),
        (["bench", "--tolerance", "inf", "--", "true"], "inf is not a finite number"),
        (["bench", "--tolerance", "1e400", "--", "true"], "1e400 is not a finite number"),
        (["simulate", "broadcast", "--topology", "flat:4", "--html", "none/x.html"], "there is no folder none"),
        (["simulate", "broadcast", "--topology", "flat:4", "--goal", "none/x.goal"], "there is no folder none"),
        (["patterns", "halo", "-n", "8", "--html", "none/x.html"], "there is no folder none"),
        (["project", "--nodes", "4", "--html", "none/x.html"], "there is no folder none"),
    ],
)
def test_wrong_values_are_refused_before_the_work(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *words)
    assert (code, out, err.count("\n")) == (USAGE, "", 1) and message in err


@pytest.mark.parametrize("number", ["nan", "inf", "1e400"])
def test_a_tolerance_in_a_file_is_finite(number: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"commands.a = 'true'\noutput = {{ file = 'a', reference = 'b', tolerance = {number} }}\n")
    with pytest.raises(UsageError, match="tolerance"):
        request.read(file)


@pytest.mark.parametrize("size", [0, -5])
def test_a_run_whose_caches_have_no_size_is_not_read(size: int) -> None:
    """Pages divide by the size. This machine's own caches are found by their sizes."""
    raw = msgspec.json.decode(msgspec.json.encode(synthetic.run().run))
    assert raw["machine"]["caches"]
    raw["machine"]["caches"][0]["size"] = size
    with pytest.raises(msgspec.ValidationError, match=r"machine\.caches\[0\]\.size"):
        msgspec.convert(raw, Run)
