"""Checks: compare the results of an execution with what its user requires."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .execution import Executed, Files, contains, last_line, pieces, printed, shell, state

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[^ \t\r\n\f\v]+")
_FIGURE = re.compile(
    r"(?![+-]?0[xX])([+-]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?)"
    r"\s*(\S*)"
)
"""A number, in which commas may separate thousands, and its unit."""
_SIGNS = dict.fromkeys(map(ord, "%/"))
"""A unit consists of these signs and letters."""
OUT = "{out}"


class Checked(NamedTuple):
    """The result of one check. `error` and `tolerance` as in record.Check; `what` is the sentence to show."""

    ok: bool
    error: float | None
    tolerance: float
    what: str


def passed(error: float, tolerance: float, what: str) -> Checked:
    return Checked(error <= tolerance, error if math.isfinite(error) else None, tolerance, what)


def check(
    external: Mapping[str, Any],
    done: Executed,
    where: Files,
    environment: Mapping[str, str],
    before: tuple[int, ...] | None,
) -> list[Checked]:
    """Return the result of every check of the external command; an earlier failure explains the later ones.

    `before`: the state of the file of `like` before the execution.
    """
    found: list[Checked] = []
    if external["status"] or done.status < 0:
        found.append(_status(done, where))
    if external["expect"]:
        there = contains(where.stdout, external["expect"]) or contains(where.stderr, external["expect"])
        found.append(passed(0.0 if there else 1.0, 0.0, f"{'printed' if there else 'did not print'} the expected text"))
    if external["like"]:
        found.append(like(external["like"], where, before))
    if external["check"]:
        found.append(_command(external["check"], where, environment))
    return found


def _status(done: Executed, where: Files) -> Checked:
    if done.status < 0:
        return passed(float(-done.status), 0.0, f"ended by signal {-done.status}")
    message = last_line(printed(where.stderr), printed(where.stdout)) if done.status else ""
    return passed(float(done.status), 0.0, f"ended with status {done.status}" + (f": {message}" if message else ""))


def _command(words: str, where: Files, environment: Mapping[str, str]) -> Checked:
    beside = Files(where.out, where.stderr + ".check-out", where.stderr + ".check")  # stdout may be /dev/null
    status = shell(words.replace(OUT, shlex.quote(where.out)), environment, beside)
    message = last_line(printed(beside.stderr), printed(beside.stdout)) if status else ""
    what = f"the check command ended with status {status}" + (f": {message}" if message else "")
    return passed(float(abs(status)), 0.0, what)


def like(wanted: Mapping[str, Any], where: Files, before: tuple[int, ...] | None = None) -> Checked:
    """Compare the file that was written with its reference. `before`: its state before the execution."""
    name = written(wanted, where)
    shown = "its output" if wanted["file"] == OUT else wanted["file"]
    texts = []
    for path in (name, wanted["reference"]):
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                texts.append(file.read())
            if path is name and before is not None and state(name) == before:
                return passed(math.inf, 0.0, f"did not write {shown}")
        except OSError as why:
            what = shown if path is name else wanted["reference"]
            return passed(math.inf, 0.0, f"{what} cannot be read: {why.strerror}")
    if wanted["tolerance"] is None:
        same = texts[0] == texts[1]
        return passed(0.0 if same else 1.0, 0.0, f"{shown} {'equals' if same else 'differs from'} the reference")
    error, detail = difference(*(text.decode("latin-1") for text in texts))  # one character per byte: none is lost
    return passed(error, wanted["tolerance"], f"{shown} compared with its reference: {detail}")


def written(wanted: Mapping[str, Any], where: Files) -> str:
    """Return the path of the file that is compared with its reference."""
    return str(wanted["file"]).replace(OUT, where.out)


def difference(text: str, reference: str) -> tuple[float, str]:
    """Return the largest relative difference of numbers at the same places of two texts, and which numbers differ so.

    It is relative to the number of the reference, absolute if that is 0. It is infinite, with the reason, if the texts
    have other words between their numbers, or not as many numbers.
    """
    mine, theirs = (NUMBER.findall(t) for t in (text, reference))
    if len(mine) != len(theirs):
        return math.inf, f"{len(mine)} numbers instead of {len(theirs)}"
    if [_WORD.findall(part) for part in NUMBER.split(text)] != [
        _WORD.findall(part) for part in NUMBER.split(reference)
    ]:
        return math.inf, "the words between the numbers differ"
    worst, why = 0.0, "all numbers are equal"
    for a, b in zip(mine, theirs, strict=True):
        if a == b:
            continue
        x, y = (float(v.lower().replace("d", "e")) for v in (a, b))
        apart = (abs(x - y) / abs(y) if y else abs(x)) or _apart(a, b)
        if not apart <= worst:
            worst, why = (apart, f"{a} instead of {b}") if apart == apart else (math.inf, f"{a} instead of {b}")
    return worst, why


def _apart(a: str, b: str) -> float:
    """Return the relative difference of two numbers with different digits that are equal as floating-point numbers."""
    from decimal import Decimal, localcontext  # imported only here: most outputs have no such numbers

    with localcontext() as context:
        context.traps = dict.fromkeys(context.traps, False)
        x, y = (Decimal(v.lower().replace("d", "e")) for v in (a, b))
        apart = abs(x - y) / abs(y) if y else abs(x)
        return float(apart) or (math.ulp(0.0) if apart else 0.0)


def figures(patterns: Mapping[str, str], where: Files) -> tuple[dict[str, float], list[Checked]]:
    """Return the figures of an external command: the last match of each pattern in its output, or that match's first
    group if there is one. A pattern that matches no number becomes a check that failed.
    """
    found: dict[str, float] = {}
    failed: list[Checked] = []
    for name, pattern in patterns.items():
        value = figure(pattern, (text for path in (where.stdout, where.stderr) for text in pieces(path)))
        if isinstance(value, float):
            found[name] = value
        else:
            failed.append(passed(math.inf, 0.0, f"the figure {name}: {value}"))
    return found, failed


def figure(pattern: str, texts: Iterable[str]) -> float | str:
    """Return the number of the last match in the first text that has a match, or the reason why it is not a figure.

    Empty matches are skipped: `.*` has one at the end of each line.
    """
    for text in texts:
        for match in reversed(list(re.finditer(pattern, text, re.MULTILINE))):
            matched = (match[1] if match.re.groups else match[0]) or ""
            if matched.strip():
                return _value(pattern, matched.replace("\N{MINUS SIGN}", "-"), match.re.groups > 0)
    return f"{pattern!r} matches no number in the output"


def _value(pattern: str, matched: str, group: bool) -> float | str:
    """Return the number that the group is, or the reason why it is not a number. In a match without groups, the first
    word with a number is used instead. A unit of letters, % or / may follow the number.
    """
    first = NUMBER.search(matched)
    if first is None:
        return f"the last match of {pattern!r} has no number: {matched[:80]!r}"
    text = matched.strip() if group else matched[first.start() :].split()[0].rstrip(".,;:)]}")
    number = _FIGURE.fullmatch(text)
    if number is None or not (number[2].translate(_SIGNS) or "a").isalpha():
        return f"the last match of {pattern!r} is not only a number: {matched[:80]!r}; put the number alone in a group"
    value = float(number[1].lower().replace("d", "e").replace(",", ""))
    if 0 <= value < math.inf:
        return value
    why = "figures cannot be negative, so exclude the sign from the group" if value < 0 else "this number is too large"
    return f"the last match of {pattern!r} is {number[1]}; {why}"
