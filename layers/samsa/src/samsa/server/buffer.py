"""One connection's receive buffer.

Fresh memory is dear and warm memory is cheap (DESIGN section 10), so there is one buffer, filled
from the socket, and frames are handled, patched and written to the store where they lie. A frame
that was taken is on lease until its handler is done with it; nothing is moved while a lease is out.

    0 ─────────── start ─────────── end ─────────── capacity
      leased or done      unread            room
"""

import struct

from samsa.wire.errors import DecodeError

_SIZE = struct.Struct(">i")
SMALL = 16 * 1024
READ_AHEAD = 4 * 1024 * 1024
PREFIX = 4


def capacity_for(frame: int) -> int:
    """Room for a frame and for reading on while it is handled."""
    whole = frame + PREFIX
    return max(SMALL, whole + min(3 * whole, READ_AHEAD))


class ReceiveBuffer:
    def __init__(self, max_frame: int) -> None:
        self._max_frame = max_frame
        self._view = memoryview(bytearray(SMALL))
        self._start = 0
        self._end = 0
        self.leases = 0

    @property
    def capacity(self) -> int:
        return len(self._view)

    @property
    def unread(self) -> int:
        return self._end - self._start

    @property
    def idle(self) -> bool:
        return self.leases == 0 and self.unread == 0

    @property
    def is_full(self) -> bool:
        return self._end == len(self._view)

    def room(self) -> memoryview:
        """Where the next bytes go; empty if a lease must end or the buffer must grow first."""
        return self._view[self._end :]

    def filled(self, count: int) -> None:
        self._end += count

    def frame_size(self) -> int | None:
        """The size that the next frame announces. Raises DecodeError if it is out of bounds."""
        if self._end - self._start < PREFIX:
            return None
        size: int = _SIZE.unpack_from(self._view, self._start)[0]
        if not 0 <= size <= self._max_frame:
            raise DecodeError(f"a frame of {size} bytes; the limit is {self._max_frame}")
        return size

    def take(self) -> memoryview | None:
        """The next whole frame, on lease."""
        size = self.frame_size()
        if size is None or self._end - self._start < PREFIX + size:
            return None
        first = self._start + PREFIX
        self._start = first + size
        self.leases += 1
        return self._view[first : self._start]

    def release(self) -> None:
        self.leases -= 1
        if self.leases == 0 and self._start == self._end:
            self._start = self._end = 0

    def wanted(self) -> int:
        """The capacity to read on with: 0 if there is room, the present one if what is unread
        must move to the front first, and more for a large frame or a client that is ahead of us."""
        size = self.frame_size() or 0
        if self._end < self.capacity:
            return 0  # also for a large frame: an announcement alone is not worth memory
        if size + PREFIX > self.capacity:
            return capacity_for(size)
        if self._start > 0 and self.capacity < READ_AHEAD:
            return 2 * self.capacity
        return self.capacity

    def make_room(self) -> bool:
        """Move what is unread to the front. False if a lease forbids it."""
        if self.leases:
            return False
        unread = self._end - self._start
        if self._start:
            self._view[:unread] = self._view[self._start : self._end]
            self._start, self._end = 0, unread
        return True

    def replace(self, capacity: int) -> None:
        """Continue in a buffer of another size, with what is unread. No lease may be out."""
        assert self.leases == 0
        unread = bytes(self._view[self._start : self._end])
        self._view = memoryview(bytearray(max(capacity, len(unread), SMALL)))
        self._view[: len(unread)] = unread
        self._start, self._end = 0, len(unread)

    def drop(self) -> None:
        """The end. What is on lease lives for as long as its holder needs it."""
        self._view = memoryview(b"")
        self._start = self._end = 0
