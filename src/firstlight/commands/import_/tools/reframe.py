"""ReFrame: the report that --report-file writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from firstlight.commands.import_.fields import plausible, slug
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value
from firstlight.results.description import Better

TOOL = "ReFrame"
_PARAMETER = re.compile(r" %(?P<name>[\w.]+)=(?P<value>\S+)")
_TIMES = ("s", "ms", "us", "ns", "sec", "seconds", "min", "h")
Performance = tuple[float | None, float | None, float | None, float | None, str | None, str]


class _Session(msgspec.Struct):
    version: str
    hostname: str = ""
    started: float | None = msgspec.field(name="time_start_unix", default=None)
    ended: float | None = msgspec.field(name="time_end_unix", default=None)


class _Test(msgspec.Struct):
    name: str
    system: str
    partition: str | None
    environ: str | None
    result: Literal["pass", "fail", "skip", "abort", "xfail", "xpass"]
    fail_reason: str | None = None
    job_submit_time: float | None = None
    num_tasks: int | None = None
    perfvalues: dict[str, Performance] | None = None


class _Run(msgspec.Struct):
    testcases: list[_Test]


class _Document(msgspec.Struct):
    session_info: _Session
    runs: list[_Run]


def matches(source: Source) -> bool:
    return isinstance(source.document, dict) and "session_info" in source.document


def read(source: Source) -> Results:
    """Return a case for each test; repetitions of a test are its executions."""
    try:
        document = msgspec.convert(source.document, _Document)
    except msgspec.ValidationError as error:
        raise UnreadableError(str(error)) from None
    session = document.session_info
    quantities: dict[str, Quantity] = {}
    tests = [test for run in document.runs for test in run.testcases]
    cases = [case for test in tests if (case := _case(test, quantities)).executions[0].values]
    notes = tuple(f"{test.name[:80]}: {_told(test)}, and contains no figure" for test in tests if not test.perfvalues)
    return Results(TOOL, session.version, quantities, tuple(cases), session.hostname, _time(session.started), notes)


def _case(test: _Test, quantities: dict[str, Quantity]) -> Case:
    parameters: dict[str, Value] = {slug(p["name"]): p["value"] for p in _PARAMETER.finditer(test.name)}
    parameters |= {k: v for k, v in _where(test) if v}
    values = {}
    for key, (value, reference, low, high, unit, _) in (test.perfvalues or {}).items():
        if value is None:
            continue
        name = slug(key.rpartition(":")[2])
        plausible(value, what=f"{key[:80]} of {test.name[:80]}")
        quantity = Quantity(_unit(unit), _better(reference, low, high, _unit(unit)))
        if quantities.setdefault(name, quantity) != quantity:
            name = slug(f"{name}_{quantity.unit}_{quantity.better}")
            quantities.setdefault(name, quantity)
        values[name] = value
    failed = "" if test.result in ("pass", "xfail") else f"{TOOL} reports {_told(test)}"
    began = _time(test.job_submit_time)
    return Case(_PARAMETER.sub("", test.name), parameters, (Execution(values, failed, began=began),))


def _where(test: _Test) -> Iterator[tuple[str, Value]]:
    yield "system", ":".join(filter(None, (test.system, test.partition)))
    yield "environment", test.environ or ""
    yield "processes", test.num_tasks or 0


def _told(test: _Test) -> str:
    """Return the result of a test, as ReFrame calls it, with the first line of its reason."""
    reason = (test.fail_reason or "").strip().splitlines()
    return test.result + (f": {reason[0][:200]}" if reason else "")


def _unit(unit: str | None) -> str:
    return (unit or "").strip()[:32]


def _better(reference: float | None, low: float | None, high: float | None, unit: str) -> Better:
    """Return the direction of a figure: away from its only threshold, else lower for times and higher for the rest."""
    if reference is not None and (low is None) != (high is None):
        return "higher" if high is None else "lower"
    return "lower" if unit in _TIMES else "higher"


def _time(seconds: float | None) -> float | None:
    return None if seconds is None else plausible(seconds, what="a time")
