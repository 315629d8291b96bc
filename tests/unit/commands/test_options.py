"""The options of all commands: one name for one thing, --json and exit tables, --quiet and --verbose."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest

from bench import Bench
from commands import Captured, call
from firstlight.commands.shared.command_line import group
from firstlight.core.errors import OK, REGRESSION, USAGE
from firstlight.runner.progress import Progress, display


def every(command: click.Command = group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands that do something, with their names, `run` or `tune loop`."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for inner in command.list_commands(context):
        below = command.get_command(context, inner)
        assert below is not None
        yield from every(below, f"{name} {inner}".strip())


COMMANDS = dict(every())


def options(name: str) -> dict[str, click.Option]:
    """Return the options of a command by every spelling."""
    return {word: p for p in COMMANDS[name].params if isinstance(p, click.Option) for word in p.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_exit_table_and_examples(name: str, capsys: Captured) -> None:
    code, out, _ = call(capsys, *name.split(), "--help")
    assert code == OK
    assert "\n  Exit status:" in out and "\n  Example" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_one_name_for_one_thing(name: str) -> None:
    """A file or folder that a command writes is --output; `--FORMAT FILE` and a wheelhouse are further ones."""
    found = options(name)
    assert not {*found} & {"--html", "--out", "--write", "--machines", "--from", "--seconds", "--hosts", "--compare"}
    if "--output" in found:
        assert found["--output"] is found["-o"] and found["--output"].metavar in ("FILE", "DIR")
    for word in ("--network", "--topology"):
        assert word not in found or "network" in (found[word].help or "")
    for word in ("--run", "--against", "--resume", "--accept"):
        assert word not in found or found[word].is_flag or found[word].metavar == "RUN"
    assert "--machine" not in found or found["--machine"].metavar == "NAME"


WITHOUT_JSON = {"completion", "help", "schema", "export junit", "export reframe", "export hpcc"}
"""They print a script, text or a document of another format."""


def test_every_command_with_a_result_prints_json() -> None:
    assert {name for name in COMMANDS if "--json" not in options(name)} == WITHOUT_JSON


def test_quiet_prints_the_result_alone(bench: Bench, capsys: Captured) -> None:
    words = ("run", "dot.serial", "--toolchain", "*-base")
    code, out, err = call(capsys, *words, "--quiet")
    assert (code, err) == (OK, "") and "best figure" in out
    code, out, err = call(capsys, *words, "-q", "--json")
    assert (code, err) == (OK, "") and json.loads(out)["verified"] == 2


def test_quiet_silences_no_error(bench: Bench, capsys: Captured) -> None:
    code, _, err = call(capsys, "run", "dto", "-q")
    assert code == USAGE and "did you mean dot?" in err
    bench.misbehave("wrong", "kahan")
    assert call(capsys, "run", "-q")[0] == REGRESSION
    assert call(capsys, "run", "dot.serial")[2]  # the next command is not quiet


def test_quiet_and_verbose_exclude_each_other(bench: Bench, capsys: Captured) -> None:
    code, _, err = call(capsys, "run", "-q", "-v")
    assert code == USAGE and "--quiet and --verbose: choose one" in err and err.count("\n") == 1


def test_verbose_shows_programs_and_launches(bench: Bench, capsys: Captured) -> None:
    code, out, err = call(capsys, "run", "dot.serial", "--toolchain", "*-base", "-v")
    assert code == OK
    launches = [line for line in err.splitlines() if line.startswith("launch ")]
    assert launches and all(" n=100,1000 " in line and "dot.serial.gcc-base.1x1: " in line for line in launches)
    rows = out.partition("programs of the rows\n")[2]
    assert "dot.serial rate" in rows and "(gcc-base)" in rows
    assert "programs of the rows" in call(capsys, "report", "-v")[1]
    assert "programs of the rows" not in call(capsys, "report")[1]
    assert "programs of the rows" not in call(capsys, "report", "-v", "--json")[1]


def test_a_silent_display_shows_nothing(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    from firstlight.core import shell

    before = shell.call()
    shell.calling(before._replace(quiet=True))
    try:
        with display() as progress:
            assert type(progress) is Progress
            progress.state.enter("building")
            progress.update()
            progress.note("a line")
    finally:
        shell.calling(before)
    assert capsys.readouterr() == ("", "")
