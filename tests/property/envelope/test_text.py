from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st
from property.envelope.messages import MESSAGES, damaged
from property.records.strategies import examples

from samsa_websocket.envelope import EnvelopeError, decode, encode

often = examples(300)


@often
@given(MESSAGES)
def test_a_message_comes_back_from_its_text(message):
    assert decode(encode(message)) == message


@often
@given(MESSAGES)
def test_a_text_is_ascii_so_that_characters_are_bytes(message):
    assert encode(message).isascii()


@often
@given(st.text() | damaged())
@example("1 request " + "9" * 10_000)
def test_any_text_is_a_message_or_one_error(text):
    with suppress(EnvelopeError):
        found = decode(text)
        assert decode(encode(found)) == found
