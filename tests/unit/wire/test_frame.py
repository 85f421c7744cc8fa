"""Frames: headers around bodies, in both directions."""

import pytest

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import (
    UnknownApi,
    read_request,
    read_response,
    request_frame,
    response_frame,
)
from samsa.wire.messages import api_versions, metadata


def view(text: str) -> memoryview:
    return memoryview(bytes.fromhex(text))


def test_a_classic_header_ends_with_the_client_id():
    request = read_request(view("0003 0001 0000002a 0003 636c69 ffffffff"))
    assert request.api_key == ApiKey.METADATA
    assert (request.api_version, request.correlation_id, request.client_id) == (1, 42, "cli")
    assert request.body == view("ffffffff")


def test_the_client_id_may_be_null():
    assert read_request(view("0003 0001 00000000 ffff 00000000")).client_id is None


def test_a_flexible_header_keeps_the_classic_client_id_and_adds_tags():
    assert read_request(view("0003 000c 00000001 0001 61 00 00010000")).body == view("00010000")
    tagged = read_request(view("0003 000c 00000001 0001 61 02 00 01 ff 07 00 00010000"))
    assert tagged.client_id == "a"
    assert tagged.body == view("00010000")


def test_a_version_that_is_not_ours_still_tells_who_asks():
    request = read_request(view("0012 0063 00000007 0001 61 00 0261 0262 00"))
    assert (request.api_version, request.correlation_id, request.client_id) == (99, 7, "a")
    assert request.body == view("00 0261 0262 00")


def test_an_unknown_api_key_has_its_own_error():
    with pytest.raises(UnknownApi, match="31337"):
        read_request(view("7a69 0000 00000000 ffff"))
    assert issubclass(UnknownApi, DecodeError)


@pytest.mark.parametrize(
    ("why", "frame"),
    [
        ("it is empty", ""),
        ("it ends inside the header", "0003 0001 0000"),
        ("the client id runs past the end", "0003 0001 00000000 0005 61"),
        ("the client id is not UTF-8", "0003 0001 00000000 0001 ff"),
        ("the tags are missing", "0003 000c 00000000 0001 61"),
        ("a tag runs past the end", "0003 000c 00000000 0001 61 01 00 09"),
    ],
)
def test_a_request_is_refused_when(why, frame):
    with pytest.raises(DecodeError):
        read_request(view(frame))


def test_a_classic_response_is_size_correlation_id_body():
    (frame,) = response_frame(ApiKey.METADATA, 1, 42, [bytearray(b"body")])
    assert frame == view("00000008 0000002a 626f6479")


def test_a_flexible_response_has_an_empty_tag_section_in_its_header():
    (frame,) = response_frame(ApiKey.METADATA, 9, 42, [b"body"])
    assert frame == view("00000009 0000002a 00 626f6479")


def test_an_api_versions_response_never_has_tags_in_its_header():
    (frame,) = response_frame(ApiKey.API_VERSIONS, 3, 42, [b"body"])
    assert frame == view("00000008 0000002a 626f6479")


def test_segments_that_are_not_bytes_stay_apart_and_count():
    piece = memoryview(b"body")
    assert response_frame(ApiKey.METADATA, 0, 1, [piece]) == [view("00000008 00000001"), piece]
    segments = [bytearray(b"a"), piece]
    first, second = response_frame(ApiKey.FETCH, 4, 1, segments)
    assert first == view("00000009 00000001 61")
    assert second is piece
    assert segments == [bytearray(b"a"), piece]


def test_an_empty_response_is_only_a_header():
    assert response_frame(ApiKey.METADATA, 0, 1, []) == [view("00000004 00000001")]


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("client_id", [None, "", "me"])
def test_a_request_frame_reads_back(version, client_id):
    row = api_versions.REQUEST()
    if version >= 3:
        row.client_software_name = "samsa"
    api = APIS[ApiKey.API_VERSIONS]
    frame = memoryview(request_frame(api, version, 7, client_id, row))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    request = read_request(frame[4:])
    assert request[:4] == (18, version, 7, client_id)
    assert api.request.decode(version, request.body) == row


@pytest.mark.parametrize("key", [ApiKey.METADATA, ApiKey.API_VERSIONS])
def test_a_response_frame_reads_back(key):
    api = APIS[key]
    for version in api.versions:
        row = api.response()
        frame = b"".join(response_frame(key, version, 9, api.response.encode(version, row)))
        assert read_response(api, version, memoryview(frame)[4:]) == (9, row)


def test_a_response_that_ends_in_its_header_is_refused():
    for frame in ("0000", "00000001"):
        with pytest.raises(DecodeError):
            read_response(APIS[ApiKey.METADATA], 9, view(frame))


def test_a_request_row_for_a_v0_client_needs_no_tags():
    api = APIS[ApiKey.METADATA]
    row = metadata.REQUEST(topics=[metadata.TOPIC(name="t")])
    frame = request_frame(api, 0, 1, "c", row)
    assert frame == view("00000012 0003 0000 00000001 0001 63 00000001 0001 74")
