"""A target of fuzzing: samples of what others write, and the function that reads it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from fuzz import mutate

Mutate = Callable[[bytes, random.Random], bytes]


class Target(NamedTuple):
    """`inputs`: how many the tests try, a second or two of them. `change`: keeps the structure; None: plain bytes.

    `found`: inputs that broke the reader once.
    """

    samples: Callable[[], list[bytes]]
    read: Callable[[bytes], None]
    inputs: int
    change: Mutate | None = mutate.document
    found: tuple[bytes, ...] = ()
