"""What ages: retention by bytes and by time, and topics that are deleted."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.process import Samsa, a_samsa
from server.talk import (
    append,
    batch,
    create,
    delete,
    describe,
    end_of,
    everything,
    read,
    start_of,
    values,
    write,
)
from support.waiting import eventually

from samsa.broker.broker import Broker
from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.runtime.upkeep import tend
from samsa.wire.errors import ErrorCode

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def tidy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """A broker that looks after its logs all the time."""
    with a_samsa(tmp_path_factory.mktemp("tidy"), "--upkeep-interval", "0.2") as samsa:
        yield samsa


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_a_log_over_its_bytes_loses_its_oldest_batches(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, retention_bytes="50000")
        for n in range(20):
            write(peer, new_name, b"%02d" % n * 5_000, timestamp=now_ms())
            time.sleep(0.05)  # what is written down together goes together
        assert eventually(lambda: start_of(peer, new_name) > 0)
        # A batch takes a little over 10,000 bytes, and as in Kafka the limit is not undercut.
        assert eventually(lambda: start_of(peer, new_name) == 15)
        kept = everything(peer, new_name, offset=15)
        assert [record.value[:2] for record in kept] == [b"15", b"16", b"17", b"18", b"19"]
        got = read(peer, new_name, 14)
        assert ErrorCode(got.error_code) is ErrorCode.OFFSET_OUT_OF_RANGE
        assert (got.log_start_offset, got.high_watermark) == (15, 20)
        assert write(peer, new_name, b"more") == 20


def test_records_over_their_time_go_and_younger_ones_stay(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, retention_ms=str(HOUR_MS))
        for age in (3 * HOUR_MS, 2 * HOUR_MS, HOUR_MS // 2, 0):
            write(peer, new_name, b"aged %d" % age, timestamp=now_ms() - age)
            time.sleep(0.1)  # what is written down together goes together
        assert eventually(lambda: start_of(peer, new_name) == 2)
        time.sleep(0.5)
        assert (start_of(peer, new_name), end_of(peer, new_name)) == (2, 4)


def test_a_record_ages_while_the_broker_runs(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, retention_ms="3000")
        write(peer, new_name, b"young", timestamp=now_ms())
        assert start_of(peer, new_name) == 0
        assert eventually(lambda: start_of(peer, new_name) == 1, seconds=15)
        assert everything(peer, new_name, offset=1) == []
        assert write(peer, new_name, b"next", timestamp=now_ms()) == 1


def test_what_is_kept_for_ever_stays(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, retention_ms="-1", retention_bytes="-1")
        write(peer, new_name, b"ancient", timestamp=1_000)
        time.sleep(1)
        assert values(everything(peer, new_name)) == [b"ancient"]


def test_the_objects_of_a_deleted_topic_vanish_from_the_folder(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        kept = create(peer, f"{new_name}-kept").topic_id
        write(peer, f"{new_name}-kept", b"kept")
        gone = create(peer, new_name, partitions=3).topic_id
        for n in range(9):
            write(peer, new_name, b"gone", partition=n % 3)
        assert len(tidy.objects(gone)) == 3
        assert delete(peer, new_name) == ErrorCode.NONE
        assert eventually(lambda: not tidy.objects(gone))
        assert len(tidy.objects(kept)) == 1
        assert not (tidy.data / "objects" / "pack" / str(gone)).exists()


def test_a_topic_made_anew_under_an_old_name_is_empty(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        first = create(peer, new_name).topic_id
        write(peer, new_name, b"old", b"older")
        assert delete(peer, new_name) == ErrorCode.NONE
        second = create(peer, new_name).topic_id
        assert first != second
        assert (start_of(peer, new_name), end_of(peer, new_name)) == (0, 0)
        assert write(peer, new_name, b"new") == 0
        assert values(everything(peer, new_name)) == [b"new"]


def test_deleting_what_is_not_there_says_so(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        assert delete(peer, new_name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        create(peer, new_name)
        assert delete(peer, new_name) == ErrorCode.NONE
        assert delete(peer, new_name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert describe(peer, new_name).topics[0].error_code


def test_a_topic_deleted_just_before_the_end_is_buried_by_the_next_process(
    tmp_path: Path,
) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            gone = create(peer, "t").topic_id
            for _ in range(50):
                write(peer, "t", b"x")
            delete(peer, "t")
            samsa.kill()
        samsa.again()
        assert eventually(lambda: not samsa.objects(gone))
        with samsa.peer() as peer:
            assert describe(peer).topics == []
            assert append(peer, "t", batch(b"x")).base_offset == 0


class Later:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return now_ms() + self.ahead_ms


def test_objects_below_the_start_go_after_the_grace_time_and_not_before(tmp_path: Path) -> None:
    """The grace is a minute, so the upkeep runs here, with a clock of its own, on what three
    brokers left behind, each in a pack."""
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t", retention_ms=str(HOUR_MS))
        for age in (2 * HOUR_MS, 2 * HOUR_MS, 0):
            samsa.stop()
            samsa.again()
            with samsa.peer() as peer:
                write(peer, "t", b"x", timestamp=now_ms() - age)
    clock = Later()
    ledger = SqliteLedger(str(samsa.data / "ledger.db"))
    objects = FolderObjects(str(samsa.data / "objects"))
    stores = Stores(
        ledger,
        objects,
        SqliteJournal(ledger, objects.root, "janitor"),
        clock,
        LocalWakeups(),
        lambda: "nonce",
        Limits(sweep_grace_ms=60_000),
    )

    async def rounds() -> list[int]:
        broker, left = Broker(stores, "cluster"), []
        for ahead in (0, 30_000, 61_000):
            clock.ahead_ms = ahead
            await tend(broker)
            left.append(len(samsa.objects()))
        await stores.ledger.close()
        return left

    assert asyncio.run(rounds()) == [3, 3, 1]
