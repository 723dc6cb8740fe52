"""A game with its variations, between python-chess and the page.

The page has it as a list of nodes in the order of PGN: `ply`, from 0 for the start, the `move` that leads there, and
what is said of it: `comment`, `before` the first move of a variation, `nags`, and the seconds that the `clock` shows.
What is empty is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import chess
import chess.pgn

from uci_engine.board.game import play
from uci_engine.board.pgn import MAX_PLIES, MAX_SECONDS, MOVE_SIGNS, seconds_of, spoken
from uci_engine.web_board.desk import Answer

MAX_NODES = 3000
MAX_NAG = 255
# How a position is judged. Other NAGs are shown as they are written in PGN.
SIGNS = MOVE_SIGNS | {
    10: " =",
    13: " \u221e",
    14: " +=",
    15: " =+",
    16: " \u00b1",
    17: " \u2213",
    18: " +\u2212",
    19: " \u2212+",
}


def walk(game: chess.pgn.Game) -> Iterator[tuple[chess.pgn.GameNode, chess.Board]]:
    """The nodes of a game in the order of PGN, each with its board, which is the same one all the time."""
    board = game.board()
    rest: list[tuple[chess.pgn.GameNode, int]] = [(game, 0)]
    while rest:
        node, ply = rest.pop()
        while ply and len(board.move_stack) >= ply:
            board.pop()
        if isinstance(node, chess.pgn.ChildNode):
            board.push(node.move)
        yield node, board
        rest += [(child, ply + 1) for child in reversed(node.variations)]


def tree_of(board: chess.Board, nodes: list[object]) -> chess.pgn.Game:
    """The game of these nodes from this position, which takes their moves. ValueError: they are none."""
    if len(nodes) > MAX_NODES:
        raise ValueError(f"a game here has at most {MAX_NODES} moves, those of its variations included")
    game = chess.pgn.Game()
    game.setup(board)
    line: list[chess.pgn.GameNode] = [game]
    for node in nodes:
        match node:
            case {"ply": 0, **notes}:
                pass
            case {"ply": int(ply), "move": str(move), **notes} if 0 < ply <= len(line):
                del line[ply:]
                while len(board.move_stack) >= ply:
                    board.pop()
                play(board, [move])
                line.append(line[-1].add_variation(board.peek()))
            case _:
                raise ValueError("a node is no move of the game")
        _annotate(line[-1], notes)
    return game


def _annotate(node: chess.pgn.GameNode, given: dict[object, object]) -> None:
    """Write down what is said of a move. ValueError: it is no text, no NAG, or no time."""
    comment, before, nags = given.get("comment", ""), given.get("before", ""), given.get("nags", [])
    if not (isinstance(comment, str) and isinstance(before, str) and isinstance(nags, list)):
        raise ValueError("what is said of a move is no text")
    if not all(isinstance(nag, int) and 0 <= nag <= MAX_NAG for nag in nags):
        raise ValueError("a NAG is no number")
    node.comment, node.nags, clock = comment, {*nags}, given.get("clock")
    if clock is not None:
        if not (isinstance(clock, int | float) and 0 <= clock <= MAX_SECONDS):
            raise ValueError("a clock shows no time")
        node.set_clock(clock)
    if isinstance(node, chess.pgn.ChildNode):
        node.starting_comment = before


def nodes_of(game: chess.pgn.Game) -> tuple[list[Answer], bool]:
    """The nodes of a game that was read, and whether these are all: a null move and the longest game end a line."""
    nodes: list[Answer] = []
    is_whole = True
    for node, board in walk(game):
        ply = len(board.move_stack)
        move: Answer = {"move": board.peek().uci()} if ply else {}
        nodes.append({"ply": ply, **move, **_notes(node)})
        kept = [child for child in node.variations if child.move and ply < MAX_PLIES]
        is_whole = is_whole and len(kept) == len(node.variations)
        # The walk goes on with these.
        node.variations = kept
    return nodes[:MAX_NODES], is_whole and len(nodes) <= MAX_NODES


def _notes(node: chess.pgn.GameNode) -> Answer:
    """What is said of a move, as it was written."""
    before = node.starting_comment if isinstance(node, chess.pgn.ChildNode) else ""
    notes: Answer = {"comment": node.comment, "before": before, "nags": sorted(node.nags)}
    return {name: note for name, note in notes.items() if note}


def shown_notes(node: chess.pgn.GameNode) -> Answer:
    """What is said of a move, also as it is shown: its `sign`, the `words` behind it, and the `lead` before it."""
    notes = _notes(node)
    sign = "".join(SIGNS.get(nag, f" ${nag}") for nag in sorted(node.nags))
    words, lead = (spoken(str(notes.get(name, ""))) for name in ("comment", "before"))
    clock = seconds_of(node.clock)
    return notes | {"sign": sign, "words": words, "lead": lead} | ({} if clock is None else {"clock": clock})
