"""The address of the board: the same after every start, and known to its owner alone.

Games that a browser keeps, and pages that are open, belong to an address. So its secret part lies in a file at home.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import tempfile
import threading
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path

SECRET_FILE = ".secateur-board"
SECRET_BYTES = 16
KEPT = re.compile(r"[0-9a-f]{32}")
REDIRECT = """\
<!DOCTYPE html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={address}">
<title>Secateur</title>
<a href="{address}">Open the board</a>
"""


def secret() -> str:
    """The secret part of the address. Where none can be kept it is a new one."""
    path = Path(os.path.expanduser("~"), SECRET_FILE)
    new = secrets.token_hex(SECRET_BYTES)
    with suppress(OSError):
        # A link is no place for a secret.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "r+", encoding="ascii", errors="replace") as file:
            if not _is_private(path, descriptor):
                return new
            kept = file.read(len(new))
            if KEPT.fullmatch(kept):
                return kept
            file.seek(0)
            file.truncate()
            file.write(new)
    return new


def _is_private(path: Path, descriptor: int) -> bool:
    """Whether the file is this user's alone. One of this user that others may open is removed: the next is a new one.

    Changed rights would not do: who has it open already could still read it.
    """
    if sys.platform == "win32":
        return True
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        return False
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        path.unlink()
        return False
    return True


def open_browser(address: str, leading: ExitStack) -> None:
    """Open the page by a file that leads to it, until `leading` ends. OSError: there can be no such file.

    Every user of the machine can read the command line of a browser, and only its owner the file.
    """
    home = os.path.expanduser("~")
    # A confined browser, as Ubuntu's Firefox, finds a file at home, and none in /tmp.
    folder = home if os.access(home, os.W_OK) else None
    descriptor, name = tempfile.mkstemp(".html", "secateur-board-", folder)
    path = Path(name)
    leading.callback(path.unlink, missing_ok=True)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(REDIRECT.format(address=address))
    # Some browsers return only when they are closed.
    threading.Thread(target=webbrowser.open, args=[path.as_uri()], daemon=True).start()
