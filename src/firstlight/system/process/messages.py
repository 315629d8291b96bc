"""Messages between firstlight and a keeper: JSON, one line each, over a socket that only these two have."""

from __future__ import annotations

import json
import select
import socket
from typing import Any

_PART = 65536


def send(to: socket.socket, message: dict[str, Any]) -> None:
    """Send a message. Raises OSError if the other side is gone."""
    to.sendall(json.dumps(message).encode() + b"\n")


class Reader:
    """The messages of the other side, one by one; None once it is gone."""

    def __init__(self, source: socket.socket) -> None:
        self._source = source
        self._held = b""
        self._gone = False

    def receive(self) -> dict[str, Any] | None:
        """Wait for the next message and return it, None once the other side is gone."""
        while b"\n" not in self._held:
            if not self._more():
                return None
        line, _, self._held = self._held.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def waits(self) -> bool:
        """Return whether `receive` would return immediately."""
        while b"\n" not in self._held and not self._gone:
            poll = select.poll()  # unlike select, for descriptors of any number
            poll.register(self._source, select.POLLIN)
            if not poll.poll(0):
                return False
            self._more()
        return True

    def _more(self) -> bool:
        try:
            part = b"" if self._gone else self._source.recv(_PART)
        except ConnectionResetError:
            part = b""
        self._held += part
        self._gone = not part
        return bool(part)
