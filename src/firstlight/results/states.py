"""The states of a run."""

from __future__ import annotations

from typing import Literal

RunState = Literal["running", "complete", "budget", "interrupted", "changed"]
"""How a run ended. `changed`: a user's program was replaced while it was measured."""

UNFINISHED = frozenset({"running", "interrupted", "changed"})
"""The states of runs in which only part of what was planned was measured, not for lack of budget."""
