"""The core: a board, a search and a transposition table. `load` chooses one for the whole process.

The search is written once, in the kernel modules. Compiled, it uses the bitboard position. As plain Python it uses
python-chess's board, or the bitboard position for tests and debugging.

A build may use more than the x86-64 baseline: `load` takes no kernel with instructions that the processor lacks.

Invariants: the kernel modules are all compiled or all plain. None of them is imported before `load`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uci_engine.board.position import Position

# In import order. A new kernel module is a line here. The build imports this file, before anything is compiled or
# installed.
KERNEL_MODULES = (
    "evaluation.base.bitboards",
    "evaluation.base.base_board",
    "evaluation.context",
    "evaluation.terms.pawns",
    "evaluation.terms.pieces",
    "evaluation.terms.king",
    "evaluation.terms.threats",
    "evaluation.terms.endgames",
    "evaluation.network.inference",
    "evaluation.evaluator",
    "uci_engine.board.position",
    "uci_engine.policy.convolution",
    "uci_engine.search.stack",
    "uci_engine.search.history",
    "uci_engine.search.move_picker",
    "uci_engine.search.transposition_table",
    "uci_engine.tablebases.syzygy",
    "uci_engine.tablebases.checksum",
    "uci_engine.search.search",
    "uci_engine.search.mate_search",
    "uci_engine.search.self_play",
)

# The code of all of them; the extension file of each begins it. A portable build has a second one, for processors with
# all of FAST_INSTRUCTIONS.
LIBRARY = "uci_engine.kernel"
FAST_LIBRARY = "uci_engine.kernel_fast"
COMPILED_PARTS = (LIBRARY, *KERNEL_MODULES)

CORES = ("auto", "compiled", "python-chess", "interpreted")

# What a build uses where the processor has all of it: Linux's name, then the compilers'. Intel's Core processors have
# had it since 2013, AMD's since 2015. Fused multiply-add is left out: it rounds differently from plain Python.
FAST_INSTRUCTIONS = {"abm": "lzcnt", "avx2": "avx2", "bmi1": "bmi", "bmi2": "bmi2", "popcnt": "popcnt"}

CPUINFO = Path("/proc/cpuinfo")
# One processor's part of the file is shorter.
CPUINFO_BYTES = 16384

_ROOT = Path(__file__).resolve().parents[1]
_BUILD_INFO = Path(__file__).with_name("build_info.json")
_OWN_EVALUATION = _ROOT / "evaluation" / "__init__.py"


@dataclass(frozen=True, slots=True)
class Core:
    """The chosen core: its name (never "auto"), the reason, and its board. All else is imported after `load`.

    `is_fallback`: the slow core runs only because the compiled one is not installed, or not for this processor.
    """

    name: str
    reason: str
    is_fallback: bool
    position_class: type[Position]


# Empty until the first `load`. A process keeps its core, because a module cannot be imported twice.
_loaded: list[Core] = []


def load(name: str = "auto") -> Core:
    """The core called `name`, one of CORES; "auto" is the compiled one if it is installed and the processor can run it.

    ValueError: the name is not in CORES. RuntimeError: this process already runs another core. ImportError: the
    compiled core is requested but missing or built for another processor, or a part of it is missing.
    """
    if name not in CORES:
        raise ValueError(f"no core is called {name!r}; choose from {', '.join(CORES)}")
    if not _loaded:
        _loaded.append(_choose(name))
    core = _loaded[0]
    if name not in ("auto", core.name):
        raise RuntimeError(f"this process already runs the {core.name} core; start another one for {name}")
    return core


def build_info() -> dict[str, Any]:
    """What setup.py recorded of the last build; empty when nothing was built here."""
    if not _BUILD_INFO.is_file():
        return {}
    return dict(json.loads(_BUILD_INFO.read_text("utf-8")))


def source_file(module: str) -> Path:
    return _ROOT.joinpath(*module.split(".")).with_suffix(".py")


def extension_file(module: str) -> Path | None:
    return next(filter(Path.is_file, map(source_file(module).with_suffix, EXTENSION_SUFFIXES)), None)


def compiled_modules() -> list[str]:
    """What there is of the compiled core: the library, and the kernel modules."""
    return [module for module in COMPILED_PARTS if extension_file(module)]


def missing_modules() -> list[str]:
    """What is missing of it."""
    return [module for module in COMPILED_PARTS if not extension_file(module)]


def stale_sources() -> list[str]:
    """The sources that have changed since the compiled modules were built from them. All, where no build is known."""
    import hashlib  # slow to import and rarely needed

    recorded = build_info().get("sources", {})
    # Among them are the modules whose constants were compiled into others.
    names = {source_file(module).relative_to(_ROOT).as_posix() for module in compiled_modules()} | recorded.keys()
    files = {name: _ROOT / name for name in sorted(names) if (_ROOT / name).is_file()}
    return [name for name, file in files.items() if recorded.get(name) != hashlib.sha256(file.read_bytes()).hexdigest()]


def _choose(name: str) -> Core:
    if name not in ("auto", "compiled"):
        return _import(name, "requested", plain=True)
    compiled = compiled_modules()
    if 0 < len(compiled) < len(COMPILED_PARTS):
        lacked = ", ".join(missing_modules())
        raise ImportError(f"the compiled core lacks {lacked}; `secateur doctor` says how to mend it")
    lacking = lacking_instructions(build_info().get("instructions", ()))
    if compiled and not lacking:
        reason = "requested" if name == "compiled" else "chosen because it is installed"
        return _import("compiled", reason, plain=False)
    problem = f"needs instructions that this processor lacks ({', '.join(lacking)})" if compiled else "is not installed"
    if name == "compiled":
        raise ImportError(f"the compiled core {problem}")
    return _import("python-chess", f"chosen because the compiled core {problem}", plain=True, is_fallback=True)


def _import(name: str, reason: str, *, plain: bool, is_fallback: bool = False) -> Core:
    for module in KERNEL_MODULES:
        spec = getattr(sys.modules.get(module), "__spec__", None)
        if spec is not None and isinstance(spec.loader, ExtensionFileLoader) == plain:
            found = "compiled" if plain else "uncompiled"
            raise RuntimeError(f"{module} was imported {found} before the {name} core was requested")
    if plain and compiled_modules():
        sys.meta_path.insert(0, _KernelFiles({module: source_file(module) for module in KERNEL_MODULES}))
    elif not plain and build_info().get("fast_copy") and has_fast_instructions():
        sys.meta_path.insert(0, _KernelFiles({LIBRARY: extension_file(FAST_LIBRARY)}))
        reason += ", with all instructions of this processor"
    for module in KERNEL_MODULES:
        importlib.import_module(module)
    if name == "python-chess":
        position_class = importlib.import_module("uci_engine.board.chess_position").ChessPosition
    else:
        position_class = importlib.import_module("uci_engine.board.position").Position
    return Core(name, reason, is_fallback, position_class)


@dataclass(frozen=True, slots=True)
class _KernelFiles:
    """An import hook: it takes modules from these files, where Python prefers the extension file beside a source."""

    files: Mapping[str, Path | None]

    def find_spec(self, fullname: str, *_where: object) -> ModuleSpec | None:
        file = self.files.get(fullname)
        return None if file is None else spec_from_file_location(fullname, file)


def require_own_evaluation() -> None:
    """ImportError, with one sentence for the user, when Python finds another `evaluation` than that of this program.

    To be called before the first import of the package, so that nothing of the other file runs.
    """
    spec = find_spec("evaluation")
    found = Path(spec.origin or "") if spec else _OWN_EVALUATION
    if found.resolve() != _OWN_EVALUATION.resolve():
        place = found.parent if found.name == "__init__.py" else found
        raise ImportError(
            f"{place} hides the package 'evaluation', which this program needs: rename it, or remove its folder from "
            "Python's path"
        )


# The processor --------------------------------------------------------------------------------------------------------


def instructions() -> frozenset[str] | None:
    """The processor's instruction sets, by Linux's names. None where they cannot be read, and on other systems.

    Empty where the file lists none, as under an emulator that shows the file of its host.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return None
    try:
        with CPUINFO.open("rb", buffering=0) as file:
            lines = file.read(CPUINFO_BYTES).decode("ascii", "replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def has_fast_instructions() -> bool:
    """Whether the processor is known to have all FAST_INSTRUCTIONS."""
    return (instructions() or frozenset()) >= FAST_INSTRUCTIONS.keys()


def lacking_instructions(needed: Iterable[str]) -> list[str]:
    """Those of the instruction sets that the processor lacks, sorted. None is lacking where nothing is known of it:
    most likely the kernel was built there.
    """
    known = instructions()
    return [] if known is None else sorted(set(needed) - known)
