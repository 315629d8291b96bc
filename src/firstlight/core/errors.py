"""Errors that end the program: one line with the cause and the next step, and a documented exit code."""

from __future__ import annotations

OK, REGRESSION, USAGE, ENVIRONMENT, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 4, 130


class FirstlightError(Exception):
    """Base: `str(error)` is the line the user reads; `code` is the exit code."""

    code = ENVIRONMENT


class UsageError(FirstlightError):
    code = USAGE


class BuildError(FirstlightError):
    """A compiler or an environment that cannot do what the user requests."""

    code = ENVIRONMENT


class RecordError(FirstlightError):
    """A results directory that is missing, truncated or of another schema."""

    code = USAGE
