"""Batch: a run as one job of a cluster; each batch system's file says how to ask, tell and question it."""

from __future__ import annotations

from firstlight.system.batch.limits import SETUP, Limits, agree
from firstlight.system.batch.queue import choose, state, submit
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
    "state",
    "submit",
    "systems",
    "write",
]
