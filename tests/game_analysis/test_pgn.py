"""PGN from anywhere read within bounds, and annotated PGN that python-chess reads back with the same moves."""

from __future__ import annotations

import io
import json
import re
import time
from codecs import BOM_UTF8
from pathlib import Path

import chess
import chess.pgn
import pytest
from chess.engine import Limit
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.analyser import MaterialAnalyser
from tests.support.kernel import random_game, start_board
from uci_engine.board.game import read_fen
from uci_engine.board.pgn import (
    MAX_GAME_BYTES,
    MAX_PLIES,
    ReadGame,
    decoded,
    game_texts,
    read_game,
)
from uci_engine.game_analysis.analysed_game import AnalysedGame, analyse_game, annotate
from uci_engine.game_analysis.judgement import Mark, Value, accuracy_of
from uci_engine.game_analysis.pages import game_page

# No line ends, which would end a header.
NAME_LETTERS = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))
ROWS: list[tuple[str, str, list[str]]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "tables" / "pgn.jsonl").read_text().splitlines()
    if not line.startswith("#")
]
SCHOLAR = '[Event "A"]\n[White "W"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n'


def report_of(game: ReadGame) -> AnalysedGame:
    return analyse_game(game, MaterialAnalyser(), Limit(nodes=100))


def read_back(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    return game


def annotated(text: str) -> tuple[chess.pgn.Game, AnalysedGame, str]:
    game = read_game(text.encode())
    report = report_of(game)
    written = annotate(report, "test")
    return read_back(written), report, written


def rewritten(data: bytes) -> str:
    return annotate(report_of(read_game(data)), "test")


def test_a_game_is_annotated() -> None:
    game, report, _ = annotated(SCHOLAR)
    assert [node.move for node in game.mainline()] == [ply.move for ply in report.plies]
    assert len(report.plies) == 7
    assert report.plies[6].judgement.mark is Mark.BEST
    assert report.plies[6].value == Value(chess.engine.MateGiven, 1.0)
    blunder = list(game.mainline())[5]
    assert 4 in blunder.nags
    assert re.search(r"Blunder\..* mate in 1", blunder.comment)
    assert blunder.eval() == chess.engine.PovScore(chess.engine.Mate(1), chess.WHITE)
    better = blunder.parent.variations[1]
    assert re.fullmatch(r"\[%secateur line [0-9a-f]{8}\] better: \+0\.00", better.comment)
    assert better.move == report.plies[5].best.move
    assert game.headers["ECO"].startswith("C")
    assert game.headers["Annotator"] == "test"
    _, _, missed = annotated('[Event "x"]\n[SetUp "1"]\n[FEN "7k/8/6K1/8/8/8/8/RR6 w - - 0 1"]\n\n1. Ra2 *')
    assert "There was a mate in 1." in missed


def test_a_move_with_a_name_that_loses_the_game_is_a_blunder() -> None:
    _, report, _ = annotated('[Event "x"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
    assert [ply.judgement.mark for ply in report.plies[:3:2]] == [Mark.BOOK, Mark.BLUNDER]
    assert not any(ply.notes for ply in report.plies[:2])
    assert accuracy_of(report.judgements(chess.WHITE)).endswith("%")


# Words, NAGs and variations of a player, one of which begins as the better line of the analyser does.
PLAYED = """[Event "A"]
[White "W"]
[Annotator "A. Author"]
[ECO "X00"]
[Opening "?"]

{ A game of mine. } 1. e4 { [%clk 0:03:00] [%csl Gd4,Re5][%cal Rd1h5] Blunder. Not at all. } e5 $1 $14
(1... c5 $6 { the Sicilian } 2. Nf3 (2. c3 { quiet })) 2. Bc4 { [%eval 0.31,20] [%emt 0:00:07] soon } Nc6 { [#] } 3. Qh5
Nf6 $4 { as so often [%clk 0:01:01] Mistake. Tablebases: draw. } (3... a5 { a player's a5 })
4. Qxf7# { [%tqu "En","x"] mate }
1-0
"""
FOOL = '[Event "x"]\n\n1. f3 e5 2. g4 { once } ({ or\ntwice }) Qh4# $3 { again } 0-1\n'


def stripped(text: str) -> str:
    """What of a game is left without what Secateur has written, values and headers."""
    game = read_game(text.encode())
    for node in game.mainline():
        node.set_eval(None)
    return game.accept(chess.pgn.StringExporter(headers=False))


# Deep enough for a recursive reader to end in an exception.
NESTED = '[Event "x"]\n\n1. e4 ' + "( 1. d4 " * 1000 + ")" * 1000 + " e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# *"


@pytest.mark.parametrize("text", [SCHOLAR, PLAYED, FOOL, NESTED], ids=["usual", "played", "short", "nested"])
def test_a_second_analysis_gives_the_same_text(text: str) -> None:
    _, _, first = annotated(text)
    assert "[%secateur" in first
    _, _, second = annotated(first)
    assert second == first
    assert stripped(first) == stripped(text)


def test_all_that_a_player_wrote_stays() -> None:
    game, report, text = annotated(PLAYED)
    e4, e5, bc4, _, _, nf6, _ = game.mainline()
    assert (e4.clock(), len(e4.arrows()), bc4.emt(), e5.nags) == (180, 3, 7, {1, 14})
    assert "0.31,20" not in text
    assert nf6.comment.startswith("as so often [%clk 0:01:01] Mistake. Tablebases: draw. [%secateur] Blunder. ")
    sicilian = e5.parent.variations[1]
    assert (sicilian.nags, sicilian.comment, sicilian.variations[1].comment) == ({6}, "the Sicilian", "quiet")
    _, players, own = nf6.parent.variations
    assert players.move == own.move == report.plies[5].best.move
    assert players.comment == "a player's a5"
    assert not players.variations
    assert [own.move, *(node.move for node in own.mainline())] == list(report.plies[5].best.line)
    assert game.headers["Annotator"] == "A. Author; test"
    assert game.headers["ECO"] == "X00"
    assert game.headers["Opening"] == report.opening.name if report.opening else False


@pytest.mark.parametrize(
    ("header", "annotators"),
    [("A. Author", "A. Author; new 2"), ("?", "new 2"), ("new 1", "new 2"), ("A; B; new 2", "A; B; new 2")],
)
def test_another_version_takes_the_place_of_the_first_as_annotator(header: str, annotators: str) -> None:
    game = read_game(PLAYED.replace("A. Author", header).encode())
    annotate(report_of(game), "new 2")
    assert game.headers["Annotator"] == annotators


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("{ [%secateur line", "{ Really? [%secateur line", "3... a5 { Really? } 4. Qxf7#"),
        ("better: +0.00 }", "better: +0.00 and more }", "3... a5 { and more } 4. Qxf7#"),
        ("better: +0.00 }", "better: +0.00 } $5", "3... a5 $5 4. Qxf7#"),
        ("4. Qxf7# )", "4. Qxf7# { ouch } )", "3... a5 4. Qxf7# { ouch }"),
        ("4. Qxf7# )", "4. Qxf7# (4. Qe5) )", "3... a5 4. Qxf7# ( 4. Qxe5+ )"),
        ("4. Qxf7# )", "4. Qg4 )", "3... a5 4. Qg4"),
        ("4. Qxf7# )", "4. Qg4 a4 )", "3... a5 4. Qg4 a4"),
        ("4. Qxf7# )", ")", "( 3... a5 )"),
    ],
)
def test_a_better_line_that_somebody_has_changed_is_kept(old: str, new: str, kept: str) -> None:
    _, report, first = annotated(SCHOLAR)
    first = " ".join(first.partition("1. e4")[2].split())
    assert old in first
    game, _, second = annotated(f'[Event "x"]\n\n1. e4 {first.replace(old, new)}')
    _, players, own = list(game.mainline())[5].parent.variations
    assert kept in " ".join(second.split())
    assert "[%" not in players.comment
    assert [own.move, *own.mainline_moves()] == list(report.plies[5].best.line)
    assert second.count("[%secateur line") == first.count("[%secateur line")


MEGABYTE = 2**20


@pytest.mark.parametrize(
    "text",
    [
        "{a" + " " * MEGABYTE + "b}",
        "{[%secateur] Blunder." + " " * MEGABYTE + "b}",
        "{" + "[%eval " * (MEGABYTE // 7) + "}",
        "{" + "[%secateur] " * (MEGABYTE // 12) + "}",
        "{" + "[%secateur line 01234567] better: +1 " * (MEGABYTE // 37) + "}",
        "{[%clk " + "[%clk " * (MEGABYTE // 6) + "[%emt " + "1" * 1000 + "}",
        "{[%clk 1:" + "0" * MEGABYTE + "}",
        "{[%eval #" + "1" * MEGABYTE + "}",
        "{a}" * (MEGABYTE // 3),
        "1" * MEGABYTE,
        "1" + "." * MEGABYTE,
        "e.p." * MEGABYTE + "\u00e9",
        "+-" * MEGABYTE + "\u00e9",
    ],
    ids=range(13),
)
def test_hostile_text_is_read_and_written_in_the_time_of_its_length(text: str) -> None:
    began = time.process_time()
    rewritten(('[Annotator "test"]\n' + SCHOLAR.replace("1. e4", f"1. e4 {text}")).encode())
    # A tenth of a second; an expression that tries again would take hours.
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "time",
    ["clk " + "9" * 400 + ":00:00", "emt " + "9" * 5000 + ":00:00", "emt 99999999:00:00", "emt 0:00:" + "9" * 400],
)
def test_a_time_that_no_clock_shows_is_none(time: str) -> None:
    text = SCHOLAR.replace("1. e4", f"1. e4 {{[%{time}]}}").replace("Bc4", "Bc4 {[%clk 0:10:00]}")
    report = report_of(read_game(text.encode()))
    assert [report.plies[ply].spent for ply in (0, 2)] == [None, None]


@given(st.integers(0, 1000), st.integers(0, 959), st.booleans(), st.text(NAME_LETTERS, max_size=30))
@settings(max_examples=20)
def test_any_legal_game_gives_pgn_with_the_same_moves_and_a_page(
    seed: int, start: int, chess960: bool, name: str
) -> None:
    *_, last = random_game(seed, start_board(start, chess960), 12)
    game = chess.pgn.Game.from_board(last)
    game.headers.update(Event=name, White=name, Black=name)
    report = report_of(read_game(str(game).encode("utf-8", "replace")))
    again = read_back(annotate(report, "test"))
    assert list(again.mainline_moves()) == last.move_stack
    page = game_page(report)
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<script") == 2
    assert len(page.encode()) <= 300_000


HOSTILE_WORDS = ["{", "}", ";", "%", '"', '"]', "[", '[Event "x"]', "(", ")", "$1", "1-0", "*", "1. e4", "\\", "foo"]
hostile_words = st.one_of(st.sampled_from(HOSTILE_WORDS), st.text(NAME_LETTERS, max_size=8))
hostile = st.lists(hostile_words, max_size=6).map(" ".join)


@given(
    st.dictionaries(st.sampled_from(["Round", "White", "Result", "A-b+c", "N" * 70, "Annotator", "Opening"]), hostile),
    st.lists(hostile.map(lambda words: words.replace("}", "")), min_size=3, max_size=3),
)
@settings(max_examples=60)
def test_any_headers_and_comments_leave_the_games_whole(headers: dict[str, str], comments: list[str]) -> None:
    lines = "".join(f'[{name} "{value}"]\n' for name, value in headers.items())
    before, middle, after = (f"{{ {comment} }}" for comment in comments)
    data = f'[Site "A"]\n{lines}\n{before} 1. f3 {middle} e5 2. g4 Qh4# {after} 0-1\n\n' + SCHOLAR
    written = list(map(rewritten, texts(data.encode())))
    assert [rewritten(once.encode()) for once in written] == written
    file = io.StringIO("\n\n".join(written))
    first, second = iter(lambda: chess.pgn.read_game(file), None)
    assert not first.errors + second.errors
    assert [node.san() for node in first.mainline()] == ["f3", "e5", "g4", "Qh4#"]
    assert len(list(second.mainline())) == 7
    assert second.headers["Site"] == "?"
    # As the moves end, except where the header has another result.
    assert first.headers["Result"] == ("1-0" if headers.get("Result", "").strip() == "1-0" else "0-1")
    for name in headers.keys() - {"Result", "Annotator", "Opening"}:
        assert first.headers[name] == decoded(headers[name].encode())
    (_, last) = texts(file.getvalue().encode())
    assert read_game(last).headers["Result"] == "1-0"


def texts(data: bytes) -> list[bytes]:
    return list(game_texts(data.splitlines(keepends=True)))


HEADERS = b'[Event "A"]\n[Result "1-0"]\n'


@pytest.mark.parametrize(
    "games",
    [
        # An unfinished comment, and an unfinished variation.
        [SCHOLAR.replace("\n\n", "\n").encode(), b'[Event "x"]\n1. e4 {\n unfinished ( e5\n', HEADERS],
        [b"1. e4 e5 1-0\n", b"1. d4 d5 (1... Nf6\n1-0) *\n"],
        [BOM_UTF8 + HEADERS, b'[Event "B"]\n[White "X"]\n1. e4 *\n'],
        [b"1. e4 e5 *\n2. Nf3 *\n"],
        [HEADERS, HEADERS, HEADERS],
        [HEADERS + b'[Round "1"]\n1. e4 *\n'],
    ],
    ids=range(6),
)
def test_games_begin_at_their_headers_or_at_the_first_move_after_a_result(games: list[bytes]) -> None:
    assert texts(b"".join(games)) == games
    # Blank lines say nothing.
    assert texts(b"".join(games).replace(b"\n", b"\n\n")) == games


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\r\r\n"])
@pytest.mark.parametrize("line", ['[A-b "x"]', "[foo]", '[White W"]', "% escaped", "; words", f'[{"N" * 70} "x"]'])
def test_headers_of_all_kinds_and_lines_of_any_system_are_those_of_one_game(line: str, end: str) -> None:
    data = (
        SCHOLAR.replace('[White "W"]', f'{line}\n[White "W"]').replace("2.", "{words} 2.").replace("\n", end).encode()
    )
    first, second = texts(data + b"\n" + data)
    (marked,) = texts(BOM_UTF8 + decoded(data).encode())
    for text in (first, second, marked):
        game = read_game(text)
        assert (game.headers["Event"], game.headers["White"]) == ("A", "W")
        assert len(game.played_moves()[0]) == 7


def test_an_endless_game_is_cut() -> None:
    endless = b'[Event "x"]\n\n1. e4 ' + b"( 1. d4 ) " * (MAX_GAME_BYTES // 5)
    (text, last) = texts(endless + b"\n" + SCHOLAR.encode())
    assert len(text) <= MAX_GAME_BYTES
    assert len(read_game(last).played_moves()[0]) == 7


def test_text_that_is_no_utf8_is_latin_1() -> None:
    game = read_game(SCHOLAR.replace('"W"', '"M\u00fcller, J\u00f6rg"').encode("latin-1"))
    assert game.headers["White"] == "M\u00fcller, J\u00f6rg"
    assert decoded(BOM_UTF8 + "\u00fc\x1b[31m".encode()) == "\u00fc [31m"


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_game_is_read_however_it_is_written(row: tuple[str, str, list[str]]) -> None:
    text, exported, told = row
    game = read_game(text.encode())
    assert game.accept(chess.pgn.StringExporter(headers=False, columns=None)) == exported
    assert [*map(str, game.errors), *game.notes] == told
    assert game.headers["Result"] == exported.split()[-1]
    # Of several errors the first is told.
    assert not game.errors or f"not all of the game can be read: {game.errors[0]}" == game.played_moves()[1][0]


BEHIND_MOVES = "e.p. ep + # ++ +- -+ = +/- -/+ $1 $146 ! !? ??? {c} {(} (--) ()"
BETWEEN_MOVES = "2... ... … 7 (=) (--{c}(--)) ((--)) {foo;)} {%}"
ESCAPED = [";foo(\n", "\n%foo(\n", "{foo\n%foo\n;foo}"]


@pytest.mark.parametrize(
    "word",
    [*BEHIND_MOVES.split(), *ESCAPED, *(f" {word}" for word in f"{BEHIND_MOVES} {BETWEEN_MOVES}".split()), " ;f\n"],
)
def test_what_files_hold_beside_moves_ends_no_game(word: str) -> None:
    moves = f"1. e4{word} e5{word} 2.Nf3{word} Nc6+ 3. Bb5{word} a6 4.Bxc6 dxc6 5.0-0{word} Bd6{word} *"
    game = read_game(f'[Event "x"]\n\n{moves}'.encode())
    assert " ".join(node.san() for node in game.mainline()) == "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O Bd6"
    assert not game.errors


@pytest.mark.parametrize(
    ("moves", "plies", "remark"),
    [("Nf3 Nf6 Ng1 Ng8\n" * 600, MAX_PLIES, "more than"), ("1. e4 -- 2. d4 d5", 1, "null move")],
)
def test_an_endless_game_and_one_with_a_null_move_are_analysed_up_to_there(moves: str, plies: int, remark: str) -> None:
    nodes, (told,) = read_game(f'[Event "x"]\n\n{moves} *'.encode()).played_moves()
    assert len(nodes) == plies
    assert remark in told


PAWN = "4k3/8/8/8/8/8/4P3/4K3"


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        (f"{PAWN} w KQkq e3 0 1;", "e2e4 e8d7"),
        (PAWN, "e2e4 e8d7"),
        # A check that no move can have given.
        ("4k3/8/3N4/1B6/8/8/4R3/4K3 b - - 0 1", "e8d8 e2d2"),
        # Castling of Chess960, without the header that says so.
        ("1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - 0 1", "f1g1 f8b8"),
        *((fen, "e2e4 e7e5") for fen in ("", "?", " ")),
    ],
)
def test_a_first_position_is_repaired_as_everywhere(fen: str, moves: str) -> None:
    board, notes = read_fen(fen, chess960=None) if fen.strip("? ") else (chess.Board(), [])
    words = board.variation_san(map(chess.Move.from_uci, moves.split()))
    game, report, _ = annotated(f'[Event "x"]\n[FEN "{fen}"]\n\n{words} *')
    assert report.boards[0].fen() == game.headers.get("FEN", chess.STARTING_FEN) == board.fen()
    assert [ply.move.uci() for ply in report.plies] == moves.split()
    assert report.remarks == tuple(notes)


@pytest.mark.parametrize(
    ("time_control", "clocks", "spent"),
    [
        ("180+2", "3:00 3:00 2:58 3:01.5 2:50", [4, 0.5, 10]),
        ("180", "3:00 3:00 2:58 3:00 2:50", [2, 0, 8]),
        ("180.5+0.5", "3:00 3:00 2:58", [2.5]),
        ("?", "3:00 3:00 2:58", [2]),
        ("", "3:00 3:00 2:58 2:59", [2, 1]),
        # A new period: what the move took is not known.
        ("3/600+5:300+5", "9:00 9:00 8:30 8:00 12:35 7:00 12:00 11:40", [35, 65, None, 65, 40, None]),
    ],
)
def test_times_are_those_of_the_clock_with_what_it_gets(
    time_control: str, clocks: str, spent: list[float | None]
) -> None:
    moves = "Nf3 Nf6 Ng1 Ng8 Nc3 Nc6 Nb1 Nb8 Nf3 Nf6 Ng1 Ng8"
    played = " ".join(
        f"{move} {{[%clk 0:{clock}]}}" for move, clock in zip(moves.split(), clocks.split(), strict=False)
    )
    report = report_of(read_game(f'[Event "x"]\n[TimeControl "{time_control}"]\n\n{played} *'.encode()))
    assert [ply.spent for ply in report.plies] == [None, None, *spent]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'[Variant "Crazyhouse"]\n\n1. e4 *', "crazyhouse"),
        *(
            (f'[FEN "{fen}"]\n[SetUp "1"]\n\n1. e4 *'.encode(), "its first position")
            for fen in ("8/8/8/8/8/8/8/8 w - - 0 1", "nonsense", "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1")
        ),
        *((data, "it holds no game") for data in (b"", b"\n\n", b"hello", bytes(range(256)) * 50, b"\x00" * 5000)),
    ],
)
def test_what_is_no_game_of_chess_is_refused_in_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        report_of(read_game(data))


@given(st.binary(max_size=400))
def test_any_bytes_give_a_game_or_a_sentence(data: bytes) -> None:
    for text in texts(b'[Event "x"]\n' + data):
        try:
            written = rewritten(text)
        except ValueError:
            continue
        read_back(written)
