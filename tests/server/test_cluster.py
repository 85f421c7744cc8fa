"""Several processes on one ledger and one folder: one cluster, and no leader in it."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
    fetch_row,
    produce_row,
    records_in,
    values,
    write,
)
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode

EXPLICIT = "--no-auto-create-topics"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Samsa, Samsa]]:
    folder = tmp_path_factory.mktemp("cluster")
    with (
        a_samsa(folder / "one", EXPLICIT) as one,
        a_samsa(folder / "two", EXPLICIT, "--data", str(folder / "one" / "data")) as two,
    ):
        yield one, two


def test_both_say_that_they_are_the_same_cluster(pair: tuple[Samsa, Samsa], new_name: str) -> None:
    with pair[0].peer() as here, pair[1].peer() as there:
        topic = create(here, new_name, partitions=2)
        first, second = describe(here, new_name), describe(there, new_name)
    assert first.cluster_id == second.cluster_id
    assert second.topics[0].topic_id == topic.topic_id
    assert len(second.topics[0].partitions) == 2


def test_a_fetch_parked_at_one_wakes_when_the_other_is_written_to(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as producer, pair[1].peer() as consumer:
        create(producer, new_name, partitions=3)
        for n in range(5):
            row = fetch_row(new_name, n, partitions=(1,), wait_ms=60_000)
            consumer.send(ApiKey.FETCH, 12, row)
            time.sleep(0.1)
            write(producer, new_name, b"%d" % n, partition=1)
            got = consumer.answer().responses[0].partitions[0]
            assert values(records_in(got.records)) == [b"%d" % n]


def test_writers_at_both_share_one_log_without_gaps(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as peer:
        create(peer, new_name)

    def produce(who: int) -> dict[int, bytes]:
        with pair[who % 2].peer() as peer:
            sent = [b"%d of %d" % (n, who) for n in range(100)]
            for value in sent:
                peer.send(ApiKey.PRODUCE, 9, produce_row(new_name, batch(value)))
            answers = [peer.answer().responses[0].partition_responses[0] for _ in sent]
        assert {answer.error_code for answer in answers} == {0}
        return {a.base_offset: value for a, value in zip(answers, sent, strict=True)}

    with ThreadPoolExecutor(4) as pool:
        acknowledged = list(pool.map(produce, range(4)))
    with pair[0].peer() as here, pair[1].peer() as there:
        logs = [everything(peer, new_name) for peer in (here, there)]
    assert logs[0] == logs[1]
    stored = {record.offset: record.value for record in logs[0]}
    assert {o: v for one in acknowledged for o, v in one.items()} == stored
    assert list(stored) == list(range(400))


def test_a_topic_that_one_deletes_is_soon_gone_at_the_other(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name)
        write(there, new_name, b"old")
        assert delete(here, new_name) == ErrorCode.NONE
        gone = lambda: describe(there, new_name).topics[0].error_code == unknown  # noqa: E731
        assert eventually(gone)
        create(there, new_name)
        write(here, new_name, b"new")
        for peer in (here, there):
            assert eventually(lambda peer=peer: values(everything(peer, new_name)) == [b"new"])


def test_nothing_is_acknowledged_into_a_topic_that_was_deleted_elsewhere(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    with pair[0].peer() as here, pair[1].peer() as there:
        create(here, new_name, partitions=2)
        write(there, new_name, b"warm")
        delete(here, new_name)
        create(here, new_name, partitions=2)
        # The other process may remember the old topic for a moment; what it acknowledges must
        # nevertheless be readable, or else belong to a topic that is gone.
        answer = append(there, new_name, batch(b"late"))
        if answer.error_code == ErrorCode.NONE:
            assert eventually(lambda: describe(there, new_name).topics[0].error_code == 0)
        else:
            assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_deleted_while_both_write_to_it_leaves_no_objects_behind(
    pair: tuple[Samsa, Samsa], new_name: str
) -> None:
    def produce(samsa: Samsa, topic: str) -> None:
        """Until the topic is gone. What is in flight then is garbage that nobody will look for."""
        with samsa.peer() as peer:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                for _ in range(20):
                    peer.send(ApiKey.PRODUCE, 9, produce_row(topic, batch(b"x" * 100)))
                answers = [peer.answer().responses[0].partition_responses[0] for _ in range(20)]
                if any(answer.error_code for answer in answers):
                    return

    with pair[0].peer() as admin, ThreadPoolExecutor(4) as pool:
        for round_ in range(4):
            topic = f"{new_name}-{round_}"
            gone = create(admin, topic).topic_id
            writers = [pool.submit(produce, samsa, topic) for samsa in pair * 2]
            assert eventually(lambda topic=topic: end_of(admin, topic) > 100)
            assert delete(admin, topic) == ErrorCode.NONE
            for writer in writers:
                writer.result(20)
            assert eventually(lambda gone=gone: not pair[0].objects(gone)), pair[0].objects(gone)


def test_one_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    with (
        a_samsa(tmp_path / "one") as one,
        a_samsa(tmp_path / "two", "--data", str(tmp_path / "one" / "data")) as two,
    ):
        with one.peer() as here, two.peer() as there:
            create(here, "t")
            for n in range(10):
                assert write((here, there)[n % 2], "t", b"%d" % n) == n
            two.kill()
            assert write(here, "t", b"10") == 10
            assert values(everything(here, "t")) == [b"%d" % n for n in range(11)]
        two.again()
        with two.peer() as there:
            assert len(everything(there, "t")) == 11
