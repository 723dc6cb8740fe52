"""Why a move is an error, in words: where its line leads, compared with the better line.

First comes the tactic that decides one of the lines, then what the move costs. Where neither does, it is what the
first moves of the lines do (`deeds.py`). Where these do nothing to speak of, no reason is given: what is only seen
later in a line is seldom why a move is an error. A forced mate, a draw and a tablebase result are reasons of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from operator import attrgetter

import chess

from uci_engine.game_analysis.boards import board_after, drawn_by, is_sacrifice, material_balance, material_words
from uci_engine.game_analysis.deeds import ATTACK_WEIGHT, DEED_WEIGHT, Finder, deed_of, left_square, threat_of
from uci_engine.game_analysis.tactics.attacks import best_capture, gain_of, king_of, value_at
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import Line, Win
from uci_engine.game_analysis.tactics.motif import DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import motif_words, piece_on
from uci_engine.game_analysis.values import DRAWN_SHARE, Found

# The same move so many plies later in the other line is another matter.
SAME_WITHIN = 3
# More pawns than these for each point of the expected result were given for something.
MOST_GIVEN = 14
# What is taken where such words are said, in pawns: the exchange is won by taking a rook.
WORTHS = {"queen": 9, "rook": 5, "piece": 3, "exchange": 5, "pawn": 1}
# How much a gain of material counts, as the weight of a fact.
WIN_WEIGHT = 25
# A single pawn is won among so many plies of a line, or it is not what the move costs.
PAWN_PLIES = 4
# A side that expects less has lost.
LOST = 0.1
# How what is said of each line starts.
STARTS = ("", "in the better line, ")
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

    @classmethod
    def of(cls, parts: list[str], motifs: tuple[Motif, ...], names_missed_mate: bool = False) -> Reason | None:
        """The parts as one sentence; None for none."""
        text = "; ".join(parts)
        return cls(text[:1].upper() + text[1:], motifs, names_missed_mate) if text else None


class _Lines:
    """The move played and the better one, each with its line, and what these win: for the opponent, and for the player.

    What both win alike decides nothing, so `loss` is by how much their ends differ, in pawns. `cost`: what the move
    costs of the expected result. What the move played has `taken` is no gain if it costs as much. `gains`: what the
    winner of each line gains after the move played, or by the better line. `is_traded`: the line of the move played
    comes to a pawn ending by a trade at once, and the better one does not. `is_open`: neither line wins or loses.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found) -> None:
        # The side that made the error.
        self.color = board.turn
        self.board, self.played, self.better = board, played, better
        # What is said can be seen in the lines that are shown.
        self.against = Line(board, played.shown.line, not self.color)
        self.missed = Line(board, better.shown.line, self.color)
        # By whether it is the better one.
        self.both = self.against, self.missed
        expected = [found.value.expected_for(self.color) for found in (played, better)]
        self.cost, self.is_open = abs(expected[1] - expected[0]), LOST < expected[0] <= expected[1] < 1 - LOST
        self.taken = sum(gain_of(board, move) for move in played.line[:1])
        self.gains = self.against.gain() + self.taken, self.missed.gain()
        self.loss = sum(self.gains) - self.taken
        here, there = (
            [ply for ply, board in enumerate(line.boards[:4]) if board.occupied == board.pawns | board.kings]
            for line in self.both
        )
        self.is_traded = any(here) and not there and abs(self.against.balance(here[0]) - self.against.balance(0)) <= 1

    def own_wins(self, is_missed: bool) -> list[Win]:
        """What one of the lines wins by searched moves that are not in the other, in their order.

        A first move that only takes as much as the move played has taken wins nothing.
        """
        line, other = self.both[is_missed], self.both[not is_missed]
        first = int(not is_missed)
        # A move wins nothing that the other line has as soon, unless it is taken back there.
        alike = set(other.moves) - {move for move, reply in pairwise(other.moves) if reply.to_square == move.to_square}
        wins = []
        for win in line.wins():
            is_alike = line.moves[win.ply] in alike.intersection(other.moves[: win.ply + SAME_WITHIN])
            if win.ply < line.searched and not is_alike and (win.ply > first or win.worth > self.taken):
                wins.append(win)
        return sorted(wins, key=attrgetter("ply"))


def reason_for(board: chess.Board, played: Found, better: Found, find: Finder | None = None) -> Reason | None:
    """Why the line of the move played is worse than the better line, both from this board; None where nothing is seen.

    `find` searches for threats; without it those are named that need no search.
    """
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
        attacks = [] if motifs else _attack_on_king(lines)
        costs = _tactic_costs(lines, motifs, is_missed) if motifs else _material(lines, bool(attacks))
        parts += attacks + costs if motifs or attacks or costs else _first_moves(lines, find)
    return Reason.of(parts + forced, motifs, not is_draw and better.value.mate_for(lines.color) is not None)


def _deciding(lines: _Lines) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one."""
    if lines.is_traded:
        return (), False
    for is_missed, expected in ((False, -lines.taken), (True, 0)):
        motifs = deciding_motifs(lines.both[is_missed], expected)
        is_other = motifs and not _is_alike(motifs[0], lines.both[is_missed], lines.both[not is_missed])
        if is_other and _decides(motifs, lines, is_missed):
            return motifs, is_missed
    return (), False


def _is_alike(motif: Motif, line: Line, other: Line) -> bool:
    """Whether the other line has the move of a motif as early, too, with the same pieces on its squares."""
    is_capture = motif.move.to_square in motif.targets and line.boards[motif.ply].is_capture(motif.move)

    def pieces(each: Line, ply: int) -> list[chess.Piece | None]:
        board = each.boards[ply if is_capture else ply + 1]
        return [board.piece_at(target) for target in motif.targets]

    end = motif.ply + SAME_WITHIN if is_capture else motif.ply + 1
    for ply in range(motif.ply % 2, min(end, len(other.moves)), 2):
        move = other.moves[ply]
        # A piece may be taken by another one. A first move that comes too early is an error of its own.
        is_same = move.to_square == motif.move.to_square if is_capture else ply > 0 and move == motif.move
        if is_same and pieces(other, ply) == pieces(line, motif.ply):
            return True
    return False


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


def _tactic_costs(lines: _Lines, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """The material that a tactic wins by the ends of the lines. A promotion says it all."""
    if motifs[-1].kind in (Kind.PROMOTION, Kind.UNDERPROMOTION):
        return []
    plies, pawns = _settled(lines)
    if pawns < 1:
        # A capture that was added to the line counts only if the tactic is about it.
        is_added = motifs[-1].wins >= lines.both[is_missed].searched
        against, missed = (len(line.moves) if is_added else line.searched for line in lines.both)
        plies = against, missed
    owed = _owed(lines, plies, is_missed)
    return [owed] if owed else []


def _material(lines: _Lines, is_attack: bool) -> list[str]:
    """The material that the move costs or leaves at the ends of the lines, and what attacks first and takes it.

    `is_attack`: an attack on the king is named already, so what the better move wins is not what matters.
    """
    plies, pawns = _settled(lines)
    if not 1 <= pawns <= MOST_GIVEN * lines.cost:
        return []
    # What takes it at once says more, and a pawn won late says nothing.
    found: list[tuple[int, bool, str]] = []
    for in_missed in (False,) if is_attack else (False, True):
        owed = _owed(lines, plies, in_missed)
        greatest = next((worth for noun, worth in WORTHS.items() if noun in owed.partition(" for ")[0]), 0)
        line = lines.both[in_missed]
        for win in lines.own_wins(in_missed) if owed and line.kept() >= 1 else ():
            taken = value_at(line.boards[win.ply], win.square)
            is_late = pawns == win.worth == 1 and win.ply >= PAWN_PLIES
            if not is_late and 2 * win.worth >= pawns and (greatest in (0, win.worth, taken) or win.worth == pawns):
                found.append((win.ply, in_missed, f"{owed}: {line.name(win.ply)}"))
    if not found:
        return []
    ply, in_missed, words = min(found)
    is_first = ply == int(not in_missed)
    weight, deed = (0, "") if is_first else _first_move(lines, in_missed, None)
    return [STARTS[in_missed] + deed, words] if weight >= ATTACK_WEIGHT else [words]


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
    pawns = material_balance(boards[1], line.winner) - material_balance(boards[0], line.winner)
    # What is worth far more than the move costs was given for something. In a lost or won game it costs little.
    if lines.is_open and pawns > MOST_GIVEN * lines.cost:
        return ""
    owed = material_words(boards[is_missed], boards[not is_missed], lines.color)
    return owed and f"it {'misses the gain of' if is_missed else 'costs'} {owed}"


def _settled(lines: _Lines) -> tuple[tuple[int, int], int]:
    """A settled ply of each line, and by how many pawns the lines differ there."""
    plies = _settled_ply(lines.against), _settled_ply(lines.missed)
    return plies, lines.against.balance(plies[0]) + lines.missed.balance(plies[1])


def _settled_ply(line: Line) -> int:
    """Of the last third of a line, a ply at which its winner has rather little."""
    end = line.searched
    settled = [ply for ply in _settled_plies(line.boards[: end + 1]) if ply >= 2 * end // 3] or [end]
    return sorted(settled, key=line.balance)[len(settled) // 4]


def _settled_plies(boards: Sequence[chess.Board]) -> list[int]:
    """The plies of a line, from 1, after which nothing is taken back at once."""
    settled = []
    for ply in range(1, len(boards)):
        target = boards[ply].peek().to_square
        is_end = ply + 1 == len(boards)
        following = best_capture(boards[ply], chess.BB_SQUARES[target])[1] if is_end else boards[ply + 1].peek()
        takes_back = following is not None and following.to_square == target
        if not takes_back or chess.popcount(boards[ply].occupied) == chess.popcount(boards[ply - 1].occupied):
            settled.append(ply)
    return settled


def _first_moves(lines: _Lines, find: Finder | None) -> list[str]:
    """What the answer to the move played does, and what the better move does."""
    found = [_first_move(lines, is_missed, find) for is_missed in (False, True)]
    least = max(weight for weight, _ in found) / 2
    return [start + words for start, (weight, words) in zip(STARTS, found, strict=True) if weight and weight >= least]


def _first_move(lines: _Lines, is_missed: bool, find: Finder | None) -> tuple[int, str]:
    """What the winner of a line does by its first move and not in the other line, with its weight; 0 for nothing."""
    line, other, ply = lines.both[is_missed], lines.both[not is_missed], int(not is_missed)
    if ply >= len(line.moves):
        return 0, ""
    name = line.name(ply)
    win = next((win for win in lines.own_wins(is_missed) if line.is_clear(win)), None)
    if win is not None and win.ply == ply and not (is_missed and (lines.taken or line.kept() < 1)):
        return WIN_WEIGHT * min(win.worth, 2), f"{name} takes the {piece_on(line.boards[ply], win.square)}"
    weight, deed = deed_of(line, ply)
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    left = left_square(line, other) if ply == 1 and other.moves and not again else ""
    if left:
        return DEED_WEIGHT, left + name + deed
    if again and deed == deed_of(other, again[0])[1]:
        return 0, ""
    is_said = weight == DEED_WEIGHT or line.is_taken_back(ply) or line.boards[ply].is_castling(line.moves[ply])
    if find is not None and not is_said:
        value = (lines.better if is_missed else lines.played).value
        threat = threat_of(line, ply, value, find, deed)
        weight, deed = (DEED_WEIGHT, threat) if threat else (weight, deed)
    # What the move played does, too, is no reason, and no attack on a piece that leaves there as well.
    if is_missed and other.moves:
        leaves = [reply for reply in line.moves[1:2] if reply in other.moves[1:2]]
        is_alike = any(piece_on(line.boards[1], reply.from_square) in deed for reply in leaves)
        if is_alike or (deed and deed == deed_of(other, 0)[1]):
            return 0, ""
    return weight, name + deed


def _attack_on_king(lines: _Lines) -> list[str]:
    """A missed sacrifice that draws at least; one that answers and is worth it; checks from which the king runs."""
    parts, line, best = [], lines.against, lines.better.value.expected_for(lines.color)
    if best > 0.5 - DRAWN_SHARE and _is_offer(lines.board, lines.missed.moves):
        parts.append(f"better is the sacrifice {lines.missed.name(0)}")
    if line.moves and _is_offer(line.boards[1], line.moves[1:]):
        parts.append(f"the sacrifice {line.name(1)} works")
    checks = list(takewhile(lambda ply: line.boards[ply + 1].is_check(), line.own_plies()))
    kings = [king_of(board, not line.winner) for ply in checks for board in line.boards[ply + 1 : ply + 3]]
    if sum(before != after for before, after in pairwise(kings)) >= LEAST_HUNT:
        parts.append(f"the checks from {line.name(1)} on drive your king to {chess.square_name(kings[-1])}")
    return parts


def _is_offer(board: chess.Board, moves: Sequence[chess.Move]) -> bool:
    """Whether the first of these moves sacrifices a piece. A pawn that is given says nothing."""
    is_piece = bool(moves) and board.piece_type_at(moves[0].from_square) != chess.PAWN
    return is_piece and is_sacrifice(board, moves, least=1)
