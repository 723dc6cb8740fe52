"""The largest hash table: half of what machine, control group or address space have, whatever the files say."""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import ENVIRONMENT
from uci_engine import memory

GIB = 1024 * memory.MIB


def limit_of(folder: Path, own_groups: str, limits: Mapping[str, str]) -> int | None:
    """The limit of a process with these groups, where the groups have these files, by their folders."""
    (folder / "cgroup").write_text(own_groups, "utf-8")
    for group, text in limits.items():
        path = folder / "root" / group
        path.mkdir(parents=True, exist_ok=True)
        (path / "memory.max").write_text(text, "utf-8")
    return memory.control_group_limit_bytes(folder / "cgroup", folder / "root")


def test_this_machine() -> None:
    maximum = memory.hash_maximum_mib()
    assert 1 <= maximum <= memory.HASH_LIMIT_MIB
    size = memory.physical_memory_bytes()
    assert size is None or maximum <= size // 2 // memory.MIB


@pytest.mark.parametrize(
    ("physical", "group", "address_space", "maximum"),
    [
        (16 * GIB, None, None, 8192),
        (16 * GIB, 2 * GIB, None, 1024),
        (4096 * GIB, None, None, memory.HASH_LIMIT_MIB),
        (None, None, None, 512),
        (16 * GIB, 1, None, 1),
        (16 * GIB, None, GIB, 512),
        (16 * GIB, 2 * GIB, GIB, 512),
        (GIB, 2 * GIB, 4 * GIB, 512),
    ],
)
def test_half_of_the_smallest(
    monkeypatch: pytest.MonkeyPatch, physical: int | None, group: int | None, address_space: int | None, maximum: int
) -> None:
    monkeypatch.setattr(memory, "physical_memory_bytes", lambda: physical)
    monkeypatch.setattr(memory, "control_group_limit_bytes", lambda: group)
    monkeypatch.setattr(memory, "address_space_limit_bytes", lambda: address_space)
    assert memory.hash_maximum_mib() == maximum


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no ulimit")
def test_the_limit_of_the_address_space() -> None:
    program = "from uci_engine import memory; print(memory.address_space_limit_bytes())"
    shell = f"ulimit -S -v 1048576; exec {sys.executable!r} -c {program!r}"
    result = subprocess.run(["sh", "-c", shell], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert int(result.stdout) == GIB


def test_a_group_takes_the_tightest_limit_on_the_way_up(tmp_path: Path) -> None:
    assert limit_of(tmp_path, "0::/a/b\n", {"a": f"{3 * GIB}\n", "a/b": "max\n"}) == 3 * GIB


@pytest.mark.parametrize(
    "text", ["", "\n", "0", "0::", "::::", "0::/../../etc", "\x00", "4:memory:", "0::/" + "a" * 99]
)
@pytest.mark.parametrize("limit", ["", "max", "0", "-1", "1e9", "\u0663", "9" * 5000, "text"])
def test_strange_files_set_no_limit(tmp_path: Path, text: str, limit: str) -> None:
    assert limit_of(tmp_path, text, {"": limit}) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_table_may_grow_where_there_is_no_room_for_two() -> None:
    command = f"ulimit -v 4000000; exec {shlex.quote(sys.executable)} -m uci_engine"
    sent = "setoption name Hash value 1900\nsetoption name Hash value 1950\ngo depth 1\n"
    result = subprocess.run(["sh", "-c", command], input=sent, env=ENVIRONMENT, capture_output=True, text=True)
    assert "error" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("bestmove ")
