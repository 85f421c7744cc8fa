"""Idempotent producers over the wire: once, in order, across restarts and processes."""

from pathlib import Path
from typing import Any

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import (
    append,
    batch,
    create,
    end_of,
    everything,
    new_producer_id,
    produce_row,
    values,
)

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import init_producer_id

OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
TRY_AGAIN = ErrorCode.REQUEST_TIMED_OUT


class Producer:
    def __init__(self, peer: Peer, topic: str) -> None:
        self.id = new_producer_id(peer)
        self.topic = topic

    def send(self, peer: Peer, sequence: int, *sent: bytes, epoch: int = 0) -> Any:
        data = batch(*sent, producer_id=self.id, producer_epoch=epoch, base_sequence=sequence)
        return append(peer, self.topic, data)

    def fails(self, peer: Peer, sequence: int, *sent: bytes, epoch: int = 0) -> ErrorCode:
        answer = self.send(peer, sequence, *sent, epoch=epoch)
        assert answer.base_offset == -1
        return ErrorCode(answer.error_code)

    def succeeds(self, peer: Peer, sequence: int, *sent: bytes, epoch: int = 0) -> int:
        answer = self.send(peer, sequence, *sent, epoch=epoch)
        assert ErrorCode(answer.error_code) is ErrorCode.NONE
        return answer.base_offset


@pytest.fixture
def producer(peer: Peer, topic: str) -> Producer:
    return Producer(peer, topic)


def test_a_duplicate_gets_the_original_offset_and_is_not_stored_again(
    peer: Peer, producer: Producer, connect: Any
) -> None:
    assert producer.succeeds(peer, 0, b"a", b"b") == 0
    assert producer.succeeds(peer, 2, b"c") == 2
    for other in (peer, connect()):
        assert producer.succeeds(other, 0, b"a", b"b") == 0
        assert producer.succeeds(other, 2, b"c") == 2
    assert values(everything(peer, producer.topic)) == [b"a", b"b", b"c"]


def test_each_of_the_last_five_batches_is_known_again(peer: Peer, producer: Producer) -> None:
    for n in range(8):
        producer.succeeds(peer, n, b"%d" % n)
    assert [producer.succeeds(peer, n, b"%d" % n) for n in range(3, 8)] == [3, 4, 5, 6, 7]
    assert end_of(peer, producer.topic) == 8


def test_a_duplicate_from_long_ago_is_never_stored_again(peer: Peer, producer: Producer) -> None:
    for n in range(8):
        producer.succeeds(peer, n, b"%d" % n)
    assert producer.send(peer, 0, b"0").error_code != ErrorCode.NONE
    assert end_of(peer, producer.topic) == 8


def test_a_gap_is_out_of_order_and_stores_nothing(peer: Peer, producer: Producer) -> None:
    producer.succeeds(peer, 0, b"0")
    assert producer.fails(peer, 2, b"2") is OUT_OF_ORDER
    assert producer.fails(peer, 5, b"5") is OUT_OF_ORDER
    assert producer.succeeds(peer, 1, b"1") == 1
    assert values(everything(peer, producer.topic)) == [b"0", b"1"]


def test_a_batch_that_overlaps_another_is_out_of_order(peer: Peer, producer: Producer) -> None:
    producer.succeeds(peer, 0, b"0", b"1", b"2")
    assert producer.fails(peer, 1, b"1", b"2") is OUT_OF_ORDER
    assert producer.fails(peer, 2, b"2", b"3") is OUT_OF_ORDER
    assert end_of(peer, producer.topic) == 3


def test_an_older_epoch_is_fenced_off(peer: Peer, producer: Producer) -> None:
    producer.succeeds(peer, 0, b"old", epoch=0)
    producer.succeeds(peer, 0, b"new", epoch=1)
    assert producer.fails(peer, 1, b"late", epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.fails(peer, 0, b"old", epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert values(everything(peer, producer.topic)) == [b"old", b"new"]


def test_a_newer_epoch_starts_at_0(peer: Peer, producer: Producer) -> None:
    producer.succeeds(peer, 0, b"0")
    assert producer.fails(peer, 1, b"1", epoch=1) is OUT_OF_ORDER
    assert producer.succeeds(peer, 0, b"1", epoch=1) == 1
    assert producer.succeeds(peer, 1, b"2", epoch=1) == 2


def test_a_producer_nobody_knows_starts_at_0(peer: Peer, producer: Producer) -> None:
    assert producer.fails(peer, 3, b"3") in (OUT_OF_ORDER, ErrorCode.UNKNOWN_PRODUCER_ID)
    assert producer.succeeds(peer, 0, b"0") == 0


def test_each_partition_counts_for_itself(peer: Peer, new_name: str) -> None:
    create(peer, new_name, partitions=2)
    producer = Producer(peer, new_name)
    for partition in (0, 1):
        data = batch(b"x", producer_id=producer.id, producer_epoch=0, base_sequence=0)
        assert append(peer, new_name, data, partition=partition).base_offset == 0
    assert [end_of(peer, new_name, n) for n in (0, 1)] == [1, 1]


def test_pipelined_batches_with_duplicates_among_them_are_stored_once(
    peer: Peer, producer: Producer
) -> None:
    order = [0, 1, 0, 1, 2, 2, 3, 1, 4, 5, 3]
    for n in order:
        data = batch(b"%d" % n, producer_id=producer.id, producer_epoch=0, base_sequence=n)
        peer.send(ApiKey.PRODUCE, 9, produce_row(producer.topic, data))
    answers = [peer.answer().responses[0].partition_responses[0] for _ in order]
    for n, answer in zip(order, answers, strict=True):
        # A repetition that came with its original, before either was stored, may be sent away.
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT), n
    firsts = [answers[order.index(n)] for n in range(6)]
    assert [answer.error_code for answer in firsts] == [ErrorCode.NONE] * 6
    assert values(everything(peer, producer.topic)) == [b"%d" % n for n in range(6)]


def test_ids_are_never_given_twice(samsa: Samsa, connect: Any) -> None:
    ids = [new_producer_id(connect()) for _ in range(5) for _ in range(50)]
    assert len(set(ids)) == 250


def test_a_transactional_id_keeps_its_producer_id_and_gets_a_new_epoch(peer: Peer) -> None:
    row = init_producer_id.REQUEST(transactional_id="its own", transaction_timeout_ms=1_000)
    first, second = (peer.ask(ApiKey.INIT_PRODUCER_ID, 4, row) for _ in range(2))
    assert first.error_code == second.error_code == ErrorCode.NONE
    assert second.producer_id == first.producer_id
    assert (first.producer_epoch, second.producer_epoch) == (0, 1)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_duplicate_is_known_again_after_a_restart(end: str, tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        with samsa.peer() as peer:
            create(peer, "t")
            producer = Producer(peer, "t")
            assert [producer.succeeds(peer, n, b"%d" % n) for n in range(3)] == [0, 1, 2]
        getattr(samsa, end)()
        samsa.again()
        with samsa.peer() as peer:
            assert [producer.succeeds(peer, n, b"%d" % n) for n in range(3)] == [0, 1, 2]
            assert producer.fails(peer, 4, b"4") is TRY_AGAIN  # 3 may have been lost in the end
            assert producer.succeeds(peer, 3, b"3") == 3
            assert producer.fails(peer, 5, b"5") is OUT_OF_ORDER
            assert values(everything(peer, "t")) == [b"0", b"1", b"2", b"3"]
            assert new_producer_id(peer) != producer.id


def test_two_processes_on_one_ledger_know_each_other_s_duplicates(tmp_path: Path) -> None:
    with (
        a_samsa(tmp_path / "one") as one,
        a_samsa(tmp_path / "two", "--data", str(tmp_path / "one" / "data")) as two,
        one.peer() as here,
        two.peer() as there,
    ):
        create(here, "t")
        producer = Producer(here, "t")
        for n, at in enumerate([here, there, there, here, here, there]):
            assert producer.succeeds(at, n, b"%d" % n) == n
        for n in range(1, 6):
            assert producer.succeeds(here, n, b"%d" % n) == n
            assert producer.succeeds(there, n, b"%d" % n) == n
        assert producer.fails(there, 7, b"7") is OUT_OF_ORDER
        producer.succeeds(here, 0, b"new", epoch=1)
        assert producer.fails(there, 6, b"6") is ErrorCode.INVALID_PRODUCER_EPOCH
        expected = [*(b"%d" % n for n in range(6)), b"new"]
        assert values(everything(here, "t")) == values(everything(there, "t")) == expected
        assert new_producer_id(here) != new_producer_id(there)
