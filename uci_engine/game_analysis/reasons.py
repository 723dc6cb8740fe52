"""Why a move is an error, in words: where its line leads, compared with the better line.

First comes the tactic that decides one of the lines, then what the move costs. Where neither tells, it is what the
answer takes (`first_moves.py`). Where none of these is found, no reason is given: what nothing is won by is seldom why
a move is an error. A forced mate, a draw and a tablebase result are reasons of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess

from uci_engine.game_analysis.boards import board_after, drawn_by, material_words, variation
from uci_engine.game_analysis.first_moves import first_move, first_moves
from uci_engine.game_analysis.tactics.attacks import best_capture, exchange, takes_back
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import SAME_WITHIN, Line, TwoLines
from uci_engine.game_analysis.tactics.motif import DRAWS, ENDINGS, Kind, Motif
from uci_engine.game_analysis.tactics.words import motif_words
from uci_engine.game_analysis.threats import Finder, nothing_found, recapture_that_fails, was_threatened
from uci_engine.game_analysis.values import Found, Value

# A side that expects less has lost.
LOST = 0.1
# More pawns than these for each point of the expected result were given for something.
MOST_GIVEN = 17
# A single pawn that is won so many plies later is seldom why.
LATE = 4
# By a first move these explain something even where it cannot be said what is won.
SEEN = (Kind.HANGING, Kind.UNDERDEFENDED, Kind.TRAPPED)
# A longer mate explains nothing.
LONGEST_MATE = 6


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


def reason_for(board: chess.Board, played: Found, better: Found, find: Finder = nothing_found) -> Reason | None:
    """Why the line of the move played is worse than the better line, both from this board; None where nothing is seen.

    `find` searches for threats; without it those are named that need no search.
    """
    lines = TwoLines(board, played, better)
    motifs, is_missed = _deciding(lines)
    line = lines.both[is_missed]
    # A mate without a name of its own is said elsewhere, and a guard taken on the way to mate explains little.
    unsaid = (Kind.MATE, Kind.REMOVED_GUARD) if motifs and motifs[-1].kind.is_mate else ()
    parts = [motif_words(line, motif) for motif in motifs if motif.kind not in unsaid]
    if parts and is_missed:
        better_move = "better," if not motifs[0].ply else f"better is {line.name(0)}:"
        parts[0] = f"{better_move} {parts[0]}"
    if parts and (failing := recapture_that_fails(line, motifs[0].ply, lines.values[is_missed], find)):
        parts.append(failing)
    is_draw = bool(motifs) and motifs[-1].kind in DRAWS
    forced = [] if is_draw else _forced(lines)
    if not (forced or is_draw):
        if not motifs:
            parts = _material(lines, find) or first_moves(lines, find)
        elif motifs[-1].kind.is_mate:
            # It takes too many moves to explain anything.
            parts = []
        else:
            parts = parts + _tactic_costs(lines, motifs, is_missed)
        is_answer = len(lines.against.moves) > 1 and "".join(parts).startswith(f"{lines.against.name(1)} ")
        if is_answer and was_threatened(lines, find):
            parts[0] = f"it does not meet a threat: {parts[0]}"
    return Reason.of(parts + forced, motifs, not is_draw and _short_mate(better.value, lines.color) is not None)


def _deciding(lines: TwoLines) -> tuple[tuple[Motif, ...], bool]:
    """The motifs that decide the line of the move played, or else the better one, and whether it is the better one."""
    if lines.is_traded:
        return (), False
    for is_missed, expected in ((False, -lines.taken), (True, lines.taken)):
        motifs = deciding_motifs(lines.both[is_missed], expected)
        is_other = motifs and not _is_alike(motifs[0], lines.both[is_missed], lines.both[not is_missed])
        if is_other and _decides(motifs, lines, is_missed):
            return motifs, is_missed
    return (), False


def _is_alike(motif: Motif, line: Line, other: Line) -> bool:
    """Whether the other line has the move of a motif as early, too, with the same pieces on its squares."""
    is_capture = motif.move.to_square in motif.targets and line.boards[motif.ply].is_capture(motif.move)
    # A piece that is taken stands there before the move.
    shift, end = (0, motif.ply + SAME_WITHIN) if is_capture else (1, motif.ply + 1)
    board = line.boards[motif.ply + shift]
    for ply in range(motif.ply % 2, min(end, len(other.moves)), 2):
        move = other.moves[ply]
        # A piece may be taken by another one. A first move that comes too early is an error of its own, and so is one
        # that is taken there.
        is_same = move == motif.move and ply > 0 and not other.is_taken_back(ply)
        is_same = move.to_square == motif.move.to_square if is_capture else is_same
        if is_same and all(other.boards[ply + shift].piece_at(at) == board.piece_at(at) for at in motif.targets):
            return True
    return False


def _decides(motifs: tuple[Motif, ...], lines: TwoLines, is_missed: bool) -> bool:
    """Whether these motifs of one of the lines are why it is better for its winner than the other one."""
    kind = motifs[-1].kind
    if kind in DRAWS:
        winner = lines.both[is_missed].winner
        is_drawn = lines.values[is_missed].is_drawn and lines.values[is_missed].expected_for(winner) <= 0.5
        return is_drawn and lines.values[not is_missed].expected_for(winner) < 0.5
    if kind.is_mate or kind in ENDINGS:
        return True
    # What falls once its guard is taken was mostly lost before.
    if kind is Kind.REMOVED_GUARD:
        return False
    line, kept = lines.both[is_missed], lines.against.kept() + lines.missed.kept()
    gain = max(lines.gains[is_missed], line.balance(min(motifs[-1].wins + 2, len(line.moves))) - line.balance(0))
    # Of the material by which the lines differ, this one wins from half to twice. At their ends not every capture is
    # good.
    differ = max(lines.loss, kept)
    is_kept = not lines.is_compensated(is_missed, line.balance(len(line.moves)))
    # Unless it can be said what it wins, it is seldom why.
    is_seen = kind in SEEN and motifs[0].ply == int(not is_missed)
    is_promotion = line.moves[motifs[-1].wins].promotion is not None
    is_clear = is_seen or is_promotion or _owed(lines, _settled_ply(line), is_missed) != ""
    return is_kept and is_clear and differ >= 1 and lines.loss <= 2 * gain <= 4 * differ


def _forced(lines: TwoLines) -> list[str]:
    """What the lines lead to by force."""
    color, (played, better) = lines.color, lines.values
    parts = []
    if lines.is_traded:
        kind = "lost" if played.expected_for(color) < LOST else "worse"
        parts.append(f"it trades the last pieces, and the pawn ending is {kind}")
    against, missed = _short_mate(played, not color), _short_mate(better, color)
    if against is not None:
        parts.append(f"it allows mate in {against}" if against else "it allows mate")
    elif played.is_tablebase and played.expected_for(color) < 0.5:
        parts.append("the tablebases say that it loses")
    if missed is not None:
        parts.append(f"it misses mate in {missed}")
    elif better.is_tablebase and better.expected_for(color) > 0.5:
        parts.append("the tablebases say that the better move wins")
    if (ending := _drawn_end(lines.board, lines.played)) and better.expected_for(color) > 0.5:
        parts.append(f"it leads to a draw by {ending}")
    if (ending := _drawn_end(lines.board, lines.better)) and played.expected_for(color) < 0.5:
        parts.append(f"the better line holds the draw by {ending}")
    return parts


def _short_mate(value: Value, color: chess.Color) -> int | None:
    """The moves in which this side mates; None if it does not, or in more than are a reason."""
    mate = value.mate_for(color)
    return mate if mate is not None and mate <= LONGEST_MATE else None


def _drawn_end(board: chess.Board, found: Found) -> str:
    """How a line ends in a draw; "" if it does not, or if one side repeats moves and does not have to."""
    return drawn_by(board_after(board, found.line)) if found.value.is_drawn else ""


def _tactic_costs(lines: TwoLines, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """The material that a tactic wins by the end of its line. A promotion says it all."""
    if motifs[-1].kind in (Kind.PROMOTION, Kind.UNDERPROMOTION):
        return []
    owed = _owed(lines, _settled_ply(lines.both[is_missed]), is_missed)
    return [owed] if owed else []


def _material(lines: TwoLines, find: Finder) -> list[str]:
    """The material that the move costs or leaves at the ends of the lines; the moves that win it, and why they may.

    A pawn that is won late is named only with the attack that wins it.
    """
    plies = _settled_ply(lines.against), _settled_ply(lines.missed)
    pawns = lines.against.balance(plies[0]) + lines.missed.balance(plies[1])
    if not 1 <= pawns <= MOST_GIVEN * lines.cost:
        return []
    # What takes it soonest says most.
    found = [
        (win.ply, in_missed, owed)
        for in_missed in (False, True)
        if lines.both[in_missed].gain() >= 1 and (owed := _owed(lines, plies[in_missed], in_missed))
        for win in lines.own_wins(in_missed)
        if 2 * win.worth >= pawns
    ]
    if not found:
        return []
    ply, in_missed, owed = min(found)
    line, first = lines.both[in_missed], int(not in_missed)
    deed = "" if ply == first or line.is_taken_back(first) else first_move(lines, in_missed)[1]
    attack = f"in the better line, {deed}" if deed and in_missed else deed
    is_pawn = owed.endswith((" costs a pawn", " of a pawn"))
    if is_pawn and ply >= LATE and not attack:
        return []
    start = first + bool(deed)
    moves = variation(line.boards[start], line.moves[start : ply + 1])
    failing = recapture_that_fails(line, ply, lines.values[in_missed], find)
    # Why a pawn is lost that seems to be only exchanged would have to be said.
    if is_pawn and not failing and exchange(line.boards[ply], line.moves[ply]) < 1:
        return []
    return [part for part in (attack, f"{owed}: {moves}", failing) if part]


def _owed(lines: TwoLines, ply: int, is_missed: bool) -> str:
    """`it costs a pawn`, `it misses the gain of a pawn`: what one of the lines has won by this ply; or ""."""
    line, other = lines.both[is_missed], lines.both[not is_missed]
    won = line.balance(ply)
    # What may be taken back at the end is not won.
    if lines.is_compensated(is_missed, won) or line.gain() < won - line.balance(0):
        return ""
    own = [at for at in line.own_plies() if at < ply and not (line.is_taken_back(at) or line.moves[at] in other.moves)]
    if any(line.moves[at].promotion for at in own):
        return "it misses a promotion" if is_missed else "it lets a pawn promote"
    # What is only taken back is no gain.
    is_back = is_missed and line.moves and takes_back(lines.board, line.moves[0])
    boards = [line.boards[1] if is_back else lines.board, line.boards[ply]]
    owed = material_words(boards[is_missed], boards[not is_missed], lines.color)
    return owed and f"it {'misses the gain of' if is_missed else 'costs'} {owed}"


def _settled_ply(line: Line) -> int:
    """Of the last third of a line, a ply at which no capture wins anything, and its winner has rather little."""
    end = line.searched
    plies = range(max(2 * end // 3, 1), end + 1)
    settled = [ply for ply in plies if best_capture(line.boards[ply])[1] is None]
    return sorted(settled or [end], key=line.balance)[len(settled) // 4]
