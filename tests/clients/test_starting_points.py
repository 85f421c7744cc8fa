import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from clients.client import Record
from clients.registry import NAMES

pytestmark = pytest.mark.parametrize("name", NAMES)

DAY = 24 * 3600 * 1000
SECOND = 1000


@pytest.fixture(scope="module")
def yesterday(new_topic, clients) -> tuple[str, int]:
    """A topic whose records are one second apart, and the time of the first."""
    topic, began = new_topic(), int(time.time() * 1000) - DAY
    for second in range(5):
        record = Record(b"key", f"second {second}".encode(), timestamp=began + second * SECOND)
        clients["confluent"].produce(topic, [record], partition=0)
    return topic, began


def test_a_consumer_at_earliest_sees_everything_and_when_it_was_written(client, yesterday):
    topic, began = yesterday
    found = client.consume(topic, "earliest", 5, partition=0)
    assert [record.value for record in found] == [f"second {n}".encode() for n in range(5)]
    assert [record.timestamp for record in found] == [began + n * SECOND for n in range(5)]


def test_a_consumer_at_a_time_between_two_records_starts_at_the_later_one(client, yesterday):
    topic, began = yesterday
    found = client.consume(topic, began + 2 * SECOND - 1, 3, partition=0)
    assert [record.offset for record in found] == [2, 3, 4]


def test_a_consumer_at_the_time_of_a_record_starts_with_it(client, yesterday):
    topic, began = yesterday
    found = client.consume(topic, began + 3 * SECOND, 2, partition=0)
    assert [record.offset for record in found] == [3, 4]


def test_a_consumer_at_latest_sees_only_what_is_written_while_it_waits(client, clients, new_topic):
    topic, writer = new_topic(), clients["confluent"]
    writer.produce(topic, [Record(None, b"before")] * 3, partition=0)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(client.consume, topic, "latest", 2, partition=0)
        write_until(reading, lambda: writer.produce(topic, [Record(None, b"after")], partition=0))
    assert {record.value for record in reading.result()} == {b"after"}


def write_until(reading: Future, write: Callable[[], object]) -> None:
    # No client tells from outside that it has found the end, so writing goes on until it has read.
    while not reading.done():
        write()
        time.sleep(0.1)
