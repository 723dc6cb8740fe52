"""Secateur, a UCI chess engine. `python -m uci_engine` is the program, `uci_engine.engine.Engine` the engine as an
object.

    __main__         the command line
    uci              the conversation: loop, input, output, protocol
    tools            bench, perft, doctor
    engine           the facade: options, the game, one search at a time (with search_task and options)
    search           the search, what it remembers, and the threads that run it
    tablebases       Syzygy, Gaviota, ranking of the root's moves
    book             the opening book
    time_management  limits, allocation, clock, nodestime
    board            two boards for the search, their moves, and the guard for positions from outside
    core             the loader: compiled or plain Python

Each imports only those below it, and the leaves: failures, files, memory, score, task, text, tunable. The evaluation is
a package of its own. Nothing is imported here, because every start of the program passes through this file.
"""

__version__ = "0.1.0"
