"""Fuzzing of what `simulate` reads from the command line: the shapes of networks."""

from __future__ import annotations

from firstlight.commands.simulate import shapes
from fuzz.target import Target


def read_shapes(data: bytes) -> None:
    shapes.sweep("torus:2x2", data.decode("utf-8", "surrogateescape"))


LONG = b"all-" + b"9" * 5000 + b"x1x1"
TARGETS = {"shapes": Target(lambda: [b"4x4x4,8x8x8", b"64..4096"], read_shapes, 2000, None, (b"9" * 400, LONG))}
