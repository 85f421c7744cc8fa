"""Apache Kafka as a coordinator: asked over the wire what the pure step is asked."""

import time

from server.peer import Peer

from samsa.transactions import (
    AddGroup,
    AddPartitions,
    EndTransaction,
    Init,
    Verify,
)
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    create_topics,
    describe_transactions,
    end_txn,
    find_coordinator,
    init_producer_id,
)

OFFSETS, OFFSETS_PARTITIONS = "__consumer_offsets", 50
NO_SUCH_ID = 1 << 40
NOT_YET = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.OPERATION_NOT_ATTEMPTED,
}
SECONDS = 60


def offsets_partition(group_id):
    """Where Kafka keeps a group's offsets: by Java's hash of its name."""
    found = 0
    for character in group_id:
        found = (31 * found + ord(character)) & 0xFFFFFFFF
    return (found & 0x7FFFFFFF) % OFFSETS_PARTITIONS


class KafkaSide:
    def __init__(self, peer: Peer, topics):
        """`topics`: their names by id."""
        self.peer = peer
        self.topics = topics

    def prepare(self, partitions):
        rows = [
            create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=1)
            for name in self.topics.values()
        ]
        self.peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=rows))
        for kind in (0, 1):
            row = find_coordinator.REQUEST(key_type=kind, coordinator_keys=["any"])
            self._until(
                lambda row=row: self.peer.ask(ApiKey.FIND_COORDINATOR, 4, row),
                lambda found: found.coordinators[0].error_code,
            )

    def ask(self, transactional_id, request):
        """The name of the error or None, a producer id and an epoch, where the answer has them."""
        row = self._until(
            lambda: SENT[type(request)](self, transactional_id, request), lambda found: found[0]
        )
        return (ErrorCode(row[0]).name if row[0] else None, *row[1:])

    def _until(self, ask, code_of):
        deadline = time.monotonic() + SECONDS
        while ErrorCode(code_of(row := ask())) in NOT_YET:
            assert time.monotonic() < deadline, row
            time.sleep(0.002)
        return row

    def init(self, transactional_id, request):
        row = init_producer_id.REQUEST(
            transactional_id=transactional_id,
            transaction_timeout_ms=request.timeout_ms,
            producer_id=request.producer_id,
            producer_epoch=request.epoch,
        )
        told = self.peer.ask(ApiKey.INIT_PRODUCER_ID, 5, row)
        return told.error_code, told.producer_id, told.producer_epoch

    def raise_epoch(self, transactional_id, timeout_ms, epoch):
        """Start new producers until they are given this epoch: many at a time."""
        row = init_producer_id.REQUEST(
            transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
        )
        reached = self.init(transactional_id, Init(timeout_ms))
        while reached[0] or reached[2] < epoch:
            some = min(500, epoch - max(reached[2], 0))
            for _ in range(some):
                self.peer.send(ApiKey.INIT_PRODUCER_ID, 5, row)
            told = [self.peer.answer() for _ in range(some)][-1]
            reached = told.error_code, told.producer_id, told.producer_epoch
        assert reached[2] == epoch
        return reached[1]

    def _rows(self, partitions):
        by_topic = {}
        for topic_id, number in sorted(partitions):
            by_topic.setdefault(self.topics[topic_id], []).append(number)
        return [
            add_partitions_to_txn.TOPIC(name=name, partitions=numbers)
            for name, numbers in by_topic.items()
        ]

    def add(self, transactional_id, request):
        """As clients send it that do not bump epochs."""
        row = add_partitions_to_txn.REQUEST(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=request.producer_id,
            v3_and_below_producer_epoch=request.epoch,
            v3_and_below_topics=self._rows(request.partitions),
        )
        told = self.peer.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 3, row)
        return worst(told.results_by_topic_v3_and_below)

    def verify(self, transactional_id, request):
        """As brokers ask each other."""
        one = add_partitions_to_txn.TRANSACTION(
            transactional_id=transactional_id,
            producer_id=request.producer_id,
            producer_epoch=request.epoch,
            verify_only=True,
            topics=self._rows(request.partitions),
        )
        row = add_partitions_to_txn.REQUEST(transactions=[one])
        told = self.peer.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 5, row)
        return (told.error_code,) if told.error_code else worst(told.results_by_transaction[0])

    def add_group(self, transactional_id, request):
        row = add_offsets_to_txn.REQUEST(
            transactional_id=transactional_id,
            producer_id=request.producer_id,
            producer_epoch=request.epoch,
            group_id=request.group_id,
        )
        return (self.peer.ask(ApiKey.ADD_OFFSETS_TO_TXN, 4, row).error_code,)

    def end(self, transactional_id, request):
        row = end_txn.REQUEST(
            transactional_id=transactional_id,
            producer_id=request.producer_id,
            producer_epoch=request.epoch,
            committed=request.commit,
        )
        told = self.peer.ask(ApiKey.END_TXN, 5 if request.bumps else 4, row)
        return told.error_code, told.producer_id, told.producer_epoch

    def described(self, transactional_id):
        """State, producer id, epoch, timeout, whether there is a start time, and partitions; once
        nothing has to be finished."""
        row = describe_transactions.REQUEST(transactional_ids=[transactional_id])
        deadline = time.monotonic() + SECONDS
        while True:
            (one,) = self.peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, row).transaction_states
            if one.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return None
            if not one.error_code and not one.transaction_state.startswith("Prepare"):
                break
            assert time.monotonic() < deadline
            time.sleep(0.002)
        partitions = {(topic.topic, n) for topic in one.topics for n in topic.partitions}
        return (
            one.transaction_state,
            one.producer_id,
            one.producer_epoch,
            one.transaction_timeout_ms,
            one.transaction_start_time_ms >= 0,
            partitions,
        )


def worst(found):
    topics = found if isinstance(found, list) else found.topic_results
    codes = {p.partition_error_code for topic in topics for p in topic.results_by_partition}
    return (max(codes),)


SENT = {
    Init: KafkaSide.init,
    AddPartitions: KafkaSide.add,
    Verify: KafkaSide.verify,
    AddGroup: KafkaSide.add_group,
    EndTransaction: KafkaSide.end,
}
