"""Our codecs against kio's, both ways, for every version that both know."""

import pytest
from hypothesis import given
from kio.schema.errors import ErrorCode as KioErrorCode
from property.wire.kio_bridge import kio_decode, kio_encode, kio_rows, kio_type, to_kio
from property.wire.strategies import BRIEF, message_id, parameters

from samsa.wire.apis import APIS
from samsa.wire.errors import ErrorCode

EVERYTHING = [
    (message, version, kio_type(api, message, version))
    for api in APIS.values()
    for message in (api.request, api.response)
    for version in api.versions
]
SHARED = [(message, version, kio_class) for message, version, kio_class in EVERYTHING if kio_class]
GONE_FROM_KAFKA_4 = {
    "Produce": [0, 1, 2],
    "Fetch": [0, 1, 2, 3],
    "ListOffsets": [0],
    "OffsetCommit": [0, 1],
    "OffsetFetch": [0],
    "CreateTopics": [0, 1],
    "DeleteTopics": [0],
    "OffsetForLeaderEpoch": [0, 1],
    "DescribeConfigs": [0],
    "AlterReplicaLogDirs": [0],
    "DescribeLogDirs": [0],
}


def shown(value):
    return "kio" if isinstance(value, type) else message_id(value)


def test_kio_lacks_only_the_versions_that_kafka_4_dropped():
    missing = [
        (message.name, version) for message, version, kio_class in EVERYTHING if not kio_class
    ]
    assert missing == [
        (name + direction, version)
        for name, versions in GONE_FROM_KAFKA_4.items()
        for direction in ("Request", "Response")
        for version in versions
    ]


@pytest.mark.parametrize(("message", "version", "kio_class"), parameters(SHARED), ids=shown)
def test_kio_reads_what_we_write_and_we_read_what_kio_writes(message, version, kio_class):
    @BRIEF
    @given(kio_rows(message, kio_class, version))
    def check(row):
        entity = to_kio(row, message, kio_class, version)
        body = message.encode_bytes(version, row)
        assert kio_decode(kio_class, body) == entity
        assert message.decode(version, memoryview(kio_encode(entity))) == row

    check()


def test_error_codes_are_kios():
    assert {code.name: code.value for code in ErrorCode} == {
        code.name.upper(): code.value for code in KioErrorCode
    }
