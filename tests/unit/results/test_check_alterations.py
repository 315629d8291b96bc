"""`check` reports any alteration in one place of a run that has ended, with the seal and without it.

Who alters several places and writes all hashes anew is stopped by a signature alone; the tests of that are of the seal.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import Bench
from commands import Captured, call, present
from firstlight.commands.check import inspect
from firstlight.commands.shared import command_line, runs
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, USAGE
from firstlight.results import store as stores
from firstlight.results.record import Exit
from firstlight.results.store import layout, lines

Path_ = tuple[str | int, ...]


@pytest.fixture
def result(bench: Bench, capsys: Captured) -> Path:
    """Return a run as firstlight leaves it: two toolchains, four cells, a failed build, two launches of each."""
    bench.broken = {"dot.kahan@gcc-base"}
    (bench.root / "mine.txt").write_text("mine")
    assert command_line.call(["run", "dot", f"text={bench.root}/mine.txt", "--launches", "2"]) == OK
    capsys.readouterr()
    path = runs.find("latest")
    assert inspect(path).faults == []
    return path


def leaves(tree: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Return every place with a value, and every list and mapping, which could be emptied."""
    if path:
        yield path
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        yield from leaves(value, (*path, key))


def classes(tree: Any) -> list[Path_]:
    """Return one place of each kind: the first member of a list stands for all."""
    found: dict[Path_, Path_] = {}
    for path in leaves(tree):
        found.setdefault(tuple("*" if isinstance(key, int) else key for key in path), path)
    return list(found.values())


def other(value: Any) -> Any:
    """Another value of the same type: damage of types is refused by any reader."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}1" if not re.fullmatch(r"[0-9a-f]{64}", value) else value[::-1]
        case list():
            return value[:-1] if value else [*value, "x"]
        case dict():
            return dict(list(value.items())[1:]) if value else {"x": "y"}
    return 1.0  # null


def altered(tree: Any, path: Path_) -> Any:
    copy = json.loads(json.dumps(tree))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other(place[path[-1]])
    return copy


def defects(run: Path, file: str) -> list[str]:
    return [str(fault) for fault in inspect(run).faults if fault.file == file]


def audited(run: Path, file: str) -> list[str]:
    """Audit without judging the run again, which none of these need."""
    return [str(defect) for defect in stores.check(run) if defect.file == file]


@pytest.mark.full
def test_every_field_of_run_json(result: Path, capsys: Captured) -> None:
    """The test includes runs without SHA256SUMS and without figures.json: run.json contains its own hash."""
    whole = json.loads((result / "run.json").read_bytes())
    places = classes(whole)
    assert {p[0] for p in places} == set(whole) and len(places) > 100
    missed = []
    for place in places:
        (result / "run.json").write_text(json.dumps(altered(whole, place), indent=1))
        missed += [place] if not audited(result, "run.json") else []
    (result / layout.SEAL).unlink()
    (result / layout.FIGURES).unlink()
    for place in places:
        (result / "run.json").write_text(json.dumps(altered(whole, place), indent=1))
        missed += [("without the seal", *place)] if place[0] != "whole" and not audited(result, "run.json") else []
    assert missed == []
    assert call(capsys, "check")[0] == REGRESSION


@pytest.mark.full
def test_every_field_of_every_line_of_a_launch(result: Path) -> None:
    """Each line is tested unchanged and with a correct hash of the launch: then the other hashes reveal the change."""
    path = sorted((result / layout.LAUNCHES).iterdir())[0]
    name, every = f"{layout.LAUNCHES}/{path.name}", [json.loads(line) for line in path.read_bytes().splitlines()]
    missed = []
    for number, line in enumerate(every):
        for place in classes(line):
            changed = [*every[:number], altered(line, place), *every[number + 1 :]]
            text = [json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in changed]
            path.write_bytes(b"".join(text))
            missed += [(number, *place)] if not audited(result, name) else []
            ending = lines.decode(text[-1].strip())
            if isinstance(ending, Exit) and place != ("sha256",):
                before = b"".join(text[:-1])
                path.write_bytes(before + lines.seal(before, ending))
                missed += [("sealed anew", number, *place)] if not audited(result, name) else []
    assert missed == []


def test_an_altered_launch_is_told_without_the_seal(result: Path) -> None:
    path = sorted((result / layout.LAUNCHES).iterdir())[0]
    before, _, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    ending = lines.decode(last)
    assert isinstance(ending, Exit)
    smoother = re.sub(rb'"cpu": ?0.99', b'"cpu": 0.98', before, count=1) + b"\n"
    assert smoother != before + b"\n"
    path.write_bytes(smoother + lines.seal(smoother, ending))
    for name in (layout.SEAL, layout.FIGURES):
        (result / name).unlink()
    assert defects(result, layout.LAUNCHES) == [
        "launches: a launch was altered after the run ended: its hash is not in run.json"
    ]


@pytest.mark.full
def test_every_file_that_is_altered_lost_or_added(result: Path) -> None:
    files = sorted(str(p.relative_to(result)) for p in result.rglob("*") if p.is_file())
    assert {"run.json", *layout.DERIVED, layout.SEAL} < set(files)
    for name in files:
        whole = (result / name).read_bytes()
        middle = len(whole) // 2
        for damaged in (
            whole + b" ",
            whole[:-1],
            whole[1:],
            b"",
            whole[:middle] + b"x" + whole[middle:],
        ):
            (result / name).write_bytes(damaged)
            assert inspect(result).faults, (name, len(damaged))
        (result / name).unlink()
        if name != "run.json":  # without it there is not a run
            assert defects(result, name), name
        (result / name).write_bytes(whole)
    some = next(f for f in files if f.endswith("0001.jsonl"))
    for new in (
        "notes.txt",
        "builds/more.log",
        "documents/more.txt-0123456789abcdef",
        f"{layout.LAUNCHES}/x.0000.jsonl",
        some.replace("0001", "0002"),
    ):
        shutil.copy(result / some, result / new)
        assert defects(result, new), new
        (result / new).unlink()
    assert inspect(result).faults == []


@pytest.mark.parametrize("gone", [(), (layout.SEAL,), (layout.SEAL, *layout.DERIVED)])
def test_a_missing_last_launch_and_a_missing_cell(result: Path, gone: tuple[str, ...]) -> None:
    for name in gone:
        (result / name).unlink()
    launches = sorted((result / layout.LAUNCHES).iterdir())
    first = layout.parse_launch(launches[0].name)
    assert first is not None
    mine = [p for p in launches if p.name.startswith(f"{first[0]}.")]
    mine[-1].unlink()
    assert defects(result, f"{layout.LAUNCHES}/{mine[-1].name}")
    for path in mine[:-1]:
        path.unlink()
    assert defects(result, f"{layout.LAUNCHES}/{mine[0].name}")


def test_keys_that_are_there_twice(result: Path) -> None:
    """One reader uses the first of them, another the last."""
    run = (result / "run.json").read_text()
    path = sorted((result / layout.LAUNCHES).iterdir())[0]
    launch, figures = path.read_bytes(), (result / layout.FIGURES).read_text()
    (result / "run.json").write_text(run.replace('"seed":', '"seed": 1, "seed":', 1))
    assert any("the key 'seed' occurs twice" in t for t in defects(result, "run.json"))
    (result / "run.json").write_text(run)
    path.write_bytes(launch.replace(b'"wall":', b'"wall":1e-9,"wall":', 1))
    assert any("the key 'wall' occurs twice" in t for t in defects(result, f"{layout.LAUNCHES}/{path.name}"))
    path.write_bytes(launch)
    (result / layout.FIGURES).write_text(figures.replace('"median":', '"median": 1.0, "median":', 1))
    assert any("the key 'median' occurs twice" in t for t in defects(result, layout.FIGURES))


def test_cases_that_nobody_asked_for(result: Path) -> None:
    """A launch has other cases than its cell requests, and every hash is computed again."""
    path = sorted((result / layout.LAUNCHES).iterdir())[0]
    before, _, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    ending = lines.decode(last)
    assert isinstance(ending, Exit)
    changed = re.sub(rb'"n": ?1000', b'"n": 2000', before)
    assert changed != before
    path.write_bytes(changed + b"\n" + lines.seal(changed + b"\n", ending))
    messages = defects(result, f"{layout.LAUNCHES}/{path.name}")
    assert any(
        "n=2000 text=mine.txt-da4e15a2a78ede96 with 1 thread ran, but is not in the arguments of the cell" in t
        for t in messages
    )
    assert any(
        "n=1000 text=mine.txt-da4e15a2a78ede96 with 1 thread did not run, although it is in the arguments of "
        "the cell" in t
        for t in messages
    )


def test_check_says_what_a_seal_cannot_promise(result: Path, capsys: Captured) -> None:
    assert (
        "the seal has no key: any user with write permission can renew it; see ./fl sign --help"
        in call(capsys, "check")[1]
    )


def tenfold(run: Path) -> None:
    """Make a figure ten times as large with the scale of its metric, which is stored only in run.json."""
    text = (run / "run.json").read_text()
    changed = re.sub(r'("scale": ?)1e-0?9', r"\g<1>1e-8", text)
    assert changed != text
    (run / "run.json").write_text(changed)


def hashed_anew(run: Path) -> None:
    """Replace the hash in run.json with that of its present content."""
    data = (run / "run.json").read_bytes()
    old = json.loads(data)["whole"]["sha256"].encode()
    blank = (b"0" * 64).join(data.rsplit(old, 1))
    (run / "run.json").write_bytes(hashlib.sha256(blank).hexdigest().encode().join(data.rsplit(old, 1)))


def without(run: Path, *keys: str) -> None:
    (run / "run.json").write_text(
        json.dumps(json.loads((run / "run.json").read_bytes()) | dict.fromkeys(keys), indent=1)
    )


ALTERATIONS: dict[str, Callable[[Path], object]] = {
    "its scale": tenfold,
    "its scale, without the seal": lambda run: (tenfold(run), (run / layout.SEAL).unlink()),
    "its scale and its own hash": lambda run: (tenfold(run), hashed_anew(run)),
    "its scale, without its own hash": lambda run: (tenfold(run), without(run, "whole")),
    "its scale, without its hash and the seal": lambda run: (
        tenfold(run), without(run, "whole"), (run / layout.SEAL).unlink(),
    ),
    "as if it ran": lambda run: (tenfold(run), without(run, "whole", "finished"), edit(run, '"complete"', '"running"')),
    "as if never sealed": lambda run: (tenfold(run), edit(run, '"sealed": true', '"sealed": false')),
    "its unit": lambda run: edit(run, "Gflop/s", "Tflop/s"),
    "its revision": lambda run: edit(run, '"revision": "', '"revision": "0'),
    "a blank": lambda run: edit(run, "\n", "\n "),
    "the seal of it": lambda run: edit(run, "  run.json", "  run.jsom", layout.SEAL),
    "a hash in the seal": lambda run: (run / layout.SEAL).write_text(
        re.sub("[0-9a-f]{64}(?=  run.json)", "0" * 64, (run / layout.SEAL).read_text())
    ),
}  # fmt: skip
READERS = present([
    ["figures"], ["figures", "--json"], ["figures", "--csv", "--launches"], ["report"], ["report", "--json"],
    ["compare", "latest", "latest"], ["compare", "latest", "latest", "--json"], ["export", "junit"],
    ["export", "hpcc"], ["explain", "dot"], ["run", "--resume", "latest"],
    ["project", "latest"], ["sign", "latest", "--key", "mine.txt"],
    ["simulate", "collective", "allreduce", "--topology", "torus:2x2", "--bytes", "8", "--network", "fitted"],
])  # fmt: skip


def edit(run: Path, old: str, new: str, file: str = "run.json") -> None:
    text = (run / file).read_text()
    assert old in text
    (run / file).write_text(text.replace(old, new, 1))


def test_no_command_shows_an_altered_run(result: Path, capsys: Captured) -> None:
    """No reader shows a figure of a run.json that differs from its seal; each names the file and `check`."""
    whole = {name: (result / name).read_bytes() for name in ("run.json", layout.SEAL)}
    silent = []
    for what, alter in ALTERATIONS.items():
        alter(result)
        for words in READERS if what == "its scale" else READERS[::3]:
            code, out, err = call(capsys, *words)
            named = "altered" in err and "run.json" in err and "./fl check" in err
            silent += (
                [] if code == USAGE and named and "Gflop/s" not in out else [(what, words, code, (out + err)[:300])]
            )
        silent += [] if audited(result, "run.json") or audited(result, layout.SEAL) else [(what, "check")]
        for name, data in whole.items():
            (result / name).write_bytes(data)
    assert silent == []
    assert call(capsys, "figures")[0] == OK


def resealed(path: Path) -> None:
    """Change the numbers of a launch, and its own hash with them."""
    before, _, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    ending = lines.decode(last)
    assert isinstance(ending, Exit)
    changed = re.sub(rb'"cpu": ?0.99', b'"cpu": 0.98', before) + b"\n"
    assert changed != before + b"\n"
    path.write_bytes(changed + lines.seal(changed, ending))


def copied(path: Path) -> None:
    shutil.copy(path, path.with_name(path.name.replace("0000", "0002")))


@pytest.mark.parametrize(
    ("alter", "why"),
    [
        (resealed, "was altered after the run was sealed"),
        (Path.unlink, "is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), ""),
        (copied, ""),
    ],
)
def test_a_launch_that_was_altered_since_counts_nowhere(
    result: Path, capsys: Captured, alter: Callable[[Path], None], why: str
) -> None:
    path = sorted((result / layout.LAUNCHES).iterdir())[0]
    alter(path)
    name = f"{layout.LAUNCHES}/{path.name if alter is not copied else path.name.replace('0000', '0002')}"
    for words in (["figures"], ["report"], ["compare", "latest", "latest"], ["export", "junit"]):
        code, _, err = call(capsys, *words)
        assert code in (OK, INCONCLUSIVE) and f"skipped {name}" in err and why in err, (words, err)


def test_without_the_seal_some_altered_launch_hides_all(result: Path, capsys: Captured) -> None:
    """Nothing shows which launch was altered."""
    resealed(sorted((result / layout.LAUNCHES).iterdir())[0])
    (result / layout.SEAL).unlink()
    for words in (["figures"], ["report"], ["compare", "latest", "latest"], ["export", "junit"]):
        code, out, err = call(capsys, *words)
        assert code == USAGE and "a launch was altered after the run ended" in err and "Gflop/s" not in out
