"""Checks: what of an execution is held against what its user said it must be."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .execution import Executed, Files, last_line, printed, shell

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
OUT = "{out}"


class Checked(NamedTuple):
    """`error` and `tolerance` as in record.Check; `what` is the sentence to show."""

    ok: bool
    error: float | None
    tolerance: float
    what: str


def passed(error: float, tolerance: float, what: str) -> Checked:
    return Checked(error <= tolerance, error if math.isfinite(error) else None, tolerance, what)


def check(guest: Mapping[str, Any], done: Executed, where: Files, environment: Mapping[str, str]) -> list[Checked]:
    """Every check that the guest has, in the order in which a failure explains the later ones."""
    found: list[Checked] = []
    if guest["status"] or done.status < 0:
        found.append(_status(done, where))
    if guest["expect"]:
        there = guest["expect"] in printed(where.stdout) or guest["expect"] in printed(where.stderr)
        found.append(passed(0.0 if there else 1.0, 0.0, f"{'printed' if there else 'did not print'} the expected text"))
    if guest["like"]:
        found.append(_like(guest["like"], where))
    if guest["check"]:
        found.append(_command(guest["check"], where, environment))
    return found


def _status(done: Executed, where: Files) -> Checked:
    if done.status < 0:
        return passed(float(-done.status), 0.0, f"ended by signal {-done.status}")
    told = last_line(printed(where.stderr), printed(where.stdout)) if done.status else ""
    return passed(float(done.status), 0.0, f"ended with status {done.status}" + (f": {told}" if told else ""))


def _command(words: str, where: Files, environment: Mapping[str, str]) -> Checked:
    beside = Files(where.out, where.stderr + ".check-out", where.stderr + ".check")  # stdout may be /dev/null
    status = shell(words.replace(OUT, shlex.quote(where.out)), environment, beside)
    told = last_line(printed(beside.stderr), printed(beside.stdout)) if status else ""
    what = f"the check command ended with status {status}" + (f": {told}" if told else "")
    return passed(float(abs(status)), 0.0, what)


def _like(like: Mapping[str, Any], where: Files) -> Checked:
    """The file that was written beside its reference."""
    name = like["file"].replace(OUT, where.out)
    shown = "its output" if like["file"] == OUT else like["file"]
    texts = []
    for path in (name, like["reference"]):
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                texts.append(file.read())
        except OSError as why:
            what = shown if path is name else like["reference"]
            return passed(math.inf, 0.0, f"{what} cannot be read: {why.strerror}")
    if like["tolerance"] is None:
        same = texts[0] == texts[1]
        return passed(0.0 if same else 1.0, 0.0, f"{shown} {'is' if same else 'is not'} what the reference is")
    error, told = difference(*(text.decode("utf-8", "replace") for text in texts))
    return passed(error, like["tolerance"], f"{shown} beside its reference: {told}")


def difference(text: str, reference: str) -> tuple[float, str]:
    """The largest relative difference of numbers at the same places of two texts, and which numbers differ so.

    Relative to the number of the reference; of one that is 0 the difference itself. Infinite, with the reason, where
    the texts have other words between their numbers, or not as many numbers.
    """
    mine, theirs = (NUMBER.findall(t) for t in (text, reference))
    if len(mine) != len(theirs):
        return math.inf, f"{len(mine)} numbers instead of {len(theirs)}"
    if [part.split() for part in NUMBER.split(text)] != [part.split() for part in NUMBER.split(reference)]:
        return math.inf, "its words differ"
    worst, why = 0.0, "every number is the same"
    for a, b in zip(mine, theirs, strict=True):
        x, y = (float(v.lower().replace("d", "e")) for v in (a, b))
        apart = abs(x - y) / abs(y) if y else abs(x)
        if not apart <= worst:
            worst, why = (apart, f"{a} instead of {b}") if apart == apart else (math.inf, f"{a} instead of {b}")
    return worst, why


def figures(patterns: Mapping[str, str], where: Files) -> tuple[dict[str, float], list[Checked]]:
    """What the guest tells of itself: of each pattern the last match in what it printed, its first group where it has
    one. Of a pattern that matches no number a check that failed."""
    texts = (printed(where.stdout), printed(where.stderr))
    found: dict[str, float] = {}
    failed: list[Checked] = []
    for name, pattern in patterns.items():
        value = figure(pattern, texts)
        if value is None:
            told = f"the figure {name}: nothing that it printed matches {pattern!r} with a number"
            failed.append(passed(math.inf, 0.0, told))
        else:
            found[name] = value
    return found, failed


def figure(pattern: str, texts: Sequence[str]) -> float | None:
    """The number of the last match in the first text that has one; None where none is finite and positive or 0."""
    for text in texts:
        for match in reversed(list(re.finditer(pattern, text, re.MULTILINE))):
            told = (match[1] if match.re.groups else match[0]) or ""
            number = NUMBER.search(_THOUSANDS.sub("", told))
            if number is not None:
                value = float(number[0].lower().replace("d", "e"))
                return value if 0 <= value < math.inf else None
    return None
