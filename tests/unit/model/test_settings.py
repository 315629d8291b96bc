"""Settings: parameters that a user sets on the command line, and files among their values. Compilers are invented.

That real programs take them is tested by test_settings_end_to_end.
"""

from __future__ import annotations

import gzip
import html as pages
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hints
from bench import TOML, Bench
from commands import Captured, call
from firstlight.analysis.overrides import replaced
from firstlight.commands.check import inspect
from firstlight.commands.shared import runs
from firstlight.core.errors import OK, REGRESSION, USAGE, UsageError
from firstlight.model.plan.settings import names_file, parse, value
from firstlight.results import store as stores
from firstlight.results.record import Exit
from firstlight.results.store import documents, layout, lines
from firstlight.runner import documents as read_documents

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@given(st.lists(WORDS, max_size=5))
def test_any_words_are_settings_names_or_one_line(words: list[str]) -> None:
    try:
        names, settings = parse(words)
        for setting in settings:
            for text in setting.values:
                if not names_file(text):
                    value(setting.name, text)
    except UsageError as error:
        assert str(error).isprintable()
        return
    assert list(names) == [w for w in words if "=" not in w]
    assert sorted(map(str, settings)) == sorted(w for w in words if "=" in w)


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_whole_number_has_one_form(n: int) -> None:
    forms = (str(n), f"{n}.0", f"{n}e0", f"{n:+}", f"{n * 10}e-1")
    assert {repr(value("n", text)) for text in forms if abs(n) < 2**49} <= {str(n)}
    assert repr(value("n", str(n))) == str(n)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_it_is(x: float) -> None:
    found = value("x", repr(x))
    assert found == x and not names_file(repr(x))


@given(st.text(max_size=80), st.binary(max_size=300))
def test_a_document_keeps_its_name(name: str, content: bytes) -> None:
    try:
        path = os.fsdecode(os.fsencode(f"folder/{name}"))
    except UnicodeEncodeError:
        return
    if not name.rpartition("/")[2]:
        return
    made = documents.of(path, content)
    assert documents.is_name(made.name) and documents.fits(made.name, content)
    assert documents.of(f"elsewhere/{made.name}", content) == made
    assert not documents.fits(made.name, content + b"x")


def test_names_and_hashes_are_those_of_the_harness() -> None:
    """FNV-1a of 64 bits: test vectors of its authors."""
    vectors = {b"": "cbf29ce484222325", b"a": "af63dc4c8601ec8c", b"foobar": "85944171f73967e8"}
    assert {documents.of("x", text).name[2:] for text in vectors} == set(vectors.values())
    assert documents.of("/home/me/h\u00fclle 2.xyz", b"a").name == "h__lle_2.xyz-af63dc4c8601ec8c"
    assert documents.of("x" * 100, b"a").name == "x" * 60 + "-af63dc4c8601ec8c"


def test_a_large_document_tells_each_of_its_bytes() -> None:
    """Two that differ by the top bits of words would otherwise be one."""
    large = bytearray(documents.BY_BYTES + 3)
    names = {documents.of("x", bytes(large)).name}
    for places in ((0,), (7,), (len(large) - 1,), (7, 15)):
        changed = bytearray(large)
        for place in places:
            changed[place] ^= 0x80
        names.add(documents.of("x", bytes(changed)).name)
    assert len(names | {documents.of("x", bytes(large) + b"\0").name}) == 6


def cells(bench: Bench, name: str = "latest") -> set[tuple[str, ...]]:
    run = stores.open(runs.find(name)).run()
    return {tuple(w for w in c.arguments if "=" in w) for c in run.cells}


def test_several_values_make_several_cases(bench: Bench, capsys: Captured) -> None:
    code, _, err = call(capsys, "run", "dot", "n=1e2,2000,100", "--launches", "1")
    assert code == OK, err
    assert cells(bench) == {("n=100,2000",)}
    figures = json.loads(call(capsys, "figures", "--json")[1])
    assert {f["parameters"]["n"] for f in figures} == {100, 2000}
    assert inspect(runs.find("latest")).faults == []
    run = json.loads((runs.find("latest") / "run.json").read_text())
    assert run["settings"] == {"dot": {"n": [100, 2000]}}


def test_a_case_that_is_refused_leaves_the_others_verified(bench: Bench, capsys: Captured) -> None:
    """One launch runs the cases it can; refused ones are unverified with the program's reason; no launch is lost."""
    bench.misbehave("refuse", "serial")
    code, out, err = call(capsys, "run", "dot.serial", "n=100,1000,2000", "--launches", "2")
    assert code == OK, err
    figures = json.loads(call(capsys, "figures", "--json")[1])
    verdicts = {(f["parameters"]["n"], f["toolchain"]): (f["verdict"], f["reason"]) for f in figures}
    for toolchain in ("gcc-base", "gcc-fast"):
        assert verdicts[100, toolchain] == ("verified", None)
        assert verdicts[1000, toolchain] == verdicts[2000, toolchain] == ("unverified", "n is too large")
    assert inspect(runs.find("latest")).faults == [] and "lost" not in out + err
    code, out, err = call(capsys, "run", "dot.serial", "n=1000,2000", "--launches", "1")
    assert code == OK and "4 unverified" in out and "refused: dot.serial.gcc-fast.1x1: n is too large" in err


def test_a_launch_that_announces_a_refused_case_wrongly_is_a_defect(bench: Bench, capsys: Captured) -> None:
    bench.misbehave("refuse", "serial")
    assert call(capsys, "run", "dot.serial", "n=100,1000", "--launches", "1")[0] == OK
    files = sorted((runs.find("latest") / layout.LAUNCHES).iterdir())
    content = files[0].read_bytes()
    kept = b"".join(line for line in content.splitlines(True)[:-1])
    ending = lines.read(content).lines[-1][1]
    assert isinstance(ending, Exit)
    for old, new in ((b'"refused", "case": 1', b'"refused", "case": 7'), (b'"cases": 2', b'"cases": 1')):
        assert old in kept
        changed = kept.replace(old, new)
        files[0].write_bytes(changed + lines.seal(changed, ending))
        assert any(files[0].name in f.file for f in inspect(runs.find("latest")).faults)
    files[0].write_bytes(content)


def test_a_file_is_measured_once_where_it_replaces_what_a_suite_sweeps(
    bench: Bench, capsys: Captured, tmp_path: Path
) -> None:
    bench.misbehave("replaced", "serial", "kahan")
    (tmp_path / "mine.txt").write_text("mine")
    name = documents.of("mine.txt", b"mine").name
    code, _, err = call(capsys, "run", "dot", f"text={tmp_path / 'mine.txt'}", "--launches", "1")
    assert code == OK, err
    assert cells(bench) == {(f"text={name}",)}
    figures = json.loads(call(capsys, "figures", "--json")[1])
    assert [f["parameters"] for f in figures] == [{"text": name}] * 4 and {f["verdict"] for f in figures} == {
        "verified"
    }
    assert inspect(runs.find("latest")).faults == []
    page = (runs.find("latest") / "report.html").read_text()
    assert "Scalar product: 1 core" in page and "n = 1000" not in page  # the suite's row has no length
    code, _, err = call(capsys, "run", "dot", f"text={tmp_path / 'mine.txt'}", "n=5", "--launches", "1")
    assert code == USAGE and err.endswith("firstlight: n has no effect if text is a file; omit n=\n")
    described = stores.open(runs.find("latest")).run().descriptions.values()
    assert replaced({"dot": {"text": (name,)}}, described) == {"dot": {"n"}}
    assert replaced({"dot": {"text": ("none", name)}}, described) == {}  # the other case has a length


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dot", "m=3"), "dot has no parameter 'm'; its parameters: n, text"),
        (
            ("dot", "waxpy", "m=3"),
            "none of dot and waxpy has a parameter 'm'; their parameters: dot: n, text; waxpy: n, text",
        ),
        (("dot", "n=0"), "n must be at least 1"),
        (("dot", "n=1", "n=2"), "n is set twice; to set several values, write n=1,..."),
        (("dot", "n="), "'n=' lacks a value: write name=value, as in n=1e6,1e7"),
        (("dot", "N=1"), "'N=1' sets no parameter"),
        (("n=5",), "n=5: name the workload of this parameter: ./fl run dot n=5"),
        (("dot", "text=a b"), "text='a b' is not a number, a word or a file"),
        (("dot", "text=./none"), "text: ./none: No such file or directory"),
        (("dot", "text=./bad.txt"), "bad.txt:1: it is bad"),
        (("dot", "text=./empty.txt"), "text: ./empty.txt: the file is empty"),
        (("dot", "text=./large.txt"), "text: ./large.txt: the file is larger than 64 MiB"),
        (("dot", "text=./pipe"), "text: ./pipe: not a regular file"),
        (("dot", "text=./plain.gz"), "text: ./plain.gz: an incomplete gzip file"),
        (("dot", "text=./cut.gz"), "text: ./cut.gz: an incomplete gzip file"),
        (("dot", "text=./altered.gz"), "text: ./altered.gz: an incomplete gzip file"),
        (("dot", "text=./nothing.gz"), "text: ./nothing.gz: the content of the file is empty"),
        (("dot", "text=./zeros.gz"), "text: ./zeros.gz: the content of the file is larger than 64 MiB"),
        (("dot", "text=./bad.txt.gz"), "bad.txt:1: it is bad"),
        (("dot", "text=./bad.txt,folder/bad.txt"), "two files have the name bad.txt, which"),
    ],
)
def test_what_cannot_be_set_is_told_in_one_line_before_more_is_built(
    bench: Bench, capsys: Captured, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    bench.workload("waxpy", "serial", "kahan")
    (tmp_path / "folder").mkdir()
    for name, content in {
        "bad.txt": "bad",
        "folder/bad.txt": "worse",
        "empty.txt": "",
    }.items():
        (tmp_path / name).write_text(content)
    packed = gzip.compress(b"mine, and more than a word")
    for name, raw in {
        "plain.gz": b"mine",
        "cut.gz": packed[:-9],
        "altered.gz": packed[:-8] + b"\0" * 4 + packed[-4:],
        "nothing.gz": gzip.compress(b""),
        "bad.txt.gz": gzip.compress(b"bad"),
    }.items():
        (tmp_path / name).write_bytes(raw)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.txt").touch()
    os.truncate(tmp_path / "large.txt", documents.MAX_BYTES + 1)
    if "text=./zeros.gz" in words:
        (tmp_path / "zeros.gz").write_bytes(gzip.compress(bytes(documents.MAX_BYTES + 1), 1))
    code, _, err = call(capsys, "run", *words)
    assert (code, message in err, "Traceback" in err) == (USAGE, True, False), err
    assert len([line for line in err.splitlines() if line.startswith("firstlight: ")]) == 1
    assert len(bench.built) <= len(words) - 1  # one program of each workload is started
    assert not bench.results.exists()


def test_a_setting_goes_to_the_workloads_that_have_it(
    bench: Bench, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.workload(
        "axis", "serial", toml=TOML.replace("n = [100, 1000]", "length = [5]").replace("n = 1000", "length = 5")
    )
    code, out, err = call(capsys, "run", "dot", "axis", "n=7", "--dry-run")
    assert code == OK, err
    lines = [line for line in out.splitlines() if line.startswith(("dot.", "axis."))]
    assert all(
        ("n=7" in line) == line.startswith("dot.") and ("length=5" in line) == line.startswith("axis.")
        for line in lines
    )
    assert "n is set for dot; axis has no such parameter" in err
    code, _, err = call(capsys, "run", "dot", "other=7", "--dry-run")
    assert code == OK and "it is unknown whether dot has a parameter 'other' until one of its programs is built" in err


def document(tmp_path: Path, content: str = "mine") -> Path:
    (tmp_path / "folder_of_mine").mkdir(exist_ok=True)
    (tmp_path / "folder_of_mine" / "mine.txt").write_text(content)
    return tmp_path / "folder_of_mine" / "mine.txt"


def measured(bench: Bench, capsys: Captured, tmp_path: Path, *words: str) -> Path:
    path = document(tmp_path)
    code, _, err = call(capsys, "run", "dot", f"text={path}", *words, "--launches", "1", "--as", "mine")
    assert code == OK, err
    return bench.results / "mine"


def test_a_file_is_kept_with_the_run_and_only_its_name_told(
    bench: Bench, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["firstlight", "run", "dot", f"text={document(tmp_path)}"])
    run = measured(bench, capsys, tmp_path)
    name = documents.of("mine.txt", b"mine").name
    assert [p.name for p in (run / layout.DOCUMENTS).iterdir()] == [name]
    assert (run / layout.DOCUMENTS / name).read_text() == "mine"
    for file in (p for p in run.rglob("*") if p.is_file()):
        assert b"folder_of_mine" not in file.read_bytes(), file
    kept = json.loads((run / "run.json").read_text())
    assert kept["command"][1:4] == ["run", "dot", "text=mine.txt"]
    assert f"{layout.DOCUMENTS}/{name}" in (run / layout.SEAL).read_text()
    page, terminal = (run / "report.html").read_text(), call(capsys, "report", "mine")[1]
    assert "text = mine.txt" in page and "text=mine.txt" not in terminal
    assert f"run dot text=results/mine/{layout.DOCUMENTS}/{name}" in page and "text=mine.txt " not in page
    assert {f["parameters"]["text"] for f in json.loads(call(capsys, "figures", "mine", "--json")[1])} == {name}


@pytest.mark.parametrize("results", ["results", "of mine/out"])
@pytest.mark.parametrize("file", ["mine.txt", "of mine*'s=.txt", "mine.txt.gz"])
def test_a_command_that_repeats_a_run_with_a_file_works(
    bench: Bench, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: str, file: str
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CALLED", "./fl")
    path = tmp_path / file
    path.write_bytes(gzip.compress(b"mine") if file.endswith(".gz") else b"mine")
    words = ["run", "dot", f"text={path}", "--launches", "1"]
    to = [] if results == "results" else ["--results", results]
    monkeypatch.setattr(sys, "argv", ["firstlight", *words])
    assert call(capsys, *words, "--as", "mine", *to)[0] == OK
    (tmp_path / results / "mine").rename(tmp_path / results / "renamed")
    path.unlink()
    page = pages.unescape(re.sub("<.*?>", "", html_of(capsys, tmp_path, "renamed", *to)))
    repeats = [w for w in hints.commands(page, "./fl") if any(word.startswith("text=") for word in w)]
    assert len(repeats) > 1
    for repeat in {tuple(words) for words in (repeats[0], repeats[-1])}:
        code, _, err = call(capsys, *repeat, "--dry-run")
        assert code == OK, (repeat, err)
        assert ("--results" in repeat) == bool(to)


def html_of(capsys: Captured, tmp_path: Path, *words: str) -> str:
    assert call(capsys, "report", *words, "--output", str(tmp_path / "page.html"))[0] == OK
    return (tmp_path / "page.html").read_text().replace("</code>", "\n")


def test_a_copy_of_a_run_that_is_another_file_is_refused(bench: Bench, capsys: Captured, tmp_path: Path) -> None:
    """The folder of a run may be of another user, who can replace the file that a command names."""
    run = measured(bench, capsys, tmp_path)
    (kept,) = (run / layout.DOCUMENTS).iterdir()
    kept.unlink()
    kept.symlink_to(document(tmp_path, "secret"))
    code, _, err = call(capsys, "run", "dot", f"text={kept}", "--dry-run")
    assert (code, "was altered after a run stored it" in err) == (USAGE, True), err


def test_a_run_goes_on_without_the_file_and_keeps_its_settings(bench: Bench, capsys: Captured, tmp_path: Path) -> None:
    run = measured(bench, capsys, tmp_path, "n=50")
    path = document(tmp_path)
    same, other = tmp_path / "same", document(tmp_path).with_name("other.txt")
    same.mkdir()
    shutil.copy(path, same / "mine.txt")
    other.write_text("other")
    path.unlink()
    assert call(capsys, "run", "--resume", "mine", "--budget", "1s")[0] == OK
    code, _, err = call(capsys, "run", "--resume", "mine", "--budget", "1s", "n=5e1", f"text={same}/mine.txt")
    assert code == OK, err
    for word in (f"text={other}", "n=51"):
        code, _, err = call(capsys, "run", "--resume", "mine", "--budget", "1s", word)
        assert (code, err.count("\n")) == (USAGE, 1), err
        assert "run mine was started with text=mine.txt n=50; a resumed run cannot change" in err
    assert call(capsys, "run", "--resume", "mine", "dot", "n=50")[0] == USAGE
    assert inspect(run).faults == []


@pytest.mark.parametrize("gone", [(), (layout.SEAL,), (layout.SEAL, *layout.DERIVED)])
def test_a_document_that_was_altered_lost_or_added_is_found(
    bench: Bench, capsys: Captured, tmp_path: Path, gone: tuple[str, ...]
) -> None:
    run = measured(bench, capsys, tmp_path)
    for name in gone:
        (run / name).unlink()
    (kept,) = (run / layout.DOCUMENTS).iterdir()

    def defects(name: str = kept.name) -> list[str]:
        return [f.what for f in inspect(run).faults if f.file == f"{layout.DOCUMENTS}/{name}"]

    assert defects() == []
    kept.write_text("mind")
    assert defects() == ["was altered: its content does not match its name"]
    code, _, err = call(capsys, "run", "--resume", "mine", "--budget", "1s")
    assert (code, "was altered after the run started" in err, err.count("\n")) == (USAGE, True, 1), err
    kept.unlink()
    assert defects() == ["is missing, although programs of this run read this file"]
    assert call(capsys, "run", "--resume", "mine", "--budget", "1s")[0] == USAGE
    kept.write_text("mine")
    more = documents.of("more.txt", b"more").name
    (run / layout.DOCUMENTS / more).write_text("more")
    assert defects(more) == ["is not a file that programs of this run read"]
    (run / layout.DOCUMENTS / more).unlink()
    (run / layout.DOCUMENTS / "notes").write_text("x")
    assert defects("notes") == ["unknown file"]
    assert call(capsys, "check", "mine")[0] == REGRESSION


def test_two_runs_with_other_files_of_one_name_are_not_mixed_up(bench: Bench, capsys: Captured, tmp_path: Path) -> None:
    for name, content in (("one", "first"), ("two", "second")):
        assert (
            call(capsys, "run", "dot", f"text={document(tmp_path, content)}", "--launches", "1", "--as", name)[0] == OK
        )
    compared = json.loads(call(capsys, "compare", "one", "two", "--json")[1])
    assert compared["figures"] == [] and compared["only_a"] and compared["only_b"]
    hashes = [documents.of("mine.txt", text).name for text in (b"first", b"second")]
    assert f"dot text: {hashes[0]} in A, {hashes[1]} in B" in compared["environment"]


def test_a_run_of_others_reads_no_file_beside_its_documents(bench: Bench, capsys: Captured, tmp_path: Path) -> None:
    """The requests in run.json are data of another user: a file name that is not of the run is refused."""
    run = measured(bench, capsys, tmp_path)
    (run / layout.SEAL).unlink()
    whole = json.loads((run / "run.json").read_text())
    whole["whole"], whole["state"], whole["finished"] = None, "running", None
    for word in ("text=secret.txt", "text=../secret.txt", "text=x-0123456789abcdef.txt"):
        for cell in whole["cells"]:
            cell["arguments"][-1:] = [word]
        (run / "run.json").write_text(json.dumps(whole))
        code, _, err = call(capsys, "run", "--resume", "mine", "--budget", "1s")
        assert (code, "has an argument that firstlight does not write" in err) == (USAGE, True), err


def test_a_run_of_all_that_a_pattern_matches_goes_on(bench: Bench, capsys: Captured) -> None:
    assert call(capsys, "run", "dot", "text=*", "--launches", "1", "--as", "mine")[0] == OK
    assert call(capsys, "run", "--resume", "mine", "--budget", "1s")[0] == OK


def test_reading_stops_where_a_file_is_too_large(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="larger than 64 MiB"):
        read_documents.read("text", str(large(tmp_path)))
    with pytest.raises(UsageError, match="not a regular file"):
        read_documents.read("text", "/dev/zero")


def test_a_packed_file_is_the_document_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "own.mtx").write_bytes(b"4 4 4")
    (tmp_path / "own.mtx.gz").write_bytes(gzip.compress(b"4 4 4"))
    plain, packed = (read_documents.read("text", str(tmp_path / name)) for name in ("own.mtx", "own.mtx.gz"))
    assert plain == packed and documents.file_name(packed.name) == "own.mtx"
    whole = bytes(documents.MAX_BYTES)
    (tmp_path / "whole.gz").write_bytes(gzip.compress(whole))
    assert read_documents.read("text", str(tmp_path / "whole.gz")).content == whole


def large(tmp_path: Path) -> Path:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    return tmp_path / "large"
