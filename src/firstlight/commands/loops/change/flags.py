"""Flags: compile a function with options in addition to the flags of its file."""

from __future__ import annotations

import platform

from msgspec.structs import replace

from firstlight.commands.loops.change import NotApplicableError, Piece

ATTRIBUTES = {
    "gcc": {
        "unroll-loops": '__attribute__((optimize("unroll-loops")))',
        "width512": '__attribute__((target("prefer-vector-width=512")))',
        "no-vectors": '__attribute__((optimize("no-tree-vectorize")))',
        "associative": '__attribute__((optimize("associative-math,no-signed-zeros,no-trapping-math")))',
        "fast-math": '__attribute__((optimize("fast-math")))',
    },
    "clang": {},
}
OPENING = {
    "clang": {
        "reassociate": "#pragma clang fp reassociate(on)",
        "no-contract": "#pragma clang fp contract(off)",
    }
}


def choices(piece: Piece) -> tuple[str, ...]:
    return (*ATTRIBUTES[piece.family], *OPENING.get(piece.family, {}))


def apply(piece: Piece, value: str) -> Piece:
    if value in ATTRIBUTES[piece.family]:
        line = ATTRIBUTES[piece.family][value]
        if value == "width512" and platform.machine() != "x86_64":
            raise NotApplicableError("only x86 processors have 512-bit vectors")
        return replace(piece, attributes=(*piece.attributes, line))
    return replace(piece, opening=(OPENING[piece.family][value], *piece.opening))
