"""IOR: the JSON that -O summaryFormat=JSON writes."""

from __future__ import annotations

import msgspec

from firstlight.commands.import_.fields import moment, plausible
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value

TOOL = "IOR"
QUANTITIES = {"bandwidth": Quantity("MiB/s", "higher"), "operations": Quantity("1/s", "higher")}


class _Parameters(msgspec.Struct):
    api: str
    transfer: int = msgspec.field(name="transferSize")
    block: int = msgspec.field(name="blockSize")
    segments: int = msgspec.field(name="segmentCount")
    file_per_process: int = msgspec.field(name="filePerProc", default=0)


class _Options(msgspec.Struct):
    tasks: int
    nodes: int = 1


class _Result(msgspec.Struct):
    access: str
    bandwidth: float = msgspec.field(name="bwMiB")
    operations: float = msgspec.field(name="iops")


class _Test(msgspec.Struct):
    parameters: _Parameters = msgspec.field(name="Parameters")
    options: _Options = msgspec.field(name="Options")
    results: list[_Result] = msgspec.field(name="Results")
    start: str = msgspec.field(name="StartTime", default="")


class _Document(msgspec.Struct):
    version: str = msgspec.field(name="Version")
    tests: list[_Test]
    began: str = msgspec.field(name="Began", default="")
    machine: str = msgspec.field(name="Machine", default="")
    finished: str = msgspec.field(name="Finished", default="")


def matches(source: Source) -> bool:
    document = source.document
    return isinstance(document, dict) and "tests" in document and "Version" in document


def read(source: Source) -> Results:
    """Return a case for each access of each test; its repetitions are executions."""
    try:
        document = msgspec.convert(source.document, _Document)
    except msgspec.ValidationError as error:
        raise UnreadableError(str(error)) from None
    if not document.finished:
        raise UnreadableError("has no key Finished, so IOR did not end normally")
    cases = [case for k, test in enumerate(document.tests) for case in _cases(k, test)]
    date = moment(document.began) if document.began else None
    machine = document.machine.partition(" ")[2].strip()  # after the name of the system
    return Results(TOOL, document.version, QUANTITIES, tuple(cases), machine, date)


def _cases(k: int, test: _Test) -> list[Case]:
    p = test.parameters
    parameters: dict[str, Value] = {
        "api": p.api,
        "block": p.block,
        "transfer": p.transfer,
        "segments": p.segments,
        "processes": test.options.tasks,
        "nodes": test.options.nodes,
    }
    if p.file_per_process:
        parameters["file_per_process"] = p.file_per_process
    began = moment(test.start) if test.start else None
    found: dict[str, list[Execution]] = {}
    for n, one in enumerate(test.results):
        values = {name: float(getattr(one, name)) for name in QUANTITIES}
        for name, value in values.items():
            plausible(value, what=f"{name} of $.tests[{k}].Results[{n}]")
        found.setdefault(one.access, []).append(Execution(values, began=began))
    return [Case(access, parameters, tuple(some)) for access, some in found.items()]
