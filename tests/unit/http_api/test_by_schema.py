"""Records that are written and read by schemas of the registry, with the HTTP API."""

import base64
import json
from typing import Any

import pytest
from unit.http_api.given import Api, Site
from unit.http_api.test_rights import limit

from samsa.security.kinds import Operation, ResourceType

READ = "/topics/orders/partitions/0/records"
WRITE = "/topics/orders/records"
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
PROTO = 'syntax = "proto3"; message Order { int64 id = 1; repeated Order more = 2; }'


async def register(api: Api, subject: str, schema: Any, kind: str = "AVRO") -> int:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    body = {"schema": text, "schemaType": kind}
    answer = await api.client.post(f"/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


async def written(api: Api, status: int = 201, **record: Any) -> Any:
    return await api.post(WRITE, {"records": [{"partition": 0, **record}]}, status)


@pytest.mark.parametrize(
    ("kind", "schema", "name", "value", "data"),
    [
        ("AVRO", ORDER, "avro", {"id": 7}, b"\x0e"),
        ("JSON", {"type": "object"}, "jsonschema", {"id": 7}, b'{"id":7}'),
        ("PROTOBUF", PROTO, "protobuf", {"id": "7", "more": [{}]}, b"\x00\x08\x07\x12\x00"),
    ],
)
async def test_a_value_is_written_by_the_latest_schema_and_read_as_it_was(
    api: Api, kind: str, schema: Any, name: str, value: Any, data: bytes
):
    number = await register(api, "orders-value", schema, kind)
    await written(api, value={name: value})
    told = await api.get(f"{READ}/0", encoding="schema")
    assert told["value"] == {name: value, "schema_id": number}
    stored = (await api.get(f"{READ}/0", encoding="base64"))["value"]["base64"]
    assert base64.b64decode(stored) == b"\0" + number.to_bytes(4) + data
    await written(api, value=told["value"])  # as it was read
    listed = await api.get(READ, encoding="schema")
    assert [each["value"] for each in listed["records"]] == [told["value"]] * 2


async def test_keys_have_a_subject_of_their_own_and_an_id_may_be_given(api: Api):
    key = await register(api, "orders-key", '"string"')
    old = await register(api, "orders-value", ORDER)
    await register(api, "orders-value", json.dumps(ORDER).replace('"long"', '"double"'))
    value = {"avro": {"id": 7}, "schema_id": old}
    await written(api, key={"avro": "k"}, value=value)
    told = await api.get(f"{READ}/0", encoding="schema")
    assert told["key"] == {"avro": "k", "schema_id": key}
    assert told["value"] == value


async def test_what_has_no_schema_is_shown_without_one(api: Api):
    await register(api, "orders-value", ORDER)
    framed = base64.b64encode(b"\0\0\0\0\x01\x0e\x0e").decode()
    unknown = base64.b64encode(b"\0\0\0\0\x63\x0e").decode()
    for value in ({"text": "plain"}, {"base64": framed}, {"base64": unknown}, None):
        await written(api, value=value)
    told = await api.get(READ, encoding="schema")
    values = [each["value"] for each in told["records"]]
    assert values == [{"text": "plain"}, {"base64": framed}, {"base64": unknown}, None]


async def test_one_wrong_value_is_named_and_nothing_is_written(api: Api):
    await register(api, "orders-value", ORDER)
    records = [{"value": {"avro": {"id": 1}}}, {"value": {"avro": {"id": "x"}}}]
    refused = await api.post(WRITE, {"records": records}, 422)
    assert refused["errors"][0]["where"] == "body.records.1.value"
    assert "value.id is no long" in refused["detail"]
    assert (await api.get(READ))["end"] == 0


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"avro": 1}, "Subject 'orders-value' not found."),
        ({"avro": 1, "schema_id": 99}, "Schema 99 not found"),
        ({"protobuf": {}, "schema_id": 1}, "schema 1 is AVRO"),
        ({"avro": 1, "schema_id": 0}, "schema_id"),
        ({"avro": "\\ud800", "schema_id": 1}, ""),
    ],
)
async def test_a_schema_that_cannot_be_used_is_a_problem(api: Api, value: Any, why: str):
    await register(api, "another", '"string"')
    refused = await api.post(WRITE, {"records": [{"value": value}]}, 422 if why else 201)
    assert why in json.dumps(refused)


async def test_schemas_need_their_own_right(api: Api, site: Site):
    await register(api, "orders-value", ORDER)
    await api.topic()
    topic = ResourceType.TOPIC
    own = [(Operation.READ, topic, "orders"), (Operation.WRITE, topic, "orders")]
    limit(site, *own)
    await written(api, 403, value={"avro": {"id": 1}})
    await api.get(READ, 403, encoding="schema")
    limit(site, *own, (Operation.READ, topic, "_schemas"))
    await written(api, value={"avro": {"id": 1}})
    await api.get(READ, encoding="schema")
