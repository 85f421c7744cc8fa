"""`samsa console` for what is behind TCP: a broker, the bundle behind its shim, and Apache Kafka.

What it shows of them is what clients have done there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.broker import Broker
from support.console import Http, a_console
from support.waiting import eventually

API = "/console/api"
RECORDS = 30


def written(broker: Broker, topic: str) -> None:
    """Ten records in each of three partitions, with keys, compressed."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 3, 1)])[topic].result(60)
    config = {"bootstrap.servers": broker.bootstrap, "compression.type": "gzip", "linger.ms": 50}
    producer = Producer(config)
    refused: list[Any] = []
    for n in range(RECORDS):
        producer.produce(
            topic, f"value {n}", f"key-{n}", partition=n % 3, headers={"number": str(n)},
            on_delivery=lambda error, _: refused.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(60) == 0
    assert not refused


def read_by(broker: Broker, group: str, topic: str) -> None:
    """A group that has committed four of ten records of a partition, and has left."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})

    def has_committed() -> bool:
        try:
            consumer.commit(offsets=[TopicPartition(topic, 1, 4)], asynchronous=False)
        except KafkaException:
            return False  # Apache Kafka's coordinator is not ready yet
        return True

    assert eventually(has_committed, 30)
    consumer.close()


def everything(http: Http, broker: Broker, topic: str) -> None:
    written(broker, topic)
    group = f"group-of-{topic}"
    read_by(broker, group, topic)
    shows_the_topic(http, topic)
    shows_its_records(http, topic)
    finds_records(http, topic)
    follows_what_comes(http, topic)
    resets_the_group(http, topic, group)
    answers_the_routes_of_the_http_api(http, topic)


def shows_the_topic(http: Http, topic: str) -> None:
    overview = http.get(f"{API}/overview")
    assert overview["cluster_id"]
    assert overview["brokers"]
    assert not overview["features"]["cost"]
    assert overview["connections"] is None
    (row,) = http.get(f"{API}/topics", search=topic)["topics"]
    assert (row["partitions"], row["records"], row["cleanup_policy"]) == (3, RECORDS, "delete")
    log = http.get(f"{API}/topics/{topic}/log")
    assert [(each["start"], each["end"]) for each in log["partitions"]] == [(0, 10)] * 3
    assert {each["segments"] for each in log["partitions"]} == {None}


def shows_its_records(http: Http, topic: str) -> None:
    path = f"{API}/topics/{topic}/records"
    found, start = [], "end"
    while start:
        page = http.get(path, limit=7, **{"from": start})
        found += page["records"]
        start = ",".join(f"{number}:{place}" for number, place in page["next"].items())
    assert {each["value"]["text"] for each in found} == {f"value {n}" for n in range(RECORDS)}
    times = [each["timestamp"] for each in found]
    assert times == sorted(times, reverse=True)
    (one,) = http.get(path, partition=1, limit=1, **{"from": "4"})["records"]
    assert (one["key"], one["value"]) == ({"text": "key-13"}, {"text": "value 13"})
    assert one["headers"] == [{"name": "number", "value": {"text": "13"}}]


def finds_records(http: Http, topic: str) -> None:
    *found, done = http.lines(f"{API}/topics/{topic}/search", q="^value 1[3-5]$", regex=1)
    keys = sorted(each["record"]["key"]["text"] for each in found if "record" in each)
    assert keys == ["key-13", "key-14", "key-15"]
    assert (done["done"]["searched"], done["done"]["why"]) == (RECORDS, "end")


def follows_what_comes(http: Http, topic: str) -> None:
    with http.open(f"{API}/topics/{topic}/tail") as tail:
        assert b"ping" in tail.readline()
        record = {"key": "new", "value": "by hand", "partition": 2}
        http.send("POST", f"/topics/{topic}/records", {"records": [record]})
        line = tail.readline()
        while b"record" not in line:
            line = tail.readline()
    assert b'"by hand"' in line


def resets_the_group(http: Http, topic: str, group: str) -> None:
    def lag() -> Any:
        (row,) = http.get(f"{API}/groups", search=group)["groups"]
        return row["lag"]

    assert eventually(lambda: lag() == 6)
    given = {"topic": topic, "partitions": [1], "to": "earliest", "dry_run": True}
    reset = f"{API}/groups/{group}/reset"
    row = {"topic": topic, "partition": 1, "from": 4, "to": 0, "lag_after": 10}
    assert http.send("POST", reset, given) == {"dry_run": True, "offsets": [row]}
    http.send("POST", reset, {**given, "dry_run": False})
    (position,) = http.get(f"{API}/groups/{group}")["offsets"]
    assert (position["committed"], position["end"], position["lag"]) == (0, 10, 10)


def config_of(http: Http, topic: str, name: str) -> str:
    configs = http.get(f"/topics/{topic}/configs")["configs"]
    (value,) = (each["value"] for each in configs if each["name"] == name)
    return str(value)


def answers_the_routes_of_the_http_api(http: Http, topic: str) -> None:
    assert http.get("/health")["status"] == "ok"
    assert http.get("/cluster")["cluster_id"]
    described = http.get(f"/topics/{topic}/partitions")["partitions"]
    assert [each["end"] for each in described] == [10, 10, 11]
    assert all(each["size"] > 0 for each in described)
    names = {each["name"] for each in http.get(f"/topics/{topic}/configs")["configs"]}
    assert {"retention.ms", "cleanup.policy"} <= names
    http.send("PATCH", f"/topics/{topic}/configs", {"configs": {"retention.ms": "3600000"}})
    # Another function, or node, may know the topic as it was for a moment.
    assert eventually(lambda: config_of(http, topic, "retention.ms") == "3600000")
    assert http.refused(f"{API}/topics/no-such-{topic}/log")[0] == 404
    # Other tests use the same Apache Kafka.
    open_in = [each["partitions"] for each in http.get(f"{API}/transactions")["transactions"]]
    assert topic not in str(open_in)
    assert topic not in str(http.get(f"{API}/security")["quotas"])
    assert http.get(f"{API}/history", metric="topic_size", topic=topic)["series"]
    http.send("DELETE", f"/topics/{topic}")
    assert eventually(lambda: http.get(f"{API}/topics", search=topic)["total"] == 0)
    made = http.send("POST", "/topics", {"name": f"{topic}-2", "partitions": 2})
    assert made["partitions"] == 2
    # Apache Kafka answers before all of it knows the topic.
    assert eventually(lambda: http.get(f"/topics/{topic}-2")["partitions"] == 2)
    wider = http.send("POST", f"/topics/{topic}-2/partitions", {"count": 3})
    assert wider["partitions"] == 3


def test_a_console_shows_a_broker_behind_tcp(
    broker: Broker, new_name: Callable[[], str], tmp_path: Path
):
    with a_console(tmp_path, f"kafka://{broker.bootstrap}") as http:
        everything(http, broker, new_name())


def test_a_console_shows_apache_kafka(
    apache_kafka: Broker, new_name: Callable[[], str], tmp_path: Path
):
    with a_console(tmp_path, f"kafka://{apache_kafka.bootstrap}") as http:
        everything(http, apache_kafka, new_name())
