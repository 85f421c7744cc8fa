"""Our tables against Kafka's own definitions, field by field and version by version."""

import re
import sys
import uuid

import pytest
from property.wire.kafka_jar import definition
from property.wire.strategies import MESSAGES, message_id

from samsa.wire.apis import APIS
from samsa.wire.schema import RECORDS, Struct

# The old versions whose fields Kafka 4 no longer lists: other oracles hold them.
FORGOTTEN = {
    ("ListOffsetsRequest", 0),
    ("ListOffsetsResponse", 0),
    ("OffsetCommitRequest", 1),
    ("DescribeConfigsResponse", 0),
}
TYPES = {"bool": "BOOLEAN"}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def within(versions: str, version: int) -> bool:
    if versions == "none":
        return False
    first, _, last = versions.rstrip("+").partition("-")
    stop = sys.maxsize if versions.endswith("+") else int(last or first)
    return int(first) <= version <= stop


def kafka_default(field: dict, type_: str, is_array: bool):
    told = field.get("default")
    if told == "null" or type_ == "records":
        return None
    if is_array:
        return []
    plain = {
        "string": told or "",
        "bytes": b"",
        "bool": told == "true",
        "uuid": uuid.UUID(int=0),
    }
    return plain[type_] if type_ in plain else int(str(told or 0), 0)


def kafka_shape(fields: list[dict], version: int, shared: dict[str, list]) -> list[tuple]:
    """(name, type or nested shape, array, nullable, tag, default) of each field, in order.

    `shared` has the fields of the structs that a message uses in several places.
    """
    return [kafka_field(f, version, shared) for f in fields if within(f["versions"], version)]


def kafka_field(field: dict, version: int, shared: dict[str, list]) -> tuple:
    is_array = field["type"].startswith("[]")
    type_ = field["type"].removeprefix("[]")
    nullable = within(field.get("nullableVersions", "none"), version)
    tag = field["tag"] if within(field.get("taggedVersions", "none"), version) else None
    inner = field.get("fields") or shared.get(type_)
    if inner:
        nested = kafka_shape(inner, version, shared)
        told = is_array or field.get("default") == "null"
        default = kafka_default(field, type_, is_array) if told else "its own"
        return (snake(field["name"]), (type_, nested), is_array, nullable, tag, default)
    default = kafka_default(field, type_, is_array)
    shown = TYPES.get(type_, type_.upper())
    return (snake(field["name"]), shown, is_array, nullable, tag, default)


def our_shape(struct: Struct, version: int) -> list[tuple]:
    return [our_field(f, version) for f in struct.fields if f.present(version)]


def our_field(field, version: int) -> tuple:
    type_ = field.type
    is_struct = isinstance(type_, Struct)
    shown = (type_.name, our_shape(type_, version)) if is_struct else type_.name
    default = "its own" if field.default_struct else field.default
    return (field.name, shown, field.is_array, field.nullable(version), field.tag, default)


@pytest.mark.parametrize(
    ("message", "version"),
    [(m, v) for m, v in MESSAGES if (m.name, v) not in FORGOTTEN],
    ids=message_id,
)
def test_a_message_has_exactly_the_fields_that_kafka_gives_it(message, version):
    kafka = definition(message.name)
    shared = {struct["name"]: struct["fields"] for struct in kafka.get("commonStructs", [])}
    assert our_shape(message, version) == kafka_shape(kafka["fields"], version, shared)
    assert message.flexible(version) == within(kafka["flexibleVersions"], version)


@pytest.mark.parametrize("api", APIS.values(), ids=message_id)
def test_an_api_has_kafkas_key_and_every_version_that_kafka_offers(api):
    for message in (api.request, api.response):
        kafka = definition(message.name)
        assert kafka["apiKey"] == api.key
        first, _, last = kafka["validVersions"].partition("-")
        # What is unstable is offered only to who sets unstable.api.versions.enable.
        unstable = bool(definition(api.request.name).get("latestVersionUnstable"))
        assert int(last or first) - unstable == api.versions[-1]
        assert api.versions[0] in (0, int(first))


def test_records_are_nullable_in_every_table_for_null_is_their_default():
    structs = [message for message, _ in MESSAGES]
    while structs:
        for field in structs.pop().fields:
            if isinstance(field.type, Struct):
                structs.append(field.type)
            assert field.type is not RECORDS or field.nullable(field.since)
