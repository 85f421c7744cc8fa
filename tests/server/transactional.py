"""A transactional producer on raw frames, of transaction version 2: Produce adds the partitions."""

from typing import Any

from server.peer import Peer
from server.talk import NOW, fetch_row, produce_row, records_in

from samsa.records.batch import headers
from samsa.records.control import commits
from samsa.records.header import TRANSACTIONAL
from samsa.records.record import Record, build, records
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import end_txn, init_producer_id

PRODUCE, END_TXN = 12, 5
READ_COMMITTED = 1
Pair = tuple[bytes | None, bytes | None]


class Transactional:
    def __init__(self, peer: Peer, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self.peer = peer
        self.name = transactional_id
        row = init_producer_id.REQUEST(
            transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
        )
        answer = peer.ask(ApiKey.INIT_PRODUCER_ID, 4, row)
        assert ErrorCode(answer.error_code) is ErrorCode.NONE
        self.id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences: dict[str, int] = {}

    def put(self, topic: str, *pairs: Pair) -> int:
        first = self.sequences.get(topic, 0)
        data = build(
            [Record(n, NOW + n, *pair) for n, pair in enumerate(pairs)],
            attributes=TRANSACTIONAL,
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=first,
        )
        row = produce_row(topic, data)
        row.transactional_id = self.name
        answer = self.peer.ask(ApiKey.PRODUCE, PRODUCE, row).responses[0].partition_responses[0]
        assert ErrorCode(answer.error_code) is ErrorCode.NONE
        self.sequences[topic] = first + len(pairs)
        return answer.base_offset

    def end(self, committed: bool) -> ErrorCode:
        row = end_txn.REQUEST(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            committed=committed,
        )
        answer = self.peer.ask(ApiKey.END_TXN, END_TXN, row)
        if answer.error_code == ErrorCode.NONE:
            self.id, self.epoch, self.sequences = answer.producer_id, answer.producer_epoch, {}
        return ErrorCode(answer.error_code)


def read_committed(peer: Peer, topic: str, offset: int = 0, **others: int) -> Any:
    row = fetch_row(topic, offset, isolation_level=READ_COMMITTED, **others)
    return peer.ask(ApiKey.FETCH, 12, row).responses[0].partitions[0]


def committed(peer: Peer, topic: str, offset: int = 0) -> list[Record]:
    """What a client delivers: it leaves out what was aborted, and the markers."""
    found: list[Record] = []
    while True:
        got = read_committed(peer, topic, offset)
        assert ErrorCode(got.error_code) is ErrorCode.NONE
        if not got.records:
            return found
        waiting = sorted((one.first_offset, one.producer_id) for one in got.aborted_transactions)
        aborting: set[int] = set()
        for position, header in headers(got.records):
            while waiting and waiting[0][0] < header.next_offset:
                aborting.add(waiting.pop(0)[1])
            if header.is_control:
                if not commits(got.records[position : position + header.size]):
                    aborting.discard(header.producer_id)
            elif header.producer_id not in aborting:
                found += [r for r in records(got.records, position) if r.offset >= offset]
            last = header.next_offset
        offset = last


def markers(peer: Peer, topic: str) -> list[int]:
    """Offsets of the markers in one fetch from the start."""
    got = peer.ask(ApiKey.FETCH, 12, fetch_row(topic, 0)).responses[0].partitions[0]
    return [header.base_offset for _, header in headers(got.records or b"") if header.is_control]


def all_values(peer: Peer, topic: str) -> list[bytes | None]:
    """Of all records in one fetch from the start, undecided and aborted ones too."""
    got = peer.ask(ApiKey.FETCH, 12, fetch_row(topic, 0)).responses[0].partitions[0]
    control = {h.base_offset for _, h in headers(got.records or b"") if h.is_control}
    return [one.value for one in records_in(got.records) if one.offset not in control]
