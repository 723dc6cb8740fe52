"""What the page asks, each with its answer.

A request is JSON from a page that may be hostile. Whatever is wrong with it raises ValueError, whose text is one
sentence for the user. A position is always the game that led there: its first position and its moves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

import chess
import chess.pgn
from chess.engine import Limit

from uci_engine.board.game import play, read_fen
from uci_engine.board.pgn import MAX_PLIES, ReadGame
from uci_engine.book.book import name_of
from uci_engine.game_analysis.analysed_game import AnalysedGame, analyse_game
from uci_engine.game_analysis.boards import king_of, last_move, numbered
from uci_engine.game_analysis.examination import EFFORTS, compare_moves, examine
from uci_engine.game_analysis.judgement import Found, Phase, accuracy_of
from uci_engine.game_analysis.pages import line, position, positions_of, worst
from uci_engine.game_analysis.people import rating_of
from uci_engine.game_analysis.searches import MOVE_EFFORT, Searches, found_by, share_of
from uci_engine.web_board.desk import Answer, Turn
from uci_engine.web_board.trees import nodes_of, shown_notes, tree_of, walk

# Maximum length of a name or a remark, in characters.
MAX_WORD = 200
# Seconds.
REPLY = 1.0
# A move is explained at once, and then with the verdict that the review of a game gives.
EXPLANATIONS = (MOVE_EFFORT, share_of(MOVE_EFFORT, EFFORTS))
# A value is there at once. Then all moves are compared, and the best ones searched, in turns.
FIRST_VALUE = 0.1
ROUNDS = ((0.3, 2.0), (2.0, 120.0))
LINES = 3
# How a game ends, by the first that is true.
ENDS = (
    (chess.Board.is_checkmate, "Checkmate"),
    (chess.Board.is_stalemate, "Stalemate"),
    (chess.Board.is_insufficient_material, "Neither side can mate"),
    (chess.Board.is_repetition, "The position was there three times"),
    (chess.Board.is_fifty_moves, "Fifty moves without a capture or a pawn move"),
)

T = TypeVar("T")


class Fields:
    """The fields of a request, by name."""

    def __init__(self, body: bytes) -> None:
        """ValueError: this is no JSON object."""
        try:
            self._fields: dict[str, object] = {**json.loads(body)}
        except (TypeError, ValueError, RecursionError):
            raise ValueError("the request is no JSON object") from None

    def get(self, name: str, default: T) -> T:
        """A field, which has the type of its default. ValueError: it has another one."""
        value = self._fields.get(name, default)
        if type(value) is not type(default):
            raise ValueError(f"{name} is no {type(default).__name__}")
        return value

    def start(self) -> chess.Board:
        """The first position of the game."""
        board, _ = read_fen(self.get("start", chess.STARTING_FEN), chess960=None)
        return board

    def moves(self) -> list[str]:
        """The moves of the game, as they were written."""
        given: list[object] = self.get("moves", [])
        moves = [move for move in given if isinstance(move, str)]
        if len(given) > MAX_PLIES or len(moves) < len(given):
            raise ValueError(f"a game here has at most {MAX_PLIES} moves of both sides, each a text")
        return moves

    def board(self) -> chess.Board:
        """The position, which remembers the moves since the first one."""
        board = self.start()
        play(board, self.moves())
        return board

    def tree(self) -> chess.pgn.Game:
        """The game with its variations, out of `nodes`, or out of the moves where there are none."""
        moves: list[object] = [{"ply": ply, "move": move} for ply, move in enumerate(self.moves(), 1)]
        nodes: list[object] = self.get("nodes", [])
        return tree_of(self.start(), nodes or moves)

    def played(self) -> chess.pgn.Game:
        """The tree with the moves of the game as its main line, which ends there: what was taken back is cut off."""
        game = self.tree()
        node: chess.pgn.GameNode = game
        for move in self.board().move_stack:
            if not node.has_variation(move):
                raise ValueError("the moves are none of the game")
            node.promote_to_main(move)
            node = node.variation(move)
        node.variations.clear()
        return game

    def bare(self) -> ReadGame:
        """The game without variations and comments, but with its clocks and the `names` of the players."""
        game = ReadGame.from_board(self.board())
        for node, played in zip(game.mainline(), self.played().mainline(), strict=True):
            node.set_clock(played.clock())
        names: dict[str, object] = self.get("names", {})
        for color in chess.COLOR_NAMES:
            game.headers[color.capitalize()] = str(names.get(color, "?"))[:MAX_WORD]
        return game

    def rating(self, color: chess.Color) -> int | None:
        """That of a player, out of `ratings` by the name of the side; None for none that is known."""
        ratings: dict[str, object] = self.get("ratings", {})
        return rating_of(ratings.get(chess.COLOR_NAMES[color]))


# Without the engine ---------------------------------------------------------------------------------------------------


def positions(fields: Fields) -> Answer:
    """The positions of a game with its variations, in the order of PGN, from the one with the number `first`."""
    first = max(fields.get("first", 0), 0)
    return {"positions": [_shown(node, board) for node, board in islice(walk(fields.tree()), first, None)]}


def _shown(node: chess.pgn.GameNode, board: chess.Board) -> Answer:
    """A position with its legal moves as UCI and SAN, its opening, what is said of it, and the result where the game is
    over.
    """
    notes = shown_notes(node)
    name = f"{last_move(board)}{notes['sign']}" if board.move_stack else "Start position"
    legal = {board.uci(move): board.san(move) for move in board.legal_moves}
    said = f"{name}. \u201c{notes['words']}\u201d" if notes["words"] else f"{name}."
    place = {"whole_fen": board.fen(), "turn": chess.COLOR_NAMES[board.turn], "ply": board.ply()}
    shown = position(board, said) | notes | place | {"legal": legal, "opening": str(name_of(board) or "")}
    for is_end, words in ENDS:
        if is_end(board):
            win = ("0-1", 0.0, "Black wins") if board.turn else ("1-0", 1.0, "White wins")
            result, share, verdict = win if board.is_checkmate() else ("1/2-1/2", 0.5, "the game is drawn")
            return shown | {"result": result, "value": result, "share": share, "say": f"{name}. {words}: {verdict}."}
    return shown


def premoves(fields: Fields) -> Answer:
    """What the side may wish to move that is not to move, as UCI, without what it promotes to, and a short name.

    A piece may go wherever it might if nothing stood in its way, for what stands there may be gone by then.
    """
    board = fields.board()
    mine = not board.turn
    wishes = {}
    for square, piece in board.piece_map(mask=board.occupied_co[mine]).items():
        for to in _reach(square, piece):
            wishes[chess.Move(square, to).uci()] = _wish_name(square, piece, to)
    # A king that castles by taking its rook is written as everywhere.
    king = king_of(board, mine)
    for rook in chess.scan_forward(board.castling_rights & chess.BB_RANKS[0 if mine else 7]):
        wishes[board.uci(chess.Move(king, rook))] = "O-O" if rook > king else "O-O-O"
    return {"premoves": wishes}


def _reach(square: chess.Square, piece: chess.Piece) -> chess.SquareSet:
    """Where a piece may go on a board that is empty but for it. A pawn may also take."""
    alone = chess.Board(None)
    alone.set_piece_at(square, piece)
    alone.turn = piece.color
    return alone.attacks(square) | {move.to_square for move in alone.pseudo_legal_moves}


def _wish_name(square: chess.Square, piece: chess.Piece, to: chess.Square) -> str:
    name = chess.square_name(to)
    if piece.piece_type != chess.PAWN:
        return piece.symbol().upper() + name
    file = chess.square_file(square)
    return name if file == chess.square_file(to) else f"{chess.FILE_NAMES[file]}x{name}"


def loaded(game: ReadGame) -> Answer:
    """A game: names, first position, moves, and in `remark` why it is not as it is written. ValueError: it has no
    position to begin with.
    """
    played, remarks = game.played_moves()
    nodes, is_whole = nodes_of(game)
    if not is_whole:
        remarks.append("not all of its variations can be kept")
    names = f"{game.names[: 2 * MAX_WORD]}, {game.headers['Result']}".removesuffix(", *")
    return {
        "title": names if played else "A position to look at.",
        "names": {chess.COLOR_NAMES[color]: game.player(color)[:MAX_WORD] for color in chess.COLORS},
        "start": game.board().fen(),
        "moves": [node.move.uci() for node in played],
        "nodes": nodes,
        "headers": dict(game.headers),
        "result": game.headers["Result"],
        "ratings": {name: rating_of(game.header(f"{name.capitalize()}Elo")) for name in chess.COLOR_NAMES},
        "remark": remarks[0][:MAX_WORD] if remarks else "",
    }


def pgn(fields: Fields) -> Answer:
    """The game with its variations as PGN. One that is looked at, without a `color`, keeps its whole line."""
    headers: dict[str, object] = fields.get("headers", {})
    game = fields.played() if fields.get("color", "") else fields.tree()
    for name, value in headers.items():
        if not isinstance(value, str):
            raise ValueError("these are no headers of PGN")
        # Those of the first position are there already.
        if name not in ("FEN", "SetUp", "Variant"):
            game.headers[name] = " ".join(value.split())
    return {"pgn": str(game)}


# The engine: each tells its answers as they come, the first one at once -----------------------------------------------


def reply(turn: Turn, fields: Fields) -> None:
    """The best move, or the engine's move at a level (`elo`), within the clocks of the game if it has any."""
    board, elo = fields.board(), fields.get("elo", 0)
    white, black, increment = (fields.get(name, 0) / 1000 for name in ("white", "black", "increment"))
    clocks = Limit(white_clock=white, black_clock=black, white_inc=increment, black_inc=increment)
    turn.configure(uci_analyse_mode=False)
    if elo:
        turn.configure(uci_elo=elo)
    # A weak level must not find what an analysis has learnt.
    best = turn.begin(board, clocks if white or black else Limit(time=REPLY), game=elo).wait()
    turn.require()
    if best.move is None:
        raise ValueError("the game is over")
    turn.tell({"move": board.uci(best.move)})


def threat(turn: Turn, fields: Fields) -> None:
    """What the other side would do if it were to move."""
    board = fields.board()
    if board.is_check():
        raise ValueError("the king is in check: that is the threat")
    board.push(chess.Move.null())
    board = board.copy(stack=False)
    best = turn.begin(board, Limit(time=REPLY)).wait()
    turn.require()
    if best.move is None:
        raise ValueError("the other side would have no move")
    turn.tell({"threat": board.uci(best.move), "threat_name": board.san(best.move)})


def analyse(turn: Turn, fields: Fields) -> None:
    """The sum of the evaluation, the tablebases' verdict, what each move costs, and lines, until the page goes on."""
    board = fields.board()
    turn.tell({"sum": turn.explain_evaluation(board).data(), "tablebase": _tablebase_verdict(turn, board)})
    if not any(board.legal_moves):
        return
    _search(turn, board, FIRST_VALUE)
    for comparison, search in ROUNDS:
        found = compare_moves(turn, board, Limit(time=comparison)).moves
        # Each legal move, best first.
        turn.tell({"costs": [_best_of(board, each) for each in found]})
        _search(turn, board, search)


def _tablebase_verdict(turn: Turn, board: chess.Board) -> str:
    """The result by the tablebases, with the plies to the next capture or pawn move; "" where they say nothing."""
    verdict, dtz = Searches(turn).tablebase_verdict(board), turn.probe_dtz(board)
    return f"{verdict}, DTZ {abs(dtz)}" if verdict and dtz else verdict


def _best_of(board: chess.Board, found: Found) -> Answer:
    """The move that was found, "" for none, with its value."""
    move = board.uci(found.move) if found.move else ""
    return {"move": move, "value": found.value.shown, "share": round(found.value.expected, 3)}


def _search(turn: Turn, board: chess.Board, seconds: float) -> None:
    """Tell the effort and the best lines after each depth."""
    lines = min(LINES, board.legal_moves.count())
    search = turn.begin(board, Limit(time=seconds), multipv=lines)
    for info in search:
        if info.get("multipv", 1) == lines and "pv" in info:
            effort = f"Depth {info['depth']} in {info['time']:.1f} s"
            found = [found_by(board, each) for each in search.multipv if "pv" in each]
            best = [line(board.san(each.line[0]), board, each) for each in found]
            turn.tell({"depth": info["depth"], "effort": effort, "lines": best})
    turn.require()


def explain(turn: Turn, fields: Fields) -> None:
    """Why a move is good or bad, twice, first by a short search."""
    board = fields.board()
    play(board, [fields.get("move", "")])
    move, rating = board.pop(), fields.rating(board.turn)
    for limit in EXPLANATIONS:
        found = examine(turn, board, move, limit, rating)
        mark = found.judgement.mark
        turn.tell(
            {
                "name": f"{numbered(board, move)}{mark.sign}",
                "value": found.played.value.shown,
                "best": _best_of(board, found.best),
                "mark": mark.word,
                "is_error": mark.is_error,
                "texts": found.paragraphs(),
                "lines": [line(*each) for each in found.lines()],
            }
        )


def review(turn: Turn, fields: Fields, keep: Callable[[str, AnalysedGame], None]) -> None:
    """The mistakes of a game, each with the better line and the reason. Tells the progress, from 0 to 1.

    `keep` gets what was found, with the `key` of the game.
    """
    done = 0.0

    def on_position(share: float) -> None:
        nonlocal done
        done += share
        turn.tell({"done": round(min(done, 1.0), 3)})

    game = fields.bare()
    game.headers.update(WhiteElo=str(fields.rating(chess.WHITE)), BlackElo=str(fields.rating(chess.BLACK)))
    analysed = analyse_game(game, turn, MOVE_EFFORT, on_position)
    keep(fields.get("key", ""), analysed)
    errors = [
        {
            "index": ply.index,
            "move": ply.name,
            "mark": ply.judgement.mark.word,
            "player": ply.player,
            "change": ply.change,
        }
        for ply in worst(analysed.errors)
    ]
    accuracies = [_accuracy(analysed, color) for color in chess.COLORS]
    positions = positions_of(analysed, with_values=False)
    for ply, shown in zip(analysed.plies, positions[1:], strict=True):
        shown |= {"mark": ply.judgement.mark.sign, "value": ply.value_text}
    turn.tell({"errors": errors, "positions": positions, "accuracy": accuracies})


def _accuracy(analysed: AnalysedGame, color: chess.Color) -> str:
    """`81 % (opening 95 %, middlegame 70 %)`: with the phases, where the game has several."""
    judged = {phase.value: analysed.judgements(color, phase) for phase in Phase}
    phases = [f"{name} {accuracy_of(each)}" for name, each in judged.items() if each]
    return accuracy_of(analysed.judgements(color)) + (f" ({', '.join(phases)})" if len(phases) > 1 else "")


QUESTIONS = {"reply": reply, "threat": threat, "analyse": analyse, "explain": explain}
