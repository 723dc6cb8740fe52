"""The extension modules, and how they are built: all of them, or none. Everything else is in pyproject.toml.

Cython turns the kernel's modules, which are typed Python, into C, with the declarations that
scripts/build_backend/declarations.py derives. They become one library, by scripts/build_backend/linking.py, and each
has a small extension file. scripts/build_backend/toolchain.py finds a C compiler; where there is none, the build
fails. After a change in a kernel module: `python setup.py build_ext --inplace`. CONTRIBUTING.md lists the environment
variables (SECATEUR_…).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError
from setuptools.modified import newer

# Run by pip, this folder is in the path already.
sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))
from build_backend import declarations, linking, toolchain
from build_backend.toolchain import OLDEST_ABI, STABLE_ABI, Compiler
from uci_engine.core import FAST_LIBRARY, KERNEL_MODULES, LIBRARY

BUILD_INFO = Path("uci_engine", "build_info.json")
GENERATED = Path("build", "cython")
TYPES = Path("evaluation", "base", "typed.pxd")
LIBRARIES = (LIBRARY, FAST_LIBRARY)

# The modules whose loops are long enough for vector code.
VECTOR_MODULES = ("evaluation.network.inference", "uci_engine.policy.convolution")

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


def c_file(module: str) -> Path:
    """What Cython makes of a module."""
    return GENERATED.joinpath(*module.split(".")).with_suffix(".c")


def flags(compiler: Compiler, instructions: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What the compiler ("system" or "zig") and the linker are told beyond Python's own flags and the user's."""
    # ELF: a function of the library comes before one of the same name elsewhere.
    link = [] if sys.platform in ("darwin", "win32") else ["-Wl,-Bsymbolic"]
    if compiler == "zig":
        return toolchain.zig_flags(instructions.values()), link
    if sys.platform == "win32" and "MSC" in sys.version:
        return ["/O2"], link
    if sanitize := toolchain.sanitizers():
        return ["-O1", "-g", "-fno-omit-frame-pointer", *sanitize], [*sanitize, *link]
    # The last two are Python's own, which setuptools drops where CFLAGS is set. The inline limit lets the compiler take
    # each term of the evaluation into the sum: without it they cost calls, 5 % more instructions in all. Clang ignores
    # it and is as fast. The loops are short: vector code for them costs about 2 % of the nodes per second.
    speed = ["-O3", "-finline-limit=1500", "-fno-tree-vectorize", "-DNDEBUG", "-fwrapv"]
    # Cython's C code is full of docstrings that it does not use.
    quiet = ["-Wno-unused-const-variable", "-Wno-ignored-optimization-argument"]
    fast = [f"-m{name}" for name in instructions.values()]
    lto = toolchain.lto_flags()
    return [*speed, *lto, "-g0", "-fvisibility=hidden", *quiet, *fast], [*lto, *link]


def kernel_extensions() -> list[Extension]:
    """The library, in a portable build a second one, and an extension for each kernel module; none on PyPy, where C
    extensions run slower than Python does."""
    if not toolchain.CPYTHON:
        return []
    libraries = LIBRARIES if toolchain.fast_instructions()[1] else [LIBRARY]
    return [
        Extension(
            name,
            [str(GENERATED / f"{name}.c")],
            define_macros=[("Py_LIMITED_API", OLDEST_ABI)] if STABLE_ABI else [],
            depends=["setup.py", *(str(c_file(module)) for module in KERNEL_MODULES if name in LIBRARIES)],
            py_limited_api=STABLE_ABI,
        )
        for name in (*libraries, *KERNEL_MODULES)
    ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def configuration(compiler: Compiler) -> dict[str, object]:
    """All that decides what is built, apart from the sources and what each module is compiled with."""
    instructions, fast_instructions = toolchain.fast_instructions()
    return {
        "cython": importlib.metadata.version("Cython"),
        "python": platform.python_version(),
        "flags": flags(compiler, instructions)[0],
        # The loader looks for these before it runs what was built, or prefers its second library.
        "instructions": list(instructions),
        "fast_copy": list(fast_instructions),
        "environment": {name: os.environ[name] for name in COMPILER_VARIABLES if name in os.environ},
        "headers": "Python's" if toolchain.own_headers() is None else "Secateur's",
        "directives": DIRECTIVES,
    }


def translate(kernel: declarations.Kernel, compiler: Compiler) -> None:
    """Turn every module's source from Python to C. Stops the build when Cython has anything to say.

    A stamp beside each C file says what it was made from. So a change of flags, of Cython or of any declaration makes
    it anew, and a file that Cython complained of is never taken for a good one. A "performance hint" is a complaint:
    such calls check for an impossible exception and cost several times as much.
    """
    from Cython.Build import cythonize
    from Cython.Compiler import Options

    Options.warning_errors = True
    translations = kernel.translations()
    for one in translations:
        one.write(GENERATED)
    (GENERATED / TYPES).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(TYPES, GENERATED / TYPES)
    options = {"include_path": [str(GENERATED)], "compiler_directives": DIRECTIVES, "force": True}
    common = [configuration(compiler), OLDEST_ABI, VECTOR_MODULES, [one.pxd for one in translations]]
    common += [digest(TYPES), digest(Path(linking.__file__))]
    for module in KERNEL_MODULES:
        path = kernel.module(module).path.as_posix()
        generated = c_file(module)
        source = generated.with_suffix(".py")
        stamp = generated.with_suffix(".stamp")
        made_from = json.dumps([*common, digest(source)])
        if generated.exists() and stamp.exists() and stamp.read_text("utf-8") == made_from:
            continue
        stamp.unlink(missing_ok=True)
        complaints = io.StringIO()
        try:
            with contextlib.redirect_stderr(complaints):
                cythonize(Extension(module, [str(source)]), **options)
        finally:
            # Lines have the same numbers in the source.
            sys.stderr.write(re.sub(rf"\S*{GENERATED.as_posix()}/(\S+\.py:)", r"\1", complaints.getvalue()))
        if complaints.getvalue().strip():
            raise SystemExit(f"{path}: what Cython says above fails the build, even a hint")
        generated.write_text(linking.direct(generated.read_text("utf-8"), path), "utf-8")
        stamp.write_text(made_from, "utf-8")


class Build(build):
    """Begins with an empty folder: what an earlier build left there of other modules would be packed again."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildKernel(build_ext):
    """Compiles every kernel module or none, and notes what it did for the loader and the doctor."""

    parallel: int | None

    def run(self) -> None:
        kernel = declarations.Kernel(KERNEL_MODULES)
        # Taken first, so that a source that changes during the build counts as newer: the kernel's modules, those they
        # take constants from, and the types in both forms.
        files = sorted({*(module.path for module in kernel.modules.values()), TYPES, TYPES.with_suffix(".py")})
        sources = {path.as_posix(): digest(path) for path in files}
        self.parallel = self.parallel or os.cpu_count()
        self.chosen = toolchain.find()
        if self.chosen == "zig" and importlib.util.find_spec("ziglang") is None:
            refusal = toolchain.refusal(toolchain.system_compiler_problem())
            raise SystemExit(f"{refusal} Or, in this environment: pip install '{toolchain.ZIG_REQUIREMENT}'")
        translate(kernel, self.chosen)
        for extension in self.extensions:
            self.prepare(extension)
        super().run()
        info = {"compiler": self.compiler_version(), **configuration(self.chosen), "sources": sources}
        for place in [Path(self.build_lib), Path()] if self.inplace else [Path(self.build_lib)]:
            (place / BUILD_INFO).parent.mkdir(parents=True, exist_ok=True)
            (place / BUILD_INFO).write_text(json.dumps(info, indent=1) + "\n", "utf-8")

    def prepare(self, extension: Extension) -> None:
        """Set its flags, and write its C code."""
        instructions, fast = toolchain.fast_instructions()
        compile_flags, link_flags = flags(self.chosen, fast if extension.name == FAST_LIBRARY else instructions)
        if extension.name in LIBRARIES:
            code = linking.library_code(KERNEL_MODULES)
            extension.extra_link_args = link_flags
        else:
            code = linking.module_code(extension.name, LIBRARY)
            # A few lines of C need neither LTO nor sanitizers.
            compile_flags = [flag for flag in compile_flags if flag not in link_flags]
        (source,) = map(Path, extension.sources)
        if not source.exists() or source.read_text("utf-8") != code:
            source.write_text(code, "utf-8")
        if headers := toolchain.own_headers():
            extension.include_dirs = [str(headers)]
            compile_flags += toolchain.OWN_HEADERS_FLAGS
        extension.extra_compile_args = compile_flags

    def build_extension(self, ext: Extension) -> None:
        try:
            if ext.name in LIBRARIES:
                with ThreadPoolExecutor(self.parallel) as pool:
                    ext.extra_objects = [*pool.map(lambda module: self.compile_module(ext, module), KERNEL_MODULES)]
            if self.chosen == "zig":
                # Not through setuptools, which on Windows knows no such compiler, and adds flags meant for another one.
                arguments = ["-shared", *ext.extra_compile_args, *ext.extra_link_args]
                sources = [*ext.sources, *ext.extra_objects]
                self.run_zig(ext, Path(self.get_ext_fullpath(ext.name)), sources, arguments)
            else:
                super().build_extension(ext)
        except (CompileError, LinkError) as error:
            raise SystemExit(self.failure(ext, str(error))) from None

    def compile_module(self, library: Extension, module: str) -> str:
        """Compile a module for a library, if its C code is new; returns the object file."""
        source = str(c_file(module))
        folder = str(Path(self.build_temp, library.name))
        objects: list[str] = self.compiler.object_filenames([source], output_dir=folder)
        if not self.force and not newer(source, objects[0]):
            return objects[0]
        self.announce(f"building '{module}' for '{library.name}'", logging.INFO)
        arguments = library.extra_compile_args
        if module in VECTOR_MODULES:
            # The vector code of long loops stays out of the code around them.
            arguments = [flag for flag in arguments if flag not in ("-fno-tree-vectorize", *toolchain.lto_flags())]
        if self.chosen == "zig":
            self.run_zig(library, Path(objects[0]), [source], ["-c", *arguments])
        else:
            self.compiler.compile(
                [source], folder, library.define_macros, library.include_dirs, extra_postargs=arguments
            )
        return objects[0]

    def run_zig(self, extension: Extension, output: Path, sources: list[str], arguments: list[str]) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        macros = [f"-D{name}={value}" for name, value in extension.define_macros]
        include = [*extension.include_dirs, sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
        command = toolchain.zig_command(output, sources, [*arguments, *macros], include)
        cache = str(Path(self.build_temp, "zig").resolve())
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        if subprocess.run(command, env=environment, check=False).returncode != 0:
            raise SystemExit(self.failure(extension, "Zig's C compiler failed"))

    def failure(self, module: Extension, what: str) -> str:
        """A sentence for the user. A Cython that is newer than Secateur's header may need more than that declares."""
        headers = " Python's header files are missing, and Secateur's were used." if toolchain.own_headers() else ""
        return f"{module.name}: {what}, see above.{headers} {toolchain.WHAT_TO_INSTALL}"

    def compiler_version(self) -> str:
        """The compiler's own first line, or its command when it does not know --version."""
        if self.chosen == "zig":
            return f"Zig {importlib.metadata.version('ziglang')}"
        program = str(getattr(self.compiler, "compiler_so", [self.compiler.compiler_type])[0])
        try:
            answer = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return program
        return answer.stdout.partition("\n")[0]


def wheel_options() -> dict[str, str]:
    """The wheel's tag. What PyPy built holds no compiled kernel, so no other Python may take it."""
    if not toolchain.CPYTHON:
        return {"python_tag": f"pp{sys.version_info.major}{sys.version_info.minor}"}
    return {"py_limited_api": "cp311"} if STABLE_ABI else {}


setup(
    ext_modules=kernel_extensions(),
    cmdclass={"build": Build, "build_ext": BuildKernel},
    options={"bdist_wheel": wheel_options()},
)
