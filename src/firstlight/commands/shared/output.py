"""Print JSON and text in the same way in every command, with hints that work as the user calls firstlight."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from firstlight import ROOT
from firstlight.core import shell
from firstlight.core.errors import UsageError
from firstlight.core.shell import COLOURS, as_typed, is_text, json_text, printable
from firstlight.core.units import parse_share

_Command = TypeVar("_Command", bound=Callable[..., object])


class FiniteRange(click.FloatRange):
    """A range of finite numbers: rejects `inf`, and `nan`, which no comparison excludes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is not a finite number", param, ctx)
        return found


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON; `./fl schema` prints its schema.")
WITH_RESULTS = frozenset(
    (
        "run", "bench", "import", "submit", "health", "figures", "export junit", "export hpcc", "compare", "history",
        "explain", "check", "sign", "report", "nodes", "profile", "simulate collective",
        "simulate pattern", "simulate stages", "simulate validate", "project", "tune collectives", "map",
    )
)  # fmt: skip
"""The commands that have `--results`."""


def _keep_results(context: click.Context, _: click.Parameter, value: Path) -> Path:
    """Keep the folder for hints if it is on the command line: the next command reads a site file's folder itself."""
    named = context.get_parameter_source("results") is click.core.ParameterSource.COMMANDLINE
    shell.calling(shell.call()._replace(results=value if named else None, runs=value))
    return value


def _results_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option `--results DIR`; `what`: its help."""
    return click.option(
        "--results",
        callback=_keep_results,
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("results"),
        show_default=True,
        metavar="DIR",
        help=what,
    )


def _keep_words(_: click.Context, option: click.Parameter, value: bool) -> bool:
    """Keep the flag for all later output. Raises UsageError for --quiet with --verbose."""
    now = shell.call()
    now = now._replace(quiet=value) if option.name == "quiet" else now._replace(verbose=value)
    if now.quiet and now.verbose:
        raise UsageError("--quiet and --verbose: choose one")
    shell.calling(now)
    return value


quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_keep_words,
    help="Print only the result and errors: no progress, no notes.",
)


def verbose(what: str) -> Callable[[_Command], _Command]:
    """Return the option `--verbose`; `what`: its help."""
    return click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_keep_words, help=what)


results_folder = _results_option("The folder of the runs.")
new_run_folder = _results_option("The folder in which to create the run's directory.")
smallest = click.option(
    "--threshold",
    callback=lambda _, __, value: parse_share(value, zero=True),
    default="5%",
    show_default=True,
    metavar="SHARE",
    help="The smallest difference that matters, for example 5% or 0.05.",
)


def to_write(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    """Check the folder of a file that an option names. Raises UsageError before the work starts."""
    return None if value is None else writable(value)


def output_file(what: str) -> Callable[[_Command], _Command]:
    """Return the option `--output FILE` of a command that writes a page or a document; `what`: its help."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("-o", "--output", type=kind, callback=to_write, metavar="FILE", help=what)


def output_folder(what: str) -> Callable[[_Command], _Command]:
    """Return the option `--output DIR` of a command that writes several files; `what`: its help."""
    kind = click.Path(path_type=Path, file_okay=False)
    return click.option("-o", "--output", type=kind, metavar="DIR", help=what)


def print_json(value: object) -> None:
    """Print an indented JSON document; file names that are not text contain escapes."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_text(msgspec.to_builtins(value)))
    echo_json(msgspec.json.format(data, indent=1).decode())


def _text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_text(name): _text(inside) for name, inside in value.items()}
    return [_text(inside) for inside in value] if isinstance(value, list | tuple) else value


def readable(words: Sequence[str]) -> None:
    """Raise UsageError if a word of the command line or a folder in use is not text: records are written in UTF-8."""
    named = [("the word", word) for word in words]
    named += [(name, os.environ.get(name, "")) for name in ("FIRSTLIGHT_CACHE", "FIRSTLIGHT_WORKLOADS")]
    named.append(("the folder of firstlight", str(ROOT)))
    with contextlib.suppress(OSError):  # where there is none, the user of it reports it
        named.append(("the current folder", str(Path.cwd())))
    for what, text in named:
        if not is_text(text):
            raise UsageError(
                f"{what} {_text(text)} is not valid UTF-8, which runs require; rename it or use another folder"
            )


def echo_json(document: str) -> None:
    """Print a JSON document, with escapes for unprintable characters, so that it cannot control a terminal."""
    click.echo(json_text(document))


def called() -> str:
    """Return how the user called this program: `./fl`, a path to it, an installed command, or the module itself.

    `fl` of a checkout sets FIRSTLIGHT_CALLED; without that variable, it is the program that Python was started with.
    """
    if name := os.environ.get("FIRSTLIGHT_CALLED"):
        return shlex.quote(name) if name.isprintable() else shell.Call().name
    start = Path(sys.argv[0])
    if start.name in ("firstlight", "fl"):
        return start.name if shutil.which(start.name) == sys.argv[0] else shlex.quote(sys.argv[0])
    return "python -m firstlight" if start.parts[-2:] == ("firstlight", "__main__.py") else shell.Call().name


def tell(text: str, *, err: bool = False) -> None:
    """Print text with hints that work as typed. Unprintable characters become escapes: none controls a terminal."""
    click.echo(printable(as_typed(text), COLOURS if colour() and not err else ()), err=err)


def note(text: str) -> None:
    """Print one line to stderr, apart from the result, also with --quiet: an error, or what the result lacks."""
    tell(f"firstlight: {text}", err=True)


def remark(text: str) -> None:
    """Print one line to stderr that a user can do without: --quiet drops it."""
    if not shell.call().quiet:
        note(text)


def writable(path: Path) -> Path:
    """Return `path` if its folder exists and is writable. Raises UsageError if not, before the work is done."""
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{path}: {folder} cannot be written")
    return path


def width(most: int = 120) -> int:
    """Return the columns of a text page: COLUMNS, else the terminal's, else 100; at least 40, at most `most`."""
    return min(most, max(40, shutil.get_terminal_size((100, 24)).columns))


def colour() -> bool:
    """Return whether to colour stdout: only a terminal, never with NO_COLOR or TERM=dumb. Colour is a second signal."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
