"""Secateur, a UCI chess engine. `python -m uci_engine` runs it; `uci_engine.engine.Engine` is the engine as an object.

    __main__         the start and the end of the program
    command_line     arguments, subcommands, output for people
    uci              the UCI loop, its input and output, the protocol
    tools            bench, perft, doctor
    engine           the facade: options, the game, one search at a time (with search_task and options)
    search           the search, its tables, and the threads that run it
    tablebases       Syzygy, Gaviota, ranking of the root moves
    book             the opening book
    time_management  limits, allocation, clock, nodestime
    board            two boards for the search, their moves, and the validation of positions from the GUI
    core             the loader: compiled or plain Python

Each imports only those below it, and the leaf modules: failures, files, memory, score, task, text, tunable. The
evaluation is a package of its own. Nothing is imported here, because every start of the program runs this file.
"""

__version__ = "1.0.0rc1"
