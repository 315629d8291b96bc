"""Commands that are offered are what a shell reads back, and no text does anything to a terminal, a page or a sheet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firstlight.core import shell
from firstlight.report.export.figures import _cell

HOSTILE = (
    "x; rm -rf ~", "$(id)", "`id`", "a b", "it's", 'say "no"', "one\ntwo", "tab\there", "\r", "-rf", "--results=/", "",
    "*", "~", "a\\b", "\x1b[2J", "\x9b31m", "\u202egnp", "é", "\udcff", "!!", "#", "x&&y", "'\n'",
)  # fmt: skip
"""Names of directories, including names that imitate something else."""


def read(line: str) -> list[bytes]:
    """Return the words of a line as bash reads them; for `./fl` those after it."""
    assert line.startswith("./fl ") and line.isprintable()
    script = f"fl() {{ printf '%s\\0' \"$@\"; }}; fl {line.removeprefix('./fl ')}"
    done = subprocess.run(["bash", "-c", os.fsencode(script)], capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_a_command_is_read_back_word_by_word() -> None:
    assert read(shell.command("report", *HOSTILE)) == [b"report", *map(os.fsencode, HOSTILE)]


def test_a_path_is_never_an_option() -> None:
    assert shell.command("report", Path("-rf")) == "./fl report ./-rf"
    assert shell.command("check", Path("results/one"), "--json") == "./fl check results/one --json"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_terminal_gets_text_only(text: str) -> None:
    shown = shell.printable(text)
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert shown == text or not all(c.isprintable() or c in "\n\t" for c in text)


def test_of_our_own_colours_nothing_is_left_where_there_is_none() -> None:
    line = "\x1b[31mred\x1b[0m \x1b[8mhidden \x1b[1;31m \x1b]0;title\x07"
    assert shell.printable(line, shell.COLOURS) == "\x1b[31mred\x1b[0m \\x1b[8mhidden \\x1b[1;31m \\x1b]0;title\\x07"
    assert "\x1b" not in shell.printable(line)


@given(
    st.recursive(st.text(st.characters(codec="utf-8")), lambda some: st.lists(some) | st.dictionaries(st.text(), some))
)
@example("\x7f\x9b\u202e\U000e0001\u2028")
def test_json_for_a_terminal_says_the_same(value: object) -> None:
    document = json.dumps(value, ensure_ascii=False, indent=1)
    shown = shell.json_text(document)
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert json.loads(shown) == json.loads(document)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "\\r=1"),
        ("-1.5e3", "-1.5e3"),
        ("+7", "+7"),
        ("a=b", "a=b"),
        (-1.5, -1.5),
        (None, None),
        ("\x1b[2J", "\\x1b[2J"),
    ],
)
def test_a_cell_of_a_sheet_is_no_formula(value: object, written: object) -> None:
    assert _cell(value) == written
