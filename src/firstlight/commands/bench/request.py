"""Read and check a bench request, from the command line or from `firstlight-bench.toml`."""

from __future__ import annotations

import math
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from firstlight.core import perf_events, reading
from firstlight.core.errors import UsageError
from firstlight.core.shell import line
from firstlight.model.catalogue import Value
from firstlight.model.catalogue.brought import THRESHOLD, variant_name
from firstlight.model.plan import settings
from firstlight.model.plan.arguments import value

FILE = "firstlight-bench.toml"
MOST = 1 << 20  # largest size of the file, in bytes
TIME, CPU, MEMORY = "time", "cpu_time", "peak_memory"
"""Figures that every program has."""
COUNTERS = tuple(perf_events.EVENTS)
"""Hardware counters of a program, where they can be read."""
SHARE = "mpi_share"
"""The share of their time that ranks spend in MPI, measured only with --mpi-share."""
FLOPS, BYTES, WORKING_SET = WORK = ("flops", "bytes", "working_set")
"""Amounts of work per execution: 64-bit operations, bytes from and to memory, bytes that a process has in use."""

Axis = Literal["mpi", "placement", "bind"]
AXES: tuple[Axis, ...] = get_args(Axis)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_NAMED = re.compile(r"[a-z][a-z0-9_]{0,63}")


class FigureRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that a program prints: the last match of `pattern`, its first group if it has one."""

    pattern: str
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that a program writes, and the reference that it must equal; `tolerance`: relative, of its numbers."""

    file: str
    reference: str
    tolerance: Annotated[float, msgspec.Meta(ge=0)] | None = None


class BenchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bench request, with the keys of `firstlight-bench.toml`. `commands` by name, as typed in a shell.

    `mpi_share`: whether one more execution per launch measures the share of time in MPI. `work`: what an execution
    does, by FLOPS, BYTES and WORKING_SET, as sums and products of numbers and placeholders. `placements`, `mpis` and
    `toolchains` are patterns as in `./fl run`. Without `verify_status` the exit status is ignored.
    `threshold`: the smallest difference that matters, as a share.
    """

    commands: dict[str, str]
    name: str = "bench"
    title: str = ""
    vary: tuple[Axis, ...] = ()
    sweep: dict[str, list[Value]] = {}
    placements: tuple[str, ...] = ()
    mpis: tuple[str, ...] = ()
    build: str = ""
    toolchains: tuple[str, ...] = ()
    figures: dict[str, FigureRule] = {}
    work: dict[str, str] = {}
    mpi_share: bool = False
    prepare: str = ""
    warmup: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    environment: dict[str, str] = {}
    check: str = ""
    expect: str = ""
    output: Output | None = None
    verify_status: bool = True
    timeout: str = ""
    budget: str = ""
    launches: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0, lt=1)] = THRESHOLD

    @property
    def verified(self) -> str:
        """Return in words what verifies an execution, "" if nothing does."""
        parts = ["its check command"] if self.check else []
        if self.output is not None:
            tolerance = self.output.tolerance
            how = "identical to" if tolerance is None else f"within a relative {tolerance:g} of"
            parts.append(f"its output file ({how} the reference)")
        parts += ["the required text in its output"] if self.expect else []
        if parts:
            return " and ".join(parts)
        return "its exit status only (its results were not checked)" if self.verify_status else ""


def read(path: Path) -> BenchRequest:
    """Return the request in a `firstlight-bench.toml`. Raises UsageError naming the file and the key."""
    try:
        return sound(reading.toml(reading.plain(path, MOST), BenchRequest))
    except (reading.MalformedError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: {why}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def sound(request: BenchRequest) -> BenchRequest:
    """Return the request itself if it is valid. Raises UsageError if not."""
    if not request.commands:
        raise UsageError(f"no command: ./fl bench -- ./program, or {FILE} with [commands]")
    for name in request.commands:
        if variant_name(name) != name:
            better = variant_name(name)
            raise UsageError(f"commands.{name}: use lower-case letters, digits and underscores, such as {better}")
        _split(name, request.commands[name])
        if why := _needs_a_shell(name, request.commands[name]):
            raise UsageError(why)
    if "\\u0000" in msgspec.json.encode(request).decode():
        raise UsageError("the character with code 0 cannot be part of a command or of its input")
    if request.output is not None and not math.isfinite(request.output.tolerance or 0.0):
        raise UsageError(f"output.tolerance = {request.output.tolerance}: use a finite number")
    if not _NAMED.fullmatch(request.name):
        raise UsageError(f"name = {request.name!r}: use lower-case letters, digits and underscores, a letter first")
    for name in (*request.sweep, *request.figures):
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a name of a sweep or figure: use lower-case letters, digits and underscores"
            )
    for name in request.sweep:
        if not request.sweep[name]:
            raise UsageError(f"the sweep {name} has no values")
    if unknown := [name for name in request.work if name not in WORK]:
        raise UsageError(f"--work {unknown[0]}: possible names are {', '.join(WORK)}")
    for name, figure in request.figures.items():
        if name in (TIME, CPU, MEMORY, SHARE, *COUNTERS):
            raise UsageError(f"firstlight always measures the figure {name}; rename yours")
        try:
            re.compile(figure.pattern)
        except re.error as error:
            raise UsageError(f"the figure {name}: {figure.pattern!r} is not a regular expression: {error}") from None
    return request


_QUOTED = re.compile(r"""\\.|\$[{'"]|\{\w+\}|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
"""Quoted parts and placeholders; `${`, `$'` and `$"` are matched first and stay visible."""
_EXPANSION = r"`|\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!({-])"
_EXPANDED = re.compile(rf"\\[^\n]|({_EXPANSION}|\\\n)")
_OPERATOR = re.compile(r"\|\|?|&&?|[0-9]?(?:<<?|>>?)(?:&[0-9-]?)?|`")
_PATTERN = r"(?<![^\s=])~/?|[*?]|\[(?=[^\s\[\]/]+\])|\{(?=[^\s{},]*,[^\s{}]*\}|[^\s{}.]+\.\.[^\s{}]+\})"
_SHELL = re.compile(rf"{_OPERATOR.pattern}|[;()\n]|{_EXPANSION}|\$['\"]|{_PATTERN}|(?<!\S)#")


def _needs_a_shell(name: str, command: str) -> str:
    """Return why the command requires a shell, "" if it does not."""
    bare = _SHELL.search(_QUOTED.sub(_hide, command).strip())
    if bare is None:
        return ""
    shown = "a newline" if bare[0] == "\n" else bare[0]
    return (
        f"the command {name}: {shown} requires a shell, but commands run without one; write -- {_in_a_shell(command)}"
    )


def _hide(quoted: re.Match[str]) -> str:
    """Return only what a shell expands in a part that _QUOTED matches, between neutral characters."""
    text = quoted[0]
    if text[0] == "$":
        return text
    return f"%{''.join(_EXPANDED.findall(text))}%" if text[0] in '\\"' else "%"


def _in_a_shell(command: str) -> str:
    return f"sh -c {line([command])}" if len(command) <= _SHOWN else "sh -c 'COMMAND'"


def for_a_shell(word: str) -> str:
    """Return how a shell would start a word with syntax of the shell; "" if it has none."""
    return f"to use a shell: -- {_in_a_shell(word)}" if _SHELL.search(word) else ""


_SHOWN = 200  # characters; a longer command is not shown


def quoted_operators(request: BenchRequest) -> Iterator[tuple[str, str]]:
    """Yield command words that consist only of a shell operator; only find accepts such words."""
    for name in request.commands:
        found = [word for word in words(request, name) if _OPERATOR.fullmatch(word)]
        yield from ((name, word) for word in found[:1])


def words(request: BenchRequest, name: str) -> list[str]:
    return _split(name, request.commands[name])


def started(request: BenchRequest) -> Iterator[tuple[str, str]]:
    """Yield every command line that a request starts, with its kind or name."""
    for what in ("build", "prepare", "check"):
        if text := getattr(request, what):
            yield what, text
    yield from request.commands.items()


def _split(name: str, command: str) -> list[str]:
    try:
        found = shlex.split(_QUOTED.sub(_unescaped, command))
    except ValueError as error:
        raise UsageError(f"{f'the command {name}' if name else 'a command'}: {error} in {command!r}") from None
    if not found or not found[0]:
        raise UsageError(f"the command {name} is empty" if name else "a command is empty")
    return found


def _unescaped(quoted: re.Match[str]) -> str:
    """Remove the backslashes that shlex, unlike a shell, keeps before $ and ` in double quotes."""
    text = quoted[0]
    return re.sub(r"\\(.)", lambda m: m[1] if m[1] in "$`" else m[0], text) if text[0] == '"' else text


def commands(typed: Sequence[str]) -> dict[str, str]:
    """Return the commands after `--`, which `--` separates, by names made of their programs.

    One word with blanks or newlines in it is a whole command, as in `-- './a -n 5' -- './b -n 5'`.
    """
    groups: list[list[str]] = [[]]
    for word in typed:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    if not all(groups):
        raise UsageError("an empty command between two `--`; write ./fl bench -- ./a -- ./b")
    texts = [g[0] if len(g) == 1 and re.search(r"[ \n]", g[0]) else shlex.join(g) for g in groups]
    names = _names([_with_words_of_shell(_split("", text)) for text in texts])
    return dict(zip(names, texts, strict=True))


def _names(some: Sequence[Sequence[str]]) -> list[str]:
    """Return each command's program name; commands of the same program also get the first word in which they differ."""
    plain = [variant_name(Path(_program(words)).name) for words in some]
    found: list[str] = []
    for k, words in enumerate(some):
        name = plain[k]
        if plain.count(name) > 1:
            others = [o for j, o in enumerate(some) if j != k and plain[j] == name]
            own = next((w for i, w in enumerate(words) if all(i >= len(o) or o[i] != w for o in others)), "")
            name = variant_name(f"{name}_{own}") if own else name
        base, number = name[:50], k
        while name in found:
            number += 1
            name = variant_name(f"{base}_{number}")
        found.append(name)
    return found


_WRAPPERS = ("chrt", "env", "ionice", "nice", "nohup", "numactl", "setarch", "stdbuf", "taskset", "time", "timeout")
"""Programs that start the program that their further words name."""
_BUILT_IN = ("cd", "ulimit", "umask")
"""Commands of a shell that some systems also have on PATH."""


def _starts_shell(words: Sequence[str]) -> bool:
    """Return whether the words begin with a shell and -c."""
    shell = re.fullmatch(r"(ba|da|k|z)?sh", Path(words[0]).name)
    return bool(shell and len(words) > 2 and re.fullmatch(r"-[a-z]*c", words[1]))


def _with_words_of_shell(words: list[str]) -> list[str]:
    """Return the words of a command, those of the text in `sh -c TEXT` one by one."""
    k = next((k for k in range(len(words)) if _starts_shell(words[k:])), None)
    if k is None:
        return words
    text = shlex.shlex(words[k + 2], posix=True, punctuation_chars=True)
    text.whitespace_split = True
    try:
        return [*words[: k + 2], *text, *words[k + 3 :]]
    except ValueError:
        return words


def _program(words: Sequence[str]) -> str:
    """Return the word that names the program: the one after a launcher or wrapper, or an interpreter's script."""
    rest = list(words)
    if launcher_words(rest):
        rest = rest[launcher_words(rest) :] or rest
    if Path(rest[0]).name in _WRAPPERS or _starts_shell(rest):
        for k, word in enumerate(rest[1:], 1):
            # A build may make the program later.
            if word.startswith("./") or (shutil.which(word) and word not in _BUILT_IN):
                return _program(rest[k:])
    if re.fullmatch(r"(python|perl|bash|sh|ruby|julia)[\d.]*", Path(rest[0]).name):
        return next((w for w in rest[1:] if not w.startswith("-")), rest[0])
    return rest[0]


def launcher_words(words: Sequence[str]) -> int:
    """Return the number of leading words `mpiexec -n N` that firstlight's own launching can replace, or 0."""
    plain = len(words) > 3 and Path(words[0]).name in ("mpiexec", "mpirun") and words[1] in ("-n", "-np")
    return 3 if plain and not words[3].startswith("-") else 0


def axes(text: str) -> tuple[Axis, ...]:
    """Parse a list such as `mpi,bind`. Raises UsageError for an unknown axis."""
    found = [word.strip() for word in text.split(",")]
    for word in found:
        if word not in AXES:
            hint = "; to vary toolchains, use --build with {cxx}" if word == "toolchain" else ""
            raise UsageError(f"--vary {word}: --vary accepts {', '.join(AXES)}{hint}")
    return tuple(axis for axis in AXES if axis in found)


def output(text: str, tolerance: float | None) -> Output:
    """Parse `FILE=REFERENCE`. Raises UsageError for anything else."""
    file, equal, reference = text.partition("=")
    if not equal or not file or not reference:
        raise UsageError(f"--like {text!r}: write FILE=REFERENCE, as in {{out}}=expected.txt")
    return Output(file, reference, tolerance)


def work(texts: Sequence[str]) -> dict[str, str]:
    """Parse texts such as `flops=2*{n}`. Raises UsageError for one without `=`."""
    found = dict(text.split("=", 1) for text in texts if "=" in text)
    if wrong := [text for text in texts if "=" not in text]:
        raise UsageError(f"--work {wrong[0]!r}: write NAME=AMOUNT, as in flops=2*{{n}}")
    return found


def sweep(texts: Sequence[str]) -> dict[str, list[Value]]:
    """Parse `n=1000,2000` texts; values stay as typed. Raises UsageError."""
    _, parsed = settings.parse([t if "=" in t else f"{t}=" for t in texts])
    return {s.name: [value(text) for text in dict.fromkeys(s.values)] for s in parsed}


def figures(texts: Sequence[str], units: Sequence[str], lower: Sequence[str]) -> dict[str, FigureRule]:
    """Parse `NAME=REGEX` texts, with the units in their order. `lower`: names of which lower values are better."""
    found: dict[str, FigureRule] = {}
    if len(units) > len(texts):
        raise UsageError("there are more --unit than --figure options; each --unit applies to the preceding --figure")
    for k, text in enumerate(texts):
        name, equal, pattern = text.partition("=")
        if not equal or not pattern:
            raise UsageError(f"--figure {text!r}: write NAME=REGEX, as in 'rate=rate: ([0-9.]+)'")
        if name in found:
            raise UsageError(f"--figure {name} occurs twice; use a different name for each figure")
        unit = units[k] if k < len(units) else ""
        found[name] = FigureRule(pattern, unit, "lower" if name in lower else "higher")
    if unknown := [name for name in lower if name not in found]:
        raise UsageError(f"--lower {unknown[0]}: no --figure has this name")
    return found


def variables(texts: Sequence[str], mine: Mapping[str, str]) -> dict[str, str]:
    """Parse `NAME=VALUE` texts; `NAME` alone has its value in `mine`. Raises UsageError for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        name, equal, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise UsageError(f"--env {text!r}: write NAME=VALUE, or NAME alone to pass your current value")
        if not equal and name not in mine:
            raise UsageError(f"--env {name}: your environment has no such variable; set a value: {name}=...")
        found[name] = value if equal else mine[name]
    return found
