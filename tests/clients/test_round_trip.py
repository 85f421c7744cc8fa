import pytest
from clients.client import CODECS
from clients.probe import stored_codecs
from clients.registry import NAMES
from clients.samples import SAMPLES

pytestmark = pytest.mark.parametrize("name", NAMES)


@pytest.mark.parametrize("codec", CODECS)
def test_a_client_reads_back_keys_headers_and_values_that_it_wrote(
    client, codec, new_topic, broker
):
    topic = new_topic()
    offsets = client.produce(topic, SAMPLES, codec, partition=0)
    found = client.consume(topic, "earliest", len(SAMPLES), partition=0)
    assert [record.content for record in found] == [record.content for record in SAMPLES]
    assert [record.offset for record in found] == offsets == list(range(len(SAMPLES)))
    assert codec in stored_codecs(broker, topic)


def test_a_topic_is_made_by_writing_to_it(client, new_name):
    topic = new_name()
    client.produce(topic, SAMPLES[:1])
    assert client.describe().topics[topic] == 1
    (found,) = client.consume(topic, "earliest", 1)
    assert found.content == SAMPLES[0].content
