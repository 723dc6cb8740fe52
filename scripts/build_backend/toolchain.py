"""The C compiler and Python's header files: which are here, and what to do where they are not.

A build takes the system's compiler. Where none works it takes Zig, which holds Clang and comes from PyPI (`ziglang`).
Where Python's headers are missing on Linux it takes Secateur's own, `include/Python.h`, which declares as much of the
stable ABI as the kernel uses. Elsewhere Python brings its headers, or the build fails.

Invariants: the engine is compiled, or the build fails with one sentence that says what to install. pip keeps
what was built, so a wheel without the compiled core would come back after a compiler was installed.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from uci_engine.core import FAST_INSTRUCTIONS, has_fast_instructions

# Zig's newest versions at the time of writing: a later one might have no C compiler any more.
ZIG_REQUIREMENT = "ziglang>=0.15,<0.18"
# The machines for which PyPI has it. A Python of 32 bits may run on one of 64, for which Zig would compile.
ZIG_MACHINES = {
    "linux": {"x86_64", "aarch64", "ppc64le", "riscv64", "s390x"},
    "darwin": {"x86_64", "arm64"},
    "win32": {"amd64", "arm64"},
}
IS_64_BIT = sys.maxsize > 2**32

Compiler = Literal["system", "zig"]

CPYTHON = platform.python_implementation() == "CPython"
# CPython's stable ABI: one build serves 3.11 and everything later. Free-threaded Python does not have it yet.
OLDEST_ABI = "0x030B0000"
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")

# Stands in for Python's header files. A Python that traces references has objects of another form.
OWN_HEADERS = Path(__file__).resolve().parent / "include"
# What the header does not declare must fail the build: C would take it for a function that returns an int.
OWN_HEADERS_FLAGS = [f"-Werror={what}" for what in ("implicit-function-declaration", "int-conversion")]
OWN_HEADERS_FIT = CPYTHON and STABLE_ABI and not sysconfig.get_config_var("Py_TRACE_REFS")

# The values of SECATEUR_SANITIZE. With gcc's parameter ThreadSanitizer passes over what is volatile (see typed.pxd).
SANITIZERS = {
    "0": [],
    "1": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread", "--param", "tsan-distinguish-volatile=1"],
}

PROBE = "#include <math.h>\n#include <stdlib.h>\nint secateur_probe(void) { return 0; }\n"
PROBE_SECONDS = 60.0

WHAT_TO_INSTALL = "Install a C compiler and Python's header files, as README.md says, then Secateur again."


def setting(variable: str, values: Iterable[str] = ("0", "1")) -> str:
    """The value of an environment variable, by default 0; one that is none of these stops the build."""
    value = os.environ.get(variable, "0")
    if value not in values:
        raise SystemExit(f"{variable} must be {', '.join(values)}, not {value!r}")
    return value


def sanitizers() -> list[str]:
    """The flags of the sanitizers that SECATEUR_SANITIZE asks for."""
    return SANITIZERS[setting("SECATEUR_SANITIZE", SANITIZERS)]


def requirements() -> list[str]:
    """What pip is to fetch before the build, besides what pyproject.toml names."""
    return [ZIG_REQUIREMENT] if CPYTHON and find() == "zig" else []


def find() -> Compiler:
    """The compiler to be used, and for Zig's to be installed. SystemExit where neither will do, or without headers."""
    own_headers()
    problem = system_compiler_problem()
    if problem is None:
        return "system"
    if os.environ.get("CC"):
        raise SystemExit(f"Secateur cannot be compiled: CC is {os.environ['CC']!r}, and {problem}.")
    offered = IS_64_BIT and platform.machine().lower() in ZIG_MACHINES.get(sys.platform, ())
    if not offered or setting("SECATEUR_REQUIRE_COMPILER") == "1" or sanitizers():
        raise SystemExit(refusal(problem))
    return "zig"


def own_headers() -> Path | None:
    """The folder with Secateur's header where Python's are missing; None where they are here. SystemExit where they are
    missing and Secateur's does not serve."""
    folder = sysconfig.get_path("include")
    if Path(folder, "Python.h").is_file():
        return None
    if sys.platform != "linux" or not OWN_HEADERS_FIT:
        raise SystemExit(refusal(f"Python's header files are missing ({folder})"))
    return OWN_HEADERS


def refusal(problem: str | None) -> str:
    return f"Secateur cannot be compiled: {problem}. {WHAT_TO_INSTALL}"


def fast_instructions() -> tuple[dict[str, str], dict[str, str]]:
    """The instruction sets beyond the x86-64 baseline of the kernel and of its second copy: Linux's names and the
    compilers'.

    The loader compares them with the processor it runs on. A portable build has them in the second copy alone, whatever
    processor builds it; any other in the kernel, where this processor has them all. There are none where the build has
    the sanitizers or is for another machine, and where the user's flags choose one.
    """
    is_portable = setting("SECATEUR_PORTABLE") == "1"
    if sanitizers() or sysconfig.get_platform() != "linux-x86_64":
        return {}, {}
    if any(flag in os.environ.get(name, "") for name in ("CC", "CFLAGS") for flag in ("-march=", "-mcpu=")):
        return {}, {}
    if is_portable:
        return {}, FAST_INSTRUCTIONS
    return FAST_INSTRUCTIONS if has_fast_instructions() else {}, {}


@cache
def lto_flags() -> list[str]:
    """The flags by which the system's compiler optimises across files (LTO); none where it cannot."""
    # By default gcc leaves calls: 9 % more instructions. A profile of `bench` (PGO) saves more, and is 3 % slower.
    flags = ["-flto=auto", "--param=inline-unit-growth=150", "--param=large-function-growth=300"]
    return flags if system_compiler_problem(flags) is None else []


def system_compiler_problem(flags: Iterable[str] = ()) -> str | None:
    """Why the system's C compiler does not work with some flags, found by using it as the build does, with Python's own
    flags and the user's; None when it does."""
    from setuptools import errors
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    compiler: Any = new_compiler()
    customize_compiler(compiler)
    if compiler.compiler_type == "msvc":
        # It is in no PATH: setuptools knows where to look for it.
        try:
            compiler.initialize()
        except errors.PlatformError as error:
            return f"no C compiler was found ({error})"
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, made, library = (str(Path(folder, name)) for name in ("one.c", "one.o", "one.so"))
        Path(source).write_text(PROBE, "utf-8")
        for command in (
            [*compiler.compiler_so, *flags, "-fvisibility=default", "-c", source, "-o", made],
            [*compiler.linker_so, *flags, made, "-o", library],
        ):
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS)
            except FileNotFoundError:
                return f"no C compiler was found ({command[0]})"
            except (OSError, subprocess.SubprocessError) as error:
                return f"the C compiler {command[0]} does not run ({error})"
            if done.returncode != 0:
                # The first line of an error is about the folder or the file in general.
                said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
                return f"the C compiler {command[0]} does not work ({said[0].strip() if said else 'it says nothing'})"
        # With gcc's LTO, lld links nothing and reports no error.
        is_linked = b"secateur_probe" in Path(library).read_bytes()
    return None if is_linked else f"the linker of {command[0]} leaves out what the compiler has made"


def zig_command(output: Path, sources: list[str], flags: list[str], include: list[str]) -> list[str]:
    """The command by which Zig compiles (`-c` among the flags) or links (`-shared`)."""
    command = [sys.executable, "-m", "ziglang", "cc", "-o", str(output), *sources, *flags]
    command += [f"-I{folder}" for folder in include]
    if sys.platform == "win32":
        # For Python's headers: no compiler but Visual C++ tells them so by itself.
        command += ["-DMS_WIN64"]
        library = "python3" if STABLE_ABI else f"python{sys.version_info.major}{sys.version_info.minor}t"
        return [*command, f"-L{Path(sys.base_prefix, 'libs')}", f"-l{library}"]
    if sys.platform == "darwin":
        return [*command, "-undefined", "dynamic_lookup"]
    return [*command, "-fPIC"]


def zig_flags(instructions: Iterable[str]) -> list[str]:
    """Zig takes the processor it runs on for the target, and traps undefined behaviour, unless told otherwise."""
    processor = "+".join(["baseline", *instructions])
    # Zig keeps frame pointers, and Clang leaves calls where gcc is told not to: 3 and 6 % more instructions.
    speed = ["-O3", "-fno-tree-vectorize", "-fomit-frame-pointer", "-mllvm", "-inline-threshold=1500"]
    speed += [f"-mcpu={processor}"]
    return [*speed, "-DNDEBUG", "-fwrapv", "-g0", "-fvisibility=hidden", "-fno-sanitize=undefined"]
