"""Fixtures for tests of native code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from network_tool import Tool, build


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    tool = Tool(build())
    yield tool
    tool.end()
