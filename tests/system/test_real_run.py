"""A real run has correct pages, tables, checks and hints. There are no stand-ins."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

import hints
import titles
from commands import needs, present
from firstlight import ROOT
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, USAGE
from firstlight.results.record import Exit, Run
from firstlight.results.store import layout, lines, whole
from real_calls import MEASURED, figures, firstlight, only_run

pytestmark = [pytest.mark.native, pytest.mark.faults]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one good run."""
    folder = tmp_path_factory.mktemp("real")
    words = ("--toolchain", "gcc-base", "--launches", "8", "--budget", "60s")  # as many on a busy machine
    done = firstlight(folder, "run", "dot.unrolled_8", "faulty.good", *words)
    assert done.returncode in MEASURED, done.stderr
    return folder


@pytest.fixture
def copy(real: Path, tmp_path: Path) -> Path:
    """Return a folder with a copy that a test may damage."""
    shutil.copytree(real / "results", tmp_path / "results")
    return tmp_path


def test_a_run_is_never_different_from_itself(real: Path) -> None:
    done = firstlight(real, "compare", "latest", "latest", "--json")
    outcomes = [figure["outcome"] for figure in json.loads(done.stdout)["figures"]]
    assert len(outcomes) >= 6 and set(outcomes) <= {"same", "inconclusive"}, outcomes
    assert done.returncode == (INCONCLUSIVE if "inconclusive" in outcomes else OK)
    assert "the same run" in firstlight(real, "compare", "latest", "latest").stdout


def test_what_a_real_run_leaves_and_prints_follows_the_published_schemas(real: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")

    def validator(name: str) -> object:
        return jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text()))

    for words in (["figures"], ["check"], ["report"], ["compare", "latest", "latest"], ["doctor"], ["list"]):
        printed = firstlight(real, *words, "--json").stdout
        validator(words[0]).validate(json.loads(printed))  # type: ignore[attr-defined]
    path = only_run(real)
    validator("run").validate(json.loads((path / "run.json").read_text()))  # type: ignore[attr-defined]
    line = validator("launch-line")
    for text in (line for file in (path / "launches").iterdir() for line in file.read_text().splitlines()):
        line.validate(json.loads(text))  # type: ignore[attr-defined]


def test_every_number_of_its_pages_is_computed_again(real: Path) -> None:
    shown = firstlight(real, "report").stdout
    outcome = titles.check(only_run(real), figures(real), shown)
    assert outcome.mismatches == [] and outcome.computed >= 10


def test_every_hint_of_its_pages_works_as_typed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that only read are called; those that would measure are parsed, and the run that they name is found."""
    monkeypatch.setenv("FIRSTLIGHT_CALLED", "./fl")
    monkeypatch.chdir(copy)
    page = (only_run(copy) / "report.html").read_text(encoding="utf-8")
    codes = [html.unescape(re.sub(r"<[^>]*>", "", code)) for code in re.findall(r"<code>(.*?)</code>", page, re.S)]
    texts = [*codes, firstlight(copy, "explain", "dot.unrolled_8", "rate").stdout]
    for words in (["report"], ["figures"], ["check"], ["history"]):
        done = firstlight(copy, *words)
        texts.append(f"{done.stdout}\n{done.stderr}")
    found = {tuple(hint) for text in texts for hint in hints.commands(text, "./fl")}
    assert len(found) >= 4, found
    for words in found:
        hints.resolve(list(words))
    for words in (w for w in found if w[0] in hints.READING and len(w) > 1):
        assert firstlight(copy, *words).returncode in (OK, INCONCLUSIVE), words


def test_the_table_has_the_rows_of_the_json(real: Path) -> None:
    rows = figures(real)
    table = list(csv.DictReader(io.StringIO(firstlight(real, "figures", "--csv").stdout)))
    assert len(rows) == len(table) >= 6
    for row, line in zip(rows, table, strict=True):
        assert (line["workload"], line["variant"], line["verdict"]) == (row["workload"], row["variant"], "verified")
        assert float(line["median"]) == row["median"]
        if row["launches"] < LAUNCHES:  # for data in memory; with very large caches a minute is too short
            assert row["low"] is None and row["high"] is None and line["low"] == line["high"] == ""
        else:
            assert row["low"] <= row["median"] <= row["high"]


def test_every_defect_of_a_tampered_run_is_listed(copy: Path) -> None:
    path = only_run(copy)
    launches = sorted((path / "launches").iterdir())
    faster, cut, gone = launches[0], launches[1], launches[3]
    text = faster.read_text()
    altered = re.sub(r'"wall":([^,}]+)', lambda found: f'"wall":{float(found[1]) / 10!r}', text, count=1)
    assert altered != text
    faster.write_text(altered)
    cut.write_bytes(cut.read_bytes()[:-40])
    gone.unlink()
    (path / "launches" / "notes.txt").write_text("mine")
    rows = json.loads((path / "figures.json").read_text())
    rows[0]["median"] *= 2
    (path / "figures.json").write_text(json.dumps(rows))
    checked = firstlight(copy, "check")
    assert checked.returncode == REGRESSION
    for name in (faster.name, cut.name, gone.name, "notes.txt", "figures.json"):
        assert any(name in line for line in checked.stdout.splitlines()), f"{name} is not reported:\n{checked.stdout}"


HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\x07\u202e{{7*7}}</title><img src=x onerror=alert(2)>"


def forge(path: Path) -> None:
    """Alter launches and seal them again: a failed check, and an end with other text."""
    for file in (path / "launches").glob("faulty.*"):
        record = [json.loads(line) for line in file.read_text().splitlines()]
        check = next(line for line in record if line["type"] == "check")
        check |= {"ok": False, "what": HOSTILE}
        record[-1] |= {"stderr": HOSTILE, "reason": HOSTILE, "ok": False, "status": 1}
        body = b"".join(json.dumps(line).encode() + b"\n" for line in record[:-1])
        file.write_bytes(body + lines.seal(body, msgspec.json.decode(json.dumps(record[-1]), type=Exit)))


def test_a_foreign_run_with_hostile_strings_is_shown_as_text(copy: Path) -> None:
    path = only_run(copy)
    run = json.loads((path / "run.json").read_text())
    run["machine"]["processor"] = run["machine"]["name"] = run["revision"] = HOSTILE
    run["command"] = ["./fl", HOSTILE]
    run["environment"]["OMP_PLACES"] = HOSTILE
    for description in run["descriptions"].values():
        description["title"] = description["verified"] = HOSTILE
    run["not_available"] = [{"what": HOSTILE, "why": HOSTILE, "fix": HOSTILE}]
    forge(path)
    (path / layout.SEAL).unlink()
    (path / "run.json").write_bytes(whole.encoded(msgspec.convert(run, Run), path))
    done = firstlight(copy, "report")
    assert done.returncode == OK, done.stderr
    page = (path / "report.html").read_text()
    assert "<script>alert" not in page and "<img src=x" not in page
    assert "&lt;script&gt;alert" in page and "{{7*7}}" in page
    assert "skipped" not in done.stderr  # forged, but well formed
    for words in (["report"], ["figures"], ["figures", "--failed"], ["compare", "latest", "latest"], ["check"]):
        shown = firstlight(copy, *words)
        assert shown.returncode in (OK, REGRESSION, INCONCLUSIVE), shown.stderr
        assert not {"\x1b", "\x07", "\u202e"} & set(shown.stdout + shown.stderr), words


@pytest.mark.parametrize(
    ("words", "expected"),
    present([
        (["run", "nonsense"], "no workload, variant or chapter named 'nonsense'"),
        (["run", "--launches", "0"], "0 is not in the range"),
        (["run", "--budget", "0"], "'0' is not a budget"),
        (["run", "--timeout", "0s"], "'0s' is not a timeout"),
        (["run", "--medium"], "--medium"),
        (["check", "20990101-000000-quick"], "no run named"),
        (["report", "20990101-000000-quick"], "no run named"),
        (["compare", "latest", "elsewhere"], "no run named 'elsewhere'"),
        (["simulate", "validate"], "run pingpong collectives stream --standard` measures it"),
    ]),
)  # fmt: skip
def test_wrong_usage_is_one_line(real: Path, words: list[str], expected: str) -> None:
    done = firstlight(real, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (USAGE, "", 1), done.stderr
    assert expected in done.stderr


@needs("map")
def test_a_run_without_a_profile_tells_how_to_make_what_map_needs(real: Path) -> None:
    done = firstlight(real, "map", only_run(real).name, "--topology", "torus:2x2")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (USAGE, "", 1), done.stderr
    assert "neither a communication matrix nor a communication pattern: profile the program, for" in done.stderr


def test_a_truncated_run_is_one_line_everywhere(copy: Path) -> None:
    document = only_run(copy) / "run.json"
    document.write_bytes(document.read_bytes()[:1500])
    for words in (["figures"], ["report"], ["compare", "latest", "latest"], ["run", "--resume", "latest"]):
        done = firstlight(copy, *words)
        assert done.returncode == USAGE, (words, done.stderr)
        assert done.stdout == "" and done.stderr.count("\n") == 1 and "run.json" in done.stderr, (words, done.stderr)
    checked = firstlight(copy, "check")
    assert checked.returncode == REGRESSION and "run.json" in checked.stdout
