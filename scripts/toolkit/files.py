"""Files from outside, read whole, also out of an archive, but never more than a bound."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, BinaryIO

from toolkit.errors import ProgramError

# Three times the largest books of openings. What unpacks to more is a mistake or an attack.
MAX_BYTES = 2**29
# What the two formats raise for damaged files, encryption, and compressions that Python does not know.
ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)


def digest_of_files(paths: Iterable[Path]) -> str:
    """A digest of the names and the contents of files, in this order. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def read_text(path: Path) -> str:
    """The text of a plain file of up to MAX_BYTES. Raises ProgramError for anything else, and OSError."""
    with _open(path) as file:
        data = _read(file, path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProgramError(f"{path.name} is no text: {error}") from None


def unpack_text(path: Path, suffixes: Sequence[str]) -> tuple[str, str]:
    """Name in lower case, and text, of a file with one of these suffixes, or of the one such file in a .zip or .gz.

    A byte that is no UTF-8 becomes a mark. Raises ProgramError for what is no such file, and OSError.
    """
    name = path.name.lower()
    with _open(path) as file:
        try:
            if name.endswith(".zip"):
                with zipfile.ZipFile(file) as archive:
                    names = [name for name in archive.namelist() if name.lower().endswith(tuple(suffixes))]
                    if len(names) != 1:
                        raise ProgramError(f"{path} holds {len(names)} files of openings, not one")
                    name = names[0].lower()
                    with archive.open(names[0]) as unpacked:
                        data = _read(unpacked, path)
            elif name.endswith(".gz"):
                name = name.removesuffix(".gz")
                with gzip.GzipFile(fileobj=file) as unpacked:
                    data = _read(unpacked, path)
            elif name.endswith(tuple(suffixes)):
                data = _read(file, path)
            else:
                raise ProgramError(f"{path} is no {', '.join(suffixes)}, .zip or .gz")
        except ARCHIVE_ERRORS as error:
            raise ProgramError(f"{path} is no sound archive: {error}") from None
    return name, data.decode("utf-8-sig", errors="replace")


def _open(path: Path) -> BinaryIO:
    # A pipe would be waited for, and a device may never end.
    if path.exists() and not path.is_file():
        raise ProgramError(f"{path} is not a plain file")
    return path.open("rb")


def _read(file: IO[bytes] | gzip.GzipFile, path: Path) -> bytes:
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ProgramError(f"{path} holds more than {MAX_BYTES // 2**20} MiB")
    return data
