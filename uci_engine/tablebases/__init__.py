"""Endgame tablebases: Syzygy in the search and at the root.

With `SyzygyPath` set, root moves in the tables are ranked. Among moves that win, the one that reaches a capture, a pawn
move or mate soonest comes first, so the fifty-move rule never costs the win; drawn positions are not lost. The search
probes the tables after every capture and pawn move. King and pawn against king needs no file (`evaluation`).

Files are checked when they are opened: size, header, every index. A damaged file is left out with one `info string`,
and so is a table that is inconsistent with itself or another. The smallest files, up to 256 MiB (2 MiB uncompiled) and
an eighth of the memory, are read into memory, so later changes of the file have no effect, and their checksum is
compared. Larger files are mapped, checked again between searches, and left out once they have changed.

The search uses the WDL files (`.rtbw`). Without the DTZ files (`.rtbz`) the search must find the way to win by itself.
"""
