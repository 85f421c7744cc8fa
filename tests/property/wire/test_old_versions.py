"""The versions that Kafka 4 dropped, against kafka-python, which still speaks them."""

from importlib import import_module

import pytest
from hypothesis import given
from property.wire.strategies import BRIEF, rows

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.schema import Struct

OLD = [
    (ApiKey.PRODUCE, "producer", [0, 1, 2]),
    (ApiKey.FETCH, "consumer", [0, 1, 2, 3]),
    (ApiKey.LIST_OFFSETS, "consumer", [0]),
    (ApiKey.METADATA, "metadata", [0]),
    (ApiKey.OFFSET_COMMIT, "consumer", [0, 1]),
    (ApiKey.OFFSET_FETCH, "consumer", [0]),
    (ApiKey.CREATE_TOPICS, "admin", [0, 1]),
    (ApiKey.DELETE_TOPICS, "admin", [0]),
    (ApiKey.OFFSET_FOR_LEADER_EPOCH, "consumer", [0, 1]),
    (ApiKey.DESCRIBE_CONFIGS, "admin", [0]),
    (ApiKey.ALTER_REPLICA_LOG_DIRS, "admin", [0]),
    (ApiKey.DESCRIBE_LOG_DIRS, "admin", [0]),
]
CASES = [
    pytest.param(message, version, package, id=f"{message.name}-v{version}")
    for key, package, versions in OLD
    for message in (APIS[key].request, APIS[key].response)
    for version in versions
]


def present(struct, version):
    return [field for field in struct.fields if field.present(version)]


def plain(value, struct, version):
    """One of our rows, or one of their objects, as nested dictionaries."""
    return {
        field.name: plain_field(getattr(value, field.name), field, version)
        for field in present(struct, version)
    }


def plain_field(value, field, version):
    if isinstance(field.type, Struct) and value is not None:
        return [plain(item, field.type, version) for item in value]
    return value


def built(row, struct, version, theirs):
    """Our row as an object of their class, whose nested classes have Kafka's names."""
    values = {}
    for field in present(struct, version):
        values[field.name] = getattr(row, field.name)
        if isinstance(field.type, Struct) and values[field.name] is not None:
            nested = getattr(theirs, field.type.name)
            items = values[field.name]
            values[field.name] = [built(item, field.type, version, nested) for item in items]
    return theirs(version=version, **values)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("message", "version", "package"), CASES)
def test_kafka_python_reads_what_we_write_and_we_read_what_it_writes(message, version, package):
    theirs = getattr(import_module(f"kafka.protocol.{package}"), message.name)

    @BRIEF
    @given(rows(message, version))
    def check(row):
        read = theirs.decode(message.encode_bytes(version, row), version=version)
        assert plain(read, message, version) == plain(row, message, version)
        written = built(row, message, version, theirs).encode(version=version)
        assert message.decode(version, memoryview(bytes(written))) == row

    check()
