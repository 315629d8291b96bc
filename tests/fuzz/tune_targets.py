"""Fuzzing of what `tune` reads: the algorithms that an MPI library lists."""

from __future__ import annotations

from firstlight.commands.tune.formats import rules, selection
from fuzz.target import Target

DEEP = b'{"collective=bcast":"algorithm=MPIR_' + b"[" * 3000 + b"\0"


def read_algorithms(data: bytes) -> None:
    """Read the list of algorithms that an MPI library prints."""
    rules.listed(data.decode("utf-8", "replace"))
    selection.built_in(data)


def _algorithms() -> list[bytes]:
    text = b"mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear\n"
    tree = (
        b'{"collective=bcast":{"comm_type=intra":{"avg_msg_size<=12288":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}'
    )
    return [text, b"\0" + tree + b"\0"]


TARGETS = {"algorithms": Target(_algorithms, read_algorithms, 3000, None, (DEEP,))}
