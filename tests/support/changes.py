"""Compute where inputs change from step to step, with the harness's own header."""

from __future__ import annotations

from ctypes import CDLL, c_int, c_longlong, c_ulonglong
from functools import cache

import numpy as np

import drivers
from firstlight import ROOT

PARTS = 64
"""Number of parts of the inputs; one place changes in each."""


@cache
def functions() -> CDLL:
    library = drivers.library(
        ROOT / "tests/support/changing_functions.cpp", f"-I{ROOT / 'native/harness/include'}", "-O1"
    )
    numbers = np.ctypeslib.ndpointer(np.int64)
    library.set_seed.argtypes = [c_ulonglong]
    library.follow.argtypes = [c_longlong, c_longlong, c_int, c_int, c_longlong, numbers]
    library.follow.restype = c_longlong
    library.ages.argtypes = [c_longlong, c_longlong, numbers]
    library.any_in.argtypes = [c_longlong] * 3
    library.shown.argtypes = [c_longlong, c_longlong, numbers]
    return library


def followed(seed: int, size: int, batches: int, steps: int, always: bool = False) -> tuple[np.ndarray, int]:
    """Return the iteration of each input's last change (-1: none) after this many batches of steps, and the last
    iteration.
    """
    functions().set_seed(seed)
    changed_at = np.full(size, -1, np.int64)
    last = functions().follow(size, PARTS, always, batches, steps, changed_at)
    return changed_at, last
