"""The command line: its commands are the files and folders of `commands`, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from types import ModuleType

import click

from firstlight import INSTALLED, ROOT, __version__, whole
from firstlight.commands.shared.groups import Group
from firstlight.core import caller
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, OK, USAGE, FirstlightError
from firstlight.core.shell import as_typed

FOLDER = Path(__file__).parents[1]
SECTIONS = ("Measure", "Read", "Trust", "Predict", "Improve")
"""Headings of the help, in this order; each command names its own as `SECTION`."""


def _names() -> Iterator[str]:
    """Yield the names of commands: a file `NAME.py` or a folder `NAME` with a `command.py` defines `command`.

    A name that Python reserves has an underscore at its end: `import_`.

    A folder with a `subcommand.py` instead adds its command `NAME` to the command `GROUP`.
    """
    for path in FOLDER.iterdir():
        if (path / "command.py").exists() or (path.suffix == ".py" and path.stem != "__init__"):
            yield path.stem.removesuffix("_")


COMMANDS = tuple(sorted(_names()))
HELP = ["-h", "--help"]
COMPLETE = "_FIRSTLIGHT_COMPLETE"
"""The variable in which a completion script requests completions."""
BROKEN_PIPE = 141  # what a shell reports of a program whose reader went away

EPILOG = """\b
Exit status:
  0    done
  1    a regression, a failed verification, or a defect found by `check`
  2    wrong usage
  3    the programs cannot be built, or this system cannot run the command
  4    inconclusive
  130  interrupted
"""


def _module(name: str) -> ModuleType:
    own = f"{name}_" if iskeyword(name) else name
    folder = f"firstlight.commands.{own}"
    return import_module(f"{folder}.command" if (FOLDER / own).is_dir() else folder)


def _subcommands() -> list[ModuleType]:
    folders = sorted(path.parent.name for path in FOLDER.glob("*/subcommand.py"))
    return [import_module(f"firstlight.commands.{folder}.subcommand") for folder in folders]


def modules() -> dict[str, ModuleType]:
    """Return the modules of all commands and subcommands by their names, `report` or `tune loop`."""
    return {name: _module(name) for name in COMMANDS} | {f"{m.GROUP} {m.NAME}": m for m in _subcommands()}


class ReaderGoneError(Exception):
    """The reader of our output closed it, as in `./fl figures | head`."""


class HelpFormatter(click.HelpFormatter):
    """Write help with hints that work as typed."""

    def write_text(self, text: str) -> None:
        super().write_text(as_typed(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, as_typed(text)) for name, text in rows], col_max, col_spacing)


class Context(click.Context):
    """The context of each command."""

    formatter_class = HelpFormatter


class LazyGroup(Group):
    """Import a command when it is called, or when the help lists all commands."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = _module(cmd_name).command
        assert isinstance(command, click.Command)
        if isinstance(command, click.Group):
            for part in _subcommands():
                if cmd_name == part.GROUP:
                    command.add_command(part.command, part.NAME)
        for each in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            each.context_class = Context
        command.context_settings.setdefault("help_option_names", HELP)  # click keeps those of a command's first context
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a heading and the commands of each section."""
        width = formatter.width - 6 - max(map(len, COMMANDS))
        for section in SECTIONS:
            found = [(name, self.get_command(ctx, name)) for name in COMMANDS if section == _module(name).SECTION]
            rows = [(name, c.get_short_help_str(width)) for name, c in found if c]
            if section == "Trust" and not INSTALLED and Path(ctx.info_name or "").name == "fl":  # which runs the tests
                rows.append(("test", "Check firstlight itself on this machine."))
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except BrokenPipeError:
            raise ReaderGoneError from None  # click would end with status 1, which stands for a regression here

    def unknown(self, ctx: click.Context, name: str) -> click.UsageError:
        if name == "test" and INSTALLED:
            return click.UsageError("test requires a checkout: clone the repository and run fl test in its folder")
        if name == "test":
            return click.UsageError(f"the script {ROOT / 'fl'} runs the tests: {ROOT / 'fl'} test --help")
        return super().unknown(ctx, name)


@click.group(cls=LazyGroup, invoke_without_command=True, epilog=EPILOG, context_settings={"help_option_names": HELP})
@click.option("--site-file", metavar="FILE", help="Use this site file instead of the default one; see docs/site.md.")
@click.option(
    "--modules",
    metavar="WORDS",
    help="Load these environment modules first, such as gcc/13,cmake/3.27, or a toolchain of the site file; '' loads "
    "none.",
)
@click.option(
    "--launcher",
    metavar="WORDS",
    help="The launcher of MPI programs inside an allocation: srun, mpiexec, aprun, flux, jsrun, pals (default: the "
    "first that works). Your own command line is also possible, such as 'prun -n {ranks} -d {threads}'.",
)
@click.option(
    "--target",
    metavar="NAME",
    help="Build programs for another processor of the site file and run them under emulation: verified, not timed.",
)
@click.option("--name", metavar="TEXT", help="The name of this machine on pages (default: its salted number).")
@click.version_option(__version__, prog_name="firstlight", message="%(prog)s %(version)s")
@click.pass_context
def group(
    ctx: click.Context,
    site_file: str | None,
    modules: str | None,
    launcher: str | None,
    target: str | None,
    name: str | None,
) -> None:
    """Measure what this machine delivers to your code: verified, compared, predicted."""
    from firstlight.commands.shared import sites
    from firstlight.commands.shared.output import WITH_RESULTS, called
    from firstlight.core import shell

    given = {
        "--site-file": site_file, "--modules": modules, "--launcher": launcher, "--target": target, "--name": name,
    }  # fmt: skip
    options = tuple(word for option, value in given.items() if value is not None for word in (option, value))
    shell.calling(shell.Call(called(), options, None, WITH_RESULTS))
    sites.ask(site_file, modules, launcher, target, name)
    sites.refuse_target(ctx.invoked_subcommand or "")
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    elif ctx.invoked_subcommand != "doctor":  # which reports the error in the file
        ctx.default_map = sites.defaults(WITH_RESULTS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its documented status. Every error is one line on stderr."""
    caller.clean(os.environ)
    for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", *caller.SEARCHED):  # child processes inherit these
        if name in os.environ:
            os.environ[name] = whole(os.environ[name])
            if not os.environ[name]:  # an empty value of some of them means the current folder
                del os.environ[name]
    os.environ["PATH"] = os.environ.get("PATH") or os.defpath
    from firstlight.commands.shared import streams

    streams.prepare()
    status = call(list(sys.argv[1:] if arguments is None else arguments))
    streams.settle()
    sys.exit(status)


def call(arguments: list[str]) -> int:
    """Run one command and return its exit status. A command returns its status, or None for 0."""
    from firstlight.commands.shared.output import WITH_RESULTS, called
    from firstlight.core import shell

    before = shell.call()
    shell.calling(shell.Call(called(), with_results=WITH_RESULTS))
    try:
        return _call(arguments)
    finally:
        shell.calling(before)


def _call(arguments: list[str]) -> int:
    try:
        from firstlight.commands.shared import old_spellings, start
        from firstlight.commands.shared.output import called, readable

        start.prepare()
        readable(arguments)
        with_value = {name for option in group.params if not getattr(option, "is_flag", False) for name in option.opts}
        arguments = old_spellings.renewed(arguments, with_value)
        if INSTALLED:
            from firstlight.system import machine

            machine.check_folders(machine.cache_directory())
        status = group.main(arguments, called(), COMPLETE, standalone_mode=False)
        return status if isinstance(status, int) else OK
    except (ReaderGoneError, BrokenPipeError):
        from firstlight.commands.shared import streams

        streams.settle()
        return BROKEN_PIPE
    except click.exceptions.NoArgsIsHelpError as error:  # a group without its command: `./fl export`
        click.echo(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
        return _say(_usage(error), USAGE)
    except FirstlightError as error:
        return _say(str(error), error.code)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        return _say(_system(error), ENVIRONMENT)
    except Exception as error:
        return _say(_unexpected(error), ENVIRONMENT)


def _say(line: str, status: int) -> int:
    from firstlight.commands.shared.output import note

    note(line)
    return status


def _usage(error: click.ClickException) -> str:
    from firstlight.commands.shared.output import called

    context = getattr(error, "ctx", None)
    path = context.command_path if context else called()
    message = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.BadParameter) and isinstance(getattr(error.param, "type", None), click.IntRange):
        message = message.replace("is not a valid integer range", "is not a whole number")
    return f"{message}{'' if message.endswith('?') else ';'} `{path} --help` shows the options"


def _system(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    _show_traceback()
    return f"{where}{error.strerror or error}"


def _show_traceback() -> bool:
    if not os.environ.get("FIRSTLIGHT_DEBUG"):
        return False
    import traceback

    traceback.print_exc()
    return True


def _unexpected(error: Exception) -> str:
    """Describe a defect of firstlight itself in one line. Print its traceback, or write it to the file in that line."""
    first = f"internal error, {type(error).__name__}: {error}".splitlines()[0]
    if _show_traceback():
        return first
    import tempfile
    import traceback

    handle, name = tempfile.mkstemp(prefix="firstlight-", suffix=".txt")
    with os.fdopen(handle, "w") as file:
        traceback.print_exc(file=file)
    return f"{first}; the traceback is in {Path(name)}"
