"""The extension modules, and how they are built: all of them, or none. Everything else is in pyproject.toml.

Cython turns the kernel's modules, which are plain Python files, into C. Where no C compiler works, the package is
installed with the modules left as Python: the python-chess core. After a change in a kernel module:
`python setup.py build_ext --inplace`. Environment variables, on when "1":

SECATEUR_REQUIRE_COMPILER   fail when the modules cannot be compiled
SECATEUR_NATIVE             use all that this processor can do (-march=native); not for a wheel to share
SECATEUR_SANITIZE           add the address and undefined-behaviour sanitizers; run with LD_PRELOAD=libasan.so
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

LOADER = Path("uci_engine", "core.py")
BUILD_INFO = Path("uci_engine", "build_info.json")
GENERATED = Path("build", "cython")

# CPython's stable ABI: one build serves 3.11 and everything later. Free-threaded Python does not have it yet.
OLDEST_ABI = "0x030B0000"
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")

COMPILER_VARIABLES = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LDSHARED")
DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "binding": False,
    "show_performance_hints": True,
}


def wanted(variable: str) -> bool:
    """Whether the environment sets the variable to 1; a value that is neither 0 nor 1 stops the build."""
    value = os.environ.get(variable, "0")
    if value not in ("0", "1"):
        raise SystemExit(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


def kernel_modules() -> tuple[str, ...]:
    """KERNEL_MODULES of the loader, out of its source text: building imports nothing of the package."""
    for statement in ast.parse(LOADER.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "KERNEL_MODULES":
            names: tuple[str, ...] = ast.literal_eval(statement.value)
            return names
    raise SystemExit(f"{LOADER} does not assign KERNEL_MODULES")


def source_of(module: str) -> Path:
    return Path(*module.split(".")).with_suffix(".py")


def declaration_files() -> list[Path]:
    """Every .pxd file. That of a module which is not compiled declares numbers and inline functions for the kernel."""
    return sorted(path for package in ("evaluation", "uci_engine") for path in Path(package).rglob("*.pxd"))


def flags() -> tuple[list[str], list[str]]:
    """What the compiler and the linker are told beyond Python's own flags."""
    if sys.platform == "win32" and "MSC" in sys.version:
        return ["/O2"], []
    if wanted("SECATEUR_SANITIZE"):
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        return ["-O1", "-g", "-fno-omit-frame-pointer", *sanitize], sanitize
    native = ["-march=native"] if wanted("SECATEUR_NATIVE") else []
    # Cython's C code is full of docstrings that it does not use. The inline limit lets the compiler take each term of
    # the evaluation into the sum: without it they cost calls, 5 % more instructions in all.
    # Its loops are short: vector code for them costs about 2 % of the nodes per second.
    speed = ["-O3", "-finline-limit=1500", "-fno-tree-vectorize"]
    quiet = ["-Wno-unused-const-variable", "-Wno-ignored-optimization-argument"]
    return [*speed, "-g0", "-fvisibility=hidden", *quiet, *native], []


def kernel_extensions() -> list[Extension]:
    """One extension per kernel module; none on PyPy, where C extensions run slower than Python does."""
    if platform.python_implementation() != "CPython":
        return []
    compile_flags, link_flags = flags()
    return [
        Extension(
            module,
            [str(source_of(module))],
            extra_compile_args=compile_flags,
            extra_link_args=link_flags,
            define_macros=[("Py_LIMITED_API", OLDEST_ABI)] if STABLE_ABI else [],
            py_limited_api=STABLE_ABI,
        )
        for module in kernel_modules()
    ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def configuration() -> dict[str, object]:
    """All that decides what is built, apart from the sources."""
    return {
        "cython": importlib.metadata.version("Cython"),
        "python": platform.python_version(),
        "flags": flags()[0],
        "environment": {name: os.environ[name] for name in COMPILER_VARIABLES if name in os.environ},
        "stable_abi": STABLE_ABI,
        "directives": DIRECTIVES,
    }


def translate(modules: list[Extension]) -> None:
    """Turn every module's source from Python to C. Stops the build when Cython has anything to say.

    A stamp beside each C file says what it was made from. So a change of flags, of Cython or of any .pxd makes it anew,
    and a file that Cython complained of is never taken for a good one. A "performance hint" is a complaint: such calls
    check for an impossible exception and cost several times as much.
    """
    from Cython.Build import cythonize
    from Cython.Compiler import Options

    Options.warning_errors = True
    declarations = declaration_files()
    common = [configuration(), [digest(path) for path in declarations]]
    for module in modules:
        source = Path(module.sources[0])
        generated = GENERATED / source.with_suffix(".c")
        stamp = generated.with_suffix(".stamp")
        made_from = json.dumps([*common, digest(source)])
        if not (generated.exists() and stamp.exists() and stamp.read_text("utf-8") == made_from):
            stamp.unlink(missing_ok=True)
            complaints = io.StringIO()
            try:
                with contextlib.redirect_stderr(complaints):
                    cythonize(
                        Extension(module.name, [str(source)]),
                        build_dir=str(GENERATED),
                        compiler_directives=DIRECTIVES,
                        force=True,
                    )
            finally:
                sys.stderr.write(complaints.getvalue())
            if complaints.getvalue().strip():
                raise SystemExit(f"{source}: what Cython says above fails the build, even a hint")
            stamp.write_text(made_from, "utf-8")
        module.sources = [str(generated)]


class BuildKernel(build_ext):
    """Compiles every kernel module or none, and notes what it did for the loader and the doctor."""

    extensions: list[Extension]
    parallel: int | None

    def run(self) -> None:
        # Taken first, so that a source that changes during the build counts as newer.
        files = [*(source_of(module) for module in kernel_modules()), *declaration_files()]
        self.sources = {path.as_posix(): digest(path) for path in files}
        self.places = [Path(self.build_lib), *([Path()] if self.inplace else [])]
        self.parallel = self.parallel or os.cpu_count()
        translate(self.extensions)
        try:
            super().run()
        except (CCompilerError, ExecError, PlatformError) as error:
            if wanted("SECATEUR_REQUIRE_COMPILER"):
                raise
            self.leave_uncompiled(str(error))
        else:
            self.note({"compiled": True, "compiler": self.compiler_version(), **configuration()})

    def compiler_version(self) -> str:
        """The compiler's own first line, or its command when it does not know --version."""
        words = getattr(self.compiler, "compiler_so", None) or [self.compiler.compiler_type]
        command = [str(words[0]), "--version"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return command[0]
        return answer.stdout.partition("\n")[0]

    def leave_uncompiled(self, why: str) -> None:
        """Take back what was compiled, here and in the source tree, so that no mixture is ever installed."""
        package_files = self.get_finalized_command("build_py")
        for module in self.extensions:
            for path in self._get_inplace_equivalent(package_files, module):
                Path(path).unlink(missing_ok=True)
        self.extensions = []
        self.distribution.ext_modules = []
        wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
        if wheel is not None:
            wheel.root_is_pure = True
        self.note({"compiled": False, "why": why})
        self.warn(
            f"no C compiler could build the kernel ({why}). Secateur is installed on its python-chess core, "
            "which searches far slower. For the compiled core, install a C compiler, then Secateur again."
        )

    def note(self, info: dict[str, object]) -> None:
        """Write what was built, and from which sources, beside the loader."""
        text = json.dumps({**info, "sources": self.sources}, indent=1) + "\n"
        for place in self.places:
            (place / BUILD_INFO).parent.mkdir(parents=True, exist_ok=True)
            (place / BUILD_INFO).write_text(text, "utf-8")


setup(
    ext_modules=kernel_extensions(),
    cmdclass={"build_ext": BuildKernel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
)
