"""What fits into 128 KB of text, counted by making it."""

from pathlib import Path

import pytest

from samsa_websocket.envelope import (
    LARGEST_INLINE,
    MAX_MESSAGE,
    MAX_PART,
    Reply,
    Request,
    base64_size,
    encode,
    fits,
    parts,
)
from samsa_websocket.envelope.fields import LARGEST_INTEGER, to_base64
from samsa_websocket.envelope.sizes import HEADER_ROOM


def test_the_largest_frame_fits_behind_the_longest_header():
    frame = bytes(LARGEST_INLINE)
    longest = Request(LARGEST_INTEGER, frame, waited_ms=2**31 - 1)
    assert fits(encode(longest))
    assert fits(encode(Reply(LARGEST_INTEGER, frame)))
    assert fits(encode(Reply(LARGEST_INTEGER, frame, several=True, mute_ms=2**31 - 1)))


def test_the_page_names_the_largest_frame():
    page = (Path(__file__).parents[3] / "docs" / "envelope.md").read_text()
    assert f"**{LARGEST_INLINE:,} bytes**" in page


def test_no_frame_that_would_fit_is_turned_away_for_more_than_the_header_s_room():
    larger = encode(Request(1, bytes(LARGEST_INLINE + HEADER_ROOM)))
    assert not fits(larger)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 98_255, 98_256])
def test_the_arithmetic_of_base64_agrees_with_base64(count):
    assert base64_size(count) == len(to_base64(bytes(count)))


@pytest.mark.parametrize("length", [0, 1, MAX_PART - 1, MAX_PART, MAX_PART + 1, MAX_MESSAGE])
def test_fragments_are_small_and_none_is_empty_but_the_only_one(length):
    text = "x" * length
    cut = parts(text)
    assert "".join(cut) == text
    assert all(0 < len(part) <= MAX_PART for part in cut) or cut == [""]
