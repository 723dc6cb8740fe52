"""`secateur doctor`: what is installed here, which core runs and why, and a short test that it works.

Without a compiled core for this processor the engine plays on, far weaker. `slow_core_warning` says so wherever the
engine starts, with the command that mends it.

Invariants: nothing is repaired or changed. A failure of any part is a finding, never a traceback.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from uci_engine import __version__
from uci_engine.core import Core, build_info, compiled_modules, load, missing_modules, stale_sources

# Nodes per second of the compiled core, divided by those of the python-chess core.
# scripts/EXPERIMENTS.md has the measurement.
TIMES_SLOWER = 200
SEARCH_DEPTH = 4

# Position, whether it is Chess960, depth, and the count that other move generators agree on.
PERFT_COUNTS = (
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", False, 2, 2039),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", False, 4, 43238),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", False, 3, 9467),
    ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", True, 3, 12189),
)

_ROOT = Path(__file__).resolve().parents[2]


def examine(core_name: str, write: Callable[[str], None]) -> int:
    """Report on the installation and on the core called `core_name`; 0 when everything is as it should be.

    A slow core is as it should be only when it was asked for.
    """
    write(f"Secateur       {__version__}, in {Path(__file__).parents[1]}")
    write(f"Python         {platform.python_implementation()} {platform.python_version()}, {platform.platform()}")
    try:
        core = load(core_name)
        write(f"python-chess   {importlib.metadata.version('chess')}")
    except (ImportError, RuntimeError) as error:
        write(f"FAILED  core           {stale_build() or error}")
        return 1
    write(f"core           {core.name}: {core.reason}")
    info = build_info()
    if info.get("compiler"):
        write(f"last build     Cython {info['cython']}, {info['compiler']}, {' '.join(info['flags'])}")
    write("")
    stale = stale_build() if core.name == "compiled" else None
    checks = {"modules": stale, "moves and search": check_engine(core.name)}
    for title, problem in checks.items():
        write(f"ok      {title}" if problem is None else f"FAILED  {title}: {problem}")
    failures = sum(problem is not None for problem in checks.values())
    slow = slow_core_warning(core)
    if slow is not None:
        write(f"SLOW    {slow}")
    for extra, requirements in extras().items():
        is_there = all(map(_is_installed, requirements))
        write(f"ok      extra {extra}" if is_there else f"absent  extra {extra}; to add it: {command_for(extra)}")
    write("")
    if failures:
        write(f"{failures} of the checks failed.")
    else:
        write("All is well." if slow is None else "Everything works, and it is SLOW: see above.")
    return 1 if failures or slow is not None else 0


def check_engine(core_name: str) -> str | None:
    """Check move generator, and a short search with evaluation and network, which must answer with a legal move.

    What is wrong, or None.
    """
    try:
        import chess

        from uci_engine.engine import UciEngine
        from uci_engine.time_management import Limits
        from uci_engine.tools.bench import search

        with closing(UciEngine(core_name)) as engine:
            for fen, chess960, depth, expected in PERFT_COUNTS:
                board = chess.Board(fen, chess960=chess960)
                engine.position.set_board(board)
                count = engine.position.count(depth)
                if count != expected:
                    return f"{expected} moves expected at depth {depth} of {fen}, but: {count}"
                answer, _ = search(engine, board, Limits(depth=SEARCH_DEPTH))
                if answer.move not in [*board.legal_moves]:
                    return f"{answer} answered to {fen}"
    except Exception as error:  # a broken part is a finding
        return f"{type(error).__name__}: {error}"
    return None


# The slow core -------------------------------------------------------------------------------------------------------


def slow_core_warning(core: Core) -> str | None:
    """One sentence for the user of a slow core that was not requested; None for any other."""
    if not core.is_fallback:
        return None
    why = core.reason.removeprefix("chosen ")
    slow = f"this is the uncompiled engine, about {TIMES_SLOWER} times slower, {why}"
    if platform.python_implementation() != "CPython":
        return f"{slow}; only CPython, not {platform.python_implementation()}, can run the compiled one"
    return f"{slow}; to mend it: {mending_command()}"


def stale_build() -> str | None:
    """What the compiled core lacks, or which sources are newer, with the command that mends it; or None."""
    if not compiled_modules():
        return None
    missing = missing_modules()
    found = missing or stale_sources()
    if not found:
        return None
    what = "missing" if missing else "changed since they were compiled"
    return f"{what}: {', '.join(found)}; to mend it: {mending_command()}"


def mending_command() -> str:
    """How to install the engine again, compiled. The build fetches a C compiler where there is none."""
    if not (_ROOT / "setup.py").is_file():
        return "install it again, with pip's options --force-reinstall and --no-cache-dir"
    if Path(sysconfig.get_path("platlib"), "uci_engine").is_dir():
        return f"run this outside {_ROOT}, where Python finds the engine that is installed"
    return _shell(*_installer(), "-e", str(_ROOT))


# Extras ---------------------------------------------------------------------------------------------------------------


def command_for(extra: str) -> str:
    """How to add the libraries of an extra to this installation, without building the engine again."""
    pipx = ["pipx", "inject", "secateur"]
    is_of_pipx = Path(sys.prefix, "pipx_metadata.json").exists()
    return _shell(*(pipx if is_of_pipx else _installer()), *extras().get(extra, [f"secateur[{extra}]"]))


def extras() -> dict[str, list[str]]:
    """What each extra needs, as `Jinja2>=3.1`; nothing where Secateur is only run from its sources."""
    found: dict[str, list[str]] = {}
    for text in importlib.metadata.requires("secateur") or () if _is_installed("secateur") else ():
        requirement, _, extra = text.partition("; extra == ")
        if extra:
            found.setdefault(extra.strip("\"'"), []).append(requirement)
    return found


def _is_installed(requirement: str) -> bool:
    with suppress(importlib.metadata.PackageNotFoundError):
        return bool(importlib.metadata.version(re.split("[<>=]", requirement)[0]))
    return False


def _installer() -> list[str]:
    """The program that has installed the engine into this environment, with the command to install more."""
    by = importlib.metadata.distribution("secateur").read_text("INSTALLER") if _is_installed("secateur") else None
    uv = ["uv", "pip", "install", "--python", sys.executable]
    return uv if "uv" in (by or "") else [sys.executable, "-m", "pip", "install"]


def _shell(*words: str) -> str:
    if sys.platform == "win32":
        # Unquoted, cmd would take the `>` of a requirement for the name of a file.
        return " ".join(f'"{word}"' if re.search(r"[<>|&^\s]", word) else word for word in words)
    return shlex.join(words)
