"""A request names as many elements as it may, in all its arrays and tags together; no more."""

from typing import Any

import pytest
from support.arrays import Path, arrays, row_with

from samsa.wire.apis import APIS, Api
from samsa.wire.errors import LongAnswer, TooManyElements
from samsa.wire.frame import MAX_HEADER_TAGS, DecodeError, read_request
from samsa.wire.messages import delete_groups, metadata
from samsa.wire.runtime import varint_bytes

MANY = 7


def parameter(api: Api, version: int, path: Path) -> Any:
    """Versions before the newest are for thorough runs."""
    marks = [pytest.mark.thorough] if version < api.versions[-1] else []
    return pytest.param(
        api, version, path, id=f"{api.name}-{version}-{'.'.join(path)}", marks=marks
    )


ALL = [
    parameter(api, version, path)
    for api in APIS.values()
    for version in api.versions
    for path in arrays(api.request, version)
]


def test_every_request_with_arrays_is_looked_at():
    assert len(ALL) > 200


@pytest.mark.parametrize(("api", "version", "path"), ALL)
def test_one_element_more_than_allowed_is_refused(api: Api, version: int, path: Path):
    row = row_with(api.request, version, path, MANY)
    body = memoryview(api.request.encode_bytes(version, row))
    few = _least_allowed(api, version, body)
    more = row_with(api.request, version, path, MANY + 1)
    longer = memoryview(api.request.encode_bytes(version, more))
    assert few >= MANY
    api.request.decode(version, body, most=few)
    with pytest.raises(TooManyElements):
        api.request.decode(version, longer, most=few)


def _least_allowed(api: Api, version: int, body: memoryview) -> int:
    """With which the request can just be read."""
    for most in range(10 * MANY):
        try:
            api.request.decode(version, body, most=most)
        except TooManyElements:
            continue
        return most
    raise AssertionError("it has more elements than were put into it")


def test_elements_are_counted_before_any_is_made():
    message = delete_groups.REQUEST
    noise = (100).to_bytes(4, "big") + b"\xff" * 200
    with pytest.raises(DecodeError) as unlimited:
        message.decode(0, memoryview(noise))
    assert not isinstance(unlimited.value, TooManyElements)
    with pytest.raises(TooManyElements):
        message.decode(0, memoryview(noise), most=99)


def test_arrays_share_one_limit():
    row = metadata.REQUEST(topics=[metadata.TOPIC(name="a"), metadata.TOPIC(name="b")])
    body = memoryview(metadata.REQUEST.encode_bytes(9, row))
    assert len(metadata.REQUEST.decode(9, body, most=2).topics) == 2
    with pytest.raises(TooManyElements):
        metadata.REQUEST.decode(9, body, most=1)


def test_tagged_fields_that_nobody_knows_count_as_elements():
    body = metadata.REQUEST.encode_bytes(9, metadata.REQUEST(topics=[]))
    tags = varint_bytes(1_000) + b"".join(varint_bytes(9_000 + n) + b"\0" for n in range(1_000))
    tagged = memoryview(body[:-1] + tags)
    metadata.REQUEST.decode(9, tagged, most=1_000)
    with pytest.raises(TooManyElements):
        metadata.REQUEST.decode(9, tagged, most=999)


def test_tagged_fields_of_a_header_are_few():
    header = bytes.fromhex("0003 0009 00000001 ffff".replace(" ", ""))
    for count in (MAX_HEADER_TAGS, MAX_HEADER_TAGS + 1):
        tags = varint_bytes(count) + b"".join(varint_bytes(n) + b"\0" for n in range(count))
        if count > MAX_HEADER_TAGS:
            with pytest.raises(DecodeError):
                read_request(memoryview(header + tags))
        else:
            read_request(memoryview(header + tags))


@pytest.mark.parametrize("version", APIS[3].versions)
def test_an_answer_that_is_too_long_to_encode_at_once_says_so(version: int):
    partitions = [metadata.PARTITION_RESPONSE(partition_index=n) for n in range(10)]
    row = metadata.RESPONSE(topics=[metadata.TOPIC_RESPONSE(name="a", partitions=partitions)])
    with pytest.raises(LongAnswer):
        metadata.RESPONSE.encode(version, row, 8)
    assert metadata.RESPONSE.encode(version, row, 1_000) == metadata.RESPONSE.encode(version, row)
