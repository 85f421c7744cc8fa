"""What real clients and Apache Kafka wrote is decoded and encoded again to the same bytes."""

import re
import struct
from pathlib import Path

import pytest

from samsa.wire.apis import APIS, Api, ApiKey
from samsa.wire.frame import read_request, read_response, request_frame, response_frame

GOLDEN = Path(__file__).parent / "golden"
RESPONSES = sorted(GOLDEN.glob("*-response.bin"))
REQUESTS = sorted(set(GOLDEN.glob("*.bin")) - set(RESPONSES))
RESPONSE_NAME = re.compile(r"(?P<api>.+)-v(?P<version>\d+)-response")


def name_of(file: Path) -> str:
    return file.stem


def sized(frame: bytes) -> bytes:
    return struct.pack(">i", len(frame)) + frame


def api_of(file: Path) -> tuple[Api, int]:
    name = RESPONSE_NAME.fullmatch(file.stem)
    return APIS[ApiKey[name["api"].upper().replace("-", "_")]], int(name["version"])


@pytest.mark.parametrize("file", REQUESTS, ids=name_of)
def test_a_request_of_a_real_client_survives_decoding_and_encoding(file):
    frame = file.read_bytes()
    request = read_request(memoryview(frame))
    api, version = APIS[request.api_key], request.api_version
    row = api.request.decode(version, request.body)
    assert api.request.encode_bytes(version, row) == request.body
    again = request_frame(api, version, request.correlation_id, request.client_id, row)
    assert again == sized(frame)


@pytest.mark.parametrize("file", RESPONSES, ids=name_of)
def test_a_response_of_apache_kafka_survives_decoding_and_encoding(file):
    api, version = api_of(file)
    frame = file.read_bytes()
    correlation_id, row = read_response(api, version, memoryview(frame))
    segments = api.response.encode(version, row)
    assert b"".join(response_frame(api.key, version, correlation_id, segments)) == sized(frame)


def test_every_api_but_one_is_covered_by_a_real_frame():
    missing = {api.key for api in APIS.values()} - {key_of(file) for file in REQUESTS}
    # No client asks for leader epochs until a partition has changed its leader.
    assert missing == {ApiKey.OFFSET_FOR_LEADER_EPOCH}


def key_of(file: Path) -> int:
    return read_request(memoryview(file.read_bytes())).api_key
