"""Several Kafka frames in one: each behind its size, as on Kafka's own connections."""

import struct
from collections.abc import Iterator

from samsa.envelope.messages import EnvelopeError, Frame

_SIZE = struct.Struct(">i")
MOST_TOGETHER = 5
"""Batches of an idempotent producer that the log knows again, if all of them have to be repeated;
and so what such a client has in flight."""


def joined(frames: tuple[bytes, ...]) -> Iterator[bytes]:
    """Their bytes, in order."""
    for frame in frames:
        yield _SIZE.pack(len(frame))
        yield frame


def apart(frames: Frame) -> list[memoryview]:
    """Each without its size. Raises EnvelopeError: they do not end where they should, or are more
    than may come together."""
    view, at = memoryview(frames), 0
    found: list[memoryview] = []
    while at < len(view):
        start = at + _SIZE.size
        if start > len(view):
            raise EnvelopeError("a frame has no size")
        (size,) = _SIZE.unpack_from(view, at)
        at = start + size
        if not 0 <= size <= len(view) - start:
            raise EnvelopeError(f"a frame of {size} bytes does not end here")
        if len(found) == MOST_TOGETHER:
            raise EnvelopeError(f"more than {MOST_TOGETHER} frames in one message")
        found.append(view[start:at])
    return found
