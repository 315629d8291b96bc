"""Batch: a run as one job of a cluster. One file a batch system: how it is asked for nodes, told, and asked back."""

from __future__ import annotations

from firstlight.batch.limits import Limits, agree
from firstlight.batch.queue import choose, state, submit
from firstlight.batch.script import write
from firstlight.batch.system import Request, State, System, Work, systems

__all__ = [
    "Limits",
    "Request",
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
