"""The engine as a Python library: `from uci_engine import Engine`.

The program does not use this package, and loads none of it.
"""

from __future__ import annotations

from evaluation.explanation import TermValue
from uci_engine.api.analysis import Analysis
from uci_engine.api.engine import Engine
from uci_engine.options import EngineOptions
from uci_engine.static_evaluation import Explanation

__all__ = ["Analysis", "Engine", "EngineOptions", "Explanation", "TermValue"]
