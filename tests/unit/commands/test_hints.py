"""Hints: every command that firstlight prints works as typed, from where and however it was called."""

from __future__ import annotations

import html as pages
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

import hints
from commands import SIDE, Captured, call, needs
from firstlight.commands.shared.command_line import group
from firstlight.commands.shared.output import WITH_RESULTS
from firstlight.core import shell
from firstlight.core.errors import OK, USAGE


def with_results(command: click.Command, name: str = "") -> set[str]:
    """Return the names of a command and of its subcommands that have `--results`."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        below = ((inner, command.get_command(context, inner)) for inner in command.list_commands(context))
        return {x for inner, one in below if one is not None for x in with_results(one, f"{name} {inner}".strip())}
    return {name} if any("--results" in p.opts for p in command.params) else set()


@needs(*SIDE)
def test_all_commands_that_have_a_results_folder_are_known() -> None:
    assert with_results(group) == WITH_RESULTS


READING = [
    ("report",), ("figures", "--failed"), ("figures",), ("check",), ("explain", "dot.serial", "rate"), ("history",),
    ("export", "junit"), ("sign",), ("report", "nothing-like-it"), ("figures", "--sideways"), ("list",),
    ("explain", "dot.nothing"), ("compare", "latest", "x"), ("patterns", "--sideways"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "typed"), [("results", "/opt/fl"), ("out", "./fl"), ("of mine/out", "/opt/first light/fl")]
)
def test_every_hint_of_a_run_works_as_typed(
    result: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, place: str, typed: str
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CALLED", typed)
    folder = Path(place)
    if place != "results":
        folder.parent.mkdir(exist_ok=True)
        shutil.move(result.parent, folder)
    known = WITH_RESULTS | {"list", "patterns"}
    seen = 0
    for words in READING:
        name = next((n for n in (words[0], " ".join(words[:2])) if n in known), "")
        given = ["--results", place] if name in WITH_RESULTS and place != "results" else []
        _, out, err = call(capsys, *words, *given)
        for hint in hints.commands(out + "\n" + err, typed):
            hints.resolve(hint)
            seen += 1
    page = (folder / result.name / "report.html").read_text(encoding="utf-8")
    codes = [pages.unescape(re.sub(r"<[^>]*>", "", code)) for code in re.findall(r"<code>(.*?)</code>", page, re.S)]
    some = [hint for code in codes for hint in hints.commands(code, typed)]
    assert some and seen >= 3
    for hint in some:
        hints.resolve(hint)


@pytest.mark.parametrize(
    ("call", "text", "expected"),
    [
        (shell.Call(), "see ./fl doctor", "see ./fl doctor"),
        (shell.Call("'/a b/fl'"), "see ./fl doctor.", "see '/a b/fl' doctor."),
        (shell.Call(options=("--site-file", "my site.toml")), "./fl run", "./fl --site-file 'my site.toml' run"),
        (shell.Call(results=Path("out")), "`./fl run` makes one", "`./fl run --results out` makes one"),
        (shell.Call(results=Path("out")), "./fl doctor tells", "./fl doctor tells"),
        (shell.Call(results=Path("a b")), "./fl check x; y", "./fl check --results 'a b' x; y"),
        (shell.Call(results=Path("o")), "./fl report o/x; ./fl sign x", "./fl report o/x; ./fl sign --results o x"),
        (shell.Call(results=Path("out")), "./fl run dot --results there", "./fl run dot --results there"),
        (shell.Call(results=Path("out")), "./fl export junit x", "./fl export junit --results out x"),
        (shell.Call(results=Path("out")), "./fl export reframe", "./fl export reframe"),
        (shell.Call(results=Path("out")), "./fl tune loop a.c", "./fl tune loop a.c"),
        (shell.Call(results=Path("o")), "./fl run x f=o/r/documents/y", "./fl run --results o x f=o/r/documents/y"),
        (shell.Call(results=Path("-o")), "./fl figures", "./fl figures --results ./-o"),
        (
            shell.Call(options=("--modules", "")),
            "./fl --modules gcc/13 run --resume x",
            "./fl --modules '' --modules gcc/13 run --resume x",
        ),
        (
            shell.Call(results=Path("out")),
            "./fl --modules gcc/13 run --resume x",
            "./fl --modules gcc/13 run --results out --resume x",
        ),
        (shell.Call("/opt/fl", results=Path("out")), "../fl run and a./fl", "../fl run and a./fl"),
    ],
)  # fmt: skip
def test_a_hint_has_the_name_the_options_and_the_folder(call: shell.Call, text: str, expected: str) -> None:
    shell.calling(call._replace(with_results=WITH_RESULTS))
    try:
        assert shell.as_typed(text) == expected
    finally:
        shell.calling(shell.Call())


def test_a_site_file_s_folder_is_no_part_of_a_hint(
    result: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next command also reads the folder from the site file; a hint names that file if the command line did."""
    monkeypatch.setenv("FIRSTLIGHT_SITE", "")
    shutil.move(result.parent, tmp_path / "site runs")
    site = tmp_path / "site.toml"
    site.write_text(f'results = "{tmp_path / "site runs"}"\n')
    code, _, err = call(capsys, "--site-file", str(site), "figures", "nothing")
    assert code == USAGE and "no run named" in err
    code, out, _ = call(capsys, "--site-file", str(site), "explain", "dot.serial", "rate")
    assert code == OK and f"./fl --site-file {site} run dot.serial" in out and "--results" not in out


def test_a_run_s_own_path_leads_hints_to_its_folder(result: Path, capsys: Captured) -> None:
    shutil.move(result.parent, "elsewhere")
    _, out, _ = call(capsys, "explain", "dot.serial", "rate", "--run", f"elsewhere/{result.name}")
    assert "./fl run --results elsewhere dot.serial" in out


@pytest.mark.parametrize("name", ["copy", "of mine"])
def test_hints_name_the_folder_of_a_copied_run(result: Path, capsys: Captured, name: str) -> None:
    shutil.move(result, result.with_name(name))
    page = Path("page.html")
    for words in (("report", name), ("figures", name), ("report", name, "--output", str(page))):
        code, out, err = call(capsys, *words)
        assert code == OK, err
        assert result.name not in out
    assert f"check {shlex.quote(name)}" in pages.unescape(page.read_text(encoding="utf-8"))
    assert result.name not in page.read_text(encoding="utf-8")


def test_check_names_the_run_that_report_seals(result: Path, capsys: Captured) -> None:
    shutil.move(result.parent, "elsewhere")
    (Path("elsewhere") / result.name / "SHA256SUMS").unlink()
    _, out, err = call(capsys, "check", "--results", "elsewhere", result.name)
    assert f"./fl report elsewhere/{result.name} seals the run" in out + err


def test_to_repeat_a_figure_changes_no_run(result: Path, capsys: Captured) -> None:
    """The command of the last launch writes to standard output, because its run is sealed."""
    _, out, _ = call(capsys, "explain", "dot.serial", "rate")
    repeat = out.partition("repeat it")[2]
    assert "dot.serial" in repeat and "--output" not in repeat and str(result) not in repeat
