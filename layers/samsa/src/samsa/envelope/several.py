"""Several Kafka frames in one: each behind its size, as on Kafka's own connections."""

import struct
from collections.abc import Iterator

from samsa.envelope.messages import EnvelopeError, Frame

_SIZE = struct.Struct(">i")


def joined(frames: tuple[bytes, ...]) -> Iterator[bytes]:
    """Their bytes, in order."""
    for frame in frames:
        yield _SIZE.pack(len(frame))
        yield frame


def apart(frames: Frame) -> list[memoryview]:
    """Each without its size. Raises EnvelopeError: they do not end where they should."""
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
        found.append(view[start:at])
    return found
