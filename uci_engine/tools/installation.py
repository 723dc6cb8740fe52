"""Whether this installation is the slow one, why, and the command that fixes it.

Without a compiled core for this processor the engine plays on, far weaker. Nobody who runs it by accident should have
to find that out from its moves.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path

from uci_engine.core import Core

DISTRIBUTION = "secateur"
TIMES_SLOWER = 200
"""Nodes per second of the compiled core, divided by those of the python-chess core. RESULTS.md has the measurement."""

_ROOT = Path(__file__).resolve().parents[2]


def slow_core_warning(core: Core) -> str | None:
    """One sentence for the user of a slow core that was not requested; None for any other."""
    if not core.is_fallback:
        return None
    why = core.reason.removeprefix("chosen ")
    slow = f"this is the uncompiled engine, about {TIMES_SLOWER} times slower, {why}"
    if platform.python_implementation() != "CPython":
        return f"{slow}; only CPython, not {platform.python_implementation()}, can run the compiled one"
    return f"{slow}; to mend it: {mending_command()}"


def mending_command() -> str:
    """The command that installs the engine again, compiled. The build fetches a C compiler where there is none."""
    if not (_ROOT / "setup.py").is_file():
        source = _installed_from()
        # pip might have kept what it built before, and would leave an installed version of the same number alone.
        return _shell(*_pip(), "--force-reinstall", "--no-deps", "--no-cache-dir", source)
    if _is_managed_by_the_system():
        # This Python takes no packages, so the engine gets an environment of its own.
        environment = _ROOT / ".venv"
        create = _shell(sys.executable, "-m", "venv", str(environment))
        return f"{create} && {_shell(str(environment / 'bin' / 'pip'), 'install', '-e', str(_ROOT))}"
    return _shell(*_pip(), "-e", str(_ROOT))


def _pip() -> tuple[str, ...]:
    # Environments that uv makes have no pip. `importlib.util.find_spec` would let setuptools replace distutils.
    if PathFinder.find_spec("pip") is None:
        return "uv", "pip", "install", "--python", sys.executable
    return sys.executable, "-m", "pip", "install"


def _is_managed_by_the_system() -> bool:
    """Whether the system's packages own this Python: pip refuses to install there (PEP 668)."""
    in_environment = sys.prefix != sys.base_prefix
    return not in_environment and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file()


def _installed_from() -> str:
    """What to name to pip: the place that this installation came from (PEP 610), or the distribution's name."""
    try:
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        text = None
    if text is None:
        return DISTRIBUTION
    origin = json.loads(text)
    url = str(origin["url"])
    if "vcs_info" not in origin:
        return url
    version_control = origin["vcs_info"]
    revision = version_control.get("requested_revision") or version_control["commit_id"]
    return f"{version_control['vcs']}+{url}@{revision}"


def _shell(*words: str) -> str:
    """The words as one command line of this system's shell."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
