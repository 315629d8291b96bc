"""Odd input that is not an attack: names that are not text, runs whose tools or units do not fit. One line each."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bench import Bench
from commands import Captured, call
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed
from firstlight.commands.check import inspect
from firstlight.commands.shared import command_line, runs
from firstlight.core.errors import OK, REGRESSION, USAGE
from firstlight.report import terminal
from firstlight.results import store as stores
from firstlight.results.record import Run
from firstlight.results.store import layout, whole
from firstlight.results.store.disk import Folder
from firstlight.runner import environment
from synthetic import run as scene

ODD = os.fsdecode(b"odd\xff")


@pytest.fixture
def result(bench: Bench, capsys: Captured) -> Path:
    assert command_line.call(["run", "--launches", "2"]) == OK
    capsys.readouterr()
    return runs.find("latest")


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    """Rewrite run.json with another content and all hashes that belong to it, and remove the seal."""
    text = (path / "run.json").read_bytes()
    assert old in text
    run = msgspec.json.decode(text.replace(old, new), type=Run)
    with Folder.at(path) as folder:
        folder.remove(layout.SEAL)
        folder.replace(layout.RUN, whole.encoded(run, path))


@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["figures"], ["report"], ["compare", "latest"]])
def test_a_word_that_is_no_text_is_refused(command: list[str], result: Path, capsys: Captured) -> None:
    code, out, err = call(capsys, *command, ODD)
    assert (code, out, err.count("\n")) == (USAGE, "", 1)
    assert "the word odd\\udcff is not valid UTF-8" in err


def test_a_folder_that_is_no_text_is_refused(result: Path, tmp_path: Path, capsys: Captured) -> None:
    place = tmp_path / ODD
    place.mkdir()
    for name, value in (("FIRSTLIGHT_CACHE", str(place)), ("FIRSTLIGHT_WORKLOADS", str(place))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            code, _, err = call(capsys, "list")
            assert code == USAGE and f"{name} " in err and "is not valid UTF-8" in err and err.count("\n") == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        code, _, err = call(capsys, "list")
        assert code == USAGE and "the current folder" in err and err.count("\n") == 1


def test_a_run_whose_name_is_no_text_is_not_the_latest(result: Path, capsys: Captured) -> None:
    shutil.copytree(result, result.with_name(ODD))
    assert runs.find("latest").name == result.name
    assert call(capsys, "check", "--json")[0] == OK


def test_a_file_whose_name_is_no_text_is_told(result: Path) -> None:
    """By another process: here the streams are the tests' own."""
    (result / ODD).touch()
    for more in ([], ["--json"]):
        words = [sys.executable, "-P", "-m", "firstlight", "check", str(result.absolute()), *more]
        done = subprocess.run(words, capture_output=True, timeout=120)
        assert done.returncode == REGRESSION and b"internal" not in done.stderr, done.stderr
        assert b"odd\\" in done.stdout and b"unknown file" in done.stdout


def test_variables_that_are_no_text_can_be_recorded() -> None:
    kept = environment.variables({"OMP_SCHEDULE": ODD})
    assert kept == {"OMP_SCHEDULE": "odd\\udcff"} and json.loads(msgspec.json.encode(kept)) == kept


def test_a_toolchain_that_the_run_does_not_list_is_refused(result: Path, capsys: Captured) -> None:
    rewrite(result, b'"toolchain": "gcc-fast"', b'"toolchain": "gcc-odd"')
    code, _, err = call(capsys, "run", "--resume", "latest", "--budget", "1m")
    assert (
        code == USAGE
        and err.splitlines()[-1].count("requires 'gcc-odd', which is missing") == 1
        and "internal" not in err
    )


def test_a_variant_that_is_not_here_is_refused(result: Path, capsys: Captured) -> None:
    rewrite(result, b'"variant": "kahan"', b'"variant": "odd"')
    code, _, err = call(capsys, "run", "--resume", "latest", "--budget", "1m")
    assert code == USAGE and "variant 'dot.odd' no longer exists" in err and "internal" not in err


@pytest.mark.parametrize("count", [0, -3, 1 << 40])
@pytest.mark.parametrize("field", ["nodes", "ranks", "threads"])
def test_a_placement_that_is_not_possible_is_refused(field: str, count: int, result: Path, capsys: Captured) -> None:
    text = (result / "run.json").read_bytes()
    some = re.sub(rb'("placement": \{[^}]*"%s": )\d+' % field.encode(), rb"\g<1>%d" % count, text, count=1)
    assert some != text
    (result / "run.json").write_bytes(some)
    for words in (["run", "--resume", "latest", "--budget", "1s"], ["report", str(result)], ["check", str(result)]):
        code, out, err = call(capsys, *words)
        assert code in (REGRESSION, USAGE) and f"placement.{field}" in out + err, out + err


def test_a_metric_in_another_unit_than_those_beside_it_fails() -> None:
    """It can neither be ranked nor compared with them."""
    run, records, workloads = scene()
    name = "dot.kahan"
    described = run.descriptions[name]
    first = msgspec.structs.replace(described.metrics[0], unit="furlong")
    odd = msgspec.structs.replace(described, metrics=(first, *described.metrics[1:]))
    changed = msgspec.structs.replace(run, descriptions={**run.descriptions, name: odd})
    judgement = judge(changed, records, workloads)
    mine = [f for f in judgement.figures if f.identity.variant == "kahan" and f.identity.metric == first.name]
    assert mine and all(isinstance(f, Failed) for f in mine)
    assert any("in furlong" in f.reason and "other variants" in f.reason for f in mine if isinstance(f, Failed))
    assert "best figure" in terminal.summary(judgement, workloads, 100, False, Path("run"))


def test_a_time_that_no_calendar_knows_is_refused(result: Path, capsys: Captured) -> None:
    text = (result / "run.json").read_bytes()
    started = json.loads(text)["started"]
    (result / "run.json").write_bytes(text.replace(f'"started": {started}'.encode(), b'"started": 1e300'))
    for words in (["report"], ["figures"], ["check"], ["compare", "latest"]):
        code, out, err = call(capsys, words[0], str(result), *words[1:])
        assert code in (USAGE, REGRESSION) and "internal" not in out + err and "<= 253402300799" in out + err
    assert inspect(result).faults and stores.check(result)
