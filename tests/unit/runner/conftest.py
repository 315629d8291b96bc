"""Fixtures for tests of runs."""

from __future__ import annotations

import io

import pytest

from firstlight.runner.progress import Plain


@pytest.fixture
def progress() -> Plain:
    return Plain(io.StringIO())
