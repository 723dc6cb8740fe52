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
from uci_engine.core import KERNEL_MODULES

BUILD_INFO = Path("uci_engine", "build_info.json")
GENERATED = Path("build", "cython")
TYPES = Path("evaluation", "base", "typed.pxd")
# Before the name of a module: its second copy in a portable build, see `toolchain.fast_instructions`.
FAST_COPY = "uci_engine.fast."
# The library of all modules, with the address of the function that begins each, and the extension file of one module.
LIBRARY = "uci_engine.kernel"
# ELF: a function of the library comes before one of the same name elsewhere.
OWN_FIRST = [] if sys.platform in ("darwin", "win32") else ["-Wl,-Bsymbolic"]
LIBRARY_CODE = """#include <Python.h>
{declarations}
static int fill(PyObject *module) {{ return {entries}; }}
static PyModuleDef_Slot slots[] = {{{{Py_mod_exec, (void *)fill}}, {{0, NULL}}}};
static PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "kernel", NULL, 0, NULL, slots, NULL, NULL, NULL}};
PyMODINIT_FUNC PyInit_kernel(void) {{ return PyModuleDef_Init(&definition); }}
"""
DECLARATION = "PyMODINIT_FUNC PyInit_{0}(void);"
ENTRY = 'PyModule_AddObject(module, "{0}", PyCapsule_New((void *)PyInit_{0}, NULL, NULL))'
MODULE_CODE = """#include <Python.h>
PyMODINIT_FUNC PyInit_{name}(void) {{
    PyObject *library = PyImport_ImportModule("{library}");
    PyObject *begin = library ? PyObject_GetAttrString(library, "{name}") : NULL;
    return begin ? ((PyObject *(*)(void))PyCapsule_GetPointer(begin, NULL))() : NULL;
}}
"""

# The modules whose loops are long enough for vector code, see `flags_of`.
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


def source_of(module: str) -> Path:
    return Path(*module.split(".")).with_suffix(".py")


def code_of(module: str) -> Path:
    """What Cython makes of it."""
    return GENERATED / source_of(module).with_suffix(".c")


def flags(compiler: Compiler, instructions: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What the compiler ("system" or "zig") and the linker are told beyond Python's own flags."""
    if compiler == "zig":
        return toolchain.zig_flags(instructions.values()), []
    if sys.platform == "win32" and "MSC" in sys.version:
        return ["/O2"], []
    if sanitize := toolchain.sanitizers():
        return ["-O1", "-g", "-fno-omit-frame-pointer", *sanitize], sanitize
    # The last two are Python's own, which setuptools drops where CFLAGS is set. The inline limit lets the compiler take
    # each term of the evaluation into the sum: without it they cost calls, 5 % more instructions in all. Clang ignores
    # it and is as fast. The loops are short: vector code for them costs about 2 % of the nodes per second.
    speed = ["-O3", "-finline-limit=1500", "-fno-tree-vectorize", "-DNDEBUG", "-fwrapv"]
    # Cython's C code is full of docstrings that it does not use.
    quiet = ["-Wno-unused-const-variable", "-Wno-ignored-optimization-argument"]
    fast = [f"-m{name}" for name in instructions.values()]
    both = toolchain.lto_flags()
    return [*speed, *both, "-g0", "-fvisibility=hidden", *quiet, *fast], both


def flags_of(module: str, flags: list[str]) -> list[str]:
    """Of one module of a library: the vector code of long loops stays out of the code around them."""
    others = ("-fno-tree-vectorize", *toolchain.lto_flags()) if module in VECTOR_MODULES else ()
    return [flag for flag in flags if flag not in others]


def kernel_extensions() -> list[Extension]:
    """A library and one extension per kernel module, twice in a portable build; none on PyPy, where C extensions run
    slower than Python does."""
    if not toolchain.CPYTHON:
        return []
    prefixes = ["", FAST_COPY] if toolchain.fast_instructions()[1] else [""]
    return [
        Extension(
            prefix + module,
            [str(GENERATED / f"{prefix}{module}.c")],
            define_macros=[("Py_LIMITED_API", OLDEST_ABI)] if STABLE_ABI else [],
            depends=["setup.py", *(str(code_of(each)) for each in KERNEL_MODULES if module == LIBRARY)],
            py_limited_api=STABLE_ABI,
        )
        for prefix in prefixes
        for module in (LIBRARY, *KERNEL_MODULES)
    ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def configuration(compiler: Compiler) -> dict[str, object]:
    """All that decides what is built, apart from the sources and what each module is compiled with."""
    instructions, of_copies = toolchain.fast_instructions()
    return {
        "cython": importlib.metadata.version("Cython"),
        "python": platform.python_version(),
        "flags": flags(compiler, instructions)[0],
        # The loader looks for these before it runs what was built, or prefers its second copy.
        "instructions": list(instructions),
        "fast_copy": list(of_copies),
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
    settings = configuration(compiler)
    common = [settings, OLDEST_ABI, [one.pxd for one in translations], digest(TYPES), digest(Path(linking.__file__))]
    arguments, _ = flags(compiler, {})
    for module in KERNEL_MODULES:
        source = GENERATED / source_of(module)
        generated = code_of(module)
        stamp = generated.with_suffix(".stamp")
        made_from = json.dumps([*common, flags_of(module, arguments), digest(source)])
        if not (generated.exists() and stamp.exists() and stamp.read_text("utf-8") == made_from):
            stamp.unlink(missing_ok=True)
            complaints = io.StringIO()
            try:
                with contextlib.redirect_stderr(complaints):
                    cythonize(
                        Extension(module, [str(source)]),
                        include_path=[str(GENERATED)],
                        compiler_directives=DIRECTIVES,
                        force=True,
                    )
            finally:
                # Lines have the same numbers in the source.
                sys.stderr.write(re.sub(rf"\S*{GENERATED.as_posix()}/(\S+\.py:)", r"\1", complaints.getvalue()))
            if complaints.getvalue().strip():
                raise SystemExit(f"{source_of(module)}: what Cython says above fails the build, even a hint")
            generated.write_text(linking.direct(generated.read_text("utf-8"), source_of(module)), "utf-8")
            stamp.write_text(made_from, "utf-8")


class Build(build):
    """Begins with an empty folder: what an earlier build left there of other modules would be packed again."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildKernel(build_ext):
    """Compiles every kernel module or none, and notes what it did for the loader and the doctor."""

    extensions: list[Extension]
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
        self.own_headers = toolchain.own_headers()
        translate(kernel, self.chosen)
        for extension in self.extensions:
            self.prepare(extension)
        super().run()
        info = {"compiler": self.compiler_version(), **configuration(self.chosen), "sources": sources}
        for place in [Path(self.build_lib), *([Path()] if self.inplace else [])]:
            (place / BUILD_INFO).parent.mkdir(parents=True, exist_ok=True)
            (place / BUILD_INFO).write_text(json.dumps(info, indent=1) + "\n", "utf-8")

    def prepare(self, extension: Extension) -> None:
        """Set its flags, and write its C code."""
        copy = extension.name.startswith(FAST_COPY)
        module = extension.name.removeprefix(FAST_COPY)
        arguments, of_both = flags(self.chosen, toolchain.fast_instructions()[1 if copy else 0])
        if module == LIBRARY:
            names = [name.rpartition(".")[2] for name in KERNEL_MODULES]
            declared, entries = "\n".join(map(DECLARATION.format, names)), " || ".join(map(ENTRY.format, names))
            code = LIBRARY_CODE.format(declarations=declared, entries=entries)
            extension.extra_compile_args, extension.extra_link_args = arguments, [*of_both, *OWN_FIRST]
        else:
            library = FAST_COPY + LIBRARY if copy else LIBRARY
            code = MODULE_CODE.format(name=module.rpartition(".")[2], library=library)
            extension.extra_compile_args = [flag for flag in arguments if flag not in of_both]
        (source,) = map(Path, extension.sources)
        if not source.exists() or source.read_text("utf-8") != code:
            source.write_text(code, "utf-8")
        if self.own_headers is not None:
            extension.include_dirs = [str(self.own_headers)]
            extension.extra_compile_args = [*extension.extra_compile_args, *toolchain.OWN_HEADERS_FLAGS]
        if copy and self.inplace:
            Path(*extension.name.split(".")).parent.mkdir(parents=True, exist_ok=True)

    def build_extension(self, ext: Extension) -> None:
        try:
            if ext.name.endswith(LIBRARY):
                with ThreadPoolExecutor(self.parallel) as pool:
                    ext.extra_objects = [*pool.map(lambda module: self.compile_module(ext, module), KERNEL_MODULES)]
            if self.chosen == "zig":
                self.build_by_zig(ext)
            else:
                super().build_extension(ext)
        except (CompileError, LinkError) as error:
            raise SystemExit(self.failure(ext, str(error))) from None

    def compile_module(self, library: Extension, module: str) -> str:
        """Compile a module for a library, if its code is new; returns the object file."""
        source = str(code_of(module))
        folder = str(Path(self.build_temp, library.name))
        objects: list[str] = self.compiler.object_filenames([source], output_dir=folder)
        if not self.force and not newer(source, objects[0]):
            return objects[0]
        self.announce(f"building '{module}' for '{library.name}'", logging.INFO)
        arguments = flags_of(module, library.extra_compile_args)
        if self.chosen == "zig":
            self.run_zig(library, Path(objects[0]), [source], ["-c", *arguments])
        else:
            self.compiler.compile(
                [source], folder, library.define_macros, library.include_dirs, extra_postargs=arguments
            )
        return objects[0]

    def build_by_zig(self, extension: Extension) -> None:
        """Not through setuptools, which on Windows knows no such compiler, and adds flags meant for another one."""
        output = Path(self.get_ext_fullpath(extension.name))
        sources = [*extension.sources, *extension.extra_objects]
        self.run_zig(extension, output, sources, ["-shared", *extension.extra_compile_args, *extension.extra_link_args])

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
        headers = "" if self.own_headers is None else " Python's header files are missing, and Secateur's were used."
        return f"{module.name}: {what}, see above.{headers} {toolchain.WHAT_TO_INSTALL}"

    def compiler_version(self) -> str:
        """The compiler's own first line, or its command when it does not know --version."""
        if self.chosen == "zig":
            return f"Zig {importlib.metadata.version('ziglang')}"
        words = getattr(self.compiler, "compiler_so", None) or [self.compiler.compiler_type]
        command = [str(words[0]), "--version"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return command[0]
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
