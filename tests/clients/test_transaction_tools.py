"""Kafka's own tools for transactions, on Apache Kafka 4.3.1 and on Samsa: the same answers.

`kafka-transactions.sh`, with transactions that are open and that have ended; and Kafka's
TransactionalMessageCopier, which consumes, produces and commits its offsets in transactions, killed
in the middle.
"""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.kafka_tools import KafkaTools
from clients.probe import is_ready
from clients.transactional import ByConfluent
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from support.broker import Broker, samsa_up
from support.kafka import kafka_java
from support.waiting import eventually

TOPIC, SOURCE, COPY = "watched", "source", "copy"
ABORTED, TERMINATED = "aborted-by-hand", "terminated-by-hand"
PARTITIONS = {TOPIC: 3, SOURCE: 1, COPY: 1, ABORTED: 2, TERMINATED: 1}
TIMEOUT_MS = 60_000
WITHIN_S = 30
RECORDS = 8_000
KILLED_AFTER = 300
COPIER_TIMEOUT_MS = 2_000
"""A copier first asks for its offset. If it was killed after it had sent one, that waits for the
time-out of its transaction."""
MINE = {"commit-it", "abort-it", "leave-it-open"}
"""Others use the same Apache Kafka."""
TIMES = ("CurrentTransactionStartTimeMs", "TransactionDurationMs", "LastTimestamp")

Table = list[dict[str, str]]
Sides = dict[str, Broker]


@pytest.fixture(scope="session")
def sides(apache_kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with samsa_up(tmp_path_factory.mktemp("samsa")) as samsa:
        both = {"samsa": samsa, "kafka": apache_kafka}
        for one in both.values():
            for topic, partitions in PARTITIONS.items():
                Confluent(one.bootstrap).create_topic(topic, partitions, {})
                assert eventually(lambda: is_ready(one, topic, partitions), WITHIN_S)  # noqa: B023
        yield both


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaTools]:
    log = tmp_path_factory.mktemp("tools") / "log"
    with closing(KafkaTools(log.open("w"))) as made:
        yield made


@pytest.fixture(scope="session")
def opened(sides: Sides) -> dict[str, ByConfluent]:
    """On each side one transaction that is open, one that was committed and one that was not."""
    found = {}
    for name, side in sides.items():
        for ends in ("commit", "abort"):
            ended = ByConfluent(side.bootstrap, f"{ends}-it", TIMEOUT_MS)
            ended.begin()
            ended.send([(TOPIC, 2)], ["ended"])
            getattr(ended, ends)()
        found[name] = ByConfluent(side.bootstrap, "leave-it-open", TIMEOUT_MS)
        found[name].begin()
        found[name].send([(TOPIC, 0), (TOPIC, 1)], ["open"])
    return found


def table(tools: KafkaTools, broker: Broker, *arguments: str) -> Table:
    """What a command prints; producers by their order, times by whether there is one."""
    said = tools.run("transactions", broker.bootstrap, *arguments)
    assert (said.status, said.err) == (0, []), said
    if not said.out:
        return []
    names = said.out[0].split()
    rows = [dict(zip(names, line.split(), strict=False)) for line in said.out[1:]]
    rows = [
        row for row in rows if row.get("TransactionalId", "terminated") in {*MINE, "terminated"}
    ]
    rows.sort(key=lambda row: (row.get("TransactionalId", ""), row.get("ProducerId", "")))
    producers: dict[str, str] = {}
    for row in rows:
        for name in TIMES:
            if name in row:
                row[name] = "none" if row[name] in ("-1", "None") else "a time"
        if "ProducerId" in row:
            number = row["ProducerId"]
            row["ProducerId"] = producers.setdefault(number, f"producer {len(producers)}")
    return rows


COMMANDS = {
    "list": ("list",),
    "list by a pattern": ("list", "--transactional-id-pattern", ".*-it"),
    "list by a pattern that none has": ("list", "--transactional-id-pattern", "it"),
    "list those that run for an hour": ("list", "--duration-filter", "3600000"),
    "describe one that is open": ("describe", "--transactional-id", "leave-it-open"),
    "describe one that was committed": ("describe", "--transactional-id", "commit-it"),
    "describe one that was aborted": ("describe", "--transactional-id", "abort-it"),
    "describe the producers of an open one": ("describe-producers", "--topic", TOPIC,
                                              "--partition", "0"),
    "describe the producers of ended ones": ("describe-producers", "--topic", TOPIC,
                                             "--partition", "2"),
    "find those that hang": ("find-hanging", "--topic", TOPIC),
    "find those that hang on a broker": ("find-hanging", "--broker-id", "0"),
    "find those that hang for no time": ("find-hanging", "--topic", TOPIC,
                                         "--max-transaction-timeout", "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_the_transactions_tool_says_what_it_says_of_apache_kafka(
    name: str, sides: Sides, tools: KafkaTools, opened: dict[str, ByConfluent]
) -> None:
    def told(side: str) -> Table:
        return table(tools, sides[side], *COMMANDS[name])

    # Apache Kafka answers the end of a transaction before its markers are written.
    assert eventually(lambda: told("samsa") == told("kafka"), 5) or told("samsa") == told("kafka")


def test_what_the_tool_lists_is_not_nothing(
    sides: Sides, tools: KafkaTools, opened: dict[str, ByConfluent]
) -> None:
    def listed() -> dict[str, str]:
        rows = table(tools, sides["samsa"], "list")
        return {row["TransactionalId"]: row["TransactionState"] for row in rows}

    states = {"commit-it": "CompleteCommit", "abort-it": "CompleteAbort"}
    assert listed() == {**states, "leave-it-open": "Ongoing"}


def test_the_tool_aborts_a_transaction_in_a_partition(sides: Sides, tools: KafkaTools) -> None:
    """Apache Kafka aborts it in this partition only, Samsa all of it: it is never torn."""
    ended = {}
    for name, side in sides.items():
        left = ByConfluent(side.bootstrap, "aborted-by-hand", TIMEOUT_MS)
        left.begin()
        left.send([(ABORTED, 0), (ABORTED, 1)], ["open"])
        place = ("--topic", ABORTED, "--partition", "1", "--start-offset", "0")
        assert table(tools, side, "abort", *place) == []
        rows = [
            table(tools, side, "describe-producers", "--topic", ABORTED, "--partition", number)
            for number in ("0", "1")
        ]
        ended[name] = [row["CurrentTransactionStartOffset"] for (row,) in rows]
    assert ended == {"samsa": ["None", "None"], "kafka": ["0", "None"]}


def test_the_tool_terminates_a_transaction_by_its_id(sides: Sides, tools: KafkaTools) -> None:
    for side in sides.values():
        left = ByConfluent(side.bootstrap, "terminated", TIMEOUT_MS)
        left.begin()
        left.send([(TERMINATED, 0)], ["open"])
        asked = ("forceTerminateTransaction", "--transactionalId", "terminated")
        assert tools.run("transactions", side.bootstrap, *asked).status == 0
        asked = ("describe", "--transactional-id", "terminated")
        assert eventually(lambda: table(tools, side, *asked)[0]["TransactionState"] != "Ongoing")  # noqa: B023
        with pytest.raises(Exception, match=r"(?i)fenced|epoch"):
            left.commit()


def copier(broker: Broker, log: Path) -> subprocess.Popen[bytes]:
    command = [
        *kafka_java("128M", "-Dlog.level=off"), "org.apache.kafka.tools.TransactionalMessageCopier",
        "--broker-list", broker.bootstrap,
        "--input-topic", SOURCE, "--input-partition", "0", "--output-topic", COPY,
        "--consumer-group", "copiers", "--transactional-id", "copier",
        "--transaction-size", "100", "--enable-random-aborts",
        "--transaction-timeout", str(COPIER_TIMEOUT_MS),
    ]  # fmt: skip
    with log.open("ab") as out:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def copied(broker: Broker) -> int:
    """The last stable offset: records that can be read, and those of aborted transactions."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "unused"}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    with closing(consumer):
        return consumer.get_watermark_offsets(TopicPartition(COPY, 0), timeout=WITHIN_S)[1]


def test_a_copier_that_is_killed_copies_each_record_once_and_in_order(
    sides: Sides, tmp_path: Path
) -> None:
    values = [b"%d" % number for number in range(RECORDS)]
    for side in sides.values():
        Confluent(side.bootstrap).produce(SOURCE, [Record(None, one) for one in values], "none", 0)
    for name, side in sides.items():
        running = copier(side, tmp_path / name)
        assert eventually(lambda: copied(side) > KILLED_AFTER, WITHIN_S)  # noqa: B023
        running.kill()
        running.wait()
    left = {name: RECORDS - committed_offset(side) for name, side in sides.items()}
    assert all(0 < one < RECORDS for one in left.values()), left
    again = {name: copier(side, tmp_path / name) for name, side in sides.items()}
    for name, side in sides.items():
        assert again[name].wait(WITHIN_S) == 0, (tmp_path / name).read_text()[-2000:]
        assert committed_offset(side) == RECORDS
        reader = Confluent(side.bootstrap, **{"isolation.level": "read_committed"})
        plain = reader.produce(COPY, [Record(None, b"the end")], partition=0)
        found = reader.consume(COPY, "earliest", RECORDS + 1, 0)
        assert [one.value for one in found] == [*values, b"the end"]
        assert plain[0] > RECORDS  # markers and aborted records lie between


def committed_offset(broker: Broker) -> int:
    admin = Confluent(broker.bootstrap).admin()
    asked = ConsumerGroupTopicPartitions("copiers", [TopicPartition(SOURCE, 0)])
    told = admin.list_consumer_group_offsets([asked])["copiers"].result()
    offset: int = told.topic_partitions[0].offset
    return max(offset, 0)
