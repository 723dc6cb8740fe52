"""Why a move is an error, or good, in words: what its line wins or loses, compared with another line.

For an error the tactic that decides one of the lines comes first, then what the move costs. Forced mates and tablebase
results are reasons of their own. A reason that short searches do not confirm is left out; so a move may have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import chess

from uci_engine.game_analysis.boards import (
    attacked_by_mover,
    best_capture,
    board_after,
    exchange,
    gain_of,
    is_sacrifice,
    mating_move,
    numbered,
    takes_back,
    variation,
    winning_captures,
    with_turn,
)
from uci_engine.game_analysis.judgement import BLUNDER_LOSS, INACCURACY_LOSS, ONLY_MOVE_LOSS, WON
from uci_engine.game_analysis.searches import Finder, nothing_found
from uci_engine.game_analysis.tactics import (
    DRAWS,
    ENDINGS,
    PROMOTIONS,
    SAME_WITHIN,
    Kind,
    Line,
    Motif,
    Win,
    deciding_motifs,
)
from uci_engine.game_analysis.values import DRAWN, Found, Value
from uci_engine.game_analysis.words import all_words, attack_words, material_words, motif_words, piece_on

# A tactic that begins before this ply may be a reason; so may a pawn that is won without an attack.
SOON = 4
# A longer mate explains nothing.
LONGEST_MATE = 5
# What refutes a capture and has no name is shown up to the move that wins it back, if that is one of so many.
SHOWN_PLIES = 5
# Where a reason names n pawns, the values of the two moves differ by n * LEAST_SHARE to n * MOST_SHARE + 1 pawns.
LEAST_SHARE, MOST_SHARE = 0.45, 2.0
# Short searches see at least this part of the cost.
LEAST_SEEN = 0.5
# A defence is as good as the line if it expects at most this much less. In a position worth less than LOST_CP no
# defence helps.
AS_GOOD, LOST_CP = 0.02, -300
# Up to this ply defences are looked for.
LAST_DEFENCE = 8


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
    """Why the line of the move played is worse than the better line, both from this board; None for no reason.

    `find` searches for threats, and confirms what is said; without it nothing is lines.
    """
    lines = Comparison(board, played, better, find)
    tactics = [] if lines.is_traded else _deciding(lines)
    motifs, parts = (tactics[0][1], _tactic(*tactics[0])) if tactics else ((), [])
    is_draw = bool(motifs) and motifs[-1].kind in DRAWS
    forced = [] if is_draw else _forced(lines)
    if not (forced or is_draw):
        told = ((motifs, _tactic_that_wins(lines, line, motifs)) for line, motifs in tactics)
        motifs, parts = next((each for each in told if each[1]), ((), []))
        parts = parts or _material(lines)
    parts += forced
    if lines.answer and parts and (f": {lines.answer} " in f": {parts[0]} " or parts[0].startswith("it allows mate")):
        is_threat = f": {lines.answer}" not in parts[0] and was_threatened(lines)
        cause = "it does not meet a threat" if is_threat else opened_by(lines)
        parts[0] = f"{cause}: {parts[0]}" if cause else parts[0]
    return Reason.of(parts, motifs)


def support_for(
    board: chess.Board, played: Found, others: Value | None = None, find: Finder = nothing_found
) -> Reason | None:
    """Why a move, the first of its line, is good: its tactic, its rivals, the threat that it meets. None for nothing.

    `others`: what the best other move is worth, if that is known. `find` searches for the threat that is met.
    """
    color = board.turn
    line = Line(board, played.line, color)
    motifs = deciding_motifs(line)
    if motifs and motifs[-1].kind in DRAWS and not played.value.is_drawn:
        motifs = ()
    parts = [motif_words(line, motif) for motif in motifs]
    if is_sacrifice(board, played.line) and played.value.expected_for(color) >= 0.5:
        parts.append(f"the sacrifice works: {variation(board, played.line)}")
    if others is not None and played.value.expected_for(color) - others.expected_for(color) >= ONLY_MOVE_LOSS:
        parts.append("every other move is much worse")
    # Where the line of the move has a tactic of its own for the other side, nothing was met.
    if not motifs and not deciding_motifs(Line(board, played.line, not color)):
        passed, found = _passed(board, played.value, find)
        threat, threats = _won_at_once(passed, found, played.value, INACCURACY_LOSS)
        parts += [f"it meets a threat: {all_words(threat, threats)}"] if threats else []
    return Reason.of(parts, motifs)


# The two lines compared -----------------------------------------------------------------------------------------------


class ComparedLine(Line):
    """One of two lines from the same board: that of the move played, or the `better` one; the other one is `other`.

    The opponent profits from the first, the player from the second. `first`: the ply of the winner's first move.
    """

    def __init__(self, board: chess.Board, found: Found, winner: chess.Color) -> None:
        # What is said can be seen in the line that is shown.
        super().__init__(board, found.shown.line, winner)
        self.value = found.value
        self.is_better = board.turn == winner
        self.first = self.own_plies().start
        self.other = self


class Comparison:
    """The move played and the better one, each with its line, and what these win: for the opponent, and for the player.

    A line shows one way to play. What it wins is a reason where it is about as much as the move costs, where short
    searches, by `find`, see that cost, too, and where no defence that is as good keeps the material. Where the searches
    find nothing, they object to nothing.

    `answer`: the answer to the move played, as it is shown. `cost`: what the move costs of the expected result.
    `taken`: what it takes, and `differ`: by how much the ends of the lines differ, in pawns. `is_traded`: its line
    comes to a pawn ending by a trade at once, and the better one does not.
    """

    def __init__(self, board: chess.Board, played: Found, better: Found, find: Finder = nothing_found) -> None:
        # The side that made the error.
        self.color = board.turn
        self.board = board
        self.find = find
        self.against = ComparedLine(board, played, not self.color)
        self.better = ComparedLine(board, better, self.color)
        self.against.other, self.better.other = self.better, self.against
        self.both = self.against, self.better
        self.answer = self.against.name(1) if len(self.against.moves) > 1 else ""
        self.cost = abs(better.value.expected - played.value.expected)
        self.taken = sum(gain_of(board, move) for move in played.line[:1])
        self.differ = sum(line.balance(line.settled) for line in self.both)
        here, there = (
            [ply for ply, board in enumerate(line.boards[:4]) if board.occupied == board.pawns | board.kings]
            for line in self.both
        )
        self.is_traded = any(here) and not there and abs(self.against.balance(here[0]) - self.against.balance(0)) <= 1

    @cached_property
    def is_taken_anyway(self) -> bool:
        """Whether the answer to the move played is a capture that wins something after the better move, too."""
        there = board_after(self.board, self.better.moves[:1])
        answers = [move for move in self.against.moves[1:2] if there.is_legal(move) and there.is_capture(move)]
        return any(exchange(there, move) >= 1 for move in answers)

    def own_wins(self, line: ComparedLine) -> list[Win]:
        """What one of the lines wins by moves that are not in the other, in their order.

        A first move that takes no more than the move played took is an exchange. The last move may be taken back.
        """
        wins = []
        for win in line.wins():
            is_alike = line.other.takes_as_soon(line, win.ply, win.square)
            is_first = win.ply == line.first
            # A pawn that steps where it is taken is an offer, and the line does not tell for what.
            is_given = win.worth == 1 and not is_first and line.moves[win.ply - 1].to_square == win.square
            is_more = not is_first or (win.worth > self.taken and (line.is_better or not self.is_taken_anyway))
            if win.ply < line.searched - 1 and not (is_alike or is_given) and is_more:
                wins.append(win)
        return sorted(wins, key=attrgetter("ply"))

    @cached_property
    def is_seen(self) -> bool:
        """Whether searches after both moves see most of what the move played costs."""
        found = [self.find(line.boards[:2][-1]) for line in self.both]
        if not all(each.line for each in found):
            return True
        played, better = (each.value.expected_for(self.color) for each in found)
        return better - played >= LEAST_SEEN * self.cost

    def is_won(self, line: ComparedLine, ply: int) -> bool:
        """Whether what a line has won by this ply is by force, and about what the move played costs."""
        pawns = line.balance(ply) - line.balance(0)
        played, better = (each.value.cp_for(self.color) for each in self.both)
        lost = (better - played) / 100
        # A much smaller loss means that most of the material comes back; the result may be decided nevertheless.
        is_enough = lost >= LEAST_SHARE * pawns or self.cost >= BLUNDER_LOSS
        # Where the move played also loses something, what it misses is only half of the reason.
        is_whole = self.differ >= 1 and (not line.is_better or pawns >= self.differ)
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


# The tactic that decides ---------------------------------------------------------------------------------------------


def _deciding(lines: Comparison) -> list[tuple[ComparedLine, tuple[Motif, ...]]]:
    """The motifs that decide the line of the move played, then those of the better line."""
    found = []
    for line, expected in ((lines.against, -lines.taken), (lines.better, lines.taken)):
        motifs = deciding_motifs(line, expected)
        if motifs and not _is_alike(motifs[0], line) and _decides(motifs, lines, line):
            found.append((line, motifs))
    return found


def _is_alike(motif: Motif, line: ComparedLine) -> bool:
    """Whether the other line takes the same as soon, or has the same move as early with the same pieces attacked."""
    other, after, capture = line.other, line.boards[motif.ply + 1], line.moves[motif.wins]
    if line.boards[motif.wins].is_capture(capture) and other.takes_as_soon(line, motif.wins, capture.to_square):
        return True
    # A first move that comes too early is an error of its own, and so is one that is taken there.
    again = [ply for ply in range(1, min(motif.ply + 1, len(other.moves))) if other.moves[ply] == motif.move]
    boards = [other.boards[ply + 1] for ply in again if not other.is_taken_back(ply)]
    return any(all(board.piece_at(at) == after.piece_at(at) for at in motif.targets) for board in boards)


def _decides(motifs: tuple[Motif, ...], lines: Comparison, line: ComparedLine) -> bool:
    """Whether these motifs of one of the lines may be why it is better for its winner than the other one."""
    kind = motifs[-1].kind
    if kind not in DRAWS:
        late = 2 if kind is Kind.INTERMEZZO else SOON
        is_soon = motifs[0].ply < late or kind.is_mate or kind in PROMOTIONS + ENDINGS
        is_new = line.is_better or motifs[-1].wins > 1 or not lines.is_taken_anyway
        # These two are a means, and the aim has no name.
        return is_soon and is_new and kind not in (Kind.REMOVED_GUARD, Kind.ATTRACTION)
    is_drawn = line.value.is_drawn and line.value.expected_for(line.winner) <= 0.5
    return is_drawn and line.other.value.expected_for(line.winner) < 0.5


def _tactic(line: ComparedLine, motifs: tuple[Motif, ...]) -> list[str]:
    """What happens by these motifs of one of the lines, with the moves up to the first of them."""
    # A mate without a name of its own is said elsewhere, and a guard taken on the way to mate explains little.
    unsaid = (Kind.MATE, Kind.REMOVED_GUARD) if motifs[-1].kind.is_mate else ()
    said = [motif for motif in motifs if motif.kind not in unsaid]
    parts = [motif_words(line, motif) for motif in said]
    if parts:
        moves = variation(line.boards[line.first], line.moves[line.first : said[0].ply])
        better_move = "" if not line.is_better else "better is " if moves else "better, "
        parts[0] = f"{better_move}{moves and f'{moves}, and '}{parts[0]}"
    return parts


def _tactic_that_wins(lines: Comparison, line: ComparedLine, motifs: tuple[Motif, ...]) -> list[str]:
    """The same with what it wins, which a promotion says by itself; nothing where that is not confirmed."""
    kind = motifs[-1].kind
    owed = "" if kind in PROMOTIONS else _owed(lines, line, line.settled)
    # Of these it need not be said what they win.
    is_told = kind in PROMOTIONS + ENDINGS or (kind is Kind.TRAPPED and motifs[0].ply == line.first)
    is_so = (
        lines.is_won(line, line.settled) if owed else is_told and lines.is_seen and lines.is_forced(line, line.settled)
    )
    if kind.is_mate or not is_so:
        return []
    failing = recapture_that_fails(line, motifs[0].ply, line.value, lines.find)
    # A loss that looks like an exchange needs an explanation, and there is none.
    return [] if failing is None else [*_tactic(line, motifs), *filter(None, (failing, owed))]


# Force and material --------------------------------------------------------------------------------------------------


def _forced(lines: Comparison) -> list[str]:
    """What the lines lead to by force."""
    color, played, better = lines.color, lines.against.value, lines.better.value
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


def _material(lines: Comparison) -> list[str]:
    """The material that the move costs, or leaves; the moves that win it, and why they may."""
    wins = [(win.ply, line.is_better, line, win) for line in lines.both for win in lines.own_wins(line)]
    # What takes it soonest says most.
    told = (_gain(lines, line, win) for *_, line, win in sorted(wins, key=lambda win: win[:2]))
    return next(filter(None, told), [])


def _gain(lines: Comparison, line: ComparedLine, win: Win) -> list[str]:
    """What one of the lines gains by a win, if that is confirmed; of what is won late only what an attack wins."""
    first, ply = line.first, win.ply
    if 2 * win.worth < lines.differ:
        return []
    # No more is said to be won than the moves show.
    end = next(end for end in range(ply + 1, len(line.boards)) if not line.is_taken_back(end - 1))
    least = min(end, line.settled, key=line.balance)
    owed = _owed(lines, line, least)
    if not owed or not lines.is_won(line, least):
        return []
    deed = "" if ply == first or line.is_taken_back(first) else _first_move(line, win)
    attack = f"in the better line, {deed}" if deed and line.is_better else deed
    is_pawn = owed.endswith((" costs a pawn", " of a pawn"))
    # Without an attack the moves alone have to show the gain. Quiet ones, and those to a pawn won late, do not.
    if not attack and (line.quiet_plies(first, first + 1) or (is_pawn and ply >= SOON)):
        return []
    start = first + bool(deed)
    moves = variation(line.boards[start], line.moves[start:end])
    failing = [recapture_that_fails(line, at, line.value, lines.find) for at in sorted({first, ply})]
    is_even = is_pawn and not any(failing) and exchange(line.boards[ply], line.moves[ply]) < 1
    if None in failing or is_even or not (attack or line.is_better or any(failing)):
        return []
    return [part for part in (attack, f"{owed}: {moves}", *failing) if part]


def _owed(lines: Comparison, line: ComparedLine, ply: int) -> str:
    """`it costs a pawn`, `it misses the gain of a pawn`: what one of the lines has won by this ply; or ""."""
    # What may be taken back at the end is not won.
    if ply == len(line.moves) and 2 * line.gain() <= line.balance(ply) - line.balance(0):
        return ""
    own = [at for at in line.own_plies() if at < ply and not line.is_taken_back(at)]
    if any(line.moves[at].promotion and line.moves[at] not in line.other.moves for at in own):
        return "it misses a promotion" if line.is_better else "it lets a pawn promote"
    # What is only taken back is no gain.
    is_back = line.is_better and line.moves and takes_back(lines.board, line.moves[0])
    before, after = line.boards[1] if is_back else lines.board, line.boards[ply]
    owed = material_words(after, before, lines.color) if line.is_better else material_words(before, after, lines.color)
    return owed and f"it {'misses the gain of' if line.is_better else 'costs'} {owed}"


def _first_move(line: ComparedLine, win: Win) -> str:
    """What a line's winner attacks first on the way to a win, and not in the other line; "" for nothing."""
    other, ply = line.other, line.first
    deed = _deed_of(line, ply)
    is_won = line.where_was(win.square, win.ply, ply + 1) in _newly_attacked(line.boards[ply], line.boards[ply + 1])
    again = [at for at, move in enumerate(other.moves[: ply + SAME_WITHIN]) if move == line.moves[ply]]
    # What the move played does, too, is no reason.
    alike = again[:1] + ([0] if line.is_better and other.moves else [])
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


# What short searches say ---------------------------------------------------------------------------------------------


def was_threatened(lines: Comparison) -> bool:
    """Whether the answer to the move played was a threat already: good if that side had had the turn before the move.

    It was none if it takes the piece that has just moved there, wins more now, or is as good after the better move.
    """
    if lines.is_taken_anyway or lines.against.boards[1].is_check():
        return False
    passed, found = _passed(lines.board, lines.better.value, lines.find)
    gain = found.value.expected_for(passed.turn) - lines.better.value.expected_for(passed.turn)
    if gain < lines.cost / 2 or list(found.line[:1]) != lines.against.moves[1:2]:
        return False
    answer, moved = found.line[0], lines.against.moves[0].to_square
    # What attacks the piece that has just moved is new, too.
    is_new = not passed.is_capture(answer) and moved in attacked_by_mover(lines.against.boards[2])
    return not is_new and exchange(passed, answer) >= exchange(lines.against.boards[1], answer)


def opened_by(lines: Comparison) -> str:
    """What the move, unlike the better one, does for its answer: `12.Be3 cuts the rook on e1 off from e4`; or ""."""
    line, before = lines.against, with_turn(lines.board, not lines.color)
    (move, answer), after = line.moves[:2], line.boards[1]
    square, at = answer.to_square, chess.square_name(answer.to_square)
    others = [board for board in (before, *lines.better.boards[1:2]) if board.is_legal(answer)]
    if square == move.to_square or any(exchange(board, answer) >= exchange(after, answer) for board in others):
        return ""
    guards = after.attackers(lines.color, square)
    lost = before.attackers(lines.color, square) - guards
    cut = [guard for guard in lost if chess.between(guard, square) & chess.BB_SQUARES[move.to_square]]
    deed = ""
    if move.from_square in lost and move.to_square not in guards:
        deed = f"no longer guards {at}"
    elif cut:
        deed = f"cuts the {piece_on(after, cut[0])} off from {at}"
    elif chess.between(answer.from_square, square) & chess.BB_SQUARES[move.from_square]:
        deed = f"opens the line of the {piece_on(after, answer.from_square)} to {at}"
    return deed and f"{line.name(0)} {deed}"


def _passed(board: chess.Board, value: Value, find: Finder) -> tuple[chess.Board, Found]:
    """A position of this value with the turn handed over, and what is found there; no line where it is over."""
    passed = board.copy(stack=False)
    passed.push(chess.Move.null())
    passed.clear_stack()
    is_over = board.is_check() or passed.is_game_over()
    return passed, Found(value) if is_over else find(passed)


def recapture_that_fails(line: Line, ply: int, value: Value, find: Finder) -> str | None:
    """Why the other side may not take what moves there in a line of this value: `3...Kxf7 fails: 4.Ne5+ forks ...`.

    "" where it takes it, or would win nothing by that; None where no reason is found.
    """
    board, move = line.boards[ply], line.moves[ply]
    if line.is_taken_back(ply) or exchange(board, move) >= gain_of(board, move) or ply + 1 == len(line.moves):
        return ""
    after = line.boards[ply + 1]
    _, capture = best_capture(after, chess.BB_SQUARES[move.to_square])
    if capture is None:
        return ""
    taken = board_after(after, [capture])
    found = Found(DRAWN) if taken.is_game_over() else find(taken)
    if not found.line:
        return ""
    # It need not win more than the line does.
    answer, motifs = _won_at_once(taken, found, value, -INACCURACY_LOSS)
    least = answer.balance(0) + gain_of(after, capture)
    ends = [ply + 1 for ply in answer.own_plies() if ply < SHOWN_PLIES and not answer.is_taken_back(ply)]
    won = (end for end in ends if answer.balance(end) >= least or answer.boards[end].is_checkmate())
    words = all_words(answer, motifs) or variation(taken, answer.moves[: next(won, 0)])
    return f"{numbered(after, capture)} fails: {words}" if words else None


def _won_at_once(board: chess.Board, found: Found, value: Value, least: float) -> tuple[Line, tuple[Motif, ...]]:
    """The line of the side to move, with the motifs by which it wins with its first or second move.

    No motifs where the position is not better for that side than `value` by at least this share.
    """
    gain = found.value.expected_for(board.turn) - value.expected_for(board.turn)
    line = Line(board, found.line if gain >= least else (), board.turn)
    motifs = deciding_motifs(line)
    return line, motifs if motifs and motifs[0].ply == 0 and motifs[-1].wins <= 2 else ()
