"""The observer's own program: its arguments, the executions of one launch, and the lines that it writes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import IO, Any, NamedTuple

from .checks import OUT, Checked, check, figures, written
from .execution import Executed, Files, clear, execute, files, last_line, peak_memory, printed, settled, shell

PROTOCOL = 1
STEPS = ("instructions", "cycles")
"""Counters that programs of firstlight report, too."""
FAILED, COULD_NOT = 1, 3
_EXACT = 2**53  # every reader of JSON reads integers below this exactly


class Asked(NamedTuple):
    """The command line. `launcher`: words before the external command's own."""

    parameters: dict[str, int | float | str]
    options: dict[str, str]
    launcher: list[str]

    def number(self, name: str, default: float) -> float:
        return float(self.options.get(name, default))


class RefusedError(Exception):
    """The external command cannot be run here: one line."""


def main(words: Sequence[str]) -> int:
    asked = parse(words)
    external = json.loads(asked.options["external"])
    name = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    with open(asked.options.get("output", "/dev/stdout"), "a", encoding="utf-8") as output:  # noqa: PTH123
        try:
            os.chdir(external["folder"])
            return observe(asked, external, output)
        except RefusedError as error:
            print(f"{name}: {error}", file=sys.stderr)
        except OSError as error:
            print(f"{name}: {error.filename or external['command'][0]}: {error.strerror}", file=sys.stderr)
    return COULD_NOT


def parse(words: Sequence[str]) -> Asked:
    """Parse `name=value` parameters of the case, `--name value` options and, after `--`, the words of the launcher.

    An external command that is too long for one word is split into several.
    """
    parameters: dict[str, int | float | str] = {}
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            break
        if word.startswith("--"):
            options[word[2:]] = options.get(word[2:], "") + next(rest) if word == "--external" else next(rest)
        else:
            name, _, text = word.partition("=")
            parameters[name] = value(text)
    return Asked(parameters, options, list(rest))


def value(text: str) -> int | float | str:
    """Return the number if it is printed exactly so, else the text: `01`, `1e3` and `nan` stay as typed."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text and text[-1].isdigit() and abs(number) < _EXACT:
            return number
    return text


def observe(asked: Asked, external: dict[str, Any], output: IO[str]) -> int:
    """Run all executions of a launch. Return the status of a program of firstlight: 1 if a check failed."""
    folder = f"{os.environ.get('TMPDIR', '/tmp')}/external-{os.getpid()}"
    os.mkdir(folder, 0o700)  # noqa: PTH102
    try:
        return _observed(asked, external, output, folder)
    finally:
        clear(Files(folder, os.devnull, os.devnull))


def _observed(asked: Asked, external: dict[str, Any], output: IO[str], folder: str) -> int:
    wanted = bool(external["figures"] or external["expect"])
    where = files(folder, any(OUT in word for word in external["command"]), wanted)
    command = asked.launcher + [word.replace(OUT, where.out) for word in external["command"]]
    environment = {n: v.replace(OUT, where.out) for n, v in os.environ.items()}
    _begin(asked, external, output)
    for _ in range(external["warmup"]):
        _prepare(external, where, environment)
        execute(command, environment, where)
    beside = _recorded(external, command, environment, where, folder) if external["recorder"] else {}
    counters = _counters(external)
    counted: dict[str, float] = {}
    failed: Checked | None = None
    last: list[Checked] = []
    most, seconds, began = asked.number("samples", 1), asked.number("case-seconds", 0), time.monotonic()
    index = 0
    while failed is None and index < most and (index == 0 or time.monotonic() - began < seconds):
        _prepare(external, where, environment)
        before = _state(external, where)
        done, counted = counters(lambda: _metered(asked, output, lambda: execute(command, environment, where)))
        values, last = figures(external["figures"], where)
        last = check(external, done, where, environment, before) + last
        failed = next((one for one in last if not one.ok), None)
        if index == 0 and failed is None and done.memory is None and done.wall < asked.number("case-seconds", 0):
            beside |= _memory(external, command, environment, where)
        _write(output, type="sample", case=0, sample=index, **_sample(done, beside | counted | values))
        index += 1
    if counted:
        _write(output, type="counters", case=0, steps=1, **{n: counted[n] for n in STEPS if n in counted})
    if last:  # one line: that which failed, or else the strongest
        one = failed or last[-1]
        _write(output, type="check", case=0, when="after", **one._asdict())
    _write(output, type="end", cases=1)
    return FAILED if failed is not None else 0


def _prepare(external: dict[str, Any], where: Files, environment: dict[str, str]) -> None:
    """Prepare an execution, outside of its time; remove what an earlier one left where it writes."""
    clear(where)
    if external["prepare"]:
        status = shell(external["prepare"].replace(OUT, where.out), environment, where)
        if status:
            message = last_line(printed(where.stderr), printed(where.stdout))
            raise RefusedError(
                f"the --prepare command ended with status {status}" + (f": {message}" if message else "")
            )


def _metered(asked: Asked, output: IO[str], run: Callable[[], Executed]) -> Executed:
    """Run an execution and, if the launcher requests it, record its span with the counters of energy of this node.

    With several nodes there is none: the observer is on one of them.
    """
    given = asked.options.get("energy", "")
    if not given or asked.number("nodes", 1) > 1:
        return run()
    paths = [] if given == "times" else given.split(",")
    before, began = [_count(path) for path in paths], time.monotonic()
    done = run()
    ended, after = time.monotonic(), [_count(path) for path in paths]
    _write(output, type="span", case=0, began=began, ended=ended, wall=done.wall, before=[before], after=[after])
    return done


def _counters(external: dict[str, Any]) -> Callable[[Callable[[], Executed]], tuple[Executed, dict[str, float]]]:
    """Return a function that runs an execution and returns what its hardware counters counted; none are read if the
    external command names none.
    """
    if not external["counters"]:
        return lambda run: (run(), {})
    core = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core")  # noqa: PTH100, PTH118, PTH120
    sys.path.append(core)
    perf_events = import_module("perf_events")  # only here: its import is slower than all of this
    sys.path.remove(core)
    return partial(perf_events.counting, external["counters"])


def _count(path: str) -> int | None:
    """Return the whole number that a counter's file begins with; None if there is none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            words = file.read(64).split()
    except OSError:
        return None
    return int(words[0]) if words and words[0].isdigit() and len(words[0]) < 19 else None


def _state(external: dict[str, Any], where: Files) -> tuple[int, ...] | None:
    """Return the state of the file that the execution must write; None if it does not exist, or is the output."""
    file = written(external["like"], where) if external["like"] else where.stdout
    return None if file == where.stdout else settled(file)


def _recorded(
    external: dict[str, Any], command: list[str], environment: dict[str, str], where: Files, folder: str
) -> dict[str, float]:
    """Execute once with the recorder, untimed because it adds time, and return the share of the ranks' time in MPI.

    The share is that of all ranks together; the result is empty if no rank reported.
    """
    notes = f"{folder}/recorded"
    os.mkdir(notes)  # noqa: PTH102
    _prepare(external, where, environment)
    execute(command, {**environment, "LD_PRELOAD": external["recorder"], "FIRSTLIGHT_PROFILE": notes}, where)
    inside = whole = 0.0
    for name in os.listdir(notes):  # noqa: PTH208
        with open(f"{notes}/{name}", encoding="utf-8") as file:  # noqa: PTH123
            rank = json.load(file)
        whole += rank["seconds"]
        inside += sum(seconds for phase in rank["phases"] for _, _, _, seconds in phase["kinds"])
    return {"mpi_share": min(1.0, inside / whole)} if whole > 0 else {}


def _memory(
    external: dict[str, Any], command: list[str], environment: dict[str, str], where: Files
) -> dict[str, float]:
    """Execute a short external command that is smaller than the observer once more, untimed, for its peak memory."""
    _prepare(external, where, environment)
    memory = peak_memory(command, environment, where)
    return {} if memory is None else {"peak_memory": memory}


def _begin(asked: Asked, external: dict[str, Any], output: IO[str]) -> None:
    ranks, nodes = int(asked.number("ranks", 1)), int(asked.number("nodes", 1))
    workload, _, variant = asked.options["program"].partition(".")
    mine = {"rank": 0, "cpus": sorted(os.sched_getaffinity(0)), "node": 0}
    _write(
        output,
        type="launch",
        protocol=PROTOCOL,
        workload=workload,
        variant=variant,
        compiler="",
        flags="",
        mpi="",
        ranks=ranks,
        nodes=nodes,
        binding=[] if asked.launcher or ranks > 1 else [mine],  # what a launcher binds only its ranks know
        counters=" ".join(external["counters"]) or "not available for this command",
        clock=time.get_clock_info("monotonic").resolution,
    )
    threads = int(asked.number("threads", 1))
    cost = {"executions": 1.0, **external["cost"]}
    case = {
        "parameters": asked.parameters,
        "threads": threads,
        "cost": cost,
        "working_set": external["working_set"],
        "steps": 1,
    }
    _write(output, type="case", case=0, **case)


def _sample(done: Executed, observed: dict[str, float]) -> dict[str, Any]:
    values = {"cpu_time": done.cpu, **observed, **({} if done.memory is None else {"peak_memory": done.memory})}
    return {
        "wall": done.wall,
        "wall_min": done.wall,
        "wall_median": done.wall,
        "cpu": done.undisturbed,
        "values": {name: (v, v, v) for name, v in values.items()},
    }


def _write(output: IO[str], **line: Any) -> None:
    """Write a whole line and flush it: what was measured before a kill is there."""
    output.write(json.dumps(line, separators=(",", ":")) + "\n")
    output.flush()
