"""Engines started once before the work begins, so that a mistake in a description costs seconds and no results."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from lib.console import note
from lib.engines.engine import START_SECONDS, Engine, EngineOption, EngineTimeoutError
from lib.engines.spec import EngineSpec

# A start that takes longer is told, so that nobody waits without knowing for what.
SILENT_SECONDS = 3.0


def try_engines(specs: Iterable[EngineSpec]) -> None:
    """Start each engine, set its options and end it. Raises EngineError."""
    for spec in {(spec.command, spec.directory, spec.options): spec for spec in specs}.values():
        options_of(spec)


def options_of(spec: EngineSpec) -> dict[str, EngineOption]:
    """The options that an engine declares, by their names in lower case. Raises EngineError."""
    sentence = f"{spec.name} has not answered yet; it is waited for {START_SECONDS:g} s"
    waiting = threading.Timer(SILENT_SECONDS, note, (sentence,))
    waiting.daemon = True
    waiting.start()
    try:
        with Engine(spec, start_seconds=START_SECONDS) as engine:
            return engine.options
    except EngineTimeoutError as error:
        raise EngineTimeoutError(f"{error}: does it speak UCI?") from None
    finally:
        waiting.cancel()
