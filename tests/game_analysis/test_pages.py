"""The page: one file that loads nothing, with names as text, and all that the script needs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import chess
import chess.pgn
import pytest
from chess.engine import Limit
from markupsafe import escape

from tests.game_analysis.test_pgn import SCHOLAR, report_of
from tests.game_analysis.test_searches import OPERA
from tests.support.analyser import MaterialAnalyser
from tests.support.kernel import random_game
from uci_engine.board.pgn import MAX_PLIES, read_game
from uci_engine.game_analysis import pages
from uci_engine.game_analysis.analysed_game import analyse_game, annotate
from uci_engine.game_analysis.boards import numbered, positions
from uci_engine.game_analysis.judgement import Mark
from uci_engine.game_analysis.pages import MAX_SHOWN_ERRORS, game_page, index_row, render

EVIL = "<script>alert(1)</script>\u2028</script><img src=x onerror=alert(2)>&amp;'"


class Page(HTMLParser):
    """The elements of a page: tags with their attributes, the texts of scripts and of styles, all other text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str | None, list[str]] = {"script": [], "style": [], None: []}
        self.feed(text)
        self.close()
        self.scripts, self.text = self.texts["script"], "".join(self.texts[None])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        # Inside what has no elements: a script or a style.
        self.texts[self.cdata_elem].append(data)

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    def data(self) -> Any:
        """What the script reads."""
        return json.loads(self.scripts[0])


def page_of(text: str) -> Page:
    return Page(game_page(report_of(read_game(text.encode()))))


@pytest.fixture(scope="module")
def page() -> Page:
    return page_of(SCHOLAR)


def test_nothing_is_loaded_and_only_its_own_style_and_script_allowed(page: Page) -> None:
    names = page.attributes("id")
    assert {f"{color}-{piece}" for color in chess.COLOR_NAMES for piece in chess.PIECE_NAMES[1:]} <= {*names}
    assert not {tag for tag, _ in page.tags} & {"iframe", "object", "embed", "audio", "video", "base", "img"}
    used = {name for _, attributes in page.tags for name in attributes}
    assert not [name for name in used if name.startswith("on") or name == "style"]
    links = [link for name in ("src", "href", "data", "action", "poster") for link in page.attributes(name)]
    assert {*links} <= {"data:,", *(f"#{name}" for name in names)}
    (style,) = page.texts["style"]
    assert not re.search(r"url\(|@import", style)
    (policy,) = (content for content in page.attributes("content") if "default-src" in content)
    for kind, text in (("script", page.scripts[1]), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("header", ["White", "Black", "Event", "Site", "Result", "Date"])
def test_a_script_in_a_name_or_a_comment_is_text(header: str) -> None:
    report = report_of(read_game(SCHOLAR.replace("1. e4", f"{{{EVIL}}} 1. e4 {{{EVIL}}}").encode()))
    report.game.headers[header] = EVIL
    page = Page(game_page(report))
    assert len(page.scripts) == 2
    assert page.text.count("<script>alert(1)</script>") > 2
    assert not [tag for tag, _ in page.tags if tag == "img"]
    # Nor does it end the data.
    assert "<" not in page.scripts[0]
    assert "<script>alert(1)</script>" in page.data()["positions"][1]["say"]
    failed, row = {"number": 2, "names": EVIL, "remarks": [EVIL]}, index_row(report, "game-0001.html")
    index = Page(render("index.html.j2", {}, rows=[{"number": 1, **row}, failed]))
    assert index.scripts == []
    assert not [tag for tag, _ in index.tags if tag == "img"]
    # The other game could not be analysed.
    assert index.text.count(EVIL) >= 2
    assert "1 not analysed" in index.text
    assert [link for link in index.attributes("href") if link != "data:,"] == ["game-0001.html"]


def test_quotation_marks_and_backslashes_in_a_name_are_shown_without_their_escapes() -> None:
    report = report_of(read_game(SCHOLAR.replace('"W"', r'"Joe \"X\" C:\\new\n"').encode()))
    assert r'Joe "X" C:\new\n' in Page(game_page(report)).text
    # In PGN they stay.
    assert r'[White "Joe \"X\" C:\\new\n"]' in annotate(report, "test")


def test_what_a_player_or_an_annotator_wrote_is_shown() -> None:
    moves = (
        "{ my game [%cal Ge2e4] } 1. e4! { [%clk 0:03:00] the best } e5 2. Bc4 Nc6 3. Qh5?! { [%eval 1.0] too early } "
        "Nf6?? { [%secateur] Old words. [%eval 9.9] } 4. Qxf7# { -M12/20 0.05s } 1-0"
    )
    page = page_of(f'[Event "x"]\n\n{moves}\n')
    said = [position["say"] for position in page.data()["positions"]]
    for ply, name, words in ((0, "", "my game"), (1, "1.e4!  ", "the best"), (5, "3.Qh5?!  ", "too early")):
        assert said[ply].startswith(name)
        assert said[ply].endswith(f". \u201c{words}\u201d")
    assert said[6].startswith("3...Nf6??  ")
    text = " ".join(page.text.split())
    for note in ("\u201cmy game\u201d", "1.e4! +0.00 \u201cthe best\u201d", "\u201ctoo early\u201d"):
        assert note in text
    for hidden in ("Old words", "[%", "0.05s"):
        assert hidden not in text + page.scripts[0]
    # Secateur's sign where it has one, and else the player's.
    assert "3.Qh5?? +0.00" in text


def test_the_script_has_every_position_and_line(page: Page) -> None:
    data, report = page.data(), report_of(read_game(SCHOLAR.encode()))
    assert [position["fen"] for position in data["positions"]] == [board.board_fen() for board in report.boards]
    assert (data["positions"][7]["last"], data["positions"][7]["check"]) == ("h5f7", "e8")
    assert data["errors"] == [ply.index + 1 for ply in report.errors] != []
    founds = [
        (kind, ply, found) for ply in report.errors for kind, found in (("Better", ply.best), ("Played", ply.played))
    ]
    for line, (kind, ply, found) in zip(data["lines"], founds, strict=True):
        assert line["title"].startswith(f"{kind}: {numbered(ply.board, found.line[0])} (")
        assert line["from"] == ply.index
        for step, board in zip(line["steps"], positions(ply.board, found.line)[1:], strict=True):
            assert (step["fen"], step["last"]) == (board.board_fen(), board.peek().uci())
    # Each has a button, and its moves.
    assert sorted(map(int, page.attributes("data-line"))) == sorted(2 * list(range(len(founds))))


def test_the_list_of_moves_has_marks_values_and_the_end_of_the_book() -> None:
    report = report_of(read_game(SCHOLAR.encode()))
    text = game_page(report)
    moves = re.findall(r'<button class="move ([^"]*)">(.*?) <small>(.*?)</small></button>', text)
    assert len(moves) == len(report.plies)
    for ply, (kinds, name, value) in zip(report.plies, moves, strict=True):
        mark = ply.judgement.mark
        side, *kind = kinds.split()
        assert side == chess.COLOR_NAMES[ply.board.turn]
        assert kind == ([mark.word] if mark.is_error else [])
        assert name == ply.board.san(ply.move) + mark.sign
        assert value == ("" if ply.value.score.mate() == 0 else ply.value.text)
    before, _, after = text.partition(f"End of the book: {escape(str(report.opening))}.")
    (last,) = (ply.index for ply in report.plies if f"End of the book: {report.opening}." in ply.notes)
    assert before.count('<button class="move ') == last + 1
    assert after.count('<button class="move ') == len(report.plies) - last - 1 > 0


def test_it_says_what_decided_the_game() -> None:
    text = game_page(report_of(read_game(OPERA.encode())))
    turning, *_ = re.findall(r"<li>(.*?)</li>", text.replace("&#39;", "'"))
    assert turning.count("??") == 3
    assert turning.count("%") == 3
    drawn = report_of(read_game(SCHOLAR.replace("1-0", "1/2-1/2").encode()))
    assert any("drew, though" in said for said in re.findall(r"<li>(.*?)</li>", game_page(drawn)))


def test_it_may_be_for_one_player_and_for_a_beginner() -> None:
    text = SCHOLAR.replace("[White ", '[WhiteElo "1590"]\n[BlackElo "1610"]\n[White ')
    for side in chess.COLORS:
        report = analyse_game(read_game(text.encode()), MaterialAnalyser(), Limit(nodes=100), side=side)
        inaccuracy = replace(report.plies[0], judgement=replace(report.plies[0].judgement, mark=Mark.INACCURACY))
        plies = (replace(inaccuracy, is_folded=True), *report.plies[1:])
        shown = Page(game_page(replace(report, plies=plies)))
        mine = [ply.index + 1 for ply in plies if ply.judgement.mark.is_error and ply.board.turn == side]
        assert shown.data()["errors"] == mine != []
        assert f"by {report.game.player(side)} (?!" in " ".join(shown.text.split())
        assert [tag for tag, _ in shown.tags].count("details") == side


def test_times_are_drawn_where_the_game_has_them() -> None:
    times = SCHOLAR.replace("1. e4 e5", "1. e4 {[%emt 0:00:03]} e5 {[%emt 0:01:10]}")
    assert "longest 1 min 10 s" in page_of(times).text
    assert "longest 42 s" in page_of(times.replace("0:01:10", "0:00:42")).text
    assert "longest" not in page_of(SCHOLAR).text


def test_the_longest_game_of_many_errors_is_a_small_page() -> None:
    *_, last = random_game(1, chess.Board(), MAX_PLIES)
    report = report_of(read_game(str(chess.pgn.Game.from_board(last)).encode()))
    assert len(report.plies) == MAX_PLIES
    assert len(report.errors) > MAX_SHOWN_ERRORS
    text = game_page(report)
    assert len(text.encode()) <= 400_000
    assert text.count('<div class="said error') == MAX_SHOWN_ERRORS
    assert f"The {MAX_SHOWN_ERRORS} worst are explained." in text


def test_without_jinja_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r" install .*Jinja2"):
        pages.environment()
