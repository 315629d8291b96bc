"""Batch: a run as one job of a cluster; each batch system has a file with its directives, commands and job states."""

from __future__ import annotations

from firstlight.system.batch.limits import SETUP, Limits, agree
from firstlight.system.batch.queue import choose, output, state, submit
from firstlight.system.batch.script import write
from firstlight.system.batch.system import JobRequest, State, System, Work, systems

__all__ = [
    "SETUP",
    "JobRequest",
    "Limits",
    "State",
    "System",
    "Work",
    "agree",
    "choose",
    "output",
    "state",
    "submit",
    "systems",
    "write",
]
