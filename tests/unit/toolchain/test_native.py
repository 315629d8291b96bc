"""Native programs: built once, and a terminal shows that the first call builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.toolchain import native


def made(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    result = cache / "result"
    result.write_text("program")
    monkeypatch.setattr(native, "_compile", lambda target, file, tree: result)
    return native.make("a-program", "a-program", ("network",), cache, lambda: "g++", building=native.announce)


@pytest.mark.parametrize("terminal", [True, False])
def test_only_the_first_call_shows_on_a_terminal_that_it_compiles(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    program = made(tmp_path, monkeypatch)
    assert program.read_text() == "program"
    shown = "compiling a-program; later calls use it again\n" if terminal else ""
    assert capsys.readouterr() == ("", shown)
    assert made(tmp_path, monkeypatch) == program
    assert capsys.readouterr() == ("", "")
