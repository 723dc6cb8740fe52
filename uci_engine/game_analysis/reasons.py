"""Why a move is an error, in words: where its line leads, compared with the better line.

First comes the tactic that decides one of the lines, then what the move costs. What is not confirmed by short searches
is not said (`confirmation.py`), and where nothing is found, no reason is given: what nothing is won by is seldom why. A
forced mate and a tablebase result are reasons of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

import chess

from uci_engine.game_analysis.boards import material_words, variation
from uci_engine.game_analysis.confirmation import Confirmation
from uci_engine.game_analysis.judgement import WON
from uci_engine.game_analysis.tactics.attacks import (
    attacked_by_mover,
    exchange,
    mating_move,
    takes_back,
    winning_captures,
)
from uci_engine.game_analysis.tactics.deciding import deciding_motifs
from uci_engine.game_analysis.tactics.line import SAME_WITHIN, Line, TwoLines, Win
from uci_engine.game_analysis.tactics.motif import DRAWS, ENDINGS, PROMOTIONS, Kind, Motif
from uci_engine.game_analysis.tactics.words import attack_words, motif_words
from uci_engine.game_analysis.threats import Finder, nothing_found, opened_by, recapture_that_fails, was_threatened
from uci_engine.game_analysis.values import Found, Value

# So many plies later a tactic is seldom why, nor a pawn that is won, nor what a quiet move gains that attacks nothing.
LATE = 4
# A longer mate explains nothing.
LONGEST_MATE = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is an error or good. `text` is a sentence for the player, without its full stop.

    `motifs` decide the line of the move or the better one.
    """

    text: str
    motifs: tuple[Motif, ...] = ()

    @classmethod
    def of(cls, parts: list[str], motifs: tuple[Motif, ...]) -> Reason | None:
        """The parts as one sentence; None for none."""
        text = "; ".join(parts)
        return cls(text[:1].upper() + text[1:], motifs) if text else None


def reason_for(board: chess.Board, played: Found, better: Found, find: Finder = nothing_found) -> Reason | None:
    """Why the line of the move played is worse than the better line, both from this board; None where nothing is seen.

    `find` searches for threats, and confirms what is said; without it nothing is asked.
    """
    lines = TwoLines(board, played, better)
    asked = Confirmation(lines, find)
    tactics = [] if lines.is_traded else _deciding(lines)
    motifs, is_missed = tactics[0] if tactics else ((), False)
    is_draw = bool(motifs) and motifs[-1].kind in DRAWS
    forced = [] if is_draw else _forced(lines)
    parts = _tactic(lines, motifs, is_missed)
    if not (forced or is_draw):
        told = ((motifs, _tactic_that_wins(asked, motifs, is_missed)) for motifs, is_missed in tactics)
        motifs, parts = next(filter(itemgetter(1), told), ((), []))
        parts = parts or _material(asked)
    parts += forced
    if lines.answer and parts and (f": {lines.answer} " in f": {parts[0]} " or parts[0].startswith("it allows mate")):
        is_threat = f": {lines.answer}" not in parts[0] and was_threatened(lines, find)
        cause = "it does not meet a threat" if is_threat else opened_by(lines)
        parts[0] = f"{cause}: {parts[0]}" if cause else parts[0]
    return Reason.of(parts, motifs)


def _tactic(lines: TwoLines, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """What happens by these motifs of one of the lines, with the moves up to the first of them."""
    line, first = lines.both[is_missed], int(not is_missed)
    # A mate without a name of its own is said elsewhere, and a guard taken on the way to mate explains little.
    unsaid = (Kind.MATE, Kind.REMOVED_GUARD) if motifs and motifs[-1].kind.is_mate else ()
    said = [motif for motif in motifs if motif.kind not in unsaid]
    parts = [motif_words(line, motif) for motif in said]
    if parts:
        moves = variation(line.boards[first], line.moves[first : said[0].ply])
        better_move = "" if not is_missed else "better is " if moves else "better, "
        parts[0] = f"{better_move}{moves and f'{moves}, and '}{parts[0]}"
    return parts


def _tactic_that_wins(asked: Confirmation, motifs: tuple[Motif, ...], is_missed: bool) -> list[str]:
    """The same with what it wins, which a promotion says by itself; nothing where that is not confirmed."""
    lines, kind = asked.lines, motifs[-1].kind
    line = lines.both[is_missed]
    ply = line.settled
    owed = "" if kind in PROMOTIONS else _owed(lines, ply, is_missed)
    # Unless it can be said what it wins, it is seldom why. A long mate explains nothing.
    is_told = kind in PROMOTIONS + ENDINGS or (kind is Kind.TRAPPED and motifs[0].ply == int(not is_missed))
    is_so = asked.is_won(is_missed, ply) if owed else is_told and asked.is_seen and asked.is_forced(line, ply)
    if kind.is_mate or not is_so:
        return []
    failing = recapture_that_fails(line, motifs[0].ply, lines.values[is_missed], asked.find)
    # Why something is lost that seems to be only exchanged would have to be said.
    return [] if failing is None else [*_tactic(lines, motifs, is_missed), *filter(None, (failing, owed))]


def _deciding(lines: TwoLines) -> list[tuple[tuple[Motif, ...], bool]]:
    """The motifs that decide the line of the move played, then those of the better line, each with `is_missed`."""
    found = []
    for is_missed, expected in ((False, -lines.taken), (True, lines.taken)):
        motifs = deciding_motifs(lines.both[is_missed], expected)
        is_other = motifs and not _is_alike(motifs[0], lines.both[is_missed], lines.both[not is_missed])
        if is_other and _decides(motifs, lines, is_missed):
            found.append((motifs, is_missed))
    return found


def _is_alike(motif: Motif, line: Line, other: Line) -> bool:
    """Whether the other line takes the same as soon, or has the same move as early with the same pieces attacked."""
    after, capture = line.boards[motif.ply + 1], line.moves[motif.wins]
    if line.boards[motif.wins].is_capture(capture) and other.takes_as_soon(line, motif.wins, capture.to_square):
        return True
    # A first move that comes too early is an error of its own, and so is one that is taken there.
    again = [ply for ply in range(1, min(motif.ply + 1, len(other.moves))) if other.moves[ply] == motif.move]
    boards = [other.boards[ply + 1] for ply in again if not other.is_taken_back(ply)]
    return any(all(board.piece_at(at) == after.piece_at(at) for at in motif.targets) for board in boards)


def _decides(motifs: tuple[Motif, ...], lines: TwoLines, is_missed: bool) -> bool:
    """Whether these motifs of one of the lines may be why it is better for its winner than the other one."""
    kind = motifs[-1].kind
    if kind not in DRAWS:
        # A guard that is taken, an offer alone and a late capture in between do not tell what they are for.
        late = 2 if kind is Kind.INTERMEZZO else LATE
        is_soon = motifs[0].ply < late or kind.is_mate or kind in PROMOTIONS + ENDINGS
        is_new = is_missed or motifs[-1].wins > 1 or not lines.is_taken_anyway
        return is_soon and is_new and kind not in (Kind.REMOVED_GUARD, Kind.ATTRACTION)
    winner = lines.both[is_missed].winner
    is_drawn = lines.values[is_missed].is_drawn and lines.values[is_missed].expected_for(winner) <= 0.5
    return is_drawn and lines.values[not is_missed].expected_for(winner) < 0.5


def _forced(lines: TwoLines) -> list[str]:
    """What the lines lead to by force."""
    color, (played, better) = lines.color, lines.values
    parts = []
    if lines.is_traded:
        kind = "lost" if played.expected_for(not color) >= WON else "worse"
        parts.append(f"it trades the last pieces, and the pawn ending is {kind}")
    against, missed = _short_mate(played, not color), _short_mate(better, color)
    if against is not None:
        parts.append(f"it allows mate in {against} by {lines.answer}" if against and lines.answer else "it allows mate")
    elif played.is_tablebase and played.expected_for(color) < 0.5:
        parts.append("the tablebases say that it loses")
    if missed is not None:
        parts.append(f"it misses mate in {missed}")
    elif better.is_tablebase and better.expected_for(color) > 0.5:
        parts.append("the tablebases say that the better move wins")
    if lines.against.end.is_stalemate():
        parts.append("it leads to stalemate")
    return parts


def _short_mate(value: Value, color: chess.Color) -> int | None:
    """The moves in which this side mates; None if it does not, or in more than are a reason."""
    mate = value.mate_for(color)
    return mate if mate is not None and mate <= LONGEST_MATE else None


def _material(asked: Confirmation) -> list[str]:
    """The material that the move costs, or leaves; the moves that win it, and why they may."""
    lines = asked.lines
    wins = [(win.ply, is_missed, win) for is_missed in (False, True) for win in lines.own_wins(is_missed)]
    # What takes it soonest says most.
    told = (_gain(asked, is_missed, win) for _, is_missed, win in sorted(wins) if 2 * win.worth >= lines.differ)
    return next(filter(None, told), [])


def _gain(asked: Confirmation, is_missed: bool, win: Win) -> list[str]:
    """What one of the lines gains by a win, if that is confirmed; of what is won late only what an attack wins."""
    lines = asked.lines
    line, first, ply = lines.both[is_missed], int(not is_missed), win.ply
    # No more is said to be won than the moves show.
    end = next(end for end in range(ply + 1, len(line.boards)) if not line.is_taken_back(end - 1))
    least = min(end, line.settled, key=line.balance)
    owed = _owed(lines, least, is_missed)
    if not owed or not asked.is_won(is_missed, least):
        return []
    deed = "" if ply == first or line.is_taken_back(first) else _first_move(lines, is_missed, win)
    attack = f"in the better line, {deed}" if deed and is_missed else deed
    is_pawn = owed.endswith((" costs a pawn", " of a pawn"))
    # Without an attack the moves have to speak for themselves, which those of an answer seldom do.
    if not attack and (line.quiet_plies(first, first + 1) or (is_pawn and ply >= LATE)):
        return []
    start = first + bool(deed)
    moves = variation(line.boards[start], line.moves[start:end])
    failing = [recapture_that_fails(line, at, lines.values[is_missed], asked.find) for at in sorted({first, ply})]
    is_even = is_pawn and not any(failing) and exchange(line.boards[ply], line.moves[ply]) < 1
    if None in failing or is_even or not (attack or is_missed or any(failing)):
        return []
    return [part for part in (attack, f"{owed}: {moves}", *failing) if part]


def _owed(lines: TwoLines, ply: int, is_missed: bool) -> str:
    """`it costs a pawn`, `it misses the gain of a pawn`: what one of the lines has won by this ply; or ""."""
    line, other = lines.both[is_missed], lines.both[not is_missed]
    # What may be taken back at the end is not won.
    if ply == len(line.moves) and 2 * line.gain() <= line.balance(ply) - line.balance(0):
        return ""
    own = [at for at in line.own_plies() if at < ply and not (line.is_taken_back(at) or line.moves[at] in other.moves)]
    if any(line.moves[at].promotion for at in own):
        return "it misses a promotion" if is_missed else "it lets a pawn promote"
    # What is only taken back is no gain.
    is_back = is_missed and line.moves and takes_back(lines.board, line.moves[0])
    boards = [line.boards[1] if is_back else lines.board, line.boards[ply]]
    owed = material_words(boards[is_missed], boards[not is_missed], lines.color)
    return owed and f"it {'misses the gain of' if is_missed else 'costs'} {owed}"


# What the first move of the winner of a line does ---------------------------------------------------------------------


def _first_move(lines: TwoLines, is_missed: bool, win: Win) -> str:
    """What a line's winner attacks first on the way to a win, and not in the other line; "" for nothing."""
    line, other, ply = lines.both[is_missed], lines.both[not is_missed], int(not is_missed)
    deed = _deed_of(line, ply)
    is_won = line.where_was(win.square, win.ply, ply + 1) in _newly_attacked(line.boards[ply], line.boards[ply + 1])
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    # What the move played does, too, is no reason.
    alike = again[:1] + ([0] if is_missed and other.moves else [])
    is_alike = any(deed == _deed_of(other, at) for at in alike)
    # A piece that is attacked gives the time to win something else.
    is_reason = deed and (is_won or " pawn" not in deed) and not is_alike
    return line.name(ply) + deed if is_reason else ""


def _deed_of(line: Line, ply: int) -> str:
    """What a move of a line does by itself: ` threatens mate`, ` attacks the rook on e8`, or ""."""
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    is_mating = mating_move(after, before.turn) and not mating_move(before, before.turn)
    if before.is_capture(move) and not is_mating:
        return ""
    squares = _newly_attacked(before, after)
    attacked = [square for square in sorted(squares) if after.piece_type_at(square) != chess.PAWN]
    if is_mating:
        also = f" and{attack_words(after, attacked)}" if attacked else ""
        return f" threatens mate{also}"
    shown = attacked or ([] if after.is_check() else sorted(squares))
    return attack_words(after, shown) if shown else ""


def _newly_attacked(before: chess.Board, after: chess.Board) -> set[chess.Square]:
    """What the piece that has moved could take at a profit if it moved again, and its side could not take before."""
    return attacked_by_mover(after) - winning_captures(before, before.turn).keys()
