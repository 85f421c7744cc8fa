"""samsa transactions: list, describe, open, abort."""

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import create
from server.test_cli import Shell
from server.transactional import Transactional, committed

from samsa.wire.errors import ErrorCode

RECORD = (b"key", b"value")


@pytest.fixture
def shell(samsa: Samsa) -> Shell:
    return Shell(samsa)


@pytest.fixture
def ongoing(peer: Peer, new_name: str) -> Transactional:
    """A transaction that is open in partition 0 of a topic of its name, from offset 0 on."""
    create(peer, new_name)
    producer = Transactional(peer, new_name)
    producer.put(new_name, RECORD)
    return producer


def test_transactional_ids_are_listed_with_their_states(shell: Shell, ongoing: Transactional):
    line = f"{ongoing.name}\t{ongoing.id}\tOngoing\n"
    assert line in shell("transactions", "list")
    assert line in shell("transactions", "list", "--state", "Ongoing")
    assert ongoing.name not in shell("transactions", "list", "--state", "CompleteCommit")
    assert "there is no state Going" in shell.fails("transactions", "list", "--state", "Going")


def test_one_is_described(shell: Shell, ongoing: Transactional):
    told = dict(
        line.split(maxsplit=1)
        for line in shell("transactions", "describe", ongoing.name).splitlines()
    )
    assert told["state"] == "Ongoing"
    assert told["producer"] == f"{ongoing.id}, epoch {ongoing.epoch}"
    assert told["timeout"] == "60 s"
    assert told["partitions"] == f"{ongoing.name}: 0"
    ongoing.end(committed=True)
    assert "open for" not in shell("transactions", "describe", ongoing.name)


def test_what_is_open_in_a_partition_is_shown(shell: Shell, ongoing: Transactional):
    opened = ("transactions", "open", ongoing.name, "0")
    assert shell(*opened) == f"0\t{ongoing.id}\t{ongoing.epoch}\n"
    ongoing.end(committed=True)
    assert shell(*opened) == ""


def test_an_ongoing_one_is_aborted_and_its_producer_is_fenced(
    shell: Shell, peer: Peer, ongoing: Transactional
):
    assert shell("transactions", "abort", ongoing.name) == f"aborted {ongoing.name}\n"
    assert committed(peer, ongoing.name) == []
    assert ongoing.end(committed=True) is ErrorCode.PRODUCER_FENCED
    assert "no ongoing transaction" in shell.fails("transactions", "abort", ongoing.name)


def test_what_hangs_in_a_partition_is_aborted_by_its_offset(shell: Shell, ongoing: Transactional):
    where = ("--topic", ongoing.name, "--partition", "0", "--start-offset")
    assert "open from offset 7" in shell.fails("transactions", "abort", *where, "7")
    assert ongoing.name in shell("transactions", "abort", *where, "0")
    assert shell("transactions", "open", ongoing.name, "0") == ""


def test_what_cannot_be_done_is_said_in_one_line(shell: Shell):
    assert "transactional id not found" in shell.fails("transactions", "describe", "nobody")
    assert "name a transactional id" in shell.fails("transactions", "abort")
