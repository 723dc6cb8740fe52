"""Why a move is an error, in words: where its line leads, compared with the better line.

First comes the tactic that decides one of the lines, then what the move costs. Where neither does, it is what the
first moves of a line do (`deeds.py`), and what can be seen along it and not along the other (`seen.py`). A forced mate,
a draw and a tablebase result are reasons of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple

import chess

from uci_engine.game_analysis.boards import board_after, drawn_by, is_sacrifice, material_balance, material_words
from uci_engine.game_analysis.deeds import ATTACK_WEIGHT, DEED_WEIGHT, LEAST_WEIGHT, deed_of, left_square
from uci_engine.game_analysis.seen import LEAST_SHARE, Seen, lasting_facts, settled_plies
from uci_engine.game_analysis.tactics.attacks import gain_of, king_of, value_at
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line, Win
from uci_engine.game_analysis.tactics.motif import CAPTURES, DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import motif_words, piece_on
from uci_engine.game_analysis.values import DRAWN_SHARE, Found

# Lines are compared at most this many plies deep.
MAX_COMPARED_PLIES = 14
# The same move so many plies later in the other line is another matter.
SAME_WITHIN = 3
# More pawns than these for each point of the expected result were given for something.
MOST_GIVEN = 14
# What is taken where such words are said, in pawns: the exchange is won by taking a rook.
WORTHS = {"queen": 9, "rook": 5, "piece": 3, "exchange": 5, "pawn": 1}
# How much a gain of material counts, as the weight of a fact.
WIN_WEIGHT = 25
MAX_FACTS = 2
# What is seen a ply later counts so much less.
EARLY = 0.8
# Deeds are looked for among so many plies from the first move, and one of a later move counts so much.
DEED_PLIES = 3
LATER_DEED = 1 / 3
# A side that expects less has lost.
LOST = 0.1
# A king that has to move out of so many checks is hunted.
LEAST_HUNT = 3


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is an error or good. `text` is a sentence for the player, without its full stop.

    `motifs` decide the line of the move or the better one. `names_missed_mate`: it says that a mate is missed.
    """

    text: str
    motifs: tuple[Motif, ...] = ()
    names_missed_mate: bool = False


class _Lines:
    """The move played and the better one, each with its line, and what these win: for the opponent, and for the player.

    What both win alike decides nothing, so `loss` is by how much their ends differ, in pawns. `cost`: what the move
    costs of the expected result. What the move played has `taken` is no gain if it costs as much. `gains`: what the
    winner of each line gains after the move played, or by the better line. `is_traded`: the line of the move played
    comes to a pawn ending by a trade at once, and the better one does not.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found) -> None:
        # The side that made the error.
        self.color = board.turn
        self.board, self.played, self.better = board, played, better
        self.against = Line(board, played.line, not self.color)
        self.missed = Line(board, better.line, self.color)
        # By whether it is the better one.
        self.both = self.against, self.missed
        self.cost = abs(better.value.expected - played.value.expected)
        self.targets = [move.to_square for move in played.line[:1]]
        self.taken = sum(gain_of(board, move) for move in played.line[:1])
        self.gains = self.against.gain() + self.taken, self.missed.gain()
        self.loss = sum(self.gains) - self.taken
        here, there = (
            [ply for ply, board in enumerate(line.boards[:4]) if board.occupied == board.pawns | board.kings]
            for line in self.both
        )
        self.is_traded = any(here) and not there and abs(self.against.balance(here[0]) - self.against.balance(0)) <= 1

    def own_wins(self, is_missed: bool) -> list[Win]:
        """What one of the lines wins by compared moves that are not in the other, in their order.

        A first move that only takes as much as the move played has taken wins nothing.
        """
        line, other = self.both[is_missed], self.both[not is_missed]
        end, first = len(_compared(line)) - 1, int(not is_missed)
        # A move wins nothing that the other line has as soon, unless it is taken back there.
        alike = set(other.moves) - {move for move, reply in pairwise(other.moves) if reply.to_square == move.to_square}
        wins = []
        for win in line.wins():
            is_alike = line.moves[win.ply] in alike.intersection(other.moves[: win.ply + SAME_WITHIN])
            if win.ply < end and not is_alike and (win.ply > first or win.worth > self.taken):
                wins.append(win)
        return sorted(wins, key=attrgetter("ply"))


class _Difference(NamedTuple):
    """What is seen in one line and not in the other. The least cost matters most.

    place: whether in the better line, and after how many plies. subject: one difference of a subject is enough.
    """

    cost: float
    place: tuple[bool, int]
    words: str
    subject: str


def reason_for(board: chess.Board, played: Found, better: Found) -> Reason:
    """Why the line of the move played is worse than the better line, both from this board."""
    lines = _Lines(board, played, better)
    motifs, is_missed = _deciding(lines)
    line = lines.both[is_missed]
    # A mate without a name of its own is said elsewhere.
    parts = [motif_words(line, motif) for motif in motifs if motif.kind is not Kind.MATE]
    if parts and is_missed:
        better_move = "better," if not motifs[0].ply else f"better is {line.name(0)}:"
        parts[0] = f"{better_move} {parts[0]}"
    is_draw = bool(motifs) and motifs[-1].kind in DRAWS
    forced = [] if is_draw else _forced(lines)
    if not (forced or is_draw):
        parts += [] if motifs else _attack_on_king(lines)
        costs = _material(lines, motifs, is_missed)
        parts += costs if motifs or costs else _positional(lines)
    text = "; ".join(parts + forced) or _in_general(lines)
    return Reason(text[:1].upper() + text[1:], motifs, not is_draw and better.value.mate_for(lines.color) is not None)


def _deciding(lines: _Lines) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one."""
    if lines.is_traded:
        return (), False
    motifs = deciding_motifs(lines.against, -lines.taken)
    if motifs and _decides(motifs, lines, False):
        return motifs, False
    motifs = deciding_motifs(lines.missed)
    if motifs and _decides(motifs, lines, True):
        takes_the_same = motifs[0].kind in CAPTURES and motifs[0].move.to_square in lines.targets
        return ((), False) if takes_the_same else (motifs, True)
    return (), False


def _decides(motifs: tuple[Motif, ...], lines: _Lines, is_missed: bool) -> bool:
    """Whether these motifs of one of the lines are why it is better for its winner than the other one."""
    kind = motifs[-1].kind
    if kind in DRAWS:
        found, other = (lines.better, lines.played) if is_missed else (lines.played, lines.better)
        return found.value.is_drawn and other.value.expected_for(lines.both[is_missed].winner) < 0.5
    # Of the material by which the lines differ, this one wins at least half. At their ends not every capture is good.
    kept = lines.against.kept() + lines.missed.kept()
    return kind.is_mate or kind in ENDINGS or (max(lines.loss, kept) >= 1 and lines.loss <= 2 * lines.gains[is_missed])


def _forced(lines: _Lines) -> list[str]:
    """What the lines lead to by force."""
    color, played, better = lines.color, lines.played.value, lines.better.value
    parts = []
    if lines.is_traded:
        kind = "lost" if played.expected_for(color) < LOST else "worse"
        parts.append(f"it trades the last pieces, and the pawn ending is {kind}")
    against, missed = played.mate_for(not color), better.mate_for(color)
    if against is not None:
        parts.append(f"it allows mate in {against}" if against else "it allows mate")
    elif played.is_tablebase and played.expected_for(color) < 0.5:
        parts.append("the tablebases say that it loses")
    if missed is not None:
        parts.append(f"it misses mate in {missed}")
    elif better.is_tablebase and better.expected_for(color) > 0.5:
        parts.append("the tablebases say that the better move wins")
    if (ending := _drawn_end(lines.board, lines.played)) and better.expected_for(color) > 0.5:
        parts.append(f"its line ends in a draw by {ending}")
    if (ending := _drawn_end(lines.board, lines.better)) and played.expected_for(color) < 0.5:
        parts.append(f"the better line holds the draw by {ending}")
    return parts


def _drawn_end(board: chess.Board, found: Found) -> str:
    """How a line ends in a draw; "" if it does not, or if one side repeats moves and does not have to."""
    return drawn_by(board_after(board, found.line)) if found.value.is_drawn else ""


def _material(lines: _Lines, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """The material that the move costs or leaves at the ends of the lines, and what takes it.

    A tactic says already what takes it, and a promotion all.
    """
    if motifs and motifs[-1].kind in (Kind.PROMOTION, Kind.UNDERPROMOTION):
        return []
    plies = _settled_ply(lines.against), _settled_ply(lines.missed)
    pawns = lines.against.balance(plies[0]) + lines.missed.balance(plies[1])
    if motifs:
        plies = (len(lines.against.moves), len(lines.missed.moves)) if pawns < 1 else plies
        owed = _owed(lines, plies, is_missed)
        return [owed] if owed else []
    if not 1 <= pawns <= MOST_GIVEN * lines.cost:
        return []
    # What takes it at once says more; a pawn that the better line wins only after its first moves says nothing.
    found: list[tuple[int, str]] = []
    for in_missed in (False, True):
        owed = _owed(lines, plies, in_missed)
        greatest = next((worth for noun, worth in WORTHS.items() if noun in owed.partition(" for ")[0]), 0)
        line = lines.both[in_missed]
        for win in lines.own_wins(in_missed) if owed and line.kept() >= 1 else ():
            taken = value_at(line.boards[win.ply], win.square)
            is_late = in_missed and pawns == 1 and win.ply > DEED_PLIES
            if not is_late and (greatest in (0, win.worth, taken) or win.worth == pawns):
                found.append((win.ply, f"{owed}: {line.name(win.ply)}"))
    return [words for _, words in sorted(found)[:1]]


def _owed(lines: _Lines, plies: tuple[int, int], is_missed: bool) -> str:
    """`it costs a pawn`, `it misses the gain of a pawn`: what one of the lines wins at these plies of both; or "".

    It is counted from the first position, or from the other line's where the same side wins there, too.
    """
    line, other = lines.both[is_missed], lines.both[not is_missed]
    ply, elsewhere = plies[is_missed], plies[not is_missed]
    if any(line.moves[own].promotion for own in line.own_plies() if own < ply):
        return "it misses a promotion" if is_missed else "it lets a pawn promote"
    is_behind = other.balance(elsewhere) < other.balance(0)
    boards = [other.boards[elsewhere] if is_behind else lines.board, line.boards[ply]]
    owed = material_words(boards[is_missed], boards[not is_missed], lines.color)
    return owed and f"it {'misses the gain of' if is_missed else 'costs'} {owed}"


def _compared(line: Line) -> list[chess.Board]:
    """The positions of a line that are looked at."""
    return line.boards[: min(line.searched, MAX_COMPARED_PLIES) + 1]


def _settled_ply(line: Line) -> int:
    """Of the last third of a line, a ply at which its winner has rather little."""
    end = len(_compared(line)) - 1
    settled = [ply for ply in settled_plies(_compared(line)) if ply >= 2 * end // 3] or [end]
    return sorted(settled, key=line.balance)[len(settled) // 4]


def _positional(lines: _Lines) -> list[str]:
    """What is worse in the line of the move played than in the better one, and lasts."""
    seen = [Seen(_compared(line)) for line in lines.both]
    found = [*_deeds(lines, False), *_deeds(lines, True)]
    # A pawn in the centre leaves room for what else its move brings.
    deeds = [each.place for each in found if each.cost < -ATTACK_WEIGHT / 2]
    for is_missed in (False, True):
        for value, fact, color, ply in lasting_facts(seen[is_missed], seen[not is_missed]):
            # Strengths of the opponent and own weaknesses are bad. What a deed brings with it is a by-product.
            is_bad = (fact.is_strength == (color == lines.color)) == is_missed
            if is_bad and (is_missed, ply) not in deeds:
                owner = "your" if color == lines.color else "White's" if color else "Black's"
                move = lines.both[is_missed].name(ply - 1)
                words = f"after {move}{',' * is_missed} {owner} {fact.words}"
                found.append(_Difference(-value * EARLY**ply, (is_missed, ply), words, f"{owner} {fact.subject}"))
    found.sort()
    counted = [each for each in found if each.cost <= min(found[0].cost / 2, -LEAST_WEIGHT)]
    # Of one subject and of one move only the greatest is said.
    chosen = sorted({each.subject: each for each in reversed(counted)}.values())[:MAX_FACTS]
    ordered = sorted({each.place: each for each in reversed(chosen)}.values(), key=attrgetter("place"))
    said = [", and ".join(each.words for each in ordered if each.place[0] == is_missed) for is_missed in (False, True)]
    return [start + words for start, words in zip(("", "in the better line, "), said, strict=True) if words]


def _deeds(lines: _Lines, is_missed: bool) -> Iterator[_Difference]:
    """What the winner of a line does and not in the other: by its first two moves, and the first gain that it keeps."""
    line, other = lines.both[is_missed], lines.both[not is_missed]
    first, subject = int(not is_missed), f"first moves {is_missed}"
    for ply in range(first, min(first + DEED_PLIES, len(line.moves)), 2):
        weight, deed = deed_of(line, ply)
        again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
        left = left_square(line, other) if ply == 1 and other.moves and not again else ""
        if left:
            weight = DEED_WEIGHT
        elif again and deed == deed_of(other, again[0])[1]:
            weight = 0
        if weight:
            cost = -weight if ply == first else -weight * LATER_DEED
            yield _Difference(cost, (is_missed, ply + 1), left + line.name(ply) + deed, subject)
    win = next((win for win in lines.own_wins(is_missed) if line.is_clear(win)), None)
    if win is None or (is_missed and (win.square in lines.targets or line.kept() < 1)):
        return
    wanted = line.balance(first) + win.worth
    share = _share(line, line.winner, wanted) - _share(other, line.winner, wanted)
    words = f"{line.name(win.ply)} takes the {piece_on(line.boards[win.ply], win.square)}"
    if win.ply == first:
        yield _Difference(-WIN_WEIGHT * min(win.worth, 2), (is_missed, first + 1), words, subject)
    elif share >= LEAST_SHARE:
        yield _Difference(-WIN_WEIGHT * share, (is_missed, win.ply + 1), words, "gain")


def _share(line: Line, color: chess.Color, wanted: int) -> float:
    """The share of a line's positions in which one side has a material balance of so much."""
    boards = _compared(line)[1:]
    return sum(material_balance(board, color) >= wanted for board in boards) / max(len(boards), 1)


def _attack_on_king(lines: _Lines) -> list[str]:
    """A missed sacrifice that draws at least; one that answers and is worth it; checks from which the king runs."""
    parts, line, best = [], lines.against, lines.better.value.expected_for(lines.color)
    if best > 0.5 - DRAWN_SHARE and is_sacrifice(lines.board, lines.missed.moves, least=1):
        parts.append(f"better is the sacrifice {lines.missed.name(0)}")
    if line.moves[1:] and is_sacrifice(line.boards[1], line.moves[1:], least=1):
        parts.append(f"the sacrifice {line.name(1)} works")
    checks = list(takewhile(lambda ply: line.boards[ply + 1].is_check(), line.own_plies()))
    kings = [king_of(board, not line.winner) for ply in checks for board in line.boards[ply + 1 : ply + 3]]
    if sum(before != after for before, after in pairwise(kings)) >= LEAST_HUNT:
        parts.append(f"the checks from {line.name(1)} on drive your king to {chess.square_name(kings[-1])}")
    return parts


def _in_general(lines: _Lines) -> str:
    """What to say where nothing can be seen."""
    if lines.played.line[1:2] not in ((), lines.better.line[1:2]):
        return f"the answer is {lines.against.name(1)}"
    return "the position that follows is worth less"
