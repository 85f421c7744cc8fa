"""What cannot be done without a consumer group waits here until the broker serves groups."""

import pytest
from clients.probe import JOIN_GROUP, served_versions
from clients.samples import SAMPLES


@pytest.fixture
def groups(broker) -> None:
    if JOIN_GROUP not in served_versions(broker):
        pytest.skip("this broker serves no consumer groups yet")


def test_the_consumer_of_kafkajs_reads_in_a_group(groups, clients, new_topic, new_name):
    topic = new_topic()
    clients["kafkajs"].produce(topic, SAMPLES, partition=0)
    found = clients["kafkajs"].consume_in_group(topic, new_name(), len(SAMPLES))
    assert [record.content for record in found] == [record.content for record in SAMPLES]
