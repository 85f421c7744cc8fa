"""Any bytes are a value or a DecodeError, and cost no more memory than their length explains."""

import tracemalloc
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property.wire.strategies import BRIEF, rows

from samsa.wire.apis import APIS
from samsa.wire.errors import DecodeError
from samsa.wire.frame import read_request

pytestmark = pytest.mark.thorough
every_message = pytest.mark.parametrize(
    ("message", "versions"),
    [(message, api.versions) for api in APIS.values() for message in (api.request, api.response)],
    ids=lambda value: getattr(value, "name", ""),
)
LONGER = settings(BRIEF, max_examples=40)
LENGTHS = [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x0f", b"\x80", b"\x00"]


def survives(message, version, body):
    """Decode what may be anything; what does decode must survive its own encoding."""
    try:
        row = message.decode(version, memoryview(body))
    except DecodeError:
        return
    assert message.decode(version, memoryview(message.encode_bytes(version, row))) == row


@every_message
def test_random_bytes_are_a_value_or_a_decode_error(message, versions):
    @LONGER
    @given(st.sampled_from(versions), st.binary(max_size=64))
    def check(version, body):
        survives(message, version, body)

    check()


@every_message
def test_a_valid_body_with_one_wound_is_a_value_or_a_decode_error(message, versions):
    @LONGER
    @given(st.sampled_from(versions), st.data())
    def check(version, data):
        body = message.encode_bytes(version, data.draw(rows(message, version)))
        at = data.draw(st.integers(0, len(body)))
        wound = data.draw(st.sampled_from(LENGTHS) | st.binary(max_size=5))
        replaced = data.draw(st.integers(0, 5))
        survives(message, version, body[:at] + wound + body[at + replaced :])

    check()


@every_message
def test_a_kilobyte_of_one_byte_never_costs_a_megabyte(message, versions):
    for version, byte in product(versions, (0x00, 0x01, 0x7F, 0xFF)):
        body = bytes([byte]) * 1024
        survives(message, version, body)  # compiled now, so that only decoding is measured
        assert peak_memory(lambda v=version, b=body: survives(message, v, b)) < 1_000_000


def peak_memory(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@BRIEF
@given(st.binary(max_size=40) | st.binary(max_size=30).map(b"\0\3\0\x0c\0\0\0\1\0\1a".__add__))
def test_any_bytes_are_a_request_header_or_a_decode_error(frame):
    try:
        request = read_request(memoryview(frame))
    except DecodeError:
        return
    assert bytes(frame).endswith(bytes(request.body))
