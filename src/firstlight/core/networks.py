"""Networks: published figures of real ones as data, and the parameters of a simulation that follow from them.

A published latency of the shortest message determines only the sum L + 2 o. Half of it counts as L and a quarter as
each o, as in measurements of messages between nodes (`fit`). On networks with links it is the overhead of a message,
and every link adds its hop. The gap g is set to o, G is one byte at the bandwidth, O is 0: interfaces copy. Such
figures do not include the protocols of a library.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from firstlight import ROOT
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.core.naming import must_be
from firstlight.core.units import quantity

FOLDER = ROOT / "networks"
_NEVER = 1e15  # bytes: the rendezvous is a library's, and no figure of a network
KINDS = {
    "published": "published measurements",
    "vendor": "the vendor's hardware figures; an MPI library is slower",
    "example": "an example, not a machine",
}


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One figure in seconds, bytes per second or as a number, and who published it.

    checked: it was read there when the file was written; else it is cited from memory.
    """

    value: float
    source: str
    checked: bool = False


class Network(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network as its file describes it; `topology`: an example of the kind that is built with it.

    latency: half a round trip of the shortest message. overhead: the time of an interface per message, if it was
    measured separately. hop: the latency of a switch. bandwidth: that of a link and of an interface, in one direction.
    interfaces: their number on a node. given: the parameters of LogGOPS themselves.
    """

    title: str
    year: int
    kind: Literal["published", "vendor", "example"]
    topology: str
    source: str = ""
    latency: Published | None = None
    overhead: Published | None = None
    bandwidth: Published | None = None
    hop: Published | None = None
    interfaces: Published | None = None
    given: dict[str, float] = {}
    name: str = ""

    @property
    def word(self) -> str:
        """Return the parameters as firstlight-simulate reads them: nanoseconds, bytes per second."""
        found = dict(self.given)
        if self.latency is not None:
            ns = 1e9 * self.latency.value
            found |= {"L": ns / 2, "o": ns / 4, "g": ns / 4, "overhead": ns}
        if self.overhead is not None:
            found["overhead"] = 1e9 * self.overhead.value
        if self.bandwidth is not None:
            found |= {"G": 1e9 / self.bandwidth.value, "bandwidth": self.bandwidth.value}
        if self.hop is not None:
            found["hop"] = 1e9 * self.hop.value
        if not self.given:
            found |= {"O": 0, "S": _NEVER, "interfaces": self.interfaces.value if self.interfaces else 1}
        return ",".join(f"{key}={value:.6g}" for key, value in found.items())

    @property
    def flat(self) -> bool:
        """Return whether the file describes messages on a network without links: a latency or parameters."""
        return bool(self.latency or self.given)

    @property
    def linked(self) -> bool:
        """Return whether the bandwidth of a link is known."""
        return self.bandwidth is not None

    def figures(self) -> list[tuple[str, str, str]]:
        """Return the published figures as (`latency`, `600 ns`, `source`)."""
        published = [("latency", self.latency, "s"), ("overhead per message", self.overhead, "s")]
        published += [("bandwidth", self.bandwidth, "B/s"), ("hop", self.hop, "s")]
        rows = [(what, quantity(p.value, unit), _cited(p)) for what, p, unit in published if p is not None]
        if self.interfaces is not None:
            rows.append(("interfaces per node", f"{self.interfaces.value:g}", _cited(self.interfaces)))
        return rows

    def sources(self) -> list[str]:
        """Return a line with value and source for each figure; without figures, the source of the network."""
        lines = [f"{what} {value}: {source}" for what, value, source in self.figures()]
        return lines if lines or not self.source else [self.source]


def _cited(figure: Published) -> str:
    return figure.source if figure.checked else f"{figure.source} (cited from memory)"


def load(folder: Path = FOLDER) -> dict[str, Network]:
    """Return the networks of all `*.toml` by file name. Raises UsageError naming the file and the defect."""
    found = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            network = reading.toml(path.read_bytes(), Network)
        except (reading.MalformedError, OSError) as error:
            raise UsageError(f"{path}: {error}; correct the entry or remove the file") from error
        wrong = [what for what, p in vars_of(network).items() if not p.value > 0 or not p.source]
        if wrong or not (network.flat or network.linked):
            raise UsageError(f"{path}: {', '.join(wrong) or 'no figure'} without a positive value and its source")
        found[path.stem] = msgspec.structs.replace(network, name=path.stem)
    return found


def vars_of(network: Network) -> Mapping[str, Published]:
    """Return the published figures by name."""
    fields = msgspec.structs.asdict(network)
    return {name: value for name, value in fields.items() if isinstance(value, Published)}


def named(name: str) -> Network:
    """Return the network with that name. Raises UsageError with all known names and the nearest."""
    known = load()
    must_be("network", name, tuple(known))
    return known[name]
