from dataclasses import replace

import pytest
from clients.client import Client
from clients.legacy import LEGACY
from clients.probe import FETCH, served_versions
from clients.samples import SAMPLES

CODECS = ("none", "gzip", "snappy")
# Message sets know neither headers nor, with kafka-python, values that are absent.
RECORDS = [replace(sample, headers=()) for sample in SAMPLES if sample.value is not None]
CONTENT = [record.content for record in RECORDS]


@pytest.fixture(autouse=True)
def old_versions(broker) -> None:
    if not broker.ours and 0 not in served_versions(broker).get(FETCH, ()):
        pytest.skip("the broker of SAMSA_TEST_BOOTSTRAP no longer speaks 0.8")


@pytest.fixture(params=LEGACY)
def legacy(request: pytest.FixtureRequest, broker, tmp_path) -> Client:
    return LEGACY[request.param](broker.bootstrap, tmp_path)


@pytest.mark.parametrize("codec", CODECS)
def test_a_legacy_client_reads_back_what_it_wrote(legacy, codec, new_topic):
    topic = new_topic()
    offsets = legacy.produce(topic, RECORDS, codec, partition=0)
    found = legacy.consume(topic, "earliest", len(RECORDS), partition=0)
    assert [record.content for record in found] == CONTENT
    assert [record.offset for record in found] == offsets == list(range(len(RECORDS)))


@pytest.mark.parametrize("codec", CODECS)
def test_a_modern_consumer_reads_what_a_legacy_producer_wrote(legacy, codec, new_topic, clients):
    topic = new_topic()
    legacy.produce(topic, RECORDS, codec, partition=0)
    for reader in ("confluent", "aiokafka"):
        found = clients[reader].consume(topic, "earliest", len(RECORDS), partition=0)
        assert [record.content for record in found] == CONTENT


@pytest.mark.parametrize("codec", CODECS)
def test_a_legacy_consumer_reads_what_a_modern_producer_wrote(legacy, codec, new_topic, clients):
    topic = new_topic()
    clients["aiokafka"].produce(topic, SAMPLES, codec, partition=0)
    found = legacy.consume(topic, "earliest", len(SAMPLES), partition=0)
    written = [replace(sample, headers=()).content for sample in SAMPLES]
    assert [record.content for record in found] == written


def test_a_legacy_consumer_in_the_middle_of_a_compressed_batch_gets_the_right_offsets(
    legacy, new_topic, clients
):
    topic = new_topic()
    legacy.produce(topic, RECORDS, "gzip", partition=0)
    legacy.produce(topic, RECORDS, "snappy", partition=0)
    found = legacy.consume(topic, "earliest", 2 * len(RECORDS), partition=0)
    assert [record.offset for record in found] == list(range(2 * len(RECORDS)))
    assert [record.content for record in found] == CONTENT * 2
