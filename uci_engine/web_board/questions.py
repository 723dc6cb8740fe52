"""What the page asks the engine. Each question tells its answers as they come, the first one at once."""

from __future__ import annotations

import chess
from chess.engine import Limit

from uci_engine.board.game import play
from uci_engine.game_analysis.analysed_game import analyse_game
from uci_engine.game_analysis.boards import numbered
from uci_engine.game_analysis.examination import NOTHING, compare_moves, examine
from uci_engine.game_analysis.pages import line, positions_of, shown_errors
from uci_engine.game_analysis.pgn import ReadGame
from uci_engine.game_analysis.searches import found_by
from uci_engine.web_board.desk import Answer, Turn
from uci_engine.web_board.requests import Fields

# Seconds.
REPLY = 1.0
# A move is explained at once, and then better and better.
PROOFS = (0.1, 1.0, 4.0)
# All moves are compared, and then the best ones are searched, in turns.
ROUNDS = ((0.3, 2.0), (2.0, 120.0))
REVIEW = 0.2
LINES = 3
MAX_CLOCK_MS = 24 * 3600 * 1000


def reply(turn: Turn, fields: Fields) -> None:
    """The best move, or the engine's move at a level (`elo`), within the clocks of the game if it has any."""
    board, elo = fields.board(), fields.get("elo", 0)
    # What is below 0 the engine refuses.
    white, black, increment = (
        max(-1, min(fields.get(name, 0), MAX_CLOCK_MS)) / 1000 for name in ("white", "black", "increment")
    )
    clocks = Limit(white_clock=white, black_clock=black, white_inc=increment, black_inc=increment)
    turn.configure(uci_analyse_mode=False)
    if elo:
        turn.configure(uci_elo=elo)
    # A weak level must not find what an analysis has learnt.
    turn.game = elo
    best = turn.begin(board, clocks if white or black else Limit(time=REPLY)).wait()
    turn.require()
    if best.move is None:
        raise ValueError("the game is over")
    turn.tell({"move": board.uci(best.move)})


def explain(turn: Turn, fields: Fields) -> None:
    """The sum of the evaluation, what each legal move costs, and the best lines, until the page goes on."""
    board = fields.board()
    turn.tell({"sum": turn.explain(board).data()})
    if not any(board.legal_moves):
        return
    for comparison, search in ROUNDS:
        turn.tell({"costs": _costs(turn, board, comparison)})
        _search(turn, board, search)


def _costs(turn: Turn, board: chess.Board, seconds: float) -> list[Answer]:
    """Each legal move with its value, and what it costs of the expected result, best first."""
    moves = compare_moves(turn, board, Limit(time=seconds)).moves
    best = moves[0].value.expected_for(board.turn)
    costs = [max(best - found.value.expected_for(board.turn), 0.0) for found in moves]
    return [
        {
            "move": board.uci(found.line[0]),
            "value": found.value.text,
            "cost": round(cost, 3),
            "loss": f"\u2212{100 * cost:.0f} %" if cost >= NOTHING else "",
        }
        for found, cost in zip(moves, costs, strict=True)
    ]


def _search(turn: Turn, board: chess.Board, seconds: float) -> None:
    """Tell the effort and the best lines after each depth."""
    alternatives = board.legal_moves.count()
    lines = min(LINES, alternatives)
    search = turn.begin(board, Limit(time=seconds), multipv=lines)
    for info in search:
        if info.get("multipv", 1) == lines and "pv" in info:
            depth, nodes, passed = info["depth"], info["nodes"], info["time"]
            effort = f"Depth {depth}, {nodes:,} positions in {passed:.1f} s, {alternatives} alternatives."
            found = [found_by(each) for each in search.multipv if "pv" in each]
            best = [line(board, each.shown, board.san(each.line[0])) for each in found]
            turn.tell({"depth": depth, "effort": effort, "lines": best})
    turn.require()


def prove(turn: Turn, fields: Fields) -> None:
    """Why a move is good or bad, three times, each with a longer search."""
    board = fields.board()
    play(board, [fields.get("move", "")])
    move = board.pop()
    for seconds in PROOFS:
        found = examine(turn, board, move, Limit(time=seconds))
        mark = found.judgement.mark
        turn.tell(
            {
                "name": f"{numbered(board, move)}{mark.sign}",
                "value": found.played.value.text,
                "mark": mark.word,
                "is_error": mark.is_error,
                "texts": found.paragraphs(),
                "lines": [line(each.board, each.found.shown, each.name) for each in found.lines()],
            }
        )


def review(turn: Turn, fields: Fields) -> None:
    """The mistakes of a game, each with the better line and the reason. Tells the progress, from 0 to 1."""
    done = 0.0

    def on_position(share: float) -> None:
        nonlocal done
        done += share
        turn.tell({"done": round(min(done, 1.0), 3)})

    game = ReadGame.from_board(fields.board())
    analysed = analyse_game(game, turn, Limit(time=REVIEW), on_position)
    errors = [
        {
            "index": ply.index,
            "move": ply.name,
            "mark": ply.judgement.mark.word,
            "player": ply.player,
            "change": ply.change,
        }
        for ply in shown_errors(analysed)
    ]
    accuracies = [analysed.summary(color).percent for color in chess.COLORS]
    turn.tell({"errors": errors, "positions": positions_of(analysed), "accuracy": accuracies})


QUESTIONS = {"reply": reply, "explain": explain, "prove": prove, "review": review}
