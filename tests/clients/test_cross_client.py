"""Every client reads what every other one wrote, in every codec."""

import functools

import pytest
from clients.client import CODECS
from clients.registry import NAMES
from clients.samples import SAMPLES


@pytest.fixture(scope="module")
def written_by(clients, new_topic):
    """A topic that one client filled, with a partition for each codec."""

    @functools.cache
    def fill(writer: str) -> str:
        topic = new_topic(partitions=len(CODECS))
        for partition, codec in enumerate(CODECS):
            clients[writer].produce(topic, SAMPLES, codec, partition)
        return topic

    return fill


@pytest.mark.parametrize("reader", NAMES)
@pytest.mark.parametrize("writer", NAMES)
def test_records_of_every_codec_written_by_one_client_are_read_by_another(
    clients, writer, reader, written_by
):
    found = clients[reader].consume(written_by(writer), "earliest", len(CODECS) * len(SAMPLES))
    by_codec = {codec: [] for codec in CODECS}
    for record in found:
        by_codec[CODECS[record.partition]].append(record.content)
    assert by_codec == {codec: [record.content for record in SAMPLES] for codec in CODECS}
