"""Fuzzing of every reader of what others write (tests/fuzz): a fixed number of inputs, and what was found once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import turns
from firstlight import ROOT
from firstlight.core.errors import FirstlightError
from fuzz.targets import TARGETS
from network_tool import NATIVE

FUZZER = ROOT / "tests" / "fuzz"
SANITIZERS = "address,undefined"
RUNS = 30_000
"""Inputs of GOAL."""


def _deep(opening: bytes) -> bytes:
    return b"a = " + opening * 3000 if opening == b"[" else opening * 3000


def _changed(target: str, **members: object) -> bytes:
    """Return the first sample of a target with other members."""
    return msgspec.json.encode(msgspec.json.decode(TARGETS[target].samples()[0]) | members)


FOUND = [
    ("value", b"9" * 400),  # infinitely many bytes
    ("value", b"8,1KiB.." + b"9" * 400),
    ("value", b"all-" + b"9" * 5000 + b"x1x1"),  # more digits than Python makes a number of
    ("value", b"x" * 5000),  # longer than a name can be
    ("value", b"a\0b"),
    ("owner", b'{"where":"\xff","pid":1,"started":1}'),
    ("cache", b"\xff"),
    ("cache", b'[1,{"key":\xff}]'),
    ("description", b"\xff"),
    ("description", _deep(b'{"title":')),
    ("figures", b'[{"extra":"\xff"}]'),
    ("site", b'{"PBS_JOBID":"1","PBS_NODEFILE":"a\\u0000b"}'),
    ("network", _deep(b"[")),
    ("heritage", _deep(b"[")),
    ("workload", _deep(b"[")),
    ("workload", b"title = " + b"9" * 5000),
    ("run", _changed("run", started=1e300)),
    ("run", _changed("run", started=-1e17, finished=9e99)),
    *((name, data) for name, target in TARGETS.items() for data in target.found),
]


@pytest.mark.parametrize(("target", "data"), FOUND, ids=[f"{name}-{k}" for k, (name, _) in enumerate(FOUND)])
def test_what_once_broke_a_reader_is_read_or_refused_in_one_line(target: str, data: bytes) -> None:
    try:
        TARGETS[target].read(data)
    except FirstlightError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize("target", TARGETS)
def test_the_samples_are_sound(target: str) -> None:
    """Changes of what is refused anyway would reach nothing."""
    for sample in TARGETS[target].samples():
        if target not in ("algorithms", "description"):
            TARGETS[target].read(sample)


@pytest.mark.full
def test_no_reader_breaks(tmp_path: Path) -> None:
    """The same inputs every time; `python tests/fuzz/one.py TARGET --inputs N --seed S` tries others."""
    pytest.importorskip("atheris", reason="atheris is not available: it has no wheel for this machine")
    words = [sys.executable, str(FUZZER / "one.py"), "all", "--keep", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=3 * turns.PATIENCE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-6000:]
    assert f"{len(TARGETS)} readers held" in done.stdout


@pytest.mark.full
def test_the_fuzzer_finds_what_is_broken(tmp_path: Path) -> None:
    """A reader that leaves one kind of damage to its caller."""
    pytest.importorskip("atheris", reason="atheris is not available: it has no wheel for this machine")
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import json, sys\n"
        f"sys.path[:0] = [{str(FUZZER.parent)!r}, {str(FUZZER)!r}]\n"
        "from firstlight.results.store import owner\n"
        "owner._read = lambda path: owner.Owner(**json.loads(path.read_bytes()))\n"
        "import one\n"
        "sys.argv = ['one.py', 'owner', '--keep', sys.argv[1]]\n"
        "sys.exit(one.main())\n"
    )
    done = subprocess.run(
        [sys.executable, str(broken), str(tmp_path)], capture_output=True, text=True, timeout=turns.PATIENCE
    )
    assert done.returncode == 1 and "broken: owner" in done.stdout, done.stderr[-3000:]
    assert list(tmp_path.glob("owner-crash-*"))


@pytest.mark.full
def test_goal_is_read_refused_or_never_ends_in_words(tmp_path: Path) -> None:
    import drivers

    sources = [*sorted((NATIVE / "network" / "src").glob("*.cpp")), FUZZER / "goal.cpp"]
    rooms = [f"-I{NATIVE}/{room}/include" for room in ("network", "collectives")]
    flags = ("-O1", "-gline-tables-only", f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all", *rooms)
    parts = drivers.objects(sources, *flags, "-fsanitize=fuzzer-no-link", compiler="clang++")
    program = drivers.linked("goal-fuzzer", parts, f"-fsanitize=fuzzer,{SANITIZERS}", compiler="clang++")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for sample in sorted((FUZZER / "goal").glob("*.goal")):
        for chosen in (b"0", b"1"):
            (corpus / f"{sample.stem}{chosen.decode()}").write_bytes(chosen + sample.read_bytes())
    options = [f"-runs={RUNS}", "-seed=1", "-timeout=60", "-rss_limit_mb=2048", "-max_len=4096", "-verbosity=0"]
    done = subprocess.run(
        [program, *options, corpus], capture_output=True, text=True, timeout=turns.PATIENCE, cwd=tmp_path,
        env=os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-6000:]


def test_every_fuzzed_reader_is_told_to_newcomers() -> None:
    text = (ROOT / "docs" / "tests.md").read_text()
    assert all(f"`{target}`" in text for target in TARGETS)
