"""Rows of large runs are made once: the same words as judged anew, no launch read again, no change missed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import many_runs
import synthetic
from commands import Captured, call
from firstlight.core.errors import OK
from firstlight.report.export import kept
from firstlight.results.store import layout, lines

Read = Callable[[], int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run that counts as large, and its own cache."""
    monkeypatch.setattr(kept, "FEW", 10)
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path / "cache"))
    return many_runs.write(synthetic.run(1, 2, only=("dot", "latency")), tmp_path, "large", synthetic.STARTED)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    """Return how many launches were read since the last call."""
    count = [0]
    real = lines.read

    def counted(data: bytes, *, once: bool = False) -> lines.Reading:
        count[0] += 1
        return real(data, once=once)

    monkeypatch.setattr(lines, "read", counted)

    def since() -> int:
        many, count[0] = count[0], 0
        return many

    yield since


def test_a_second_call_reads_no_launch_and_says_the_same(run: Path, reads: Read, capsys: Captured) -> None:
    many = len(list((run / layout.LAUNCHES).iterdir()))
    ways = ((), ("--json",), ("--csv",), ("--failed",), ("--failed", "--json"))
    anew = {}
    for words in ways:
        for place in (run.parent / "cache" / kept.FOLDER).glob("*"):
            place.unlink()
        anew[words] = call(capsys, "figures", str(run), *words)
        assert anew[words][0] == OK and anew[words][1] and reads() == many
    for words in ways:
        assert call(capsys, "figures", str(run), *words) == anew[words] and reads() == 0
    assert call(capsys, "figures", str(run), "--launches")[0] == OK and reads() == many  # these are not kept


def test_what_was_changed_is_judged_anew(run: Path, reads: Read, capsys: Captured) -> None:
    words = ("figures", str(run), "--json")
    whole = call(capsys, *words)[1]
    file = min((run / layout.LAUNCHES).iterdir())
    before, data = file.stat(), file.read_bytes()
    file.write_bytes(data.replace(b"1", b"2", 1))  # as long, and with the same times but that of change
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    reads()
    code, out, err = call(capsys, *words)
    assert code == OK and out != whole and f"skipped {layout.LAUNCHES}/{file.name}" in err and reads() > 0
    assert call(capsys, *words) == (code, out, err) and reads() == 0  # defects are kept, too
    file.write_bytes(data)
    assert call(capsys, *words)[1] == whole and reads() > 0
    file.unlink()
    assert call(capsys, *words)[1] != whole and reads() > 0


def test_other_rules_judge_anew(run: Path, reads: Read, capsys: Captured, tmp_path: Path, monkeypatch) -> None:
    call(capsys, "figures", str(run))
    reads()
    other = tmp_path / "workloads"
    other.mkdir()
    monkeypatch.setenv("FIRSTLIGHT_WORKLOADS", str(other))
    (other / "workload.toml").write_text("")  # not in a folder of a workload; it is looked at all the same
    before = kept.key(run)
    (other / "workload.toml").write_text("# other words\n")
    assert before is not None and kept.key(run) not in (None, before)


def test_a_damaged_answer_and_a_cache_that_cannot_be_written_cost_time_alone(
    run: Path, reads: Read, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("figures", str(run), "--csv")
    whole = call(capsys, *words)
    (answer,) = (run.parent / "cache" / kept.FOLDER).glob("*.json")
    answer.write_bytes(answer.read_bytes()[:-40])
    reads()
    assert call(capsys, *words) == whole and reads() > 0
    (run.parent / "file").write_text("")
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(run.parent / "file"))
    assert call(capsys, *words) == whole and reads() > 0
    monkeypatch.setattr(kept, "FEW", 10_000)
    assert kept.key(run) is None


def test_answers_of_few_runs_are_kept(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    scene = synthetic.run(1, 2, only=("dot",))
    for k in range(4):
        path = many_runs.write(scene, run.parent, f"r{k}", synthetic.STARTED)
        kept.keep(path, path.name, (), [], kept.key(path))
    assert len(list((run.parent / "cache" / kept.FOLDER).glob("*.json"))) == 2
