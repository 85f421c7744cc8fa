import random

import pytest
from clients.client import Record
from clients.registry import NAMES

pytestmark = pytest.mark.parametrize("name", NAMES)

TEN_MEGABYTES = 10 * 1000 * 1000
ROOM = TEN_MEGABYTES + 100_000
NOISE = random.Random(10).randbytes(TEN_MEGABYTES)  # no codec makes it smaller


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_message_of_ten_megabytes_comes_back_where_the_topic_allows_it(client, codec, new_topic):
    topic = new_topic(max_message_bytes=str(ROOM))
    client.produce(topic, [Record(b"big", NOISE)], codec, partition=0, max_bytes=ROOM)
    (found,) = client.consume(topic, "earliest", 1, partition=0)
    assert found.value == NOISE


def test_a_message_over_the_limit_of_its_topic_is_refused_and_the_next_one_is_not(
    client, new_topic
):
    topic = new_topic()
    big = Record(b"big", NOISE[:2_000_000])
    with pytest.raises(Exception, match=r"(?i)too.?large|larger than"):
        client.produce(topic, [big], partition=0, max_bytes=ROOM)
    client.produce(topic, [Record(b"small", b"fits")], partition=0)
    (found,) = client.consume(topic, "earliest", 1, partition=0)
    assert found.value == b"fits"
