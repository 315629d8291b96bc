"""Earlier spellings of the command line: each becomes the present one, with one line that shows it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from commands import Captured, call, here, needs
from firstlight.commands.shared import old_spellings
from firstlight.commands.shared.command_line import group
from firstlight.core.errors import OK, USAGE

BEFORE = ("--name", "--site-file")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("simulate allreduce --topology flat:4", "simulate collective allreduce --topology flat:4"),
        ("simulate --topology flat:4 bcast", "simulate collective --topology flat:4 bcast"),
        ("simulate some.goal --machine S=5", "simulate collective some.goal --network S=5"),
        ("simulate reduce --goal x.goal", "simulate collective reduce --goal --output x.goal"),
        ("simulate reduce --goal=x.goal", "simulate collective reduce --goal --output x.goal"),
        ("simulate -n 8 --pattern halo --html=x", "simulate pattern halo -n 8 --output=x"),
        ("simulate --pattern=halo --machine fitted", "simulate pattern halo --network fitted"),
        ("simulate --stages 'a=work:5|sum:8' --stages=b=work:6", "simulate stages 'a=work:5|sum:8' b=work:6"),
        ("simulate --validate", "simulate validate"),
        ("simulate --validate --json", "simulate validate --json"),
        ("simulate --validate=one --mpi x", "simulate validate one --mpi x"),
        ("simulate --mpi x --validate one", "simulate validate one --mpi x"),
        ("simulate --machines --json", "simulate networks --json"),
        ("--name simulate simulate --machines", "--name simulate simulate networks"),
        ("--name=x report one --compare two", "--name=x report one --against two"),
        ("project --machine hdr200 --html x", "project --network hdr200 --output x"),
        ("patterns --memory --html=x", "patterns --memory --output=x"),
        ("map a --out d --seconds 5 --hosts h", "map a --output d --budget 5 --node-names h"),
        ("map a --try -- b --out --machine c", "map a --try -- b --out --machine c"),
        ("tune collectives --from one", "tune collectives --run one"),
        ("schema --write d", "schema --output d"),
    ],
)  # fmt: skip
def test_an_earlier_spelling_becomes_the_present_one(old: str, new: str, capsys: Captured) -> None:
    assert old_spellings.renewed(shlex.split(old), BEFORE) == shlex.split(new)
    _, err = capsys.readouterr()
    assert err == (
        "" if old == new else f"firstlight: this spelling works until version 1.1; the new spelling is ./fl {new}\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        "simulate collective reduce --goal --output x",
        "simulate pattern halo -n 8",
        "simulate",
        "simulate --help",
        "simulate brodcast --topology flat:4",
        "simulate collectve allreduce",
        "history --machine any",
        "import x --machine here",
        "run --quick",
        "--help",
        "",
    ],
)
def test_a_present_spelling_stays_as_it_is(words: str, capsys: Captured) -> None:
    assert old_spellings.renewed(shlex.split(words), BEFORE) == shlex.split(words)
    assert capsys.readouterr().err == ""


def test_a_file_without_a_suffix_was_a_schedule(tmp_path: Path) -> None:
    file = tmp_path / "schedule"
    file.touch()
    assert old_spellings.renewed(["simulate", str(file)], BEFORE) == ["simulate", "collective", str(file)]


@pytest.mark.parametrize("name", sorted(filter(here, old_spellings._OPTIONS)))
def test_the_present_option_exists_and_the_earlier_one_does_not(name: str) -> None:
    context = click.Context(group)
    command = group.get_command(context, name)
    inside = command.commands.values() if isinstance(command, click.Group) else [command]
    known = {word for one in inside if one is not None for p in one.params for word in p.opts}
    for old, new in old_spellings._OPTIONS[name].items():
        assert new in known and old not in known, (old, new)


@needs("simulate")
def test_the_command_line_accepts_them(capsys: Captured) -> None:
    """The note is on stderr; the result and the exit status are those of the present spelling."""
    assert call(capsys, "simulate", "--machines")[:2] == call(capsys, "simulate", "networks")[:2]
    code, out, err = call(capsys, "simulate", "reduce", "--bytes", "8")
    assert (code, out) == (USAGE, "") and "the new spelling is ./fl simulate collective reduce --bytes 8\n" in err


def test_the_renamed_options_exist(result: Path, tmp_path: Path, capsys: Captured) -> None:
    code, _, err = call(capsys, "report", result.name, "--compare", result.name, "--output", str(tmp_path / "x.html"))
    assert code == OK and err.count("\n") == 1 and f"report {result.name} --against {result.name}" in err
