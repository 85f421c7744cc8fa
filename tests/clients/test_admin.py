import pytest
from clients.client import Record
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


@pytest.mark.parametrize("name", ADMINS)
def test_a_topic_grows_when_a_client_asks_for_it(client, new_topic):
    topic = new_topic(partitions=2)
    client.add_partitions(topic, 5)
    assert eventually(lambda: client.describe().topics[topic] == 5)
    record = Record(b"key", b"in a new partition")
    assert eventually(lambda: client.produce(topic, [record], partition=4)) == [0]
    (found,) = client.consume(topic, "earliest", 1, partition=4)
    assert found.content == record.content


@pytest.mark.parametrize("name", ADMINS)
def test_a_client_is_told_that_a_topic_does_not_shrink(client, new_topic):
    topic = new_topic(partitions=2)
    with pytest.raises(Exception, match=r"(?i)partitions.*invalid|invalid.*partitions|37"):
        client.add_partitions(topic, 1)


@pytest.mark.parametrize("name", ADMINS)
def test_a_client_changes_a_topics_configs_and_sees_them(client, new_topic):
    topic = new_topic()
    assert client.own_configs(topic) == {}
    for wanted in ({"retention.ms": "12345678"}, {"retention.ms": "23456789"}):
        client.alter_configs(topic, wanted)
        assert eventually(lambda wanted=wanted: client.own_configs(topic) == wanted)


@pytest.mark.parametrize("name", ADMINS)
def test_a_limit_that_one_client_sets_holds_for_the_others(client, clients, new_topic):
    topic = new_topic()
    client.alter_configs(topic, {"max.message.bytes": "1000"})
    large = Record(None, b"x" * 2_000)
    with pytest.raises(Exception, match=r"(?i)too.?large|larger than"):
        clients["confluent"].produce(topic, [large])


@pytest.mark.parametrize("name", ADMINS)
def test_a_client_is_told_what_is_wrong_with_a_config(client, new_topic):
    with pytest.raises(Exception, match=r"(?i)invalid"):
        client.alter_configs(new_topic(), {"retention.ms": "soon"})


@pytest.mark.parametrize("name", ADMINS)
def test_records_that_a_client_deletes_are_gone(client, new_topic):
    topic = new_topic()
    client.produce(topic, [Record(None, b"%d" % n) for n in range(10)], partition=0)
    client.delete_records(topic, 0, 4)
    left = client.consume(topic, "earliest", 6, partition=0)
    assert [(record.offset, record.value) for record in left] == [
        (n, b"%d" % n) for n in range(4, 10)
    ]


@pytest.mark.parametrize("name", ADMINS)
def test_a_client_is_told_that_it_cannot_delete_what_is_not_there(client, new_topic):
    with pytest.raises(Exception, match=r"(?i)out.?of.?range|deleting records"):
        client.delete_records(new_topic(), 0, 7)
