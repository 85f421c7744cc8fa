"""Which requests are asked together."""

import pytest

from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import LARGEST_INLINE, apart
from samsa_websocket.envelope import MOST_TOGETHER as MOST
from samsa_websocket.shim.produce_batching import LARGEST_UPLOAD, company, may_grow, parts, size_of

MB = 1_000_000


def produce(size: int) -> bytes:
    return ApiKey.PRODUCE.to_bytes(2, "big") + bytes(size - 2)


def fetch(size: int = 50) -> bytes:
    return ApiKey.FETCH.to_bytes(2, "big") + bytes(size - 2)


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ([], 0),
        ([fetch()], 1),
        ([fetch(), fetch()], 1),
        ([fetch(), produce(50)], 1),
        ([produce(50)], 1),
        ([produce(50), produce(50), fetch(), produce(50)], 2),
        ([produce(MB), fetch()], 1),
        ([produce(50)] * (MOST + 1), MOST),
        ([produce(MB)] * (MOST + 1), LARGEST_UPLOAD // MB),
        ([produce(LARGEST_UPLOAD + 1), produce(50)], 1),
    ],
)
def test_only_produces_go_along_and_no_more_than_fit(waiting: list[bytes], expected: int):
    assert company(waiting) == tuple(waiting[:expected])


def test_what_fits_into_a_message_does_not_become_an_upload():
    half = produce(LARGEST_INLINE // 2 - 4)
    assert company([half, half, half]) == (half, half)
    assert size_of((half, half)) <= LARGEST_INLINE
    assert company([half, produce(MB)]) == (half,)


def test_one_request_is_bare_and_each_of_several_is_behind_its_size():
    one, other = produce(10), produce(20)
    assert b"".join(parts((one,))) == one
    assert apart(b"".join(parts((one, other)))) == [one, other]
    assert size_of((one, other)) == 10 + 20 + 2 * 4


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ([], False),
        ([fetch()], False),
        ([produce(50)], True),
        ([produce(50)] * (MOST - 1), True),
        ([produce(50)] * MOST, False),
        ([produce(50), fetch()], False),
        ([produce(50), produce(MB)], False),
        ([produce(MB)], True),
        ([produce(LARGEST_UPLOAD)], False),
    ],
)
def test_a_produce_waits_only_while_another_could_go_along(waiting: list[bytes], expected: bool):
    assert may_grow(waiting) is expected
