"""Secateur, a UCI chess engine. `python -m uci_engine` runs it; `from uci_engine import Engine` is for Python programs:

    with Engine() as engine:
        print(engine.play(chess.Board(), chess.engine.Limit(time=1.0)).move)

`Engine` and its methods are below. CONTRIBUTING.md says what each module is for, and which may import which.

Nothing is imported here, because every start of the program runs this file. The public names are imported when they are
first used.
"""

# Type checkers take this for true. To import it from `typing` would slow every start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from uci_engine.api import AnalysedGame, Analysis, Engine, EngineOptions, Examination, Explanation, MoveComparison

__all__ = ["AnalysedGame", "Analysis", "Engine", "EngineOptions", "Examination", "Explanation", "MoveComparison"]

__version__ = "1.0.0rc1"


def __dir__() -> list[str]:
    """What there is, also before its first use: for `help`."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """A public name, at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from uci_engine.core import require_own_evaluation

    require_own_evaluation()
    value: object = getattr(import_module("uci_engine.api"), name)
    globals()[name] = value
    return value
