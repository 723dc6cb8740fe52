"""Whether a reason holds beyond the two lines that it compares: asked of short searches.

A line shows one way to play. What it wins is a reason where it is about as much as the move costs, where short searches
see that cost, too, and where the other side has no defence as good that keeps the material.
"""

from __future__ import annotations

from functools import cached_property

from uci_engine.game_analysis.judgement import BLUNDER_LOSS
from uci_engine.game_analysis.tactics.line import Line, TwoLines
from uci_engine.game_analysis.threats import Finder
from uci_engine.game_analysis.values import DRAWN, Found

# For each pawn that a reason names, the values of the two moves differ by so many pawns; and at most by one more.
LEAST_SHARE, MOST_SHARE = 0.45, 2.0
# Short searches see at least this part of the cost.
LEAST_SEEN = 0.5
# A defence is as good that expects at most so much less, and one that leaves a side so far behind is none.
AS_GOOD, LOST_CP = 0.02, -300
# Up to this ply defences are looked for.
LAST_DEFENCE = 8


class Confirmation:
    """What short searches, by `find`, say of two lines. Where they find nothing, they object to nothing."""

    def __init__(self, lines: TwoLines, find: Finder) -> None:
        self.lines, self.find = lines, find

    @cached_property
    def is_seen(self) -> bool:
        """Whether searches after both moves see most of what the move played costs."""
        found = [self.find(line.boards[:2][-1]) for line in self.lines.both]
        if not all(each.line for each in found):
            return True
        played, better = (each.value.expected_for(self.lines.color) for each in found)
        return better - played >= LEAST_SEEN * self.lines.cost

    def is_won(self, is_missed: bool, ply: int) -> bool:
        """Whether what one of the lines has won by this ply is by force, and about what the move played costs."""
        line = self.lines.both[is_missed]
        pawns = line.balance(ply) - line.balance(0)
        played, better = (value.cp_for(self.lines.color) for value in self.lines.values)
        lost = (better - played) / 100
        # With less lost more comes back, unless it decides the game anyway. With more lost something else matters.
        is_enough = lost >= LEAST_SHARE * pawns or self.lines.cost >= BLUNDER_LOSS
        # Where the move played also loses something, what it misses is only half of the reason.
        is_whole = self.lines.differ >= 1 and (not is_missed or pawns >= self.lines.differ)
        return is_enough and is_whole and lost <= MOST_SHARE * pawns + 1 and self.is_seen and self.is_forced(line, ply)

    def is_forced(self, line: Line, ply: int) -> bool:
        """Whether no defence that is as good keeps a pawn more of what a line has won by this ply."""
        loser = not line.winner
        last = max((win.ply for win in line.wins() if win.ply < ply), default=0)
        for at in range(line.own_plies().start + 1, min(last, LAST_DEFENCE), 2):
            board, move = line.boards[at], line.moves[at]
            others = [other for other in board.legal_moves if other != move]
            best = self.find(board, others) if others else Found(DRAWN)
            if not best.line:
                continue
            defence = Line(board, best.shown.line, line.winner)
            is_kept = defence.balance(defence.settled) < line.balance(ply)
            if is_kept and best.value.cp_for(loser) > LOST_CP:
                expected = self.find(board, [move]).value.expected_for(loser)
                if best.value.expected_for(loser) >= expected - AS_GOOD:
                    return False
        return True
