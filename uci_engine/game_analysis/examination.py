"""Positions examined: all moves compared, or one move judged, with what refutes or supports it, and why.

`examine` and `compare_moves` search. What they return is shown as text, as JSON, as HTML for notebooks, and as a page.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import chess
import chess.svg
from chess.engine import Limit

from uci_engine.game_analysis.analysed_game import EXTENSION
from uci_engine.game_analysis.boards import board_after, numbered
from uci_engine.game_analysis.judgement import Judgement, Mark, judge
from uci_engine.game_analysis.pages import line, position, render
from uci_engine.game_analysis.reasons import reason_for, support_for
from uci_engine.game_analysis.searches import Analyser, Searches, least, share_of
from uci_engine.game_analysis.tactics import Motif
from uci_engine.game_analysis.values import DRAWN, Found, SearchedMove, Value, final_value

# A loss of expected result that is shown as 0 %.
NOTHING = 0.005
COLUMNS = ("Move", "Value", "Depth", "Line")
# The replies to a move that are shown.
REPLIES = 3
# The shares of the limit: for the search of the position, of the position after the move, and of the rival; for each
# search that makes a line longer; for each that looks for a threat or confirms a reason. The proof has what is left.
MOVE_SHARES = (0.3, 0.25, 0.1, 0.02, 0.05)
# Of a longer mate only the line is shown.
MAX_MATE_MOVES = 6
# The most nodes for the answer to one defence.
MAX_ANSWER_NODES = 200_000


class Shown(ABC):
    """What was found out about the moves of a position. `str` of it is text, and a notebook shows it beside the board.

    `nodes` and `seconds` are those of all searches.
    """

    __slots__ = ()
    board: chess.Board
    nodes: int
    seconds: float

    @abstractmethod
    def data(self) -> dict[str, object]:
        """For JSON."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def lines(self) -> list[tuple[str, Found]]:
        """The lines that are worth playing through, each with its name, the most important first."""

    def paragraphs(self) -> list[str]:
        """What is to be said beside the table."""
        return []

    def _defences(self) -> list[tuple[str, str, int | None]]:
        """Each defence, the answer with its line, and in how many moves that mates."""
        return []

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The table of the lines, without its heading."""
        return [
            (name, found.value.text, str(found.depth), self.board.variation_san(found.line))
            for name, found in self.lines()
        ]

    def __str__(self) -> str:
        rows, defences = self._rows(), self._defences()
        width = max([8, *(len(row[0]) for row in rows)])
        lines = [self.board.fen(), *self.paragraphs()]
        lines += [f"{name:<{width}}{value:>8}{depth:>7}  {words}" for name, value, depth, words in (COLUMNS, *rows)]
        if not rows:
            lines.append("There is no legal move.")
        if defences:
            lines.append("Defences:")
            lines += [f"  {move:<10} {words}  (mate in {mate})" for move, words, mate in defences]
        lines.append(f"{self.nodes} nodes in {self.seconds:.1f} s")
        return "\n".join([*lines, "Values from White's view; at +1.00 White wins half of the games."])

    def page(self) -> str:
        board, shown = self.board, self.lines()
        side = "White" if board.turn else "Black"
        start = position(board, f"{side} is to move.", shown[0][1].value if shown else None)
        lines = [line(board, found, name) for name, found in shown]
        return render(
            "explain.html.j2",
            {"positions": [start], "lines": lines, "flipped": not board.turn},
            title=self._title(),
            fen=board.fen(),
            texts=self.paragraphs(),
            rows=self._rows(),
            proof=self._defences(),
        )

    def _repr_html_(self) -> str:
        board = self.board
        arrows = [chess.svg.Arrow(found.line[0].from_square, found.line[0].to_square) for _, found in self.lines()[:1]]
        svg = chess.svg.board(board, orientation=board.turn, arrows=arrows, size=280)
        return f"<div>{svg}<pre>{html.escape(str(self))}</pre></div>"


def _value_data(value: Value) -> dict[str, object]:
    """A value for JSON, from White's view: `cp` or `mate`, and the expected result."""
    mate = value.score.mate()
    kind = {"cp": value.score.score()} if mate is None else {"mate": mate}
    return {**kind, "expected": round(value.expected, 4)}


def _line_data(found: Found) -> dict[str, object]:
    """A line in UCI's notation, with its value."""
    return {"line": [move.uci() for move in found.line], "value": _value_data(found.value)}


# All moves ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MoveComparison(Shown):
    """All legal moves of a position, best first.

    `moves` has for each what was found: its value from White's view, the depth, and the line that it begins.
    """

    board: chess.Board
    moves: tuple[Found, ...]
    nodes: int
    seconds: float

    def data(self) -> dict[str, object]:
        moves = [
            {"move": self.board.uci(found.line[0]), "san": name, "depth": found.depth, **_line_data(found)}
            for name, found in self.lines()
        ]
        return {"fen": self.board.fen(), "nodes": self.nodes, "moves": moves}

    def _title(self) -> str:
        return f"{len(self.moves)} moves compared"

    def lines(self) -> list[tuple[str, Found]]:
        return [(self.board.san(found.line[0]), found) for found in self.moves]


# One move -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MateProof:
    """A forced mate: who mates, in how many moves, and an answer to each defence.

    `before` are the moves to the position in which the side that is mated defends. `answers`: the mate that is proved
    against each defence, in a line that the defence begins; empty where it is mated already, or the mate is long; None
    where one was not found.
    """

    white_mates: bool
    moves: int
    before: tuple[chess.Move, ...]
    answers: tuple[Found, ...] | None = ()

    @property
    def is_complete(self) -> bool:
        """Whether each defence has an answer that mates."""
        return self.moves == 1 or bool(self.answers)

    def __str__(self) -> str:
        winner = "White" if self.white_mates else "Black"
        if self.moves == len(self.before) == 1:
            return f"{winner} has mated."
        text = f"{winner} mates in {self.moves} by force"
        if self.answers is None:
            return f"{text}; the limit is too small for an answer to every defence."
        if not self.answers:
            return f"{text}."
        count = len(self.answers)
        defences = "the only defence" if count == 1 else f"each of the {count} defences"
        return f"{text}: {defences} has an answer."


@dataclass(frozen=True, slots=True)
class Examination(Shown):
    """Why a move is good or bad. Values are from White's view.

    `played` is the move with the best play after it: what supports or refutes it. `best` is the best move, `is_best`
    whether that is the move itself, `others` the value of the best other move where it is. `replies` are the opponent's
    best replies, and `reply_count` how many there are. `alternatives` is the number of other legal moves. `reason`
    says why it is worse than the best move, None for that; `support` why a move that is no error is good, None for
    nothing. `motifs` are the tactics that these name. `proof`: the move wins or loses by force. `verdict` is what the
    tablebases say after the move, "" for nothing.
    """

    board: chess.Board
    move: chess.Move
    judgement: Judgement
    played: Found
    best: Found
    is_best: bool
    others: Value | None
    replies: tuple[Found, ...]
    reply_count: int
    alternatives: int
    reason: str | None
    support: str | None
    motifs: tuple[Motif, ...]
    proof: MateProof | None
    verdict: str
    nodes: int
    seconds: float

    def data(self) -> dict[str, object]:
        board, proof = self.board, self.proof
        return {
            "fen": board.fen(),
            "move": board.uci(self.move),
            "san": board.san(self.move),
            **_line_data(self.played),
            "judgement": self.judgement.mark.word,
            "loss": round(self.judgement.loss, 4),
            "depth": self.played.depth,
            "nodes": self.nodes,
            "best": _line_data(self.best),
            "others": None if self.others is None else _value_data(self.others),
            "alternatives": self.alternatives,
            "reply_count": self.reply_count,
            "replies": [_line_data(reply) for reply in self.replies],
            "reason": self.reason,
            "support": self.support,
            "motifs": [motif.kind.value for motif in self.motifs],
            "tablebases": self.verdict or None,
            "proof": None
            if proof is None
            else {
                "winner": "white" if proof.white_mates else "black",
                "moves": proof.moves,
                "complete": proof.is_complete,
                "cut": proof.answers is None,
                "answers": [
                    {"defence": defence, "line": answer, "mate": mate} for defence, answer, mate in self._defences()
                ],
            },
        }

    def _title(self) -> str:
        return f"{numbered(self.board, self.move)}{self.judgement.mark.sign} explained"

    def paragraphs(self) -> list[str]:
        board, mark = self.board, self.judgement.mark
        name = numbered(board, self.move)
        texts = [f"{name}{mark.sign} is worth {self.played.value.text}: {self._verdict()}"]
        if not self.is_best and self.best.line:
            best = numbered(board, self.best.line[0])
            texts.append(f"Better is {best} ({self.best.value.text}): {board.variation_san(self.best.line)}.")
        if len(self.played.line) > 1:
            words = "What refutes it" if mark.is_error else "What supports it"
            texts.append(f"{words}: {board.variation_san(self.played.line)}.")
        texts += [f"{words}." for words in (self.reason, self.support) if words is not None]
        tried = f"{self.alternatives} other moves" if self.alternatives != 1 else "one other move"
        replies = f"{self.reply_count} replies" if self.reply_count != 1 else "one reply"
        texts.append(f"Tried: {tried} and {replies}, to depth {self.played.depth}.")
        if self.verdict:
            texts.append(f"The tablebases say: {self.verdict}.")
        if self.proof is not None:
            texts.append(str(self.proof))
        return texts

    def _verdict(self) -> str:
        mark, loss = self.judgement.mark, self.judgement.loss
        if mark is Mark.FORCED:
            return "the only legal move."
        if self.is_best:
            return f"the best move{'' if self.others is None else f'; the next best is worth {self.others.text}'}."
        name = f"{'an' if mark is Mark.INACCURACY else 'a'} {mark.word if mark.is_error else 'sound move'}"
        return f"{name}, which costs {'nothing' if loss < NOTHING else f'{100 * loss:.0f} % of the expected result'}."

    def lines(self) -> list[tuple[str, Found]]:
        """The lines of the move, of the better one, and of the other replies."""
        board = self.board
        after = board_after(board, [self.move])
        lines = [(numbered(board, self.move), self.played)]
        if not self.is_best and self.best.line:
            lines.append((f"Better: {numbered(board, self.best.line[0])}", self.best))
        for reply in self.replies[1:]:
            lines.append((f"Reply {numbered(after, reply.line[0])}", replace(reply, line=(self.move, *reply.line))))
        return lines

    def _defences(self) -> list[tuple[str, str, int | None]]:
        if self.proof is None:
            return []
        board = board_after(self.board, self.proof.before)
        rows = []
        for answer in self.proof.answers or ():
            defence, *line = answer.line
            words = board_after(board, [defence]).variation_san(line)
            rows.append((numbered(board, defence), words, answer.value.mate_for(not board.turn)))
        return rows


# The searches ---------------------------------------------------------------------------------------------------------


def compare_moves(analyser: Analyser, board: chess.Board, limit: Limit) -> MoveComparison:
    """Compare the legal moves of a position, by one search that has a line for each."""
    searches, count = Searches(analyser), board.legal_moves.count()
    moves = searches.best_lines(board, limit, count) if count else []
    if len(moves) < count:
        # The limit has ended the search before it had all lines.
        moves = searches.best_lines(board, Limit(depth=1), count)
    # A search that was cut has the last lines from the depth before.
    moves.sort(key=lambda found: found.value.order_for(board.turn), reverse=True)
    # With MultiPV a line counts the nodes of the whole search until it was reported.
    nodes = max((found.nodes for found in moves), default=0)
    return MoveComparison(board.copy(), tuple(moves), nodes, searches.seconds)


def examine(analyser: Analyser, board: chess.Board, move: chess.Move, limit: Limit) -> Examination:
    """Examine one legal move. The limit is for all of it; a depth is for each search."""
    searches = Searches(analyser, limit)
    for_position, for_replies, for_rival, for_extension, for_threat = (share_of(limit, share) for share in MOVE_SHARES)
    for_extension = replace(for_extension, nodes=least(for_extension.nodes, EXTENSION.nodes))
    color, after = board.turn, board_after(board, [move])
    here = searches.find(board, for_position)
    replies = _replies(searches, after, for_replies)
    played = replace(replies[0], value=replies[0].value.backed_up(color), line=(move, *replies[0].line))
    searched = _with_rival(searches, board, here, played, for_rival)
    judgement = judge(board, searched)
    played = searches.extended(board, played, for_extension)
    proof = prove_mate(searches, board, played)
    best = searched.best
    if not searched.is_best and searches.left() is not None:
        best = searches.extended(board, best, for_extension)
    find = searches.finder(for_threat, for_extension)
    is_good = not judgement.mark.is_error and judgement.mark is not Mark.FORCED
    reason = None if searched.is_best else reason_for(board, played, best, find)
    support = support_for(board, played, searched.others, find) if is_good else None
    named = reason or support
    return Examination(
        board=board.copy(),
        move=move,
        judgement=judgement,
        played=played.shown,
        best=best.shown,
        is_best=searched.is_best,
        others=searched.others,
        replies=replies if replies[0].line else (),
        reply_count=after.legal_moves.count(),
        alternatives=board.legal_moves.count() - 1,
        reason=None if reason is None else reason.text,
        support=None if support is None else support.text,
        motifs=() if named is None else named.motifs,
        proof=proof,
        verdict=searches.tablebase_verdict(after),
        nodes=searches.nodes,
        seconds=searches.seconds,
    )


def _with_rival(searches: Searches, board: chess.Board, here: Found, played: Found, limit: Limit) -> SearchedMove:
    """The move played beside its rival: the best of the others if it seems to be the best, the best one if not.

    `here`: what the search of the position has found.
    """
    color, move, value = board.turn, played.line[0], played.value
    seems_best = here.move in (None, move) or value.score_for(color) >= here.value.score_for(color)
    moves = [other for other in board.legal_moves if other != move] if seems_best else [*here.line[:1]]
    rival = searches.find(board, limit, moves) if moves else Found(DRAWN)
    if not rival.line or not (seems_best or rival.depth >= here.depth):
        # What the search of the position has found is more reliable.
        return SearchedMove(played, played, True) if seems_best else _ranked(played, here, color)
    return _ranked(played, rival, color)


def _ranked(played: Found, rival: Found, color: chess.Color) -> SearchedMove:
    if played.value.score_for(color) >= rival.value.score_for(color):
        return SearchedMove(played, played, True, rival.value)
    return SearchedMove(rival, played, False)


def _replies(searches: Searches, after: chess.Board, limit: Limit) -> tuple[Found, ...]:
    """The best replies of the opponent, at least one; without a line where the game is over."""
    value = final_value(after, claims=True)
    if value is not None:
        return (Found(value),)
    found = searches.best_lines(after, limit, min(REPLIES, after.legal_moves.count()))
    return tuple(reply for reply in found if reply.line) or (Found(DRAWN),)


def prove_mate(searches: Searches, board: chess.Board, played: Found) -> MateProof | None:
    """The proof that a move mates or is mated, None where no mate is known. `played`: the move with its line."""
    winner = board.turn if played.value.mate_for(board.turn) is not None else not board.turn
    moves = played.value.mate_for(winner)
    # The side that is mated moves after the move itself, or after the opponent's reply to it.
    before = played.line[: 1 if winner == board.turn else 2]
    if moves is None or (winner != board.turn and len(before) < 2):
        return None
    is_short = 1 < moves <= MAX_MATE_MOVES
    return MateProof(winner, moves, before, _answers(searches, board_after(board, before), moves) if is_short else ())


def _answers(searches: Searches, position: chess.Board, moves: int) -> tuple[Found, ...] | None:
    """The answer to each defence against a mate in `moves`, None if one was not found within what is left.

    The mate search of `go mate` proves each. Nodes are divided among the defences.
    """
    answers = []
    defences = list(position.legal_moves)
    for number, defence in enumerate(defences):
        after, left = board_after(position, [defence]), searches.left()
        if left is None or after.is_game_over():
            return None
        share = None if left.nodes is None else max(left.nodes // (len(defences) - number), 1)
        limit = Limit(nodes=least(share, MAX_ANSWER_NODES), mate=moves - 1)
        answer = searches.find(after, limit)
        if answer.value.mate_for(after.turn) is None:
            return None
        answers.append(replace(answer, line=(defence, *answer.line)))
    return tuple(answers)
