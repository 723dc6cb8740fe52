"""The opening book: when it is used, what it reports, and how the built-in book is made.

With `OwnBook` the opening is played from a book: the built-in `book.bin`, or the Polyglot book of at most 256 MiB that
`BookFile` names. Each book move is reported with its weight, its share of the weights in the position, and the name of
the position that it leads to. After 1. e4, with `BookVariety` 0:

    info string book: c7c5, weight 1000 (37%), B20 Sicilian Defense

`go infinite`, `go mate`, `go searchmoves`, `go` without a limit, and `UCI_AnalyseMode` always search. While pondering,
a book move is held back until `ponderhit` or `stop`. `setoption` reads and checks the file: a damaged book is refused
with one message, and the engine searches.

`scripts/make_book.py book` makes the built-in book.
"""
