"""Commands called as a user types them, within this process."""

from __future__ import annotations

import pytest

from firstlight import cli

Captured = pytest.CaptureFixture[str]


def call(capsys: Captured, *words: str) -> tuple[int, str, str]:
    """The exit status, and what went to stdout and to stderr."""
    code = cli.call(list(words))
    done = capsys.readouterr()
    return code, done.out, done.err
