"""Messages between firstlight and a keeper: JSON, one line each, over a socket that both hold alone."""

from __future__ import annotations

import json
import select
import socket
from typing import Any

_PART = 65536


def send(to: socket.socket, message: dict[str, Any]) -> None:
    """Raises OSError when the other side is gone."""
    to.sendall(json.dumps(message).encode() + b"\n")


class Reader:
    """What the other side says, message by message; None once it is gone."""

    def __init__(self, source: socket.socket) -> None:
        self._source = source
        self._held = b""
        self._gone = False

    def receive(self) -> dict[str, Any] | None:
        """The next message; waits for it."""
        while b"\n" not in self._held:
            if not self._more():
                return None
        line, _, self._held = self._held.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def waits(self) -> bool:
        """Whether `receive` would return at once."""
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
