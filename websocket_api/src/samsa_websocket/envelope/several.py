"""Several Kafka frames in one: each after its size, as on Kafka's own connections."""

import struct
from collections.abc import Iterator

from samsa_websocket.envelope.messages import EnvelopeError, Frame

_SIZE = struct.Struct(">i")
MOST_TOGETHER = 5
"""The log recognises this many batches of an idempotent producer if all have to be repeated; such a
client has no more in flight."""


def joined(frames: tuple[bytes, ...]) -> Iterator[bytes]:
    """Their bytes, in order."""
    for frame in frames:
        yield _SIZE.pack(len(frame))
        yield frame


def apart(frames: Frame) -> list[memoryview]:
    """Each without its size. Raises EnvelopeError if the sizes do not fit the frame, or there are
    more than `MOST_TOGETHER`."""
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
