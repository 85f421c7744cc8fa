"""HTTP answers, cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samsa.aws.http_answer import BadAnswer, HttpAnswer

MEASURED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Amz-Crc32: 7\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nhe\r\n3;more=1\r\nllo\r\n0\r\n\r\n"
)
WHOLE = {MEASURED: 200, CHUNKED: 400}


@given(st.sampled_from(list(WHOLE)), st.lists(st.integers(0, 120)))
def test_an_answer_is_the_same_however_it_is_cut(raw: bytes, cuts: list[int]):
    answer = HttpAnswer()
    bounds = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    parts = [raw[a:b] for a, b in pairwise(bounds)]
    whole = [answer.feed(part) for part in parts]
    assert whole == [False] * (len(parts) - 1) + [True]
    assert (answer.status, answer.body) == (WHOLE[raw], b"hello")
    assert answer.leaves_it_open


@pytest.mark.parametrize("raw", WHOLE)
def test_a_connection_that_ends_within_an_answer_makes_it_none(raw: bytes):
    for cut in range(len(raw)):
        answer = HttpAnswer()
        assert not answer.feed(raw[:cut])
        with pytest.raises(BadAnswer):
            answer.end()


def test_a_body_without_a_length_ends_with_its_connection():
    answer = HttpAnswer()
    assert not answer.feed(b"HTTP/1.1 200 OK\r\n\r\nhel")
    assert not answer.feed(b"lo")
    answer.end()
    assert (answer.body, answer.leaves_it_open) == (b"hello", False)


@pytest.mark.parametrize(
    "more", [pytest.param(b"!", id="a byte too many"), pytest.param(MEASURED, id="another answer")]
)
def test_a_connection_that_says_more_than_it_was_asked_is_not_used_again(more: bytes):
    answer = HttpAnswer()
    assert answer.feed(MEASURED + more)
    assert answer.body == b"hello"
    assert not answer.leaves_it_open


def test_a_server_that_says_that_it_closes_is_believed():
    answer = HttpAnswer()
    answer.feed(b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n")
    assert not answer.leaves_it_open


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n",
        b"x" * 70_000,
    ],
)
def test_what_is_no_answer_is_refused(raw: bytes):
    with pytest.raises(BadAnswer):
        HttpAnswer().feed(raw)
