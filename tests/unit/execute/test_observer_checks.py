"""Commands of a user: how their outputs are verified, and figures found in them."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.commands.bench import request
from firstlight.commands.bench.request import BenchRequest
from firstlight.execute.observer import checks, execution
from firstlight.execute.observer.checks import difference, figure


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.floats(1e-9, 0.5))
def test_the_difference_of_two_outputs_is_the_largest_of_their_numbers(values: list[float], shift: float) -> None:
    reference = " and ".join(f"{v!r}" for v in values)
    assert difference(reference, reference)[0] == 0
    moved = [v * (1 + shift) for v in values]
    found, _ = difference(" and ".join(f"{v!r}" for v in moved), reference)
    wanted = max(abs(m - v) / abs(v) if v else 0.0 for m, v in zip(moved, values, strict=True))
    assert math.isclose(found, wanted, rel_tol=1e-9, abs_tol=0)


@pytest.mark.parametrize(("text", "reference"), [("1 2", "1"), ("a 1", "b 1"), ("", "1")])
def test_other_words_or_other_many_numbers_differ_without_measure(text: str, reference: str) -> None:
    assert difference(text, reference)[0] == math.inf


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (r"rate: (\S+)", "rate: 1.5 rate: 2.5e3 GF/s", 2500.0),
        (r"[0-9.]+", "1 2 3", 3.0),
        (r"t = (\S+)", "t = 1.0D-03", 1e-3),
        (r"lookups/s: ([0-9,]+)", "lookups/s: 1,234,567", 1234567.0),
        (r"rate: [0-9.]+", "rate: 2.5", 2.5),
        (r"(.*) in all", "2 ms in all", 2.0),
        (r"t = (.*)", "t = \t12,345.5 GB/s ", 12345.5),
        (r"t = (.*)", "t = 12 %\nt = \nt =  ", 12.0),
        (r"a?(.*)", "a3\n", 3.0),
        (r"[0-9,]+", "1,23", "is not only a number: '1,23'; put the number alone in a group"),
        (r"t = (\S+)", "t = 3,75", "is not only a number: '3,75'"),
        (r"t = (\S+)", "t = 1.234,567", "is not only a number"),
        (r"t = (\S+)", "t = 0,123", "is not only a number"),
        (r"t = (\S+)", "t = 1,2345", "is not only a number"),
        (r"t = (\S+)", "t = 12:34", "is not only a number"),
        (r"t = (\S+)", "t = 1_000", "is not only a number"),
        (r"t = (\S+)", "t = 3e+nan", "is not only a number"),
        (r"t = (\S+)", "t = 1.5.2", "is not only a number"),
        (r"t = (\S+)", "t = 0x1F", "is not only a number"),
        (r"t = (\S+)", "t = -0xFF", "is not only a number"),
        (r"t = (\S+)", "t = 10\N{SUPERSCRIPT THREE}", "is not only a number"),
        (r"t = (\S+)", "t = 1.0-103", "is not only a number"),
        (r"t = (.*)", "t = about 3", "is not only a number"),
        (r"t = \S+", "t = 12:34", "is not only a number"),
        (r"t = (\S+)", "t = 0", 0.0),
        (r"t = (\S+)", "t = 5\nt = x", "the last match of 't = (\\\\S+)' has no number: 'x'"),
        (r"t = (\S+)", "t = nan", "the last match of 't = (\\\\S+)' has no number: 'nan'"),
        (r"t = (\S+)", "t = -4", "is -4; figures cannot be negative"),
        (r"t = (\S+)", "t = -1.5e-3", "is -1.5e-3; figures cannot be negative"),
        (r"t = (\S+)", "t = \N{MINUS SIGN}4", "is -4; figures cannot be negative"),
        (r"t = -?(\S+)", "t = -4", 4.0),
        (r"t = (\S+)", "t = 1e999", "is 1e999; this number is too large"),
        (r"(x)?y", "y", "'(x)?y' matches no number in the output"),
        ("none", "text", "'none' matches no number in the output"),
    ],
)
def test_the_figure_is_the_last_match_or_the_reason_why_there_is_none(
    pattern: str, text: str, value: float | str
) -> None:
    found = figure(pattern, ("", text))
    assert found == value or (isinstance(value, str) and value in str(found))


@pytest.mark.parametrize("size", [0, 10, execution.TAIL - 3, execution.TAIL, 3 * execution.TAIL + 7])
@pytest.mark.parametrize("place", ["start", "middle", "end", "alone", "cut"])
@pytest.mark.parametrize("filling", ["x" * 79 + "\n", "x " * 40, "\N{GREEK SMALL LETTER MU}\r\n", "x"])
def test_a_text_and_a_figure_are_found_wherever_they_are(tmp_path: Path, size: int, place: str, filling: str) -> None:
    filler = (filling.encode() * (size // len(filling.encode()) + 1))[:size]
    text = b"\nconverged to 12345.75 units\n"
    parts = {
        "start": text + filler,
        "middle": filler + text + filler,
        "end": filler + text,
        "alone": text,
        "cut": filler + text + filler[: max(0, execution.TAIL - 12)],
    }
    (tmp_path / "out").write_bytes(parts[place])
    path = str(tmp_path / "out")
    assert execution.contains(path, "converged to 12345.75") and not execution.contains(path, "converged to 2")
    assert figure(r"converged to (\S+) units$", execution.pieces(path)) == 12345.75
    assert isinstance(figure(r"^(45.75) units$", execution.pieces(path)), str)


def test_what_is_not_there_holds_no_text(tmp_path: Path) -> None:
    assert not execution.contains(str(tmp_path / "no"), "x") and list(execution.pieces(str(tmp_path / "no"))) == []


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (b"a\x80 1", b"a\x81 1"),  # is not UTF-8
        (b"a\xff 1", b"a\xef\xbf\xbd 1"),
        (b"a\xc2\xa0b 1", b"a b 1"),  # is not an ASCII blank
        (b"a\xc2\x85b 1", b"a b 1"),
        (b"a\x1cb 1", b"a b 1"),
        (b"\xd9\xa1 1", b"\xd9\xa2 1"),  # digits of other scripts are words
        (b"\xd9\xa1", b"1"),
        (b"\xef\xbb\xbf1", b"1"),
        (b"a\x00b 1", b"a b 1"),
        (b"nan 1", b"inf 1"),
        (b"9007199254740993", b"9007199254740992"),
        (b"1e-400", b"0"),
        (b"0.10000000000000000001", b"0.1"),
        (b"1e999", b"1e998"),
        (b"A 1", b"a 1"),
    ],
)
def test_different_bytes_are_not_alike_without_tolerance(tmp_path: Path, mine: bytes, theirs: bytes) -> None:
    for a, b, alike in ((mine, theirs, False), (theirs, mine, False), (mine, mine, True)):
        (tmp_path / "a").write_bytes(a)
        (tmp_path / "b").write_bytes(b)
        like = {"file": str(tmp_path / "a"), "reference": str(tmp_path / "b"), "tolerance": 0.0}
        assert checks.like(like, execution.files(str(tmp_path), named=True, wanted=False)).ok is alike


@pytest.mark.parametrize(
    ("mine", "theirs"), [("1.0 a\n", " 1.00\ta"), ("1e3", "1000"), ("1D-3", "1.0e-03"), ("-0", "0")]
)
def test_numbers_written_in_other_ways_are_alike(mine: str, theirs: str) -> None:
    assert difference(mine, theirs)[0] == 0


def test_by_what_is_verified_is_said() -> None:
    plain = BenchRequest({"a": "true"})
    change = msgspec.structs.replace
    assert "exit status only" in plain.verified
    assert change(plain, verify_status=False).verified == ""
    assert change(plain, check="x", expect="y").verified == "its check command and the required text in its output"
    assert "within a relative 0.01 of the reference" in change(plain, output=request.Output("a", "b", 0.01)).verified
