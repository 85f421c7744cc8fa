"""Stores that fail under a running broker: a retriable error in time, nothing half-written, and
all is well again when the store is."""

import resource
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    LATEST,
    NOW,
    append,
    batch,
    create,
    end_of,
    everything,
    offset_at,
    produce_row,
    read,
    values,
    write,
)
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

RETRIABLE = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.LEADER_NOT_AVAILABLE,
}


@contextmanager
def objects_away(samsa: Samsa) -> Iterator[None]:
    """A file where the folder of objects was: nothing can be read or written."""
    objects, aside = samsa.data / "objects", samsa.data / "aside"
    objects.rename(aside)
    objects.write_text("not a folder")
    try:
        yield
    finally:
        objects.unlink()
        aside.rename(objects)


@contextmanager
def no_file_larger_than(samsa: Samsa, size: int) -> Iterator[None]:
    """As good as a full disk, for one process."""
    before = resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(samsa.pid, resource.RLIMIT_FSIZE, before)


def fails_in_time(peer: Peer, topic: str, data: bytes, timeout_ms: int) -> None:
    began = time.monotonic()
    answer = append(peer, topic, data, timeout_ms=timeout_ms)
    assert ErrorCode(answer.error_code) in RETRIABLE
    assert answer.base_offset == -1
    assert time.monotonic() - began < timeout_ms / 1000 + 3


def recovers(peer: Peer, topic: str, kept: list[bytes], unknown: bytes | None = None) -> None:
    """Writing works, and at once all that was acknowledged is seen, and no more but what timed out,
    whose outcome nobody was told."""
    answer = eventually(lambda: append(peer, topic, batch(b"after")).error_code == 0 or None)
    assert answer, "nothing can be written though the store is back"
    seen = values(everything(peer, topic))
    assert [value for value in seen if value != unknown] == [*kept, b"after"]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Samsa]:
    with a_samsa(tmp_path) as samsa:
        yield samsa


def test_without_its_objects_a_broker_answers_in_time_and_recovers(alone: Samsa) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        with objects_away(alone):
            fails_in_time(peer, "t", batch(b"lost"), timeout_ms=1_000)
            got = read(peer, "t", 0)
            assert ErrorCode(got.error_code) in RETRIABLE
            assert ErrorCode(offset_at(peer, "t", NOW).error_code) in RETRIABLE
            assert offset_at(peer, "t", LATEST).offset == 1
            # The ledger is there: what needs no objects goes on.
            create(peer, "u")
        recovers(peer, "t", [b"before"], unknown=b"lost")
    assert "Traceback" not in alone.said()


def test_an_append_that_was_given_up_hides_nothing(alone: Samsa) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        with objects_away(alone):
            fails_in_time(peer, "t", batch(b"lost"), timeout_ms=10_000)
            time.sleep(2.5)  # until nobody tries any more
        recovers(peer, "t", [b"before"])


def test_on_a_full_disk_nothing_half_written_is_seen(alone: Samsa) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        with no_file_larger_than(alone, 400_000):
            fails_in_time(peer, "t", batch(b"x" * 900_000), timeout_ms=10_000)
            assert values(everything(peer, "t")) == [b"before"]
            assert write(peer, "t", b"small") > 0
        recovers(peer, "t", [b"before", b"small"])
    assert "Traceback" not in alone.said()


def test_without_its_ledger_a_broker_answers_in_time_and_recovers(alone: Samsa) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        with no_file_larger_than(alone, 1):
            fails_in_time(peer, "t", batch(b"lost"), timeout_ms=10_000)
            assert values(everything(peer, "t")) == [b"before"]
        recovers(peer, "t", [b"before"])
        assert end_of(peer, "t") >= 2
    assert "Traceback" not in alone.said()


def test_a_ledger_that_another_process_holds_for_a_moment_costs_only_that_moment(
    alone: Samsa,
) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        other = sqlite3.connect(alone.data / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        peer.socket.settimeout(30)
        peer.send(ApiKey.PRODUCE, 9, produce_row("t", batch(b"patient")))
        time.sleep(1.5)
        other.execute("ROLLBACK")
        other.close()
        answer = peer.answer().responses[0].partition_responses[0]
        assert (answer.error_code, answer.base_offset) == (0, 0)


def test_what_was_written_while_the_store_was_down_is_not_acknowledged_after_a_restart(
    alone: Samsa,
) -> None:
    with alone.peer() as peer:
        create(peer, "t")
        write(peer, "t", b"before")
        with objects_away(alone):
            fails_in_time(peer, "t", batch(b"lost"), timeout_ms=1_000)
            alone.kill()
    alone.again()
    with alone.peer() as peer:
        assert values(everything(peer, "t")) == [b"before"]
        write(peer, "t", b"after")
        assert values(everything(peer, "t")) == [b"before", b"after"]
