"""A client on a raw socket: it says exactly what a test wants said, and nothing by itself."""

import itertools
import socket
import struct
from typing import Any

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame

SECONDS = 20.0


class Peer:
    """One connection. Requests may be pipelined: each is answered in turn by `answer`."""

    def __init__(
        self, address: tuple[str, int], receive_buffer: int | None = None, host: str | None = None
    ) -> None:
        """`host` is the address that it comes from."""
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS)
        if host is not None:
            self.socket.bind((host, 0))
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(address)
        self.client_id = "peer"
        self._numbers = itertools.count(1)
        self._asked: list[tuple[int, ApiKey, int]] = []

    @property
    def name(self) -> str:
        """As the broker's log names this connection."""
        host, port = self.socket.getsockname()
        return f"{host}:{port}"

    def frame(self, key: ApiKey, version: int, row: Any) -> bytes:
        """A request that is counted as sent: what is done with its bytes is the test's business."""
        number = next(self._numbers)
        self._asked.append((number, key, version))
        return request_frame(APIS[key], version, number, self.client_id, row)

    def say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, key: ApiKey, version: int, row: Any) -> None:
        self.say(self.frame(key, version, row))

    def answer(self) -> Any:
        """The answer to the oldest request that has none yet."""
        number, key, version = self._asked.pop(0)
        got, row = read_response(APIS[key], version, memoryview(self.read_frame()))
        assert got == number, f"answer {got} came where {number} was due"
        return row

    def ask(self, key: ApiKey, version: int, row: Any) -> Any:
        self.send(key, version, row)
        return self.answer()

    def read_frame(self) -> bytes:
        (size,) = struct.unpack(">i", self.read(4))
        return self.read(size)

    def read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.socket.recv(min(size - len(data), 1 << 20))
            if not more:
                raise EOFError(f"the broker closed after {len(data)} of {size} bytes")
            data += more
        return bytes(data)

    def is_closed(self) -> bool:
        """Whether the broker ends the connection, without a byte more; waits for it."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Close without a farewell: the broker meets an error, not an end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
