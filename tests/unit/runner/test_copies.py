"""The cache keeps the copies of users' sources that were used last or are in use; a run reports a missing copy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Captured, call
from firstlight.commands.bench import building
from firstlight.core.errors import OK, USAGE, UsageError
from firstlight.runner import copies

NOW = 1e9


def cache(folder: Path, some: dict[str, tuple[int, float]]) -> Path:
    """Copies by name, each of so many bytes and marked so many seconds ago."""
    for name, (size, ago) in some.items():
        inside = copies.root(folder) / name / "gcc-base"
        inside.mkdir(parents=True)
        (inside / "app").write_bytes(bytes(size))
        os.utime(inside.parent, (NOW - ago, NOW - ago))
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in copies.root(folder).iterdir()}


DAY = copies.IN_USE
AGES = st.one_of(st.integers(0, int(DAY) - 1), st.integers(int(DAY), int(9 * DAY)))


@given(st.lists(st.tuples(st.integers(0, 50), AGES), max_size=6, unique_by=lambda x: x[1]), st.integers(0, 150))
def test_the_oldest_go_until_the_rest_fits_and_none_in_use(some: list[tuple[int, int]], most: int) -> None:
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"firstlight-copies-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        cache(folder, {f"c{ago}": (size, ago) for size, ago in some})
        copies.root(folder).mkdir(parents=True, exist_ok=True)
        gone = copies.shrink(folder, most, NOW)
        left = [(size, ago) for size, ago in some if f"c{ago}" in names(folder)]
    finally:
        shutil.rmtree(folder)
    went = [x for x in some if x not in left]
    assert (gone.copies, gone.bytes, gone.error) == (len(went), sum(size for size, _ in went), "")
    assert all(ago >= DAY for _, ago in went)
    assert max((ago for _, ago in left), default=0) <= min((ago for _, ago in went), default=int(9 * DAY))
    total = sum(size for size, _ in left)
    assert total <= most or all(ago < DAY for _, ago in left)
    if went:  # none went that there was room for
        assert total + min(went, key=lambda x: x[1])[0] > most


def test_what_is_marked_is_in_use(tmp_path: Path) -> None:
    cache(tmp_path, {"old": (10, 3 * DAY), "older": (10, 4 * DAY)})
    copies.mark(copies.root(tmp_path) / "older")
    assert copies.shrink(tmp_path, 0).copies == 1
    assert names(tmp_path) == {"older"}


def test_what_a_link_leads_to_is_left_alone_and_no_cache_is_no_error(tmp_path: Path) -> None:
    assert copies.shrink(tmp_path, 0, NOW) == (0, 0, "")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("kept")
    os.utime(tmp_path / "mine", (0, 0))
    cache(tmp_path, {"old": (10, 3 * DAY)})
    (copies.root(tmp_path) / "link").symlink_to(tmp_path / "mine")
    (copies.root(tmp_path) / "old" / "link").symlink_to(tmp_path / "mine")
    os.utime(copies.root(tmp_path) / "old", (0, 0))
    assert copies.shrink(tmp_path, 0, NOW) == (1, 10, "")
    assert (tmp_path / "mine" / "file").read_text() == "kept"


def test_what_cannot_be_removed_is_told_and_the_next_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache(tmp_path, {"stuck": (10, 5 * DAY), "old": (10, 3 * DAY)})
    remove = shutil.rmtree

    def refusing(path: Path) -> None:
        if path.name == "stuck":
            raise PermissionError(13, "Permission denied")
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", refusing)
    gone = copies.shrink(tmp_path, 0, NOW)
    assert (gone.copies, gone.error.endswith("stuck: Permission denied")) == (1, True)
    assert names(tmp_path) == {"stuck"}


def test_a_folder_that_holds_the_cache_is_not_copied_into_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the folder contains the cache; set FIRSTLIGHT_CACHE"):
        building.copies(tmp_path, "make", tmp_path / "cache")
    assert building.copies(tmp_path, "make", tmp_path / ".fl").is_relative_to(tmp_path / ".fl")


def test_a_run_marks_its_copy_and_cannot_go_on_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Copies that a new one pushes out are named; the run that was built in one is kept, and is not resumed."""
    source = tmp_path / "source"
    source.mkdir()
    monkeypatch.chdir(source)
    monkeypatch.setattr(copies, "root", lambda _: tmp_path / "copies")  # copies without an owner are not touched
    (source / "app.sh").write_text("#!/bin/sh\necho a test\n")
    words = ("--build", "test -n {cxx} && cp app.sh app && chmod +x app", "--expect", "test", "--launches", "2")
    words += ("--toolchain", "gcc-base", "--as")
    code, _, err = call(capsys, "bench", *words, "r", "--", "./app")
    assert code == OK, err
    run = json.loads((source / "results" / "r" / "run.json").read_text())
    (folder,) = {cell["guest"]["folder"] for cell in run["cells"] if cell.get("guest")}
    copy = Path(folder).parent
    os.utime(copy, (0, 0))
    code, _, err = call(capsys, "bench", "--resume", "r", "--budget", "1s")
    assert code == OK and copy.stat().st_mtime > 0, err
    os.utime(copy, (0, 0))
    monkeypatch.setattr(copies.shrink, "__defaults__", (0, None))
    (source / "app.sh").write_text("#!/bin/sh\necho another test\n")
    code, _, err = call(capsys, "bench", *words, "s", "--", "./app")
    assert code == OK and "removed from the cache: " in err, err
    assert not copy.exists()
    code, _, err = call(capsys, "bench", "--resume", "r", "--budget", "1s")
    assert code == USAGE and "is no longer in the cache; start a new run" in err
    assert call(capsys, "figures", "r")[0] == OK
