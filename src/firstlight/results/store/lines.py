"""One launch file as bytes: sealed when it is written, read back line by line with every defect named."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from firstlight.core import reading
from firstlight.results.record import (
    Case,
    Check,
    Counters,
    Devices,
    End,
    Exit,
    Field,
    Launch,
    LaunchRecord,
    Line,
    Refused,
    Reported,
    Sample,
    Series,
    Span,
    Start,
)
from firstlight.results.store.layout import MAX_LINES

T = TypeVar("T")

_decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)

MOST_OF_A_FILE = 20
"""Maximum number of reported defects of one file: a megabyte of newlines is a million equal defects."""


class Defect(NamedTuple):
    """One thing that is wrong in a run directory. `line` counts from 1; 0 means the file as a whole."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)  # file names are foreign data too


class Reading(NamedTuple):
    """A launch file as read: its record (None if it cannot be trusted), its lines with their numbers, its defects."""

    record: LaunchRecord | None
    lines: list[tuple[int, Line]]
    defects: list[tuple[int, str]]


def encode(line: Line) -> bytes:
    """Encode a line in its one canonical form. Non-finite numbers become null, as the C++ harness writes them."""
    return msgspec.json.encode(line) + b"\n"


def seal(before: bytes, ending: Exit) -> bytes:
    """Return the exit line for a file with the bytes `before`. Its hash covers these and the line without the hash."""
    bare = encode(msgspec.structs.replace(ending, sha256=""))
    return encode(msgspec.structs.replace(ending, sha256=hashlib.sha256(before + bare).hexdigest()))


def decode(raw: bytes) -> Line | str:
    """Decode one line without its newline; return the reason if it is malformed."""
    try:
        return reading.decoded(raw, _decoder)
    except reading.MalformedError as error:
        return f"malformed line: {error}"


def _twice(raw: bytes) -> str:
    try:
        repeated = reading.twice(raw)
    except reading.MalformedError as error:
        return f"malformed line: {error}"
    return f"the key {repeated!r} occurs twice" if repeated else ""


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines with their numbers, without newlines; bytes after the last newline come last, if any."""
    start, number = 0, 1
    while start < len(data):
        stop = data.find(b"\n", start)
        stop = len(data) if stop < 0 else stop
        yield number, data[start:stop]
        start, number = stop + 1, number + 1


def sound(data: bytes) -> tuple[int, str]:
    """Return the number of leading bytes that are whole, valid lines of a program, and why not all ("" if all).

    The first line is firstlight's `start`; a program writes neither `start` nor `exit`.
    """
    good, order = 0, _Order()
    for number, raw in split(data):
        if good + len(raw) == len(data):
            return good, f"line {number} of the record is truncated"
        line = decode(raw)
        if isinstance(line, str):
            return good, f"line {number} of the record: {line}"
        wrong = (
            "the program wrote an exit line, which only firstlight may write"
            if isinstance(line, Exit)
            else order.wrong(line)
        )
        if wrong:
            return good, f"line {number} of the record: {wrong}"
        good += len(raw) + 1
    return good, ""


def read(data: bytes, *, once: bool = False) -> Reading:
    """Read a finished launch file. Never raises: whatever is wrong is in `defects`, and then there is no record.

    `once`: also look for repeated keys, which doubles the time.
    """
    if not data:
        return Reading(None, [], [(0, "is empty")])
    lines: list[tuple[int, Line]] = []
    defects = few(_defects(data, lines, once))
    return Reading(None if defects else _group([line for _, line in lines]), lines, defects)


def first(found: Iterable[T], most: int) -> tuple[list[T], int]:
    """Return the first items, at most `most`, and the number of the others, which are not kept."""
    rest = iter(found)
    return list(itertools.islice(rest, most)), sum(1 for _ in rest)


def few(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the first defects of a file, and how many more there are."""
    shown, more = first(found, MOST_OF_A_FILE)
    return [*shown, (0, f"and {more} more")] if more else shown


def _defects(data: bytes, lines: list[tuple[int, Line]], once: bool) -> Iterator[tuple[int, str]]:
    """Yield the defects of a file; add the lines that can be read to `lines`."""
    for number, raw in split(data):
        if number > MAX_LINES:
            yield number, f"more than {MAX_LINES} lines"
            break
        line = decode(raw)
        if isinstance(line, str):
            yield number, line
        else:
            lines.append((number, line))
            if once and (repeated := _twice(raw)):
                yield number, repeated
    if not data.endswith(b"\n"):
        yield 0, "is truncated: the last line is incomplete"
    yield from _frame(lines)
    if lines and isinstance(lines[-1][1], Exit):
        yield from _sealed(data, lines[-1][0], lines[-1][1])


class _Order:
    """The order of the lines: start, launch, the cases with what belongs to them, end, exit."""

    def __init__(self) -> None:
        self.began = self.launched = self.ended = self.closed = False

    def wrong(self, line: Line) -> str:
        """Add the next line; return what is wrong with its place, "" if nothing is."""
        if self.closed:
            return "follows the exit line"
        if isinstance(line, Start) == self.began:
            return "is a second start line" if self.began else "does not begin with a start line"
        if isinstance(line, Launch) and self.launched:
            return "is a second launch line"
        if (
            isinstance(
                line, Case | Refused | Sample | Reported | Series | Field | Devices | Check | Span | Counters | End
            )
            and not self.launched
        ):
            return "comes before the launch line"
        if self.ended and not isinstance(line, Exit):
            return "follows the end line"
        self.began = True
        self.launched |= isinstance(line, Launch)
        self.ended |= isinstance(line, End)
        self.closed |= isinstance(line, Exit)
        return ""


def _frame(lines: list[tuple[int, Line]]) -> Iterator[tuple[int, str]]:
    order = _Order()
    for number, line in lines:
        if wrong := order.wrong(line):
            yield number, wrong
    if not order.closed:
        yield 0, "has no exit line: the launch did not end, or the file is truncated"


def _sealed(data: bytes, number: int, ending: Exit) -> Iterator[tuple[int, str]]:
    """Yield the defect if the hash does not match. It covers the bytes: another version may write other entries."""
    raw = data[data.rfind(b"\n", 0, -1) + 1 :]
    key = b'"sha256":"%s"'
    bare = raw.replace(key % ending.sha256.encode(), key % b"")
    if hashlib.sha256(data[: -len(raw)] + bare).hexdigest() != ending.sha256:
        yield number, "the hash does not match: the file was altered later"


def _group(lines: list[Line]) -> LaunchRecord:
    start, ending = lines[0], lines[-1]
    assert isinstance(start, Start) and isinstance(ending, Exit)
    return LaunchRecord(
        start=start,
        launch=next((line for line in lines if isinstance(line, Launch)), None),
        cases=tuple(line for line in lines if isinstance(line, Case)),
        samples=tuple(line for line in lines if isinstance(line, Sample)),
        checks=tuple(line for line in lines if isinstance(line, Check)),
        counters=tuple(line for line in lines if isinstance(line, Counters)),
        complete=isinstance(lines[-2], End),
        exit=ending,
        series=tuple(line for line in lines if isinstance(line, Series)),
        devices=tuple(line for line in lines if isinstance(line, Devices)),
        fields=tuple(line for line in lines if isinstance(line, Field)),
        refused=tuple(line for line in lines if isinstance(line, Refused)),
        reported=tuple(line for line in lines if isinstance(line, Reported)),
        spans=tuple(line for line in lines if isinstance(line, Span)),
    )
