import pytest
from clients.registry import ADMINS, NAMES
from support.waiting import eventually


@pytest.mark.parametrize("name", NAMES)
def test_a_client_finds_one_broker_at_the_address_it_used(client, broker):
    assert client.describe().brokers == [broker.bootstrap]


@pytest.mark.parametrize("name", NAMES)
def test_a_client_lists_every_topic_with_its_partitions(client, new_topic):
    one, twelve = new_topic(), new_topic(partitions=12)
    listed = client.describe().topics
    assert (listed[one], listed[twelve]) == (1, 12)


@pytest.mark.parametrize("name", ADMINS)
def test_a_topic_that_a_client_creates_has_the_partitions_it_asked_for(client, new_name, broker):
    topic = new_name()
    try:
        client.create_topic(topic, 12, {"retention.ms": "-1"})
    except RuntimeError:
        # Apache Kafka answers before it knows the topic itself, and KafkaJS asks only once.
        if broker.ours:
            raise
    assert eventually(lambda: client.describe().topics[topic]) == 12


@pytest.mark.parametrize("name", ADMINS)
def test_a_topic_cannot_be_created_twice(client, new_topic):
    with pytest.raises(Exception, match=r"(?i)already.?exists"):
        client.create_topic(new_topic(), 1, {})


@pytest.mark.parametrize("name", ADMINS)
def test_a_topic_that_a_client_deletes_is_gone(client, new_topic):
    topic = new_topic()
    client.delete_topic(topic)
    assert eventually(lambda: topic not in client.describe().topics)
