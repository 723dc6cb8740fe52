"""The plots: what is read out of PGN and results is right, and what is drawn is a picture."""

from __future__ import annotations

import json
import math
from pathlib import Path

import chess
import pytest

import plots
from lib.errors import ProgramError
from lib.plot_data import elo_of_counts, fit_ratings, read_games, read_pairings

PGN = """\
[White "Anna"]
[Black "Bert"]
[Result "1-0"]
[TimeControl "10+0.5"]
[EndReason "White mates"]

1. e4 {[%eval 0.35,18] [%clk 0:00:09.5]} e5 {[%eval 0.2,17] [%clk 0:00:08.25] [%emt 0:00:02.25]}
2. Qh5 {[%eval -0.5,9] [%clk 0:00:09.75]} Nc6 {[%emt 1.5]} 3. Bc4 {[%eval #1,12]} Nf6 {book}
4. Qxf7# {[%eval #-0,1] [%clk 0:00:11]} 1-0

[White "Bert"]
[Black "Anna"]
[Result "*"]

1. d4 d5 *
"""
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(PGN, "utf-8")
    return path


def results(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text(json.dumps({"pairings": rows}), "utf-8")
    return path


def pairing(first: str, second: str, wins: int, draws: int, losses: int, **more: float | None) -> dict[str, object]:
    return {"first": first, "second": second, "wins": wins, "draws": draws, "losses": losses, **more}


def is_picture(path: Path) -> bool:
    data = path.read_bytes()
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    return data.startswith(PNG_SIGNATURE) and width > 800 and height > 400


def test_a_game_is_read(pgn: Path) -> None:
    game, other = read_games([pgn])
    assert (game.white, game.black, game.result, game.ending) == ("Anna", "Bert", "1-0", "White mates")
    assert [move.number for move in game.moves] == [1, 1, 2, 2, 3, 3, 4]
    assert [move.color for move in game.moves][:2] == [chess.WHITE, chess.BLACK]
    assert [move.pawns for move in game.moves] == [0.35, 0.2, -0.5, None, None, None, None]
    assert [move.depth for move in game.moves] == [18, 17, 9, None, 12, None, 1]
    assert game.moves[4].mate == 1
    # From the clock and the increment; from [%emt], in either form; and not at all.
    assert [move.seconds for move in game.moves] == [1.0, 2.25, 0.25, 1.5, None, None, None]
    assert [move.seconds for move in other.moves] == [None, None]


def test_ratings_of_a_chain_add_up(tmp_path: Path) -> None:
    path = results(
        tmp_path / "results.json",
        pairing("B", "A", 60, 0, 40, elo=100.0, elo_error_95=30.0),
        pairing("C", "B", 60, 0, 40, elo=50.0, elo_error_95=40.0),
    )
    ratings = {rating.name: rating for rating in fit_ratings(read_pairings([path]), "A")}
    assert ratings["A"].elo == ratings["A"].error == 0
    assert ratings["B"].elo == pytest.approx(100)
    assert ratings["B"].error == pytest.approx(30)
    assert ratings["C"].elo == pytest.approx(150)
    assert ratings["C"].error == pytest.approx(50)
    assert ratings["B"].games == 200


def test_ratings_weigh_what_is_known_twice(tmp_path: Path) -> None:
    rows = [pairing("B", "A", 1, 1, 1, elo=elo, elo_error_95=error) for elo, error in ((0.0, 10.0), (50.0, 20.0))]
    _, a = fit_ratings(read_pairings([results(tmp_path / "results.json", *rows)]), "B")
    assert a.elo == pytest.approx(-10)
    assert a.error == pytest.approx(10 / math.sqrt(1.25))


def test_elo_without_an_error_comes_from_the_games(tmp_path: Path) -> None:
    path = results(tmp_path / "results.json", pairing("B", "A", 10, 0, 0, elo=None, elo_error_95=None))
    (read,) = read_pairings([path])
    assert 300 < read["elo"] < 800
    assert read["error"] > 200
    elo, error = elo_of_counts(5000, 0, 5000)
    assert elo == pytest.approx(0, abs=1e-9)
    assert error == pytest.approx(1.96 * 400 / math.log(10) * 4 * 0.5 / 100, rel=0.01)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pairings": [{}]}', '{"pairings": []}', '{"pairings": [1]}'])
def test_what_is_no_result_is_named(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, "utf-8")
    assert plots.main(["ratings", str(path), "-o", str(tmp_path / "out.png")]) == 2
    assert "error:" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


def test_names_that_never_met_have_no_common_scale(tmp_path: Path) -> None:
    path = results(tmp_path / "results.json", pairing("A", "B", 1, 1, 1), pairing("C", "D", 1, 1, 1))
    with pytest.raises(ProgramError, match="connected"):
        fit_ratings(read_pairings([path]))
    with pytest.raises(ProgramError, match="'X' has not played"):
        fit_ratings(read_pairings([path]), "X")


def test_versions_are_sorted_by_their_numbers() -> None:
    names = ["secateur 0.10", "secateur 0.9", "secateur 0.1", "secateur 1.0", "secateur"]
    order = ["secateur", "secateur 0.1", "secateur 0.9", "secateur 0.10", "secateur 1.0"]
    assert sorted(names, key=plots.version_key) == order


@pytest.mark.parametrize("words", [["game", "--game", "1"], ["times"], ["times", "--engine", "Bert"]])
def test_pictures_of_games(words: list[str], pgn: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    assert plots.main([*words, str(pgn), "-o", str(out)]) == 0
    assert is_picture(out)


def test_a_picture_of_ratings(tmp_path: Path) -> None:
    path = results(tmp_path / "a.json", pairing("v1", "v2", 10, 10, 20), pairing("v2", "other", 1, 5, 9))
    out = tmp_path / "out.png"
    assert plots.main(["ratings", str(path), "--versions", "v*", "-o", str(out)]) == 0
    assert is_picture(out)


@pytest.mark.parametrize(
    "words", [["game", "--game", "2"], ["game", "--game", "3"], ["game", "--game", "0"], ["times", "--engine", "Carl"]]
)
def test_what_is_not_there_is_said(words: list[str], pgn: Path, tmp_path: Path) -> None:
    assert plots.main([*words, str(pgn), "-o", str(tmp_path / "out.png")]) == 2


REMARKS = """\
[White "Anna"]
[Black "Bert"]
[Result "1-0"]

1. e4 {+0.31/12 1.2s} e5 {-0.20/11, 850ms} 2. Qh5 {(Qh5 Nc6) +0.10/9/14 30} Nc6 {0.00/10 1:05, a remark}
3. Bc4 {+M2/5 0.01s} Nf6 {-M1/7 0.1s} 4. Qxf7# {+M0/1 0.001s, White mates} 1-0
"""


def test_remarks_of_other_programs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "others.pgn"
    path.write_text(REMARKS, "utf-8")
    (game,) = read_games([path])
    assert [move.pawns for move in game.moves] == [0.31, 0.2, 0.1, 0.0, None, None, None]
    assert [move.mate for move in game.moves] == [None, None, None, None, 2, 1, 1]
    assert [move.depth for move in game.moves] == [12, 11, 9, 10, 5, 7, 1]
    assert [move.seconds for move in game.moves] == [1.2, 0.85, 30.0, 65.0, 0.01, 0.1, 0.001]


@pytest.mark.parametrize("comment", ["1/2-1/2", "agreed 1/2 point", "book", "12/5", "0.3", "e4 0.3/", "3.5/2.1", "M/3"])
def test_a_comment_without_a_score_is_none(comment: str, tmp_path: Path) -> None:
    path = tmp_path / "remarks.pgn"
    path.write_text(f"1. e4 {{{comment}}} *\n", "utf-8")
    (move,) = next(read_games([path])).moves
    assert (move.pawns, move.mate, move.depth, move.seconds) == (None, None, None, None)


def test_a_game_without_anything_to_draw_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "bare.pgn", tmp_path / "out.png"
    path.write_text("1. e4 e5 2. Nf3 *\n", "utf-8")
    assert plots.main(["game", str(path), "-o", str(out)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}, game 1: no scores, depths or times behind its 3 half-")
    assert not out.exists()


def test_names_cannot_break_a_picture(tmp_path: Path) -> None:
    path, out = tmp_path / "names.pgn", tmp_path / "out.png"
    names = '[White "$\\frac{"]\n[Black "_\x1b[31m' + "B" * 50_000 + '"]\n'
    path.write_text(names + "\n1. e4 {+0.31/12 1.2s} e5 {[%eval 0.3,5]} *\n", "utf-8")
    assert plots.main(["game", str(path), "-o", str(out)]) == 0
    assert is_picture(out)
    assert plots.short_name("_" + "x" * 50) == " _" + "x" * 39 + "…"
    assert plots.short_name("\x1b[31m") == "\\x1b[31m"


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe" * 10_000, b'[White "' + b"A" * 5_000_000 + b'"]\n\n1. e4 *\n'])
def test_what_is_no_pgn_ends_with_a_sentence(
    data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "no.pgn"
    path.write_bytes(data)
    assert plots.main(["game", str(path), "-o", str(tmp_path / "out.png")]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_nested_json_ends_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000, "utf-8")
    assert plots.main(["ratings", str(path), "-o", str(tmp_path / "out.png")]) == 2
    assert "no match results" in capsys.readouterr().err
