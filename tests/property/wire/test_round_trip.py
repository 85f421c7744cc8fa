"""What goes in comes out, for every message and every version, the old ones included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.wire.strategies import BRIEF, MESSAGES, message_id, parameters, rows

from samsa.wire.errors import DecodeError
from samsa.wire.messages import fetch

every_message = pytest.mark.parametrize(
    ("message", "version"), parameters(MESSAGES), ids=message_id
)


@every_message
def test_a_row_survives_encoding_and_every_truncation_is_refused(message, version):
    @BRIEF
    @given(rows(message, version), st.data())
    def check(row, data):
        body = message.encode_bytes(version, row)
        assert message.decode(version, memoryview(body)) == row
        with pytest.raises(DecodeError):
            message.decode(version, memoryview(body + b"\0"))
        if body:
            cut = data.draw(st.integers(0, len(body) - 1))
            with pytest.raises(DecodeError):
                message.decode(version, memoryview(body)[:cut])

    check()


@pytest.mark.parametrize("version", [0, 4, 12, 18])
def test_records_in_pieces_encode_as_records_in_one(version):
    @BRIEF
    @given(st.lists(st.binary(max_size=300), max_size=4))
    def check(pieces):
        def encoded(records):
            partition = fetch.PARTITION_RESPONSE(records=records)
            topic = fetch.TOPIC_RESPONSE(topic="t", partitions=[partition] * 2)
            return fetch.RESPONSE.encode_bytes(version, fetch.RESPONSE(responses=[topic]))

        assert encoded(pieces) == encoded(b"".join(pieces)) == encoded(tuple(pieces))

    check()
