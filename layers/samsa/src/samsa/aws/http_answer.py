"""An HTTP/1.1 answer, read as its bytes arrive. Pure: bytes in; status, headers and body out."""

LONGEST_HEAD = 64 * 1024
LARGEST_BODY = 64 * 1024 * 1024
END_OF_HEAD = b"\r\n\r\n"
END_OF_LINE = b"\r\n"


class BadAnswer(Exception):
    """The bytes are not an HTTP answer, or not a complete one."""


class HttpAnswer:
    __slots__ = ("_buffer", "_chunked", "_length", "body", "headers", "status")

    def __init__(self) -> None:
        self.status = 0
        """0 until the HTTP head is complete."""
        self.headers: dict[str, str] = {}
        """Names are in lower case."""
        self.body = b""
        self._buffer = bytearray()
        self._length: int | None = None
        self._chunked = False

    def feed(self, data: bytes) -> bool:
        """True once the answer is complete. Raises BadAnswer."""
        self._buffer += data
        if not self.status and not self._read_head():
            return False
        if len(self._buffer) > LARGEST_BODY:
            raise BadAnswer("the body is too large")
        if self._chunked:
            return self._read_chunks()
        if self._length is None or len(self._buffer) < self._length:
            return False
        self.body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return True

    def end(self) -> None:
        """The connection has ended, which ends a body without a length. Raises BadAnswer."""
        if not self.status or self._chunked or self._length is not None:
            raise BadAnswer("the connection ended within an answer")
        self.body = bytes(self._buffer)
        self._buffer.clear()

    @property
    def leaves_it_open(self) -> bool:
        """Whether the connection can be used for another request."""
        closes = self.headers.get("connection", "").lower() == "close"
        measured = self._chunked or self._length is not None
        return measured and not closes and not self._buffer

    def _read_head(self) -> bool:
        end = self._buffer.find(END_OF_HEAD)
        if end < 0:
            if len(self._buffer) > LONGEST_HEAD:
                raise BadAnswer("the head does not end")
            return False
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + len(END_OF_HEAD)]
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise BadAnswer(f"{first[:40]!r} is no HTTP")
        self.status = int(rest[:3])
        for line in lines:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        self._measure()
        return True

    def _measure(self) -> None:
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        length = self.headers.get("content-length")
        if self.status in (204, 304):
            self._length = 0
        elif length is not None and not self._chunked:
            if not length.isdigit():
                raise BadAnswer(f"{length!r} is no length")
            self._length = int(length)

    def _read_chunks(self) -> bool:
        at = 0
        parts: list[bytearray] = []
        while (end := self._buffer.find(END_OF_LINE, at)) >= 0:
            try:
                size = int(self._buffer[at:end].split(b";")[0], 16)
            except ValueError:
                raise BadAnswer("a chunk has no size") from None
            start = end + len(END_OF_LINE)
            at = start + size + len(END_OF_LINE)
            if len(self._buffer) < at:
                return False
            if size == 0:
                self.body = b"".join(parts)
                del self._buffer[:at]
                return True
            parts.append(self._buffer[start : start + size])
        return False
