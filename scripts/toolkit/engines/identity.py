"""What tells an engine from another one under the same command: a digest of its program.

A program that is started by a script of the shell is not seen.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files

# The name in UCI of the engine whose packages, unlike its launcher, say what it is.
OWN_NAME = "Secateur"
OWN_PACKAGES = ("evaluation", "uci_engine")
# Without what a compiler made of the sources, which differs from machine to machine.
SOURCE_SUFFIXES = (".py", ".toml", ".network", ".bin", ".gz")
FIND_PACKAGES = f"""
from importlib.util import find_spec
for name in {OWN_PACKAGES}:
    print(find_spec(name).submodule_search_locations[0])
"""
FIND_SECONDS = 30.0


def digest_of_packages(folders: Iterable[Path]) -> str:
    """Of the sources and the data in these folders. Raises OSError."""
    paths = (path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in SOURCE_SUFFIXES)
    return digest_of_files(paths)


def digest_of_program(spec: EngineSpec, id_name: str) -> str:
    """Of the files that the command names, or of Secateur's packages. Raises ProgramError, OSError."""
    program, *rest = spec.command
    folder = Path(spec.directory or ".")
    files = [path for word in (shutil.which(program) or program, *rest) if (path := folder / word).is_file()]
    interpreter = _python_of(files[0]) if files and id_name.startswith(OWN_NAME) else None
    if interpreter is None:
        return digest_of_files(files)
    # Where Python looks first: beside its script, and with -m in the folder that it is started in.
    found = _found_packages(interpreter, folder if "-m" in rest else files[-1].parent)
    if found is None:
        raise ProgramError(f"{spec.name}: the Python of {files[0]} does not find Secateur's packages")
    return digest_of_packages(found)


def _python_of(program: Path) -> str | None:
    """The Python that runs it, or that it is."""
    with program.open("rb") as file:
        beginning = file.readline(1024)
    name = beginning[2:].decode("utf-8", "replace").strip() if beginning.startswith(b"#!") else str(program)
    return name if Path(name).name.startswith("python") else None


def _found_packages(interpreter: str, folder: Path) -> list[Path] | None:
    command = [interpreter, "-c", FIND_PACKAGES]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FIND_SECONDS, check=False)
    return None if found.returncode else [Path(line) for line in found.stdout.splitlines()]
