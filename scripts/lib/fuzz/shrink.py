"""A conversation made shorter by leaving steps out, as long as what is wrong with it stays.

Used by `fuzz`, behind hypothesis: what depends on the moment makes hypothesis give up early, and here a step that can
be missed is missed. Pure but for `breaks`, which talks to an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lib.uci.conversation import Conversation, Heard, Pause, Send, Step, sent_only

SLOW_MS = 20


def shrink(conversation: Conversation, breaks: Callable[[Conversation], bool]) -> Conversation | None:
    """The conversation without the steps that do not matter; None if it breaks nothing when it is repeated as it is.

    Of what was heard the answers are kept where the next step has to wait for them.
    """
    about = conversation.about

    def still_breaks(steps: Sequence[Step]) -> bool:
        return breaks(Conversation(tuple(steps), about))

    steps: list[Step] = list(sent_only(conversation.steps))
    if not still_breaks(steps):
        # Said in one breath, perhaps something came too late to be noticed.
        steps = [part for step in steps for part in ((step, Pause(SLOW_MS)) if isinstance(step, Send) else (step,))]
        if not still_breaks(steps):
            return None
    waiting_for_nothing: list[Step] = [step for step in steps if not isinstance(step, Heard)]
    if still_breaks(waiting_for_nothing):
        steps = waiting_for_nothing
    size = max(1, len(steps) // 2)
    while True:
        start = 0
        while start < len(steps):
            shorter = steps[:start] + steps[start + size :]
            if shorter and still_breaks(shorter):
                steps = shorter
            else:
                start += size
        if size == 1:
            return Conversation(tuple(steps), about)
        size //= 2
