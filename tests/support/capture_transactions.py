"""What is said in transactions and about them, for the proxy of capture_frames.py."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from clients.client import Record
from clients.kafka_tools import KafkaTools
from clients.registry import Clients
from clients.transactional import WITH_OFFSETS, WRITERS, Producers

from samsa.wire.apis import ApiKey

TRANSACTION_APIS = frozenset(
    {
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.UPDATE_FEATURES,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
    }
)
TOPIC = "golden-transactions"


def transact(bootstrap: str, logs: Path, begin: Callable[[str], None]) -> None:
    """Every client commits one transaction and aborts another. `begin` is told the client's name
    before."""
    clients = Clients(bootstrap, logs)
    clients["confluent"].create_topic(TOPIC, 2, {})
    producers = Producers(clients, logs / "sarama.log")
    for name in WRITERS:
        begin(name)
        producer = producers.open(name, f"golden-{name}")
        producer.begin()
        producer.send([(TOPIC, 0), (TOPIC, 1)], ["kept"])
        if name in WITH_OFFSETS:
            producer.send_offset(f"golden-group-{name}", TOPIC, 1)
        producer.commit()
        producer.begin()
        producer.send([(TOPIC, 0)], ["not kept"])
        producer.abort()
    producers.close()
    clients.close()


def administer_transactions(bootstrap: str, logs: Path, begin: Callable[[str], None]) -> None:
    """By Kafka's own tools: one describes a transaction and aborts it, past its coordinator."""
    begin("confluent")
    clients = Clients(bootstrap, logs)
    producers = Producers(clients, logs / "unused.log")
    hanging = producers.open("confluent", "golden-hanging")
    hanging.begin()
    (offset,) = clients["confluent"].produce(TOPIC, [Record(None, b"before")], partition=0)
    hanging.send([(TOPIC, 0)], ["never ended"])
    begin("java")
    with closing(KafkaTools((logs / "tools").open("w"))) as tools:
        tools.run("transactions", bootstrap, "list")
        tools.run("transactions", bootstrap, "describe", "--transactional-id", "golden-hanging")
        place = ("--topic", TOPIC, "--partition", "0", "--start-offset", str(offset + 1))
        told = tools.run("transactions", bootstrap, "abort", *place)
        assert told.status == 0, told
        tools.run("features", bootstrap, "upgrade", "--feature", "group.version=1", "--dry-run")
    producers.close()
    clients.close()
