"""What the page asks the engine. Each question tells its answers as they come, the first one at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import chess
import chess.pgn
from chess.engine import InfoDict, Limit

from uci_engine.game_analysis.html import line
from uci_engine.game_analysis.move_search import compare_moves, explain_move
from uci_engine.game_analysis.page import errors_with_lines, positions_of
from uci_engine.game_analysis.report import analyse_game, shown_line
from uci_engine.game_analysis.values import Found, found_by
from uci_engine.search.strength import MAX_ELO, MIN_ELO
from uci_engine.web_board.desk import Tell, Turn
from uci_engine.web_board.requests import Request

# Seconds.
REPLY = 1.0
HINT = 0.7
# A move is explained at once, and then better and better.
PROOFS = (0.1, 1.0, 4.0)
# All moves are compared, and then the best ones are searched, in turns.
ROUNDS = ((0.3, 2.0), (2.0, 120.0))
REVIEW = 0.2
# Between two reports.
PAUSE = 0.2
LINES = 3
# Families that differ by less, in centipawns of the weights, are not shown.
LEAST_FAMILY_CP = 1
MAX_CLOCK_MS = 24 * 3600 * 1000


def reply(turn: Turn, request: Request, tell: Tell) -> None:
    """The engine's move, at a level and with the clocks of the game, if it has any."""
    board = request.board()
    elo = request.number("elo", MIN_ELO, MAX_ELO)
    clocks = [request.number(name, 0, MAX_CLOCK_MS) for name in ("white", "black", "increment")]
    seconds = [clock / 1000 for clock in clocks if clock is not None]
    strength: dict[str, Any] = {"uci_limit_strength": False} if elo is None else {"uci_elo": elo}
    turn.engine.configure(uci_analyse_mode=False, **strength)
    # A weak level must not find what an analysis has learnt.
    turn.game = (turn.tab, elo)
    if len(seconds) == 3:
        white, black, increment = seconds
        limit = Limit(white_clock=white, black_clock=black, white_inc=increment, black_inc=increment)
    else:
        limit = Limit(time=REPLY)
    best = turn.begin(board, limit).wait()
    turn.require()
    if best.move is None:
        raise ValueError("the game is over")
    tell({"move": board.uci(best.move)})


def hint(turn: Turn, request: Request, tell: Tell) -> None:
    """The best move."""
    board = request.board()
    found = found_by(turn.analyse(board, Limit(time=HINT)), board)
    if found.move is None:
        raise ValueError("the game is over")
    tell({"move": board.uci(found.move), "san": board.san(found.move), "value": found.value.text})


def explain(turn: Turn, request: Request, tell: Tell) -> None:
    """The sum of the evaluation, what each legal move costs, and the best lines, until the page goes on."""
    board = request.board()
    tell(_evaluation(turn, board))
    count = board.legal_moves.count()
    if not count:
        return
    for comparison, search in ROUNDS:
        tell(_costs(turn, board, comparison))
        _search(turn, board, search, tell, count)


def _evaluation(turn: Turn, board: chess.Board) -> dict[str, Any]:
    explanation = turn.explain(board)
    families = [(family.name, family.difference_cp) for family in explanation.families]
    pieces = [piece for piece in explanation.pieces if piece.value_cp is not None]
    return {
        "families": [(name, cp) for name, cp in families if abs(cp) >= LEAST_FAMILY_CP],
        "sum": explanation.white_score,
        "worth": {chess.square_name(piece.square): piece.value_cp for piece in pieces},
    }


def _costs(turn: Turn, board: chess.Board, seconds: float) -> dict[str, Any]:
    """Each legal move with its value, and what it costs of the expected result, best first."""
    moves = compare_moves(turn, board, Limit(time=seconds)).moves
    best = moves[0].value.expected_for(board.turn)
    return {
        "costs": [
            {
                "move": board.uci(found.line[0]),
                "san": board.san(found.line[0]),
                "value": found.value.text,
                "cost": round(max(best - found.value.expected_for(board.turn), 0.0), 3),
            }
            for found in moves
        ]
    }


def _search(turn: Turn, board: chess.Board, seconds: float, tell: Tell, count: int) -> None:
    lines = min(LINES, count)
    search = turn.begin(board, Limit(time=seconds), multipv=lines)
    told = 0.0
    for info in search:
        if info.get("multipv") == lines and "pv" in info and time.perf_counter() - told > PAUSE:
            tell(_report(board, search.multipv, count))
            told = time.perf_counter()
    turn.require()
    tell(_report(board, search.multipv, count))


def _report(board: chess.Board, infos: Sequence[InfoDict], count: int) -> dict[str, Any]:
    """What a search has found so far: its effort, and its lines, best first."""
    found = [(found_by(info, board)) for info in infos if info.get("pv")]
    return {
        "depth": infos[0].get("depth", 0),
        "nodes": max(info.get("nodes", 0) for info in infos),
        "seconds": infos[0].get("time", 0.0),
        "alternatives": count,
        "lines": [playable(board, each, board.san(each.line[0])) for each in found],
    }


def playable(board: chess.Board, found: Found, name: str) -> dict[str, Any]:
    """A line to play through, from this position, as `html.line` has it; with its moves and its text."""
    moves = shown_line(found)
    shown = line(board, moves, len(board.move_stack), f"{name} ({found.value.text})", found.value)
    walk = board.copy(stack=False)
    names = []
    for move in moves:
        names.append(walk.uci(move))
        walk.push(move)
    return shown | {"moves": names, "value": found.value.text, "text": board.variation_san(moves)}


def prove(turn: Turn, request: Request, tell: Tell) -> None:
    """Why a move is good or bad, three times, each with a longer search."""
    board = request.board()
    move = request.move(board)
    for number, seconds in enumerate(PROOFS, start=1):
        found = explain_move(turn, board, move, Limit(time=seconds))
        mark = found.judgement.mark
        tell(
            {
                "san": board.san(move),
                "move": board.uci(move),
                "value": found.value.text,
                "mark": mark.word,
                "sign": mark.sign,
                "is_error": mark.is_error,
                "texts": found.paragraphs(),
                "lines": [playable(board, each, name) for name, each in found.lines()],
                "is_last": number == len(PROOFS),
            }
        )


def review(turn: Turn, request: Request, tell: Tell) -> None:
    """The mistakes of a game, each with the better line and the reason. Tells the progress, from 0 to 1."""
    board = request.board()
    done = 0.0

    def on_position(share: float) -> None:
        nonlocal done
        done += share
        tell({"done": round(min(done, 1.0), 3)})

    report = analyse_game(chess.pgn.Game.from_board(board), turn, Limit(time=REVIEW), on_position)
    errors, lines = errors_with_lines(report)
    shown = []
    for error in errors:
        before, ply = report.boards[error["index"]], report.plies[error["index"]]
        better = Found(ply.better_value, line=ply.better)
        shown.append(
            {
                "index": error["index"],
                "move": f"{error['move']}{error['mark'].sign}",
                "mark": error["mark"].word,
                "player": error["player"],
                "change": error["change"],
                "reason": error["reason"],
                "better": playable(before, better, lines[error["better"]["number"]]["title"].partition(" (")[0]),
                "played": playable(before, Found(ply.value, line=ply.played), f"Played: {error['move']}"),
            }
        )
    accuracies = [report.summary(color).accuracy for color in (chess.WHITE, chess.BLACK)]
    tell(
        {
            "errors": shown,
            "says": [{"say": each["say"], "share": each["share"]} for each in positions_of(report)],
            "accuracy": [None if accuracy is None else round(accuracy) for accuracy in accuracies],
        }
    )


QUESTIONS: dict[str, Callable[[Turn, Request, Tell], None]] = {
    "reply": reply,
    "hint": hint,
    "explain": explain,
    "prove": prove,
    "review": review,
}
