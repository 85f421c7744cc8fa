"""One side of a comparison: transactional requests over the raw wire, and what was told.

A story is told to Apache Kafka and to Samsa. What each answers is kept in a form that can be
compared: producer ids by the order in which they came, times by whether there is one, batches by
their headers.
"""

import time
from collections.abc import Sequence
from typing import Any

from server.peer import Peer
from server.talk import batch, fetch_row

from samsa.records.batch import headers
from samsa.records.control import commits
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_producers,
    describe_topic_partitions,
    describe_transactions,
    end_txn,
    init_producer_id,
    list_offsets,
    list_transactions,
    offset_fetch,
    produce,
    txn_offset_commit,
)

TOPIC = "transactional"
TIMEOUT_MS = 60_000
PATIENCE_S = 20
BY_ID = 13
"""The first version of Produce and Fetch that names topics by id."""
NOT_YET = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}
"""Clients try again, and so does a story."""
TRANSACTIONAL = 0x10
READ_COMMITTED = 1


class Side:
    """A broker, as one story talks to it. The story has two partitions that no other one uses."""

    def __init__(self, peer: Peer, story: str, partition: int) -> None:
        self.peer = peer
        self.id = f"id-of-{story.replace(' ', '-')}"
        self.group = f"group of {story}"
        self.partition = partition
        self.told: list[Any] = []
        self._ids: list[int] = []
        self._topic_id: Any = None
        self.producer_id, self.epoch = -1, -1

    def say(self, *what: Any) -> None:
        self.told.append(what)

    def named(self, producer_id: int) -> str | None:
        """A producer id as it can be compared: the first one, the second one."""
        if producer_id < 0:
            return None
        if producer_id not in self._ids:
            self._ids.append(producer_id)
        return f"producer {self._ids.index(producer_id)}"

    def _ask(self, key: ApiKey, version: int, row: Any, code: Any) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.peer.ask(key, version, row)
            if code(answer) not in NOT_YET:
                return answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.02)

    # The producer. `producer` and `epoch` default to what InitProducerId or EndTxn told last.

    def init(self, version: int = 5, keep: bool = True, **more: Any) -> None:
        wish = {"transactional_id": self.id, "transaction_timeout_ms": TIMEOUT_MS, **more}
        if version < 3:
            wish = {k: v for k, v in wish.items() if k not in ("producer_id", "producer_epoch")}
        row = init_producer_id.REQUEST(**wish)
        got = self._ask(ApiKey.INIT_PRODUCER_ID, version, row, lambda a: a.error_code)
        self.say("init", got.error_code, self.named(got.producer_id), got.producer_epoch)
        if keep and not got.error_code:
            self.producer_id, self.epoch = got.producer_id, got.producer_epoch

    def _who(self, more: dict[str, Any]) -> dict[str, Any]:
        who = {
            "transactional_id": self.id,
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
        }
        return {**who, **more}

    def add_partitions(
        self, version: int, *places: tuple[str, Sequence[int]], verify: bool = False, **more: Any
    ) -> None:
        topics = [add_partitions_to_txn.TOPIC(name=n, partitions=list(p)) for n, p in places]
        topics = topics or [add_partitions_to_txn.TOPIC(name=TOPIC, partitions=[self.partition])]
        who = self._who(more)
        if version <= 3:
            old = {f"v3_and_below_{name}": value for name, value in who.items()}
            row = add_partitions_to_txn.REQUEST(v3_and_below_topics=topics, **old)
        else:
            one = add_partitions_to_txn.TRANSACTION(topics=topics, verify_only=verify, **who)
            row = add_partitions_to_txn.REQUEST(transactions=[one])

        def results(answer: Any) -> list[Any]:
            if version <= 3:
                return list(answer.results_by_topic_v3_and_below)
            return [t for one in answer.results_by_transaction for t in one.topic_results]

        def codes(answer: Any) -> list[tuple[str, int, int]]:
            return sorted(
                (topic.name, one.partition_index, one.partition_error_code)
                for topic in results(answer)
                for one in topic.results_by_partition
            )

        def first(answer: Any) -> int:
            return next((code for *_, code in codes(answer)), 0)

        got = self._ask(ApiKey.ADD_PARTITIONS_TO_TXN, version, row, first)
        self.say("add partitions", getattr(got, "error_code", 0), codes(got))

    def add_offsets(self, version: int, **more: Any) -> None:
        row = add_offsets_to_txn.REQUEST(**{**self._who({}), "group_id": self.group, **more})
        got = self._ask(ApiKey.ADD_OFFSETS_TO_TXN, version, row, lambda a: a.error_code)
        self.say("add offsets", got.error_code)

    def end(self, version: int, committed: bool = True, **more: Any) -> None:
        row = end_txn.REQUEST(**self._who({"committed": committed, **more}))
        got = self._ask(ApiKey.END_TXN, version, row, lambda a: a.error_code)
        self.say("end", got.error_code, self.named(got.producer_id), got.producer_epoch)
        if not got.error_code and got.producer_id >= 0:
            self.producer_id, self.epoch = got.producer_id, got.producer_epoch

    def commit_offsets(
        self, version: int, offset: int, topic: str = TOPIC, metadata: str = "", **more: Any
    ) -> None:
        entry = txn_offset_commit.PARTITION(
            partition_index=self.partition, committed_offset=offset, committed_metadata=metadata
        )
        asked = txn_offset_commit.TOPIC(name=topic, partitions=[entry])
        row = txn_offset_commit.REQUEST(
            **{**self._who({}), "group_id": self.group, "topics": [asked], **more}
        )

        def code(answer: Any) -> int:
            found: int = answer.topics[0].partitions[0].error_code
            return found

        got = self._ask(ApiKey.TXN_OFFSET_COMMIT, version, row, code)
        self.say("commit offsets", code(got))

    def produce(
        self,
        version: int,
        sequence: int,
        transactional: bool = True,
        partition: int = 0,
        acks: int = -1,
        **more: Any,
    ) -> None:
        who = self._who(more)
        data = batch(
            b"value",
            attributes=TRANSACTIONAL if transactional else 0,
            producer_id=who["producer_id"],
            producer_epoch=who["producer_epoch"],
            base_sequence=sequence,
        )
        entry = produce.PARTITION(index=self.partition + partition, records=data)
        where = {"topic_id": self.topic_id} if version >= BY_ID else {"name": TOPIC}
        row = produce.REQUEST(
            transactional_id=who["transactional_id"],
            acks=acks,
            timeout_ms=5_000,
            topic_data=[produce.TOPIC(partition_data=[entry], **where)],
        )

        def part(answer: Any) -> Any:
            return answer.responses[0].partition_responses[0]

        got = part(self._ask(ApiKey.PRODUCE, version, row, lambda a: part(a).error_code))
        self.say("produce", got.error_code, got.base_offset)

    @property
    def topic_id(self) -> Any:
        if self._topic_id is None:
            asked = [describe_topic_partitions.TOPIC(name=TOPIC)]
            row = describe_topic_partitions.REQUEST(topics=asked)
            found = self.peer.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, row)
            self._topic_id = found.topics[0].topic_id
        return self._topic_id

    # Those who look

    def is_settled(self) -> None:
        """Wait until the markers are written: Apache Kafka answers EndTxn before they are."""
        deadline = time.monotonic() + PATIENCE_S
        row = describe_transactions.REQUEST(transactional_ids=[self.id])
        while True:
            told = self.peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, row).transaction_states[0]
            if not told.transaction_state.startswith("Prepare"):
                return
            assert time.monotonic() < deadline, told
            time.sleep(0.02)

    def describe(self, *ids: str) -> None:
        row = describe_transactions.REQUEST(transactional_ids=list(ids) or [self.id])
        for one in self.peer.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, row).transaction_states:
            topics = sorted((topic.topic, sorted(topic.partitions)) for topic in one.topics)
            self.say(
                "describe",
                (one.error_code, one.transactional_id, one.transaction_state),
                (self.named(one.producer_id), one.producer_epoch, one.transaction_timeout_ms),
                one.transaction_start_time_ms > 0,
                topics,
            )

    def list_transactions(self, version: int, **filters: Any) -> None:
        """Only this story's."""
        row = list_transactions.REQUEST(**filters)
        told = self.peer.ask(ApiKey.LIST_TRANSACTIONS, version, row)
        found = [
            (self.named(one.producer_id), one.transaction_state)
            for one in told.transaction_states
            if one.transactional_id == self.id
        ]
        self.say("list", told.error_code, sorted(told.unknown_state_filters), found)

    def describe_producers(self, partition: int = 0) -> None:
        number = self.partition + partition
        asked = [describe_producers.TOPIC(name=TOPIC, partition_indexes=[number])]
        row = describe_producers.REQUEST(topics=asked)
        told = self.peer.ask(ApiKey.DESCRIBE_PRODUCERS, 0, row).topics[0].partitions[0]
        found = [
            (
                (self.named(one.producer_id), one.producer_epoch, one.last_sequence),
                # Of a marker that began a new epoch only Kafka tells the time.
                one.last_sequence < 0 or one.last_timestamp > 0,
                (one.coordinator_epoch, one.current_txn_start_offset),
            )
            for one in told.active_producers
        ]
        self.say("producers", told.error_code, sorted(found))

    def fetch(self, version: int, isolation: int = READ_COMMITTED, offset: int = 0) -> None:
        row = fetch_row(TOPIC, offset, [self.partition], isolation_level=isolation)
        row.replica_id = -1
        row.session_epoch = -1
        row.max_bytes = 1 << 20
        if version >= BY_ID:
            row.topics[0].topic_id = self.topic_id
        got = self.peer.ask(ApiKey.FETCH, version, row).responses[0].partitions[0]
        aborted = got.aborted_transactions
        if aborted is not None:
            aborted = sorted((self.named(one.producer_id), one.first_offset) for one in aborted)
        self.say(
            "fetch",
            (got.error_code, got.high_watermark, got.last_stable_offset, got.log_start_offset),
            aborted,
            self._batches(bytes(got.records or b"")),
        )

    def _batches(self, data: bytes) -> list[Any]:
        return [
            (
                (header.base_offset, header.attributes, header.count, header.base_sequence),
                (self.named(header.producer_id), header.producer_epoch),
                commits(data[at : at + header.size]) if header.is_control else None,
            )
            for at, header in headers(data)
        ]

    def list_offsets(self, version: int, timestamp: int, isolation: int = READ_COMMITTED) -> None:
        asked = list_offsets.PARTITION(partition_index=self.partition, timestamp=timestamp)
        row = list_offsets.REQUEST(
            replica_id=-1,
            isolation_level=isolation,
            topics=[list_offsets.TOPIC(name=TOPIC, partitions=[asked])],
        )
        got = self.peer.ask(ApiKey.LIST_OFFSETS, version, row).topics[0].partitions[0]
        self.say("list offsets", timestamp, isolation, got.error_code, got.offset)

    def fetch_offset(self, version: int, stable: bool) -> None:
        old, several = version < 8, version >= 8
        numbers = [self.partition]
        topics = [offset_fetch.TOPIC(name=TOPIC, partition_indexes=numbers)] if old else []
        group = offset_fetch.GROUP(
            group_id=self.group,
            topics=[
                offset_fetch.GROUP_TOPIC(
                    name=TOPIC, topic_id=self.topic_id, partition_indexes=numbers
                )
            ],
        )
        row = offset_fetch.REQUEST(
            group_id=self.group if old else "",
            topics=topics,
            groups=[group] if several else [],
            require_stable=stable,
        )

        def answered(answer: Any) -> Any:
            return answer.groups[0] if several else answer

        got = self._ask(ApiKey.OFFSET_FETCH, version, row, lambda a: answered(a).error_code)
        found = answered(got)
        parts = [
            (one.committed_offset, one.error_code)
            for topic in found.topics
            for one in topic.partitions
        ]
        self.say("fetch offset", stable, found.error_code, parts)
