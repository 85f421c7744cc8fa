"""A connection with TLS for servers that are written for asyncio's protocols.

asyncio's own makes handshakes in the event loop, a millisecond each; here they have been made in
a thread (`handshakes.py`). OpenSSL works on the socket itself. It may hold bytes that it has
decrypted already, for which the event loop sees no socket become readable: so a reader that leaves
some behind calls itself again.
"""

import asyncio
import ssl
from contextlib import suppress

READ_SIZE = 16 * 1024
"""A TLS record: OpenSSL gives no more at a time."""
RECORDS_AT_ONCE = 16
CHUNK = 256 * 1024
"""Encrypted by one call."""
HIGH = 64 * 1024
LOW = 16 * 1024
"""Of unsent bytes: above the first a protocol is asked to wait, until there are less than LOW."""


class TlsTransport(asyncio.Transport):
    def __init__(self, sock: ssl.SSLSocket, protocol: asyncio.Protocol) -> None:
        """Raises OSError: the client has gone."""
        super().__init__({
            "socket": sock,
            "peername": sock.getpeername(),
            "sockname": sock.getsockname(),
            "sslcontext": sock.context,
            "ssl_object": sock,
        })  # fmt: skip
        self._loop = asyncio.get_running_loop()
        self._socket = sock
        self._fd = sock.fileno()
        self._protocol = protocol
        self._unsent = bytearray()
        self._is_reading = False
        self._is_writing = False
        self._is_waiting = False
        """Whether the protocol was asked to wait."""
        self._is_closing = False
        self._has_ended = False
        protocol.connection_made(self)
        self.resume_reading()

    # Reading

    def is_reading(self) -> bool:
        return self._is_reading

    def pause_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._fd)

    def resume_reading(self) -> None:
        if not self._is_reading and not self._is_closing:
            self._is_reading = True
            self._loop.add_reader(self._fd, self._read)
            self._loop.call_soon(self._read)

    def _read(self) -> None:
        for _ in range(RECORDS_AT_ONCE):
            if not self._is_reading:
                return
            try:
                data = self._socket.recv(READ_SIZE)
            except (ssl.SSLWantReadError, InterruptedError):
                return
            except OSError as error:  # among them SSLWantWriteError: it makes us write for nothing
                self._end(error)
                return
            if not self._take(data):
                return
        if self._is_reading and self._socket.pending():
            self._loop.call_soon(self._read)

    def _take(self, data: bytes) -> bool:
        try:
            if data:
                self._protocol.data_received(data)
                return True
            self._protocol.eof_received()
        except Exception as error:
            what = {"message": "a protocol has failed", "exception": error, "transport": self}
            self._loop.call_exception_handler(what)
            self._end(error)
            return False
        self.close()
        return False

    # Writing

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or not data:
            return
        was_empty = not self._unsent
        self._unsent += data
        if was_empty:
            self._send()
        if len(self._unsent) > HIGH and not self._is_waiting:
            self._is_waiting = True
            self._protocol.pause_writing()

    def _send(self) -> None:
        """After a call of OpenSSL that could not write everything, the next one must begin with the
        same bytes, and have no fewer: what is unsent only grows at its end."""
        try:
            while self._unsent and self._send_chunk():
                pass
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, InterruptedError):
            pass
        except OSError as error:
            self._end(error)
            return
        self._watch_writable(bool(self._unsent))
        if self._is_waiting and len(self._unsent) < LOW:
            self._is_waiting = False
            self._protocol.resume_writing()
        if self._is_closing and not self._unsent:
            self._say_goodbye()

    def _send_chunk(self) -> bool:
        """Whether all of it was sent."""
        with memoryview(self._unsent) as everything, everything[:CHUNK] as chunk:
            count = self._socket.send(chunk)
            is_all = count == len(chunk)
        del self._unsent[:count]
        return is_all

    def _watch_writable(self, wanted: bool) -> None:
        if wanted and not self._is_writing:
            self._loop.add_writer(self._fd, self._send)
        elif self._is_writing and not wanted:
            self._loop.remove_writer(self._fd)
        self._is_writing = wanted

    # The end

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        """What is unsent is sent first."""
        if self._is_closing:
            return
        self.pause_reading()
        self._is_closing = True
        if not self._unsent:
            self._say_goodbye()

    def abort(self) -> None:
        self._end(None)

    def _say_goodbye(self) -> None:
        with suppress(OSError, ValueError):  # if it can be said now
            self._socket.unwrap()
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self.pause_reading()
        self._watch_writable(wanted=False)
        self._is_closing = True
        self._unsent.clear()
        self._loop.call_soon(self._report, error)

    def _report(self, error: Exception | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            self._socket.close()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol
