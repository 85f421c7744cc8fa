"""Batches of a known shape are checked without being read, and no less strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samsa.records import Record
from samsa.records.errors import RecordError
from samsa.records.header import HEADER_SIZE
from samsa.records.record import build
from samsa.records.shapes import MOST, MOST_RECORDS, Shapes
from samsa.records.walk import Walked, walk

BASE = 1_700_000_000_000


def walked(count: int, data: bytes) -> Walked | None:
    """What an ordinary walk finds; None if the records are wrong."""
    steps = walk(count, data)
    try:
        while True:
            next(steps)
    except StopIteration as done:
        found: Walked = done.value
        return found
    except RecordError:
        return None


def plain(
    count: int, key: bytes | None = None, value: bytes | None = b"v", every: int = 7
) -> bytes:
    records = [Record(n, BASE + n // every, key, value) for n in range(count)]
    return bytes(build(records)[HEADER_SIZE:])


def taught(count: int, data: bytes) -> Shapes:
    shapes = Shapes()
    shapes.learn(count, data)
    shapes.learn(count, data)
    return shapes


SHAPES = {
    "one": (1, plain(1)),
    "one large": (1, plain(1, value=bytes(10_240))),
    "some": (15, plain(15, value=bytes(1_024))),
    "up to the last offset of one byte": (64, plain(64)),
    "one more": (65, plain(65)),
    "many": (148, plain(148, value=bytes(100))),
    "with keys": (30, plain(30, key=b"key")),
    "long keys": (30, plain(30, key=bytes(300), value=bytes(300))),
    "no values": (30, plain(30, key=b"key", value=None)),
    "lengths grow with the offset": (80, plain(80, value=bytes(56))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_known_shape_is_recognised(name: str):
    count, data = SHAPES[name]
    found = walked(count, data)
    assert found
    assert taught(count, data).newest(count, data) == found.newest


@pytest.mark.parametrize("name", SHAPES)
def test_no_byte_can_be_changed_that_a_walk_would_have_objected_to(name: str):
    count, data = SHAPES[name]
    shapes = taught(count, data)
    for at in range(len(data)):
        for flipped in (0x01, 0x80, 0x7E):
            changed = bytearray(data)
            changed[at] ^= flipped
            newest = shapes.newest(count, bytes(changed))
            if newest is not None:
                found = walked(count, bytes(changed))
                assert found is not None, f"byte {at} ^ {flipped:x}"
                assert found.newest == newest, f"byte {at} ^ {flipped:x}"


@given(st.lists(st.integers(-64, 63), min_size=1, max_size=200))
def test_the_newest_time_is_that_of_a_walk(times: list[int]):
    first = times[0]
    deltas = [max(-64, min(63, time - first)) for time in times]
    records = [Record(n, BASE + delta, None, b"v") for n, delta in enumerate(deltas)]
    data = bytes(build(records)[HEADER_SIZE:])
    found = walked(len(times), data)
    assert found
    assert taught(len(times), data).newest(len(times), data) == found.newest


@pytest.mark.parametrize("change", ["a time of two bytes", "headers", "values of other lengths"])
def test_what_is_not_alike_is_left_to_a_walk(change: str):
    records = [Record(n, BASE, None, b"v") for n in range(20)]
    if change == "a time of two bytes":
        records[3] = Record(3, BASE + 100, None, b"v")
    elif change == "headers":
        records = [Record(n, BASE, None, b"v", (("h", b"x"),)) for n in range(20)]
    else:
        records[3] = Record(3, BASE, None, b"vv")
    data = bytes(build(records)[HEADER_SIZE:])
    assert taught(20, data).newest(20, data) is None


def test_a_shape_is_learned_from_the_second_and_learned_anew_when_it_changes():
    shapes, first, other = Shapes(), plain(20, value=b"abc"), plain(20, key=b"abc", value=None)
    assert len(first) == len(other)
    shapes.learn(20, first)
    assert shapes.newest(20, first) is None
    shapes.learn(20, first)
    assert shapes.newest(20, first) is not None
    assert shapes.newest(20, other) is None
    shapes.learn(20, other)
    assert shapes.newest(20, other) is not None


def test_few_shapes_are_kept_and_none_of_a_large_batch():
    shapes = Shapes()
    for count in range(1, 2 * MOST):
        shapes.learn(count, plain(count))
    assert len(shapes._known) == MOST
    large = plain(MOST_RECORDS + 1)
    assert taught(MOST_RECORDS + 1, large).newest(MOST_RECORDS + 1, large) is None
