"""Secateur, a UCI chess engine. `python -m uci_engine` runs it; `from uci_engine import Engine` is for Python programs.

    __main__         the start and the end of the program
    command_line     arguments, subcommands, output for people
    uci              the UCI loop, its input and output, the protocol
    api              the engine as a Python library
    game_analysis    games judged, moves explained, and the pages that show it
    tools            bench, perft, doctor
    engine           what UCI commands do: options, the game, one search at a time (with engine_parts, options and
                     static_evaluation)
    search           the search, its tables, and the threads that run it
    tablebases       Syzygy, ranking of the root moves
    book             the opening book
    time_management  limits, allocation, clock, nodestime
    board            two boards for the search, their moves, and the validation of positions from the GUI
    core             the loader: compiled or plain Python

Each imports only those below it, and the leaf modules: failures, files, memory, packages, score, task, text, tunable.
The evaluation is a package of its own.

Nothing is imported here, because every start of the program runs this file. The public names are imported when they are
first used.
"""

# Type checkers take this for true. To import it from `typing` would slow every start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from uci_engine.api import Analysis, Engine, EngineOptions, Explanation, TermValue

__all__ = ["Analysis", "Engine", "EngineOptions", "Explanation", "TermValue"]

__version__ = "1.0.0rc1"


def __getattr__(name: str) -> object:
    """A public name, at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from uci_engine.packages import require_own_evaluation

    require_own_evaluation()
    value: object = getattr(import_module("uci_engine.api"), name)
    globals()[name] = value
    return value
