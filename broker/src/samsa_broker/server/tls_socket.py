"""Bytes from and to a client that speaks TLS: as `SocketReader` and `Sender`.

OpenSSL works on the socket itself and decrypts straight into the receive buffer. It may hold bytes
that it has decrypted already, for which the event loop sees no socket become readable: so a reader
that leaves some behind calls itself again.
"""

import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from samsa.ports import FileRange, Piece

from .sender import Sender
from .socket_reader import SocketReader

if TYPE_CHECKING:
    from .listener import Server

RECORDS_AT_ONCE = 64
"""TLS records, of up to 16 KB, that one connection reads before others have their turn."""
SHORT_RECORD = 4 * 1024
CHUNK = 256 * 1024
"""Encrypted by one call."""
JOINED = 16 * 1024
"""Shorter segments go into one TLS record with their neighbours."""


class TlsReader(SocketReader):
    _socket: ssl.SSLSocket

    def __init__(self, sock: ssl.SSLSocket, readable: Callable[[], None], server: "Server") -> None:
        super().__init__(sock, readable, server)
        self._again_soon = False

    def watch(self) -> None:
        if not self.watched and not self.ended:
            super().watch()
            self._read_again()

    def receive(self) -> bool:
        room = self.buffer.room()
        if not len(room):
            self.unwatch()
            return False
        filled = 0
        for _ in range(RECORDS_AT_ONCE):
            count = self._decrypted(room)
            if count is None:
                break
            if count == 0:
                return self._at_end(filled)
            self.buffer.filled(count)
            filled += count
            room = room[count:]
            # A short record that comes first is a request by itself, as a rule. To ask for more
            # costs a call and an exception; if there is more, the event loop says so.
            if filled < SHORT_RECORD or not len(room):
                break
        self._stats.bytes_in += filled
        if filled and self._socket.pending():
            self._read_again()
        return filled > 0

    def _decrypted(self, room: memoryview) -> int | None:
        """None: nothing more has come. 0: the end, or an error."""
        try:
            return self._socket.recv_into(room)
        except (ssl.SSLWantReadError, InterruptedError):
            return None
        except OSError:  # among them SSLWantWriteError: it makes us write, and does not read
            return 0

    def _at_end(self, filled: int) -> bool:
        """What came before the end is handled first: so the end is noticed by the next call."""
        if filled:
            self._stats.bytes_in += filled
            self._read_again()
        else:
            self.end()
        return True

    def _read_again(self) -> None:
        if not self._again_soon:
            self._again_soon = True
            self._loop.call_soon(self._again)

    def _again(self) -> None:
        self._again_soon = False
        if self.watched and not self.ended:
            self.readable()


class TlsSender(Sender):
    """After a call of OpenSSL that could not write everything, the next call must begin with the
    same bytes, and have no fewer. So a chunk stays at the front of the queue until it was sent."""

    _socket: ssl.SSLSocket

    def _send_now(self, segment: bytes) -> list[Piece]:
        if len(segment) <= CHUNK:
            try:
                self.sent += self._socket.send(segment)
            except OSError:
                pass  # any error comes again when it is sent from the queue
            else:
                return []
        return [segment]

    def _send_bytes(self) -> None:
        chunk = self._chunk()
        count = self._socket.send(chunk)
        self.sent += count
        self._queue.popleft()
        if count < len(chunk):
            self._queue.appendleft(chunk[count:])

    def _send_file(self, part: FileRange) -> None:
        """Put the next bytes of the file in front of its rest."""
        found = os.pread(part.fd, min(part.length, CHUNK), part.start)
        if not found and part.length:
            raise OSError("an object is shorter than its extent says")
        part.start += len(found)
        part.length -= len(found)
        if not part.length:
            self._queue.popleft()
            part.close()
        if found:
            self._queue.appendleft(memoryview(found))

    def _chunk(self) -> memoryview:
        """What is sent next, now at the front of the queue."""
        first = self._queue[0]
        assert not isinstance(first, FileRange)
        if len(first) > CHUNK:
            self._queue[0] = first[CHUNK:]
            self._queue.appendleft(first[:CHUNK])
        elif len(first) < JOINED and len(self._queue) > 1:
            self._queue.appendleft(self._joined())
        chunk = self._queue[0]
        assert not isinstance(chunk, FileRange)
        return chunk

    def _joined(self) -> memoryview:
        """Short segments, taken from the queue and joined."""
        run: list[memoryview] = []
        size = 0
        while self._queue:
            segment = self._queue[0]
            if isinstance(segment, FileRange) or (run and size + len(segment) > JOINED):
                break
            run.append(segment)
            size += len(segment)
            self._queue.popleft()
        return memoryview(b"".join(run)) if len(run) > 1 else run[0]

    def close(self) -> None:
        if not self._queue:
            with suppress(OSError, ValueError):  # send close_notify, if the socket takes it now
                self._socket.unwrap()
        super().close()
