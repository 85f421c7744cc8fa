from collections import defaultdict

import pytest
from clients.client import Record
from clients.registry import NAMES

pytestmark = pytest.mark.parametrize("name", NAMES)

PARTITIONS = 12
KEYS = [f"key-{number}".encode() for number in range(10)]
TURNS = [b"first", b"second", b"third"]
RECORDS = [Record(key, turn) for turn in TURNS for key in KEYS]


def test_keys_spread_over_twelve_partitions_and_each_key_keeps_its_order(client, new_topic):
    topic = new_topic(partitions=PARTITIONS)
    client.produce(topic, RECORDS)
    found = client.consume(topic, "earliest", len(RECORDS))
    turns, places = defaultdict(list), defaultdict(set)
    for record in found:
        turns[record.key].append(record.value)
        places[record.key].add(record.partition)
    assert turns == dict.fromkeys(KEYS, TURNS)
    assert all(len(partitions) == 1 for partitions in places.values())
    assert len(set.union(*places.values())) > 1


def test_the_last_of_twelve_partitions_is_written_and_read_on_its_own(client, new_topic):
    topic = new_topic(partitions=PARTITIONS)
    client.produce(topic, RECORDS[:3], partition=PARTITIONS - 1)
    found = client.consume(topic, "earliest", 3, partition=PARTITIONS - 1)
    assert [record.content for record in found] == [record.content for record in RECORDS[:3]]
    assert [(record.partition, record.offset) for record in found] == [(11, 0), (11, 1), (11, 2)]
