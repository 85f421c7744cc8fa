"""One connection's receive buffer.

Touching fresh memory costs about 2 ms a megabyte, and warm memory a fiftieth of that. So there is
one buffer, filled from the socket, and frames are handled, patched and written to the store where
they lie. A frame that was taken is on lease until its handler is done with it; nothing is moved
while a lease is out.

The buffer grows with what has arrived, not with what a frame announces. Up to `COPIED` it grows
fourfold, and what has arrived is copied. Above it, addresses for the whole frame are mapped at
once, and only the capacity grows, twofold: untouched pages take no memory, and nothing is copied.

    0 ─────────── start ─────────── end ─────────── capacity ─────────── mapped
      leased or done      unread            room              not used yet
"""

import struct
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

from samsa.wire.errors import DecodeError

_SIZE = struct.Struct(">i")
SMALL = 16 * 1024
READ_AHEAD = 4 * 1024 * 1024
PREFIX = 4
COPIED = 1024 * 1024
"""A growing buffer is copied as long as it holds no more than this."""


def capacity_for(frame: int) -> int:
    """Room for a frame and for reading on while it is handled."""
    whole = frame + PREFIX
    return max(SMALL, whole + min(3 * whole, READ_AHEAD))


class ReceiveBuffer:
    def __init__(self, max_frame: int) -> None:
        self.max_frame = max_frame
        self._view = memoryview(bytearray(SMALL))
        self.capacity = SMALL
        self._start = 0
        self._end = 0
        self.leases = 0
        self.frames = 0
        """How many were taken."""

    @property
    def unread(self) -> int:
        return self._end - self._start

    @property
    def idle(self) -> bool:
        return self.leases == 0 and self.unread == 0

    @property
    def is_full(self) -> bool:
        return self._end == self.capacity

    def room(self) -> memoryview:
        """Where the next bytes go; empty if a lease must end or the buffer must grow first."""
        return self._view[self._end : self.capacity]

    def filled(self, count: int) -> None:
        self._end += count

    def frame_size(self) -> int | None:
        """The size that the next frame announces. Raises DecodeError if it is out of bounds."""
        if self._end - self._start < PREFIX:
            return None
        size: int = _SIZE.unpack_from(self._view, self._start)[0]
        if not 0 <= size <= self.max_frame:
            raise DecodeError(f"a frame of {size} bytes; the limit is {self.max_frame}")
        return size

    def take(self) -> memoryview | None:
        """The next whole frame, on lease."""
        size = self.frame_size()
        if size is None or self._end - self._start < PREFIX + size:
            return None
        first = self._start + PREFIX
        self._start = first + size
        self.leases += 1
        self.frames += 1
        return self._view[first : self._start]

    @property
    def has_frame(self) -> bool:
        """Whether a whole frame is unread, or one that is out of bounds: `take` says so."""
        if self._end - self._start < PREFIX:
            return False
        size: int = _SIZE.unpack_from(self._view, self._start)[0]
        return not 0 <= size <= self.max_frame or self._end - self._start >= PREFIX + size

    def release(self) -> None:
        self.leases -= 1
        if self.leases == 0 and self._start == self._end:
            self._start = self._end = 0

    def wanted(self) -> int:
        """The capacity to read on with: 0 if there is room, the present one if what is unread
        must move to the front first, and more for a large frame or a client that sends ahead."""
        size = self.frame_size() or 0
        if self._end < self.capacity:
            return 0
        if size + PREFIX > self.capacity:
            return self._wanted_for(size)
        if self._start > 0 and self.capacity < READ_AHEAD:
            return 2 * self.capacity
        return self.capacity

    def _wanted_for(self, size: int) -> int:
        """The capacity follows the bytes that have arrived, not the size that a frame announces."""
        more = 2 if self.capacity >= COPIED else 4
        return max(self.capacity, min(more * self.unread, capacity_for(size)))

    def make_room(self) -> bool:
        """Move what is unread to the front. False if a lease forbids it."""
        if self.leases:
            return False
        unread = self._end - self._start
        if self._start:
            self._view[:unread] = self._view[self._start : self._end]
            self._start, self._end = 0, unread
        return True

    def resize(self, capacity: int) -> None:
        """Continue with another capacity, and with what is unread. No lease may be out."""
        assert self.leases == 0
        unread = self._end - self._start
        before, self.capacity = self.capacity, max(capacity, unread, SMALL)
        if self._start or not before <= self.capacity <= len(self._view):
            room = memoryview(self._fresh())
            room[:unread] = self._view[self._start : self._end]
            self._view = room
            self._start, self._end = 0, unread

    def _fresh(self) -> bytearray | mmap:
        if self.capacity == SMALL:
            return bytearray(SMALL)
        return mmap(-1, self._mapped(), flags=MAP_PRIVATE | MAP_ANONYMOUS)

    def _mapped(self) -> int:
        """How many bytes to map for the present capacity."""
        size = (self.frame_size() or 0) if self.capacity > COPIED else 0
        return max(self.capacity, capacity_for(size))

    def drop(self) -> None:
        """Called at the end. Memory on lease lives as long as its holder keeps it."""
        self._view = memoryview(b"")
        self._start = self._end = self.capacity = 0
