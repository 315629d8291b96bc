"""Neighbours: other firstlights that measure on this node at the same time; both report it, and neither waits.

Each binds one of a few names of abstract sockets: they need no folder, work between users, leave nothing behind, and
vanish with the process. A firstlight that finds a name in use connects to it, so its owner notices it too. A foreign
process that binds all names, or connects to them, only causes results to be marked as disturbed. Two things cannot be
seen: other containers (a network namespace of their own), and the other nodes of an allocation.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
from collections.abc import Iterator

from firstlight.core.errors import FirstlightError

NAMES = 8
"""Maximum number of firstlights that detect each other."""
BESIDE = "another firstlight process measured on this node at the same time and disturbed the figures"


class Neighbours:
    """Other firstlights here. `before`: process numbers of those that measured before this one, 0 if unknown."""

    def __init__(self, held: socket.socket | None, before: tuple[int, ...]) -> None:
        self.before = before
        self._held = held

    def since(self) -> tuple[int, ...]:
        """Return the processes of those that began since then, or since the last call."""
        found = []
        while self._held is not None:
            try:
                caller, _ = self._held.accept()
            except OSError:  # no process waits
                break
            with caller:
                found.append(_process(caller))
        return tuple(found)


@contextlib.contextmanager
def beside() -> Iterator[Neighbours]:
    """Make this firstlight visible to others on this node while the body runs.

    $FIRSTLIGHT_NEIGHBOURS names a group whose members see each other (tests do not see each other). Raises
    FirstlightError if the system has no abstract sockets.
    """
    group = os.environ.get("FIRSTLIGHT_NEIGHBOURS") or "firstlight"
    held: socket.socket | None = None
    before: list[int] = []
    with contextlib.ExitStack() as stack:
        for place in range(NAMES):
            name = f"\0{group[:64]}-{place}"
            one = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
            try:
                if held is None:
                    one.bind(name)
                    one.listen(64)
                    held = one
                    continue
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise FirstlightError(f"cannot detect other measurements on this node: {error.strerror}") from error
            with contextlib.suppress(ConnectionRefusedError):  # no process has that name
                before.append(_called(one, name))
        yield Neighbours(held, tuple(before))


def _called(one: socket.socket, name: str) -> int:
    """Return the process that has the name, 0 if it is busy. Raises ConnectionRefusedError if no process has it."""
    try:
        one.connect(name)
    except BlockingIOError:  # it has many callers: it is there
        return 0
    return _process(one)


def _process(peer: socket.socket) -> int:
    number, _, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(number)
