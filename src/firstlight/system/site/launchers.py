"""How MPI programs are started: by a launcher of a known name, or by the user's own command line."""

from __future__ import annotations

import re

from firstlight.core.errors import UsageError

NAMES = ("srun", "mpiexec", "aprun", "flux", "jsrun", "pals")
"""Names of launchers: mpiexec is that of the MPI library; the others are files of `starters`, and srun."""
PLACES = ("ranks", "nodes", "per_node", "threads")
"""The placeholders of a user's own command line, in braces."""


def is_template(text: str) -> bool:
    """Return whether the text is a command line: anything with a blank or a brace."""
    return bool(re.search(r"[\s{}]", text))


def template(text: str) -> tuple[str, ...]:
    """Split the command line into words. Raises UsageError if it lacks the number of ranks or has an unknown name in
    braces.
    """
    names = re.findall(r"\{([^{}]*)\}", text)
    odd = [name for name in names if name not in PLACES]
    if odd or text.count("{") != len(names) or text.count("}") != len(names):
        wrong = f"{{{odd[0]}}}" if odd else "a single brace"
        raise UsageError(f"{text!r}: {wrong} is unknown; possible fields are {', '.join(f'{{{p}}}' for p in PLACES)}")
    if "ranks" not in names and not {"nodes", "per_node"} <= set(names):
        raise UsageError(f"{text!r} does not set the number of ranks: add {{ranks}}, as in 'prun -n {{ranks}}'")
    return tuple(text.split())


def check(text: str) -> None:
    """Check a launcher. Raises UsageError if it is neither a known name nor a valid command line."""
    if is_template(text):
        template(text)
    elif text not in NAMES:
        raise UsageError(
            f"{text!r} is not a launcher: use one of {', '.join(NAMES)}, or a command line that contains {{ranks}}"
        )
