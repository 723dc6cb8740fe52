"""The extension modules, and how they are built: all of them, or none. Everything else is in pyproject.toml.

The kernel modules are plain Python files that Cython turns into C. When no C compiler works, the package is
installed all the same, with the modules left as Python: the python-chess core. Environment variables, each on when "1":

SECATEUR_REQUIRE_COMPILER   fail when the modules cannot be compiled
SECATEUR_NATIVE             use every instruction of this machine (-march=native); not for a wheel that travels
SECATEUR_SANITIZE           build with the address and undefined-behaviour sanitizers; run with libasan preloaded
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

ROOT = Path(__file__).parent
GENERATED = Path("build", "cython")
LOADER = Path("uci_engine", "core", "__init__.py")
BUILD_INFO = Path("uci_engine", "core", "build_info.json")
OLDEST_PYTHON = "0x030B0000"

# One stable ABI serves every CPython from 3.11 on. Free-threaded builds and other implementations do not offer it.
STABLE_ABI = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")

DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "show_performance_hints": True,
}


def wanted(variable: str) -> bool:
    """Whether the environment says "1"; anything but "1", "0" and nothing is a mistake worth stopping for."""
    value = os.environ.get(variable, "")
    if value not in ("", "0", "1"):
        raise SystemExit(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


def kernel_modules() -> tuple[str, ...]:
    """The names in uci_engine.core.KERNEL_MODULES, read from its source: importing it here would load the package."""
    for statement in ast.parse(LOADER.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if [ast.unparse(target) for target in targets] == ["KERNEL_MODULES"] and statement.value:
                names: tuple[str, ...] = ast.literal_eval(statement.value)
                return names
    raise SystemExit(f"{LOADER} has no KERNEL_MODULES")


def source_of(module: str) -> Path:
    return Path(*module.split(".")).with_suffix(".py")


def flags() -> tuple[list[str], list[str]]:
    """Flags for the compiler and for the linker."""
    if sys.platform == "win32" and "MSC" in sys.version:
        return ["/O2"], []
    if wanted("SECATEUR_SANITIZE"):
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        return ["-O1", "-g", "-fno-omit-frame-pointer", *sanitize], sanitize
    native = ["-march=native"] if wanted("SECATEUR_NATIVE") else []
    return ["-O3", "-g0", "-fvisibility=hidden", *native], []


def extensions() -> list[Extension]:
    compile_flags, link_flags = flags()
    return [
        Extension(
            module,
            [str(source_of(module))],
            extra_compile_args=compile_flags,
            extra_link_args=link_flags,
            define_macros=[("Py_LIMITED_API", OLDEST_PYTHON)] if STABLE_ABI else [],
            py_limited_api=STABLE_ABI,
        )
        for module in kernel_modules()
        if source_of(module).exists() and module in os.environ.get("SECATEUR_ONLY", module).split()
    ]


def to_c(modules: list[Extension]) -> None:
    """Put C files in the place of the Python ones; raises RuntimeError when Cython has any complaint.

    A "performance hint" is a complaint: it means a function that checks for exceptions where none can be, which
    costs the search most of its speed.
    """
    from Cython.Build import cythonize
    from Cython.Compiler import Options

    Options.warning_errors = True
    complaints = io.StringIO()
    with contextlib.redirect_stderr(complaints):
        try:
            generated = cythonize(
                [Extension(module.name, list(module.sources)) for module in modules],
                build_dir=str(GENERATED),
                compiler_directives=DIRECTIVES,
            )
        finally:
            sys.__stderr__.write(complaints.getvalue())
    if complaints.getvalue().strip():
        raise RuntimeError("Cython complains (see above); a warning or a performance hint fails the build")
    for module, translated in zip(modules, generated, strict=True):
        module.sources = translated.sources


class BuildKernel(build_ext):
    def run(self) -> None:
        to_c(self.extensions)
        super().run()


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
)
