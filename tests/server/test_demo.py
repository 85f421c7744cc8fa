"""samsa demo, as somebody types it, against a broker."""

import signal
import subprocess
import time

import pytest
from confluent_kafka import Consumer, TopicPartition
from support.broker import SAMSA, Broker, samsa_up

from samsa_broker.cli.main import main

ENOUGH_S = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory):
    with samsa_up(tmp_path_factory.mktemp("demo")) as broker:
        yield broker


def records(broker: Broker, topic: str) -> list[tuple[int, bytes, bytes | None, int]]:
    """Partition, key, value and time, in order."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none"})
    found = []
    for number in consumer.list_topics(topic, ENOUGH_S).topics[topic].partitions:
        where = TopicPartition(topic, number, 0)
        _, end = consumer.get_watermark_offsets(where, ENOUGH_S)
        consumer.assign([where])
        while end and (not found or found[-1][0] != (number, end - 1)):
            message = consumer.poll(ENOUGH_S)
            assert message is not None
            assert not message.error()
            what = message.key(), message.value(), message.timestamp()[1]
            found.append(((number, message.offset()), *what))
    consumer.close()
    return [(place[0], *rest) for place, *rest in found]


def write(broker: Broker, *words: str) -> int:
    return main(["demo", "trucks", "--bootstrap", broker.bootstrap, *words])


def test_a_story_is_written_whole_and_each_truck_stays_in_its_partition(broker: Broker, capsys):
    start = "2026-01-01T00:00:00Z"
    words = ["--fast", "--count", "1500", "--rate", "10", "--start", start, "--gone", "0.01"]
    assert write(broker, "--topic", "whole", *words) == 0
    found = records(broker, "whole")
    assert "1,500 records of" in capsys.readouterr().out
    assert len(found) == 1_500
    places = {(partition, key) for partition, key, _, _ in found}
    assert len(places) == len({key for _, key in places})
    assert len({partition for partition, _ in places}) == 3
    first = min(at for *_, at in found)
    assert (first, max(at for *_, at in found)) == (1_767_225_600_000, first + 149_900)
    assert any(value is None for _, _, value, _ in found)


def test_the_same_seed_writes_the_same_records(broker: Broker):
    for topic in ("one", "two"):
        words = ["--fast", "--count", "200", "--start", "2026-01-01T00:00Z", "--seed", "5"]
        assert write(broker, "--topic", topic, *words) == 0
    assert records(broker, "one") == records(broker, "two")


def test_ctrl_c_ends_it_with_a_true_summary(broker: Broker):
    command = [SAMSA, "demo", "trucks", "--bootstrap", broker.bootstrap, "--topic", "endless"]
    process = subprocess.Popen([*command, "--rate", "500"], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + ENOUGH_S
    while not _has_some(broker, "endless") and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == 0
    assert said.startswith(f"{len(records(broker, 'endless')):,} records of")


def _has_some(broker: Broker, topic: str) -> bool:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none"})
    try:
        partitions = consumer.list_topics(timeout=ENOUGH_S).topics.get(topic)
        return partitions is not None and any(
            consumer.get_watermark_offsets(TopicPartition(topic, number), ENOUGH_S)[1]
            for number in partitions.partitions
        )
    finally:
        consumer.close()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--bad", "2"], "is not a share"),
        (["--rate", "0"], "is not between 0"),
        (["--trucks", "none"], "is not a whole number"),
        (["--start", "soon"], "is not a time"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], why: str, capsys):
    with pytest.raises(SystemExit):
        main(["demo", "trucks", *words])
    assert why in capsys.readouterr().err


def test_without_a_broker_it_says_how_to_start_one(capsys):
    assert main(["demo", "trucks", "--bootstrap", "127.0.0.1:1"]) == 1
    assert "samsa up" in capsys.readouterr().err
