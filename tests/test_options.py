"""The options: declarations a GUI can read, values that stay of their type and in bounds, and what they call."""

from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.options import Check, Options, Spin, String, ValueOption
from uci_engine.search.history import HISTORY_SHIFT
from uci_engine.search.parameters import PARAMETERS
from uci_engine.text import Message
from uci_engine.time_management import TIME_DEFAULTS
from uci_engine.tunable import tunables_of


class Sample(Options):
    """Secateur's options on a machine of 1 GiB and many processors."""

    def __init__(self) -> None:
        super().__init__()
        self.hash.usable = 1024
        self.threads.usable = self.threads.maximum

    def value(self, name: str) -> Any:
        """The value of the option with this name, as it is declared."""
        (option,) = (option for option in self if option.name == name)
        assert isinstance(option, ValueOption)
        return option.value


def names(table: Options) -> list[str]:
    return [option.name for option in table]


STANDARD = Options()


def test_every_parameter_of_the_search_can_be_an_option() -> None:
    options = Options(tuning=True)
    tunables = [parameter.name for parameter in (*PARAMETERS, *tunables_of(TIME_DEFAULTS))]
    assert names(options) == [*names(STANDARD), *tunables, "Seed"]
    assert len(set(names(options))) == len(names(options))
    for option in options:
        assert option.help
        assert not isinstance(option, Spin) or option.minimum <= option.default <= option.maximum > option.minimum


def test_no_malus_that_a_tuner_may_set_leaves_the_range_of_a_history() -> None:
    most = {parameter.name: parameter.maximum for parameter in PARAMETERS}
    assert most["history_bonus_limit"] * most["history_malus_percent"] // 100 <= 1 << HISTORY_SHIFT


@pytest.mark.parametrize(
    ("name", "bounds", "measure", "most"),
    [
        ("Hash", "1 max 33554432", "hash_maximum_mib", 1),
        ("Hash", "1 max 33554432", "hash_maximum_mib", 65536),
        ("Threads", "1 max 512", "usable_processors", 2),
    ],
)
def test_every_machine_declares_the_same_range_and_takes_what_it_can(
    name: str, bounds: str, measure: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"uci_engine.options.{measure}", lambda: most)
    options = Options()
    option = options.hash if name == "Hash" else options.threads
    assert option.declaration().endswith(f" min {bounds}")
    (message,) = options.set(name, str(most + 1))
    assert f"{name}: {most + 1} is taken as {most}," in message.text
    assert options.set(name, str(most)) == []
    assert option.value == most


@pytest.mark.parametrize("core", ["python-chess", "interpreted"])
def test_plain_python_has_one_thread(core: str) -> None:
    assert 1 <= Options().threads.usable <= 512
    assert Options(core).threads.usable == 1


@pytest.mark.parametrize(
    ("text_name", "text", "name", "expected"),
    [
        ("Hash", "64", "Hash", 64),
        ("hASH", "064", "Hash", 64),
        ("move   overhead", "100", "Move Overhead", 100),
        ("Ponder", "TRUE", "Ponder", True),
        ("UCI_Chess960", "false", "UCI_Chess960", False),
        ("BookFile", "c:\\a  b\\ \u00e4.bin", "BookFile", "c:\\a  b\\ \u00e4.bin"),
        ("BookFile", "<empty>", "BookFile", ""),
        ("BookFile", "", "BookFile", ""),
    ],
)
def test_set(text_name: str, text: str, name: str, expected: bool | int | str) -> None:
    options = Sample()
    assert options.set(text_name, text) == []
    assert options.value(name) == expected
    assert type(options.value(name)) is type(expected)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [("Hash", "0", 1), ("Hash", "9" * 5000, 1024), ("Threads", "9999", 512), ("MultiPV", "-1", 1)],
)
def test_out_of_range_is_clamped_and_said(name: str, text: str, expected: int) -> None:
    options = Sample()
    (message,) = options.set(name, text)
    assert options.value(name) == expected
    assert str(expected) in message.text
    assert not message.is_error


def refusal(options: Options, name: str | None, text: str | None) -> str:
    (message,) = options.set(name, text)
    assert message.is_error
    return message.text


@pytest.mark.parametrize(
    ("name", "texts"), [("Hash", ["", None, "16 MB"]), ("Ponder", ["", None, "maybe"]), ("BookFile", [None])]
)
def test_unreadable_keeps_the_old_value_and_says_so(name: str, texts: list[str | None]) -> None:
    options = Sample()
    before = options.value(name)
    assert all(name in refusal(options, name, text) for text in texts)
    assert options.value(name) == before


def test_an_option_that_is_unknown_or_has_no_name_is_refused() -> None:
    assert "GaviotaTbPath" in refusal(Sample(), "GaviotaTbPath", "/tb")
    for name in (None, "", " "):
        refusal(Sample(), name, "1")


# What they call -----------------------------------------------------------------------------------------------------


def test_an_option_acts_when_it_changes_and_that_of_a_file_whenever_it_is_set() -> None:
    options = Sample()
    values: list[int | str] = []

    def acted(option: ValueOption[Any]) -> list[Message]:
        values.append(option.value)
        return [Message("acted")]

    for option in (options.hash, options.book_file):
        option.on_set = partial(acted, option)
    assert options.set("Hash", "32") == [Message("acted")]
    assert options.set("Hash", "32") == []
    assert options.set("Hash", "9999")[1:] == [Message("acted")]
    options.set("Hash", "many")
    assert options.set("BookFile", "a.bin") == options.set("BookFile", "a.bin") == [Message("acted")]
    assert values == [32, 1024, "a.bin", "a.bin"]


@pytest.mark.parametrize(
    ("error", "reason"), [(ValueError("it is too large"), "it is too large"), (MemoryError(), "memory")]
)
def test_an_option_that_cannot_act_keeps_its_value(error: Exception, reason: str) -> None:
    options = Sample()
    assert options.set("Hash", "512") == []
    options.hash.on_set = Mock(side_effect=error)
    sentence = refusal(options, "Hash", "1024")
    assert all(word in sentence for word in ("Hash", "1024", reason, "512"))
    assert options.hash.value == 512
    options.hash.on_set.assert_called_once_with()


def test_a_button_ignores_a_value_and_says_so() -> None:
    (message,) = Sample().set("clear hash", "x")
    assert "Clear Hash" in message.text
    assert "'x' is ignored" in message.text
    assert Sample().set("clear hash", None) == []


@given(
    st.lists(
        st.tuples(
            st.none() | st.text() | st.sampled_from(names(Sample())), st.none() | st.text() | st.integers().map(str)
        )
    )
)
def test_any_text_leaves_the_table_sound(settings: list[tuple[str | None, str | None]]) -> None:
    options = Sample()
    for name, text in settings:
        assert all(message.text.isascii() and len(message.text) < 1000 for message in options.set(name, text))
    types = {Check: bool, Spin: int, String: str}
    for option in options:
        if isinstance(option, ValueOption):
            assert type(option.value) is types[type(option)]
        if isinstance(option, Spin):
            assert option.minimum <= option.value <= option.usable <= option.maximum
