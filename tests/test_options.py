"""The options: declarations a GUI can read, values that stay of their type and in bounds, and what they call."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.options import (
    Check,
    Options,
    Spin,
    String,
    ValueOption,
)
from uci_engine.search.history import HISTORY_SHIFT
from uci_engine.search.parameters import PARAMETERS
from uci_engine.time_management import time_tunables


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
    tunables = [parameter.name for parameter in (*PARAMETERS, *time_tunables("compiled"))]
    assert names(options) == [*names(STANDARD), *tunables, "Seed"]
    assert len(set(names(options))) == len(names(options))
    (base,) = (option for option in options.search_parameters if option.name == "lmr_base")
    assert options.set("lmr_base", "90") == []
    assert base.value == 90
    options.set("lmr_base", "9999")
    assert base.value == 200


def test_no_malus_that_a_tuner_may_set_leaves_the_range_of_a_history() -> None:
    most = {parameter.name: parameter.maximum for parameter in PARAMETERS}
    assert most["history_bonus_limit"] * most["history_malus_percent"] // 100 <= 1 << HISTORY_SHIFT


@pytest.mark.parametrize("memory_mib", [1, 256, 512, 65536])
def test_hash_declares_the_same_range_on_every_machine(memory_mib: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.options.hash_maximum_mib", lambda: memory_mib)
    options = Options()
    assert options.hash.declaration().endswith(" min 1 max 33554432")
    wanted = memory_mib + 1
    expected = f"option Hash: {wanted} is taken as {memory_mib}, the most that is possible here"
    assert options.set("Hash", str(wanted)) == [expected]
    assert options.set("Hash", str(memory_mib)) == []
    assert options.hash.value == memory_mib


def test_there_are_no_more_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= Options().threads.usable <= 512
    monkeypatch.setattr("uci_engine.options.usable_processors", lambda: 2)
    options = Options()
    assert options.threads.declaration().endswith(" min 1 max 512")
    assert options.set("Threads", "99") == ["option Threads: 99 is taken as 2, the most that is possible here"]
    assert options.threads.value == 2


@pytest.mark.parametrize("core", ["python-chess", "interpreted"])
def test_plain_python_has_one_thread(core: str) -> None:
    options = Options(core)
    assert options.set("Threads", "4") == ["option Threads: 4 is taken as 1, the most that is possible here"]
    assert options.threads.value == 1


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
    [
        ("Hash", "0", 1),
        ("Hash", "9" * 5000, 1024),
        ("Threads", "9999", 512),
        ("MultiPV", "-1", 1),
    ],
)
def test_out_of_range_is_clamped_and_said(name: str, text: str, expected: int) -> None:
    options = Sample()
    (sentence,) = options.set(name, text)
    assert options.value(name) == expected
    assert str(expected) in sentence
    assert not sentence.startswith("error:")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Hash", ""),
        ("Hash", None),
        ("Hash", "16 MB"),
        ("Ponder", "maybe"),
        ("Ponder", ""),
        ("Ponder", None),
        ("BookFile", None),
    ],
)
def test_unreadable_keeps_the_old_value_and_says_so(name: str, text: str | None) -> None:
    options = Sample()
    before = options.value(name)
    (sentence,) = options.set(name, text)
    assert sentence.startswith("error: ")
    assert name in sentence
    assert options.value(name) == before


def test_refusals() -> None:
    options = Sample()
    (sentence,) = options.set("GaviotaTbPath", "/tb")
    assert sentence.startswith("error: ")
    assert "GaviotaTbPath" in sentence
    for name in (None, "", " "):
        (sentence,) = options.set(name, "1")
        assert sentence.startswith("error: ")


# What they call -----------------------------------------------------------------------------------------------------


class Listener:
    """A callback that keeps the values it finds, and says something or refuses."""

    def __init__(self, option: ValueOption[Any], sentences: Sequence[str] = (), refusal: str = "") -> None:
        self.values: list[Any] = []
        self._option = option
        self._sentences = sentences
        self._refusal = refusal

    def __call__(self) -> Sequence[str]:
        self.values.append(self._option.value)
        if self._refusal:
            raise ValueError(self._refusal)
        return self._sentences


def test_an_option_acts_when_it_changes() -> None:
    options = Sample()
    listener = options.hash.on_set = Listener(options.hash, ["changed"])
    assert options.set("Hash", "32") == ["changed"]
    assert options.set("Hash", "32") == []
    assert options.set("Hash", "9999")[1:] == ["changed"]
    options.set("Hash", "many")
    assert listener.values == [32, 1024]


def test_the_name_of_a_file_acts_whenever_it_is_set() -> None:
    options = Sample()
    listener = options.book_file.on_set = Listener(options.book_file, ["read"])
    assert options.set("BookFile", "a.bin") == options.set("BookFile", "a.bin") == ["read"]
    assert listener.values == ["a.bin", "a.bin"]


def test_an_option_that_cannot_act_keeps_its_value() -> None:
    options = Sample()
    assert options.set("Hash", "512") == []
    listener = options.hash.on_set = Listener(options.hash, refusal="it is too large")
    assert options.set("Hash", "1024") == ["error: option Hash cannot be 1024 (it is too large), it stays 512"]
    assert listener.values == [1024]
    assert options.hash.value == 512

    def without_memory() -> None:
        raise MemoryError

    options.hash.on_set = without_memory
    expected = "error: option Hash cannot be 1024 (there is not enough memory), it stays 512"
    assert options.set("Hash", "1024") == [expected]


def test_a_button_ignores_a_value_and_says_so() -> None:
    (sentence,) = Sample().set("clear hash", "x")
    assert "Clear Hash" in sentence
    assert "'x' is ignored" in sentence
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
        assert all(sentence.isascii() and len(sentence) < 1000 for sentence in options.set(name, text))
    types = {Check: bool, Spin: int, String: str}
    for option in options:
        if isinstance(option, ValueOption):
            assert type(option.value) is types[type(option)]
        if isinstance(option, Spin):
            assert option.minimum <= option.value <= option.usable <= option.maximum
