"""Serializers of real clients, with the schema registry of `samsa up`."""

import base64
import json
import subprocess
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.api import label_pb2, metric_pb2
from google.rpc import status_pb2
from server.process import Samsa, a_samsa
from server.test_http import Http
from support.needs import schemas_go, schemas_node

SECONDS = 60
ORDER = {"id": 7, "customer": "Grüße", "note": None}
AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": "string"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
JSON = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "customer": {"type": "string"}},
    "required": ["id"],
}


@pytest.fixture(scope="module")
def samsa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("schemas"), "--http", "127.0.0.1:0") as samsa:
        yield samsa


@pytest.fixture
def url(samsa: Samsa) -> str:
    return Http(samsa).url


@pytest.fixture
def client(url: str) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": url})


@pytest.fixture
def topic() -> str:
    return f"orders-{uuid4()}"


def sent(samsa: Samsa, topic: str, serialize: Any, value: Any) -> bytes:
    """The bytes of the value, after they have been to the broker and back."""
    where = SerializationContext(topic, MessageField.VALUE)
    producer = Producer({"bootstrap.servers": samsa.broker.bootstrap})
    producer.produce(topic, serialize(value, where))
    assert producer.flush(SECONDS) == 0
    settings = {"bootstrap.servers": samsa.broker.bootstrap, "group.id": topic}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    message = consumer.poll(SECONDS)
    consumer.close()
    assert message is not None
    assert not message.error(), message.error()
    found = message.value()
    assert isinstance(found, bytes)
    return found


def read(topic: str, deserialize: Any, data: bytes) -> Any:
    return deserialize(data, SerializationContext(topic, MessageField.VALUE))


def test_avro_of_confluent(samsa: Samsa, client: SchemaRegistryClient, topic: str):
    data = sent(samsa, topic, AvroSerializer(client, json.dumps(AVRO)), ORDER)
    assert read(topic, AvroDeserializer(client), data) == ORDER
    latest = client.get_latest_version(f"{topic}-value")
    assert int.from_bytes(data[1:5]) == latest.schema_id


def test_json_of_confluent(samsa: Samsa, client: SchemaRegistryClient, topic: str):
    order = {"id": 7, "customer": "Grüße"}
    data = sent(samsa, topic, JSONSerializer(json.dumps(JSON), client), order)
    reader = JSONDeserializer(None, schema_registry_client=client)
    assert read(topic, reader, data) == order


@pytest.mark.parametrize(
    "message",
    [
        status_pb2.Status(code=5, message="Grüße"),
        # It imports two other files, which become schemas of their own.
        metric_pb2.MetricDescriptor(name="m", labels=[label_pb2.LabelDescriptor(key="k")]),
    ],
    ids=["alone", "with references"],
)
def test_protobuf_of_confluent(
    samsa: Samsa, client: SchemaRegistryClient, topic: str, message: Any
):
    """Its schemas come as descriptors in base64, and it asks for them in that form."""
    settings = {"use.deprecated.format": False}
    data = sent(samsa, topic, ProtobufSerializer(type(message), client, settings), message)
    reader = ProtobufDeserializer(type(message), settings, client)
    assert read(topic, reader, data) == message
    text = client.get_latest_version(f"{topic}-value").schema.schema_str
    assert text is not None
    assert f"message {type(message).__name__} {{" in text


def test_every_call_of_confluents_client(client: SchemaRegistryClient, topic: str):
    first, second = Schema('"int"', "AVRO"), Schema('"long"', "AVRO")
    number = client.register_schema(topic, first)
    assert client.get_schema(number).schema_str == '"int"'
    assert client.lookup_schema(topic, first).version == 1
    assert client.test_compatibility(topic, second)
    assert not client.test_compatibility(topic, Schema('"string"', "AVRO"))
    client.register_schema(topic, second)
    assert client.get_versions(topic) == [1, 2]
    assert client.get_version(topic, 2).schema.schema_str == '"long"'
    assert topic in client.get_subjects()
    client.set_compatibility(topic, "FULL")
    assert client.get_compatibility(topic) == "FULL"
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(topic, Schema('"bytes"', "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 409)
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_version(topic, 9)
    assert refused.value.error_code == 40402
    referring = Schema(
        json.dumps({"type": "array", "items": "Money"}),
        "AVRO",
        [SchemaReference("Money", "money", 1)],
    )
    client.register_schema("money", Schema('{"type":"record","name":"Money","fields":[]}', "AVRO"))
    found = client.get_schema(client.register_schema(f"{topic}-2", referring))
    assert [each.subject for each in found.references] == ["money"]
    assert client.delete_version(topic, 1) == 1
    assert client.delete_subject(topic) == [2]
    assert client.delete_subject(topic, permanent=True) == [1, 2]


def ran(*command: Any) -> Any:
    done = subprocess.run(
        [str(each) for each in command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_franz_go(url: str, topic: str):
    told = ran(schemas_go() / "driver", url, topic)
    assert told == {
        "types": 3,
        "created": 1,
        "wider fits": True,
        "other fits": False,
        "other says why": True,
        "other": {"status": 409, "code": 409},
        "second": 2,
        "looked up": 1,
        "text": True,
        "subjects": [topic],
        "versions": [1, 2],
        "schemas": 2,
        "unknown": {"status": 404, "code": 40403},
        "with a reference": True,
        "referring": 1,
        "referred to": {"status": 422, "code": 42206},
        "set": "FULL",
        "level": "FULL",
        "mode": "READWRITE",
        "framed": True,
        "deleted": [1],
        "gone": [1],
    }


def test_kafkajs_reads_what_confluent_writes_and_the_other_way_round(
    samsa: Samsa, url: str, client: SchemaRegistryClient, topic: str
):
    data = sent(samsa, topic, AvroSerializer(client, json.dumps(AVRO)), ORDER)
    value = base64.b64encode(data).decode()
    told = ran("node", schemas_node() / "driver.js", url, topic, value)
    assert told["decoded"] == {**ORDER, "id": 7}
    written = told["written"]
    for kind in ("AVRO", "JSON", "PROTOBUF"):
        assert written[kind]["id"] == written[kind]["latest"] == written[kind]["found"]
        assert written[kind]["decoded"] == {"id": 7, "customer": "Grüße"}
    readers = {
        "AVRO": AvroDeserializer(client),
        "JSON": JSONDeserializer(None, schema_registry_client=client),
    }
    for kind, reader in readers.items():
        found = read(topic, reader, base64.b64decode(written[kind]["value"]))
        assert found == {"id": 7, "customer": "Grüße"}
    assert "incompatible" in told["refused"]
