"""`samsa up --ephemeral`: all in memory, up to a limit; and the line that scripts wait for."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.administer import set_configs
from server.process import Samsa, a_samsa
from server.talk import append, batch, create, end_of, everything, values, write
from server.test_starting import refused
from support.waiting import eventually

from samsa.wire.errors import ErrorCode
from samsa_broker.cli.up import ready_line

MOST = 4_000_000
PIECE = 300_000
FULL = "the memory for records is full"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Samsa]:
    """One whose memory is soon full."""
    options = ("--ephemeral", "--max-memory", str(MOST), "--upkeep-interval", "1")
    with a_samsa(tmp_path, *options) as samsa:
        yield samsa


def fill(samsa: Samsa, topic: str) -> int:
    """How many appends there was room for."""
    with samsa.peer() as peer:
        for number in range(2 * MOST // PIECE):
            answer = append(peer, topic, batch(os.urandom(PIECE)))
            if answer.error_code:
                assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
                return number
    raise AssertionError("the memory is not full")


def files_of(samsa: Samsa) -> set[str]:
    """The files that the process has open, without what it prints to."""
    fds = Path(f"/proc/{samsa.pid}/fd")
    found = {os.readlink(fd) for fd in fds.iterdir()}
    printed = {str(samsa.folder / name) for name in ("stdout", "stderr")}
    return {path for path in found if path.startswith("/") and path != os.devnull} - printed


def test_nothing_is_on_disk_and_everything_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("TMPDIR", str(temporary))
    with a_samsa(tmp_path / "run", "--ephemeral") as samsa, samsa.peer() as peer:
        for number in range(20):
            write(peer, "letters", b"%d" % number, os.urandom(200_000))
        found = values(everything(peer, "letters"))
        assert found[::2] == [b"%d" % number for number in range(20)]
        assert files_of(samsa) == set()
    assert [*home.iterdir(), *temporary.iterdir()] == []


def test_a_restart_begins_with_nothing(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--ephemeral") as samsa:
        with samsa.peer() as peer:
            write(peer, "letters", b"one")
        samsa.stop()
        samsa.again()
        with samsa.peer() as peer:
            assert write(peer, "letters", b"two") == 0


def test_in_a_full_memory_appends_are_refused_and_everything_else_goes_on(small: Samsa) -> None:
    with small.peer() as peer:
        create(peer, "letters")
        stored = fill(small, "letters")
        assert stored >= MOST // PIECE // 2
        answer = append(peer, "letters", batch(os.urandom(PIECE)))
        assert (answer.error_code, answer.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
        assert len(everything(peer, "letters")) == stored
        create(peer, "made-while-full")
        assert end_of(peer, "letters") == stored
    assert len([line for line in small.logged() if FULL in line]) == 1


@pytest.mark.waits
def test_retention_makes_room_in_a_full_memory(small: Samsa) -> None:
    with small.peer() as peer:
        create(peer, "letters")
        stored = fill(small, "letters")
        set_configs(peer, "letters", retention_ms="1")
        more = batch(os.urandom(PIECE))
        assert eventually(lambda: append(peer, "letters", more).error_code == 0, 20)
        assert end_of(peer, "letters") == stored + 1
    assert [line for line in small.logged() if "there is memory for records again" in line]


@pytest.mark.parametrize(
    "more",
    [("--data", "folder"), ("--ledger", "sqlite:///tmp/x.db"), ("--fsync",), ("--secure",)],
    ids=lambda more: more[0],
)
def test_what_needs_the_disk_is_refused_by_name(more: tuple[str, ...], tmp_path: Path) -> None:
    status, said = refused("up", "--ephemeral", "--port", 0, *more)
    assert status == 1
    assert more[0] in said
    assert "leave one of them" in said


@pytest.mark.parametrize("options", [(), ("--ephemeral",)], ids=["folder", "ephemeral"])
def test_the_last_line_that_is_printed_says_that_it_is_ready(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    with a_samsa(tmp_path, *options) as samsa:
        printed = (tmp_path / "stdout").read_text().splitlines()
        host, port = samsa.address
        assert printed[-1] == f"samsa: ready on {host}:{port}"
        with samsa.peer() as peer:
            write(peer, "letters", b"one")


def test_the_ready_line_has_an_ipv6_address_in_brackets() -> None:
    assert ready_line("::1", 9092) == "samsa: ready on [::1]:9092"
