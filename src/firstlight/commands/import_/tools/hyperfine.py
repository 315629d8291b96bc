"""hyperfine: the JSON that --export-json writes."""

from __future__ import annotations

from itertools import accumulate

import msgspec

from firstlight.commands.import_.fields import plausible, slug
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError

TOOL = "hyperfine"


class _Result(msgspec.Struct):
    command: str
    times: list[float]
    exit_codes: list[int | None] = []
    parameters: dict[str, str] = {}


class _Document(msgspec.Struct):
    results: list[_Result]


def matches(source: Source) -> bool:
    results = source.document.get("results") if isinstance(source.document, dict) else None
    return isinstance(results, list) and all(isinstance(r, dict) and "command" in r for r in results)


def read(source: Source) -> Results:
    """Return an execution for each time. They follow each other."""
    try:
        document = msgspec.convert(source.document, _Document)
    except msgspec.ValidationError as error:
        raise UnreadableError(str(error)) from None
    cases = [_case(k, result) for k, result in enumerate(document.results)]
    return Results(TOOL, "", {"time": Quantity("s", "lower")}, tuple(cases))


def _case(k: int, result: _Result) -> Case:
    where = f"$.results[{k}]"
    if not result.times:
        raise UnreadableError(f"{where}.times contains no execution time")
    if result.exit_codes and len(result.exit_codes) != len(result.times):
        raise UnreadableError(f"{where} has {len(result.times)} times but {len(result.exit_codes)} exit codes")
    times = [plausible(t, what=f"{where}.times[{n}]") for n, t in enumerate(result.times)]
    codes = result.exit_codes or [0] * len(times)
    began = accumulate(times, initial=0.0)
    executions = (
        Execution({"time": t}, _failure(code), after=b) for t, b, code in zip(times, began, codes, strict=False)
    )  # `began` has one more: the end
    typed = result.command
    for name, value in result.parameters.items():
        typed = typed.replace(value, f"{{{name}}}") if value else typed
    return Case(typed, {slug(n): _value(v) for n, v in result.parameters.items()}, tuple(executions), typed)


def _failure(code: int | None) -> str:
    if code == 0:
        return ""
    return f"{TOOL} reports that a signal killed the command" if code is None else f"{TOOL} reports exit status {code}"


def _value(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else text
