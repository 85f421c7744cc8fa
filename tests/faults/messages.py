"""HTTP/1.1 messages, read whole and kept as the bytes that they were: signatures stay valid."""

from asyncio import StreamReader, StreamWriter
from typing import NamedTuple

END_OF_HEAD = b"\r\n\r\n"
GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


class Message(NamedTuple):
    head: bytes
    body: bytes
    is_last: bool
    """The sender wants its connection to end with it."""

    @property
    def data(self) -> bytes:
        return self.head + self.body

    @property
    def first_line(self) -> str:
        return self.head.partition(b"\r\n")[0].decode("latin-1")

    @property
    def method(self) -> str:
        return self.first_line.partition(" ")[0]


async def read_request(reader: StreamReader, writer: StreamWriter) -> Message:
    """Raises IncompleteReadError: the client has gone."""
    head = await reader.readuntil(END_OF_HEAD)
    headers = headers_of(head)
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(GO_ON)
    return Message(head, await read_body(reader, headers), wants_to_end(headers))


async def read_answer(reader: StreamReader, method: str) -> Message:
    head = await reader.readuntil(END_OF_HEAD)
    status = int(head.split(b" ", 2)[1])
    if status < 200:
        return await read_answer(reader, method)
    headers = headers_of(head)
    if method == "HEAD" or status in (204, 304):
        return Message(head, b"", wants_to_end(headers))
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return Message(head, await reader.read(), True)
    return Message(head, await read_body(reader, headers), wants_to_end(headers))


def headers_of(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def wants_to_end(headers: dict[str, str]) -> bool:
    return headers.get("connection", "").lower() == "close"


async def read_body(reader: StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await read_chunks(reader)
    return await reader.readexactly(int(headers.get("content-length", 0)))


async def read_chunks(reader: StreamReader) -> bytes:
    data = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        data += line
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            return data + await read_trailers(reader)
        data += await reader.readexactly(size + 2)


async def read_trailers(reader: StreamReader) -> bytes:
    data = b""
    while not data.endswith(b"\r\n\r\n") and data != b"\r\n":
        data += await reader.readuntil(b"\r\n")
    return data
