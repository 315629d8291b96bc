"""History: runs are judged once, unreadable ones are reported, changes stand at their runs, the baseline decides."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import many_runs
import synthetic
import synthetic_machine
from commands import Captured, call
from documented import computed
from firstlight.analysis.history import folder, index, series
from firstlight.commands.history import drawing, page
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, USAGE
from firstlight.results.store import layout
from recompute import agrees

RUNS, SLOWER, FASTER = 24, 9, 17
KERNEL = "6.30.1"


def slower(k: int) -> dict[str, float]:
    return {"latency": 1.0 if k < SLOWER else 1.3 if k < FASTER else 0.9}


def environment(k: int) -> dict[str, object]:
    machine = synthetic_machine.machine()
    return {"machine": replace(machine, kernel=KERNEL)} if k >= SLOWER else {"machine": machine}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return runs of one workload, with two changes."""
    place = tmp_path_factory.mktemp("history")
    many_runs.weekly(place, RUNS, slower, environment, only=("latency",), launches=6)
    return place


@pytest.fixture
def some(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the first eight, for damage."""
    for path in sorted(whole.glob("run-*"))[:8]:
        shutil.copytree(path, tmp_path / "runs" / path.name)
    return tmp_path / "runs"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(place))
    yield place


def history_json(capsys: Captured, *words: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = call(capsys, "history", *words, "--json")
    return code, json.loads(out)


def test_changes_stand_at_their_runs_with_what_changed_there(whole: Path, capsys: Captured) -> None:
    code, found = history_json(capsys, str(whole))
    assert code == OK and len(found["runs"]) == RUNS and found["left_out"] == []
    timed = [f for f in found["figures"] if not f["observed"]]
    assert timed and all([c["first"] for c in f["changes"]] == [SLOWER, FASTER] for f in timed)
    for figure in timed:
        first, second = figure["changes"]
        assert (first["outcome"], second["outcome"]) == ("worse", "better")
        assert {d["what"]: d["since"] for d in first["environment"]} == {"kernel": KERNEL}
        assert second["environment"] == []


def test_every_number_of_a_change_is_computed_again(whole: Path, capsys: Captured) -> None:
    _, found = history_json(capsys, str(whole))
    for figure in found["figures"]:
        values = [p["median"] for p in figure["points"]]
        bounds = [0, *(c["at"] for c in figure["changes"]), len(values)]
        for k, change in enumerate(figure["changes"]):
            before = median(values[bounds[k] : bounds[k + 1]])
            after = median(values[bounds[k + 1] : bounds[k + 2]])
            assert (change["before"], change["after"]) == (before, after)
            assert change["ratio"] == after / before
            assert figure["points"][change["at"]]["run"] == change["first"]
    _, out, _ = call(capsys, "history", str(whole), "--output", str(whole / "page.html"))
    moves = re.findall(r"([\d.]+) to ([\d.]+) (\w+), ([\d.]+) ×", " ".join(out.split()))
    changes = [c for f in found["figures"] for c in f["changes"]]
    assert moves
    for before, after, _, ratio in moves:
        assert any(
            agrees(ratio, c["ratio"]) and agrees(f"{float(after) / float(before):.2f}", c["ratio"]) for c in changes
        )


def test_every_number_of_the_page_follows_from_the_document_as_it_says(
    some: Path, whole: Path, capsys: Captured, tmp_path: Path
) -> None:
    slow = synthetic.run(51, slower={"latency": 2.0}, only=("latency",), launches=6)
    many_runs.write(slow, some, "slow", synthetic.STARTED + 1e7)
    call(capsys, "history", str(some), "--accept", "run-007")
    place = tmp_path / "page.html"
    for runs, least in ((whole, "changes"), (some, "accepted")):
        call(capsys, "history", str(runs), "--output", str(place))
        _, out, _ = call(capsys, "history", str(runs), "--json")
        formulas = computed(place.read_text(), out)
        assert any(least in formula for formula in formulas) and len(formulas) > len(json.loads(out)["figures"])


def test_too_few_runs_to_show_a_change_are_not_said_to_show_none(some: Path, capsys: Captured, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    _, out, _ = call(capsys, "history", str(some), "--output", str(place))
    output, text = " ".join(out.split()), re.sub("<.*?>", "", place.read_text())
    for shown in (output, " ".join(text.split())):
        assert "detecting changes requires at least 11 runs; the newest run is compared with the first" in shown
        assert "no level change" not in shown.lower()


def test_few_runs_show_what_is_worse_in_the_newest_with_direction_and_dates(tmp_path: Path, capsys: Captured) -> None:
    runs, place = tmp_path / "runs", tmp_path / "page.html"
    many_runs.weekly(
        runs, 7, lambda k: {"latency": 1.6 if k >= 3 else 1.0}, environment, only=("latency",), launches=40
    )
    code, out, _ = call(capsys, "history", str(runs), "--output", str(place))
    _, found = history_json(capsys, str(runs))
    counts, text = found["first"]["counts"], " ".join(out.split())
    assert code == OK == found["code"], "only an accepted run decides the exit status"
    assert found["accepted"] is None and counts["worse"] > 0
    sentence = f"run-006, compared with the first run, run-000: {counts['worse']} worse"
    html = " ".join(re.sub("<.*?>", "", place.read_text()).split())
    assert sentence in text and sentence in html
    assert html.index(sentence) < html.rindex("How changes are detected") < html.index("The run-to-run scatter")
    assert re.search(r"worse: latency.*? [\d.]+ ns to [\d.]+ ns, 1\.[56]\d? × \(lower is better\)", text)
    assert html.count("18 Nov 2026") > len(found["figures"]), "each drawing has the dates of its axis"
    assert computed(place.read_text(), json.dumps(found))


def test_without_a_detected_change_the_figure_that_varies_most_is_named(tmp_path: Path, capsys: Captured) -> None:
    """Levels of five runs are too short to detect a change, which a reader should see all the same."""
    runs, place = tmp_path / "runs", tmp_path / "page.html"
    many_runs.weekly(runs, 16, lambda k: {"latency": 1.6 if 5 <= k < 10 else 1.0}, only=("latency",), launches=6)
    _, out, _ = call(capsys, "history", str(runs), "--output", str(place))
    found = history_json(capsys, str(runs))[1]
    assert not any(f["changes"] for f in found["figures"])
    html = re.sub("<.*?>", "", place.read_text().partition("</style>")[2])
    for text in (out, html):
        shown = " ".join(text.replace("\xa0", " ").split())
        assert re.search(r"o level change above 5 % was detected in \d+ figures; the figure that varies most", shown)
        assert re.search(r"between runs is .*?latency.*?: ([\d.]+) ns to ([\d.]+) ns \(lower is better\)", shown)
    assert computed(place.read_text(), json.dumps(found))


def test_one_run_is_compared_with_no_run(some: Path, capsys: Captured) -> None:
    _, out, _ = call(capsys, "history", str(some / "run-000"))
    assert "compared with" not in out
    assert history_json(capsys, str(some / "run-000"))[1]["first"] is None


def test_a_folder_that_is_not_utf_8_is_shown_escaped(some: Path, capsys: Captured, tmp_path: Path) -> None:
    odd, place = os.fsdecode(b"odd\xff"), tmp_path / "page.html"
    shutil.copytree(some / "run-000", some / odd)
    code, _, err = call(capsys, "history", str(some), "--output", str(place))
    assert code == OK, err
    assert "/odd\\udcff" in err + place.read_text(encoding="utf-8")


def test_a_run_is_judged_once(whole: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = history_json(capsys, str(whole))
    with monkeypatch.context() as patched:
        patched.setattr(folder, "judge", lambda *_: pytest.fail("judged again"))
        _, second = history_json(capsys, str(whole))
    assert first == second


def test_the_page_shows_every_figure_and_needs_no_library(whole: Path, capsys: Captured, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    code, _, _ = call(capsys, "history", str(whole), "--output", str(place))
    text = place.read_text()
    _, found = history_json(capsys, str(whole))
    assert code == OK and text.count("<svg") == len(found["figures"])
    assert len(text) < 1_500_000 and "<script" not in text
    assert text.count('class="move worse"') == sum(len(f["changes"]) for f in found["figures"]) // 2
    assert KERNEL in text and f"run-{SLOWER:03d}" in text


def spoil(run: Path, how: str) -> None:
    launch = sorted((run / layout.LAUNCHES).iterdir())[0]
    match how:
        case "altered":
            launch.write_bytes(launch.read_bytes().replace(b'"wall":0.0', b'"wall":0.1', 1))
        case "cut off":
            launch.write_bytes(launch.read_bytes()[:200])
        case "lost a launch":
            launch.unlink()
        case "no seal":
            (run / layout.SEAL).unlink()
        case "another version":
            text = (run / layout.RUN).read_text()
            (run / layout.RUN).write_text(re.sub(r'"schema": *1', '"schema": 99', text, count=1))
        case "no run":
            (run / layout.RUN).write_text("{}")
        case "a link":
            (run / layout.RUN).unlink()
            (run / layout.RUN).symlink_to("/etc/passwd")


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("altered", "was altered after the run was sealed"),
        ("cut off", "was altered"),
        ("lost a launch", "is missing"),
        ("no seal", "no seal"),
        ("another version", "has schema 99, but this firstlight reads schema 1"),
        ("no run", "is damaged or was not written by firstlight"),
        ("a link", "contains only regular files"),
    ],
)
@pytest.mark.full
def test_untrusted_runs_are_skipped_with_a_reason(
    some: Path, capsys: Captured, how: str, why: str, known: bool
) -> None:
    """This includes runs that the index has with the same content."""
    if known:
        call(capsys, "history", str(some))
    spoil(some / "run-003", how)
    code, out, err = call(capsys, "history", str(some))
    lines = [line for line in err.splitlines() if "skipped" in line]
    assert code == OK and len(lines) == 1 and "run-003" in lines[0] and why in lines[0], err
    assert "7 runs" in out and "1 run skipped" in out


def test_an_interrupted_run_is_left_out(some: Path, capsys: Captured) -> None:
    scene = synthetic.run(9, 2, only=("latency",))
    many_runs.write(scene, some, "part", synthetic.STARTED + 1e7, state="interrupted")
    _, _, err = call(capsys, "history", str(some))
    assert "part: interrupted" in err and "--resume" in err


def test_a_copy_counts_once(some: Path, capsys: Captured) -> None:
    shutil.copytree(some / "run-001", some / "again")
    code, found = history_json(capsys, str(some))
    assert code == OK and len(found["runs"]) == 8
    assert [left["why"] for left in found["left_out"]] == [f"is a copy of {some / 'again'}"]


@pytest.mark.parametrize(
    ("how", "known"),
    [
        ("altered", False),
        ("altered", True),
        ("lost a launch", True),
        ("another version", False),
        ("no run", False),
        ("a link", True),
    ],
)
def test_an_altered_copy_does_not_hide_the_sound_run(
    whole: Path, tmp_path: Path, capsys: Captured, how: str, known: bool
) -> None:
    """The name of the copy does not matter: earlier or later than that of the intact run, known to the index or not."""
    some = tmp_path / "runs"
    shutil.copytree(whole / "run-003", some / "run-003")
    if known:
        call(capsys, "history", str(some))
    for name in ("a-copy", "b-copy", "z-copy"):
        shutil.copytree(whole / "run-003", some / name)
    for name in ("a-copy", "b-copy"):
        spoil(some / name, how)
    code, found = history_json(capsys, str(some))
    assert code == OK and [run["path"] for run in found["runs"]] == [str(some / "run-003")]
    why = {Path(left["path"]).name: left["why"] for left in found["left_out"]}
    assert len(why) == len(found["left_out"]) == 3 and why["z-copy"] == f"is a copy of {some / 'run-003'}"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["{empty}"], "no readable run"),
        (["nowhere"], "no run named 'nowhere'"),
        (["{runs}", "--figure", "bandwith"], "no figure matches"),
        (["{runs}", "--machine", "other"], "no run is from a machine named 'other'"),
        (["{runs}", "--since", "2099-01-01"], "no run since 2099-01-01"),
        (["{runs}", "--since", "yesterday"], "does not match the format"),
        (["{runs}", "--junit", "{empty}/x.xml"], "--accept RUN"),
        (["{runs}", "--accept", "nothing"], "no run named 'nothing'"),
        (["--results", "{empty}/none"], "no run in"),
    ],
)
def test_wrong_usage_is_one_line(whole: Path, tmp_path: Path, capsys: Captured, words: list[str], why: str) -> None:
    given = [word.format(empty=tmp_path, runs=whole) for word in words]
    code, out, err = call(capsys, "history", *given)
    lines = [line for line in err.splitlines() if "judging" not in line]
    assert code == USAGE and out == "" and len(lines) == 1 and why in lines[0], err


def test_runs_of_another_machine_and_of_earlier_days_are_not_shown(some: Path, capsys: Captured) -> None:
    scene = synthetic.run(9, 6, only=("latency",), on=synthetic_machine.machine(name="other"))
    many_runs.write(scene, some, "elsewhere", synthetic.STARTED - 1e6)
    _, found = history_json(capsys, str(some))
    assert found["others"] == {"other": 1} and len(found["runs"]) == 8
    _, every = history_json(capsys, str(some), "--machine", "any")
    assert len(every["runs"]) == 9 and every["runs"][0]["id"] == "elsewhere"
    _, out, _ = call(capsys, "history", str(some))
    assert "runs of other machines are not shown (1 of other)" in " ".join(out.split())
    _, late = history_json(capsys, str(some), "--since", "2026-12-01")
    assert 0 < len(late["runs"]) < 8


def test_figures_are_chosen_by_words(whole: Path, capsys: Captured) -> None:
    _, found = history_json(capsys, str(whole), "--figure", "64 KiB")
    assert found["figures"] and all(f["identity"]["parameters"]["bytes"] == 65536 for f in found["figures"])


def test_the_accepted_run_decides_the_exit_status(some: Path, capsys: Captured, tmp_path: Path) -> None:
    many = {"only": ("latency",), "launches": 40}
    many_runs.write(synthetic.run(50, **many), some, "base", synthetic.STARTED + 1e7)  # type: ignore[arg-type]
    code, out, _ = call(capsys, "history", "--accept", "base", "--results", str(some))
    assert code == OK and "base is accepted" in out
    assert call(capsys, "history", "--results", str(some))[0] == OK
    many_runs.write(synthetic.run(51, **many), some, "equal", synthetic.STARTED + 2e7)  # type: ignore[arg-type]
    code, found = history_json(capsys, "--results", str(some))
    assert code == OK and found["accepted"]["counts"]["worse"] == 0
    worse = synthetic.run(52, slower={"latency": 1.4}, **many)  # type: ignore[arg-type]
    many_runs.write(worse, some, "worse", synthetic.STARTED + 3e7)
    junit = tmp_path / "history.xml"
    code, out, _ = call(capsys, "history", "--results", str(some), "--junit", str(junit))
    assert code == REGRESSION and "worse: latency" in out
    root = ElementTree.fromstring(junit.read_text())
    assert int(str(root.get("failures"))) == found["accepted"]["counts"]["same"] > 0
    assert history_json(capsys, "--results", str(some), "--figure", "64 KiB")[0] == REGRESSION


def test_of_a_disturbed_run_nothing_is_said_to_be_worse(some: Path, capsys: Captured) -> None:
    many = {"only": ("latency",), "launches": 40}
    many_runs.write(synthetic.run(50, **many), some, "base", synthetic.STARTED + 1e7)  # type: ignore[arg-type]
    call(capsys, "history", "--accept", "base", "--results", str(some))
    scene = synthetic.run(51, slower={"latency": 1.4}, **many)  # type: ignore[arg-type]
    busy = tuple(replace(r, samples=tuple(replace(s, cpu=0.5) for s in r.samples)) for r in scene.records)
    many_runs.write(scene._replace(records=busy), some, "busy", synthetic.STARTED + 2e7)
    code, out, _ = call(capsys, "history", "--results", str(some))
    text = " ".join(out.split())
    assert code == INCONCLUSIVE
    assert text.index("busy was disturbed: wall and CPU time diverged") < text.index("the accepted run, base")


def test_an_accepted_run_that_was_changed_is_refused(some: Path, capsys: Captured) -> None:
    assert call(capsys, "history", "--accept", "run-002", "--results", str(some))[0] == OK
    sealed = (some / "run-002" / layout.SEAL).read_text()
    (some / "run-002" / layout.SEAL).write_text(sealed.replace("a", "b", 1))
    code, _, err = call(capsys, "history", "--results", str(some))
    assert code == USAGE and "has changed since it was accepted" in err
    (some / "accepted.json").write_text("[]")
    code, _, err = call(capsys, "history", "--results", str(some))
    assert code == USAGE and "accept a run again" in err and len(err.splitlines()) <= 2


def test_a_page_written_again_is_the_same_run(some: Path) -> None:
    key, _ = folder.identify(some / "run-000")
    text = (some / "run-000" / layout.SEAL).read_text()
    (some / "run-000" / layout.SEAL).write_text(f"{text}{'0' * 64}  report.html\n")
    assert folder.identify(some / "run-000")[0] == key


@pytest.fixture(scope="module")
def good(whole: Path) -> bytes:
    """Return the index of the runs."""
    folder.read([whole], whole / "index")
    return (whole / "index").read_bytes()


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_index_that_was_spoiled_is_thrown_away(whole: Path, good: bytes, data: st.DataObject) -> None:
    place, now = whole / "spoiled", index.version()
    place.write_bytes(good)
    assert len(index.load(place, now).entries) == RUNS
    how = data.draw(st.sampled_from(["cut", "flip", "junk", "version"]))
    if how == "cut":
        place.write_bytes(good[: data.draw(st.integers(0, len(good) - 1))])
    elif how == "flip":
        at = data.draw(st.integers(0, len(good) - 1))
        place.write_bytes(good[:at] + bytes([good[at] ^ data.draw(st.integers(1, 255))]) + good[at + 1 :])
    elif how == "junk":
        place.write_bytes(data.draw(st.binary(max_size=300)))
    wanted = "another" if how == "version" else now
    assert index.load(place, wanted) == index.Index(wanted)


@given(st.sets(st.integers(0, 7), min_size=1))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.full
def test_an_index_keeps_what_is_there_whatever_came_and_went(whole: Path, chosen: set[int]) -> None:
    paths = sorted(whole.glob("run-*"))[:8]
    place = whole / "shared-index"
    folder.read(paths, place)
    through = folder.read([paths[k] for k in sorted(chosen)], place)
    fresh = folder.read([paths[k] for k in sorted(chosen)], whole / "fresh-index")
    assert shown(through) == shown(fresh)
    (whole / "fresh-index").unlink()


def shown(read: folder.Folder) -> list[dict[Any, Any]]:
    return [{read.figures[k]: value for k, value in past.entry.values} for past in read.runs]


def test_many_runs_are_drawn_together() -> None:
    points = [(k, 1.0, 2.0, 3.0) for k in range(1000)]
    pooled = drawing._pooled(points)
    assert len(pooled) <= drawing.MOST_POINTS and {p[1:] for p in pooled} == {(1.0, 2.0, 3.0)}


def test_a_history_of_nothing_that_is_timed_has_no_noise(whole: Path, tmp_path: Path) -> None:
    read = folder.read([whole], tmp_path / "index")
    history = series.history(read, figures=["no such figure"])
    assert history.series == () and history.noise is None and "too few" in page.noise(history)
