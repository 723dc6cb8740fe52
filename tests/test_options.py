"""The option table: declarations a GUI can read, values that stay of their type and in bounds."""

import re

import chess.engine
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.options import EMPTY, NODES_TIME, Change, Option, Options, standard_options, tuning_options
from uci_engine.search.parameters import PARAMETERS
from uci_engine.time_management.parameters import TIME_PARAMETERS

STANDARD = standard_options(hash_maximum=1024)
COMBO = Option("Style", "combo", "Normal", choices=("Solid", "Normal", "Risky"))
PATH = Option("BookFile", "string", "")


def fresh() -> Options:
    return Options([*STANDARD, COMBO, PATH])


def changed(options: Options, name: str, value: str | None) -> Change:
    change = options.set(name, value)
    assert isinstance(change, Change)
    return change


def test_declarations() -> None:
    assert Options([*STANDARD[:4], COMBO, PATH]).declare() == [
        "option name Hash type spin default 16 min 1 max 1024",
        "option name Threads type spin default 1 min 1 max 512",
        "option name Clear Hash type button",
        "option name Ponder type check default false",
        "option name Style type combo default Normal var Solid var Normal var Risky",
        "option name BookFile type string default <empty>",
    ]


def test_every_parameter_of_the_search_can_be_an_option() -> None:
    tuning = tuning_options("compiled")
    names = [parameter.name for parameter in (*PARAMETERS, *TIME_PARAMETERS)]
    assert [option.name for option in tuning] == [*names, NODES_TIME]
    options = Options([*STANDARD, *tuning])
    assert changed(options, "lmr_base", "90").value == 90
    assert changed(options, "lmr_base", "9999").value == 200
    assert not {option.name for option in STANDARD} & {option.name for option in tuning}


def test_the_names_guis_rely_on() -> None:
    assert [option.name for option in STANDARD] == [
        "Hash",
        "Threads",
        "Clear Hash",
        "Ponder",
        "MultiPV",
        "Move Overhead",
        "OwnBook",
        "BookFile",
        "BookDepth",
        "BookVariety",
        "SyzygyPath",
        "SyzygyProbeDepth",
        "Syzygy50MoveRule",
        "SyzygyProbeLimit",
        "GaviotaTbPath",
        "UCI_Chess960",
        "UCI_ShowWDL",
        "UCI_AnalyseMode",
        "UCI_EngineAbout",
    ]
    assert all(option.help for option in STANDARD)
    assert all(line.isascii() and line == line.strip() for line in fresh().declare())


def test_python_chess_accepts_every_default() -> None:
    for option in STANDARD:
        if option.kind != "button":
            known = chess.engine.Option(option.name, option.kind, None, option.minimum, option.maximum, [])
            default = re.split(r" default | min ", option.declaration())[1]
            assert known.parse(default) == (EMPTY if option.default == "" else option.default)


def test_this_machine_offers_a_hash_table() -> None:
    hash_option = standard_options()[0]
    assert isinstance(hash_option.default, int)
    assert hash_option.minimum <= hash_option.default <= hash_option.maximum


def test_a_small_machine_lowers_the_default_too() -> None:
    assert Options(standard_options(hash_maximum=4))["Hash"] == 4


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("Hash", "64", Change("Hash", 64)),
        ("hASH", "064", Change("Hash", 64)),
        ("move   overhead", "100", Change("Move Overhead", 100)),
        ("Hash", "+7", Change("Hash", 7)),
        ("Ponder", "TRUE", Change("Ponder", True)),
        ("UCI_Chess960", "false", Change("UCI_Chess960", False)),
        ("Style", "rISKY", Change("Style", "Risky")),
        ("BookFile", "c:\\a  b\\ \u00e4.bin", Change("BookFile", "c:\\a  b\\ \u00e4.bin")),
        ("BookFile", "<empty>", Change("BookFile", "")),
        ("BookFile", "", Change("BookFile", "")),
        ("Clear Hash", None, Change("Clear Hash", True)),
    ],
)
def test_set(name: str, value: str | None, expected: Change) -> None:
    options = fresh()
    assert options.set(name, value) == expected
    if expected.name != "Clear Hash":
        assert options[name] == expected.value


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("Hash", "0", 1),
        ("Hash", "-5", 1),
        ("Hash", "99999999", 1024),
        ("Hash", "9" * 5000, 1024),
        ("Threads", "0", 1),
        ("Threads", "9999", 512),
        ("MultiPV", "0", 1),
        ("MultiPV", "500", 256),
        ("MultiPV", "-1", 1),
        ("Move Overhead", "10000", 5000),
    ],
)
def test_out_of_range_is_clamped_and_said(name: str, value: str, expected: int) -> None:
    options = fresh()
    change = changed(options, name, value)
    assert change.value == options[name] == expected
    assert change.message is not None
    assert str(expected) in change.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Hash", ""),
        ("Hash", None),
        ("Hash", "many"),
        ("Hash", "1e3"),
        ("Hash", "1_000"),
        ("Hash", "\u0663\u0662"),
        ("Hash", "16 MB"),
        ("Ponder", "maybe"),
        ("Ponder", ""),
        ("Ponder", None),
        ("Style", "Wild"),
        ("BookFile", None),
    ],
)
def test_unreadable_keeps_the_old_value_and_says_so(name: str, value: str | None) -> None:
    options = fresh()
    before = options[name]
    answer = options.set(name, value)
    assert isinstance(answer, str)
    assert name in answer
    assert options[name] == before


def test_refusals() -> None:
    options = fresh()
    assert "SyzygyPath" in str(options.set("SyzygyPath", "/tb"))
    assert isinstance(options.set("UCI_EngineAbout", "mine"), str)
    assert str(options["UCI_EngineAbout"]).startswith("Secateur")
    for name in (None, "", " "):
        assert isinstance(options.set(name, "1"), str)


def test_a_button_ignores_a_value_and_says_so() -> None:
    change = changed(fresh(), "clear hash", "x")
    assert (change.name, change.value) == ("Clear Hash", True)
    assert change.message is not None


def test_restore() -> None:
    options = fresh()
    changed(options, "Hash", "512")
    options.restore("hash", 16)
    assert options["Hash"] == 16
    with pytest.raises(KeyError):
        options.restore("Hush", 1)
    with pytest.raises(KeyError):
        options["Hush"]


def test_describe_shows_current_values() -> None:
    options = fresh()
    changed(options, "Hash", "32")
    lines = options.describe()
    assert len(lines) == len(options.declare())
    assert any(line.startswith("Hash = 32: ") for line in lines)
    assert any(line.startswith("BookFile = <empty>: ") for line in lines)


NAMES = [option.name for option in [*STANDARD, COMBO, PATH]]


@given(
    st.lists(
        st.tuples(
            st.none() | st.text() | st.sampled_from(NAMES), st.none() | st.text() | st.integers().map(str)
        )
    )
)
def test_any_text_leaves_the_table_sound(settings: list[tuple[str | None, str | None]]) -> None:
    options = fresh()
    for name, value in settings:
        answer = options.set(name, value)
        sentence = answer.message if isinstance(answer, Change) else answer
        assert sentence is None or (sentence.isascii() and len(sentence) < 1000)
    for option in [*STANDARD, COMBO, PATH]:
        current = options[option.name]
        assert type(current) is type(option.default)
        if option.kind == "spin":
            assert isinstance(current, int)
            assert option.minimum <= current <= option.maximum
        if option.kind == "combo":
            assert current in option.choices
