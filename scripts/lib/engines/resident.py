"""The one engine room of a worker process of this machine, kept from task to task.

Called by `engines.room` alone, and there only where the room is to be kept. What must stay true: no engine outlives
the process, however it is asked to end.
"""

from __future__ import annotations

import signal
import threading
from functools import cache
from multiprocessing.util import Finalize

from lib.engines.room import EngineRoom


@cache
def room_of_process() -> EngineRoom:
    """The room, opened at the first call."""
    room = EngineRoom()
    # A worker ends without the usual clean-up at the end of Python; this is done all the same.
    Finalize(room, _close_at_exit, args=(room,), exitpriority=10)
    return room


def _close_at_exit(room: EngineRoom) -> None:
    """Empty the room of a process that is leaving already: a second request to leave must not interrupt it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    room.abandon()
