#!/usr/bin/env python3
"""Find the magic multipliers of `evaluation/base/bitboards.py` again (about fifteen seconds).

A magic maps the pieces on a slider's lines to a small index: ((pieces & mask) * magic) >> (64 - bits), where `bits` is
the number of squares in the mask. A magic is valid if no two occupancies with different attacks share an index.
The masks and the attacks come from python-chess, so these numbers are right if python-chess is. The generator is
seeded, so the same multipliers come out every time.

    python scripts/find_magics.py
"""

from __future__ import annotations

import argparse
import random

import chess

from toolkit.console import run_program

ALL = chess.BB_ALL
SEED = 2026


def lines(square: int, rook: bool) -> tuple[int, dict[int, int]]:
    """The relevant mask of a slider on `square`, and its attacks for every arrangement of pieces on that mask."""
    if not rook:
        return chess.BB_DIAG_MASKS[square], chess.BB_DIAG_ATTACKS[square]
    attacks = {
        along_rank | along_file: rank_attacks | file_attacks
        for along_rank, rank_attacks in chess.BB_RANK_ATTACKS[square].items()
        for along_file, file_attacks in chess.BB_FILE_ATTACKS[square].items()
    }
    return chess.BB_RANK_MASKS[square] | chess.BB_FILE_MASKS[square], attacks


def find_magic(square: int, rook: bool, generator: random.Random) -> int:
    """A multiplier for one square, found by trial: sparse random numbers serve most often."""
    mask, attacks = lines(square, rook)
    shift = 64 - mask.bit_count()
    while True:
        magic = generator.getrandbits(64) & generator.getrandbits(64) & generator.getrandbits(64)
        if ((mask * magic & ALL) >> 56).bit_count() < 6:
            continue
        seen: dict[int, int] = {}
        indices = ((subset * magic & ALL) >> shift for subset in attacks)
        pairs = zip(indices, attacks.values(), strict=True)
        if all(seen.setdefault(index, reached) == reached for index, reached in pairs):
            return magic


def main() -> int:
    """The command line: print both tables as Python source."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    generator = random.Random(SEED)
    for name, rook in (("BISHOP_MAGICS", False), ("ROOK_MAGICS", True)):
        print(f"{name} = (")
        for row in range(0, 64, 4):
            magics = [find_magic(square, rook, generator) for square in range(row, row + 4)]
            print("    " + " ".join(f"0x{magic:016X}," for magic in magics), flush=True)
        print(")")
    return 0


if __name__ == "__main__":
    run_program(main)
