"""Transactions through functions: no process runs while a reader waits behind an open one."""

from typing import Any

import pytest
from bundle.given_gateway import Client, Cluster, row_of
from bundle.talk import TOPIC, create, look, offset_in, values_in, write
from server.talk import FETCH, batch, produce_row

from samsa.records.header import TRANSACTIONAL
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import end_txn, init_producer_id
from samsa_websocket.envelope import ParkedReply, Wake

ID = "orders"
TIMEOUT_MS = 30_000
COMMITTED = 1
ADDS = 12


class Producer:
    """A client of transaction version 2."""

    def __init__(self, client: Client) -> None:
        self._client = client
        row = init_producer_id.REQUEST(transactional_id=ID, transaction_timeout_ms=TIMEOUT_MS)
        self._take(client.ask(ApiKey.INIT_PRODUCER_ID, 5, row))

    def _take(self, answer: Any) -> None:
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code)
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self._sequence = 0

    def write(self, *values: bytes) -> int:
        data = batch(
            *values,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequence,
            attributes=TRANSACTIONAL,
        )
        row = produce_row(TOPIC, data)
        row.transactional_id = ID
        offset = offset_in(self._client.ask(ApiKey.PRODUCE, ADDS, row))
        self._sequence += len(values)
        return offset

    def end(self, commit: bool = True) -> None:
        row = end_txn.REQUEST(
            transactional_id=ID,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )
        self._take(self._client.ask(ApiKey.END_TXN, 5, row))


@pytest.fixture
def reader(cluster: Cluster) -> Client:
    client = cluster.client()
    create(client)
    return client


@pytest.fixture
def producer(cluster: Cluster, reader: Client) -> Producer:
    """In another environment."""
    return Producer(cluster.client(cluster.another()))


def park(client: Client, offset: int) -> ParkedReply:
    answer = look(client, offset, wait_ms=500, isolation_level=COMMITTED)
    assert isinstance(answer, ParkedReply), answer
    return answer


def committed(client: Client, offset: int = 0) -> list[bytes | None]:
    answer = look(client, offset, isolation_level=COMMITTED)
    return [value for value in values_in(row_of(ApiKey.FETCH, FETCH, answer)) if value]


def test_what_is_open_is_hidden_and_what_is_committed_is_read(reader: Client, producer: Producer):
    producer.write(b"one", b"two")
    assert committed(reader) == []
    producer.end()
    assert committed(reader)[:2] == [b"one", b"two"]


def test_the_end_of_a_transaction_wakes_a_reader_that_is_held_back(
    cluster: Cluster, reader: Client, producer: Producer
):
    producer.write(b"value")
    parked = park(reader, 0)
    assert cluster.pushes.sent == []
    producer.end()
    assert cluster.pushes.names(reader.connection_id) == set(parked.watches)


def test_a_wake_brings_no_records_while_a_transaction_is_open(
    cluster: Cluster, reader: Client, producer: Producer
):
    """A reader with read_committed may not see them yet, and the shim cannot tell."""
    park(reader, 0)
    producer.write(b"value")
    write(cluster.client(), b"plain")
    told = [message for _, message in cluster.pushes.sent if isinstance(message, Wake)]
    assert told
    assert [wake.news for wake in told] == [()] * len(told)


def test_an_answer_that_is_held_back_is_good_until_the_transaction_times_out(
    cluster: Cluster, reader: Client, producer: Producer
):
    assert park(reader, 0).good_ms > 60_000
    producer.write(b"value")
    assert park(reader, 0).good_ms <= 10_000
    cluster.clock.ahead_ms += TIMEOUT_MS - 3_000
    assert park(reader, 0).good_ms <= 3_000


def test_a_reader_aborts_what_has_timed_out_and_goes_on(
    cluster: Cluster, reader: Client, producer: Producer
):
    producer.write(b"lost")
    write(cluster.client(), b"plain")
    cluster.clock.ahead_ms += TIMEOUT_MS + 1
    answer = look(reader, 1, wait_ms=500, isolation_level=COMMITTED)
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer))[0] == b"plain"


def test_what_a_function_left_decided_is_finished_by_the_reader(
    cluster: Cluster, reader: Client, producer: Producer
):
    producer.write(b"value")
    log = producer._client.gateway._parts.broker.log

    async def dies(*_: Any) -> bool:
        raise ConnectionError("the environment is gone")

    log.mark, kept = dies, log.mark  # type: ignore[method-assign]
    with pytest.raises(AssertionError):  # the answer is an error
        producer.end()
    log.mark = kept  # type: ignore[method-assign]
    cluster.clock.ahead_ms += 10_001
    answer = look(reader, 0, wait_ms=500, isolation_level=COMMITTED)
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer))[0] == b"value"
