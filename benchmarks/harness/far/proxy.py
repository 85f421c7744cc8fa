"""DynamoDB and S3 as if they were far away: each request waits here, and is written down.

A program of its own: it takes the URLs of both stores and a folder, and prints where it listens.
Each connection has one of its own to the store behind it. What waits is the request, not the
connection, so that connections that are kept alive neither save the wait nor pay it twice.

Every request is a line of `calls` in the folder, written before its answer is passed on: whoever
was acknowledged something finds there all that it took. While there is a file `hold`, puts are
done and not answered.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

LEDGER_MS, PUT_MS, GET_MS = 5, 25, 15
LONGEST_HEAD = 256 * 1024
LOOK_EVERY_S = 0.01
KINDS = {"HEAD": "head", "E#": "index", "B#": "producer", "C#": "cursor", "D#": "grave"}
"""Of a partition's items, by the beginning of `sk`."""
READS = ("GetItem", "Query")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
METERED = b'{"ReturnConsumedCapacity":"TOTAL",'


class Message(NamedTuple):
    """A request or an answer."""

    head: bytes
    first: list[str]
    """The words of its first line."""
    headers: dict[str, str]
    body: bytes
    """As it was sent."""
    content: bytes
    """Without chunks."""


async def read_message(reader: asyncio.StreamReader, bodiless: bool = False) -> Message:
    """Raises IncompleteReadError at the end."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = content = b""
    if bodiless:
        pass
    elif headers.get("transfer-encoding") == "chunked":
        body, content = await _chunks(reader)
    else:
        body = content = await reader.readexactly(int(headers.get("content-length", 0)))
    return Message(head, first.split(" "), headers, body, content)


async def _chunks(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    raw, content = [], []
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        data = await reader.readexactly(size + 2)
        raw += [line, data]
        if not size:
            return b"".join(raw), b"".join(content)
        content.append(data[:size])


class Call(NamedTuple):
    what: str
    wait_ms: float
    to_partition: bool = False
    writes: bool = False


def dynamodb_call(request: Message) -> Call:
    operation = request.headers["x-amz-target"].rpartition(".")[2]
    pk, sk = _key(json.loads(request.content))
    if pk.startswith("P#"):
        kind = next((kind for start, kind in KINDS.items() if sk.startswith(start)), sk)
    else:
        kind = pk.partition("#")[0].lower()
    what = f"{operation} {kind}".strip()
    return Call(what, LEDGER_MS, pk.startswith("P#"), operation in WRITES)


def _key(asked: dict[str, Any]) -> tuple[str, str]:
    """pk and sk of the item that a request is about; of several, the first one's."""
    for one in asked.get("TransactItems", ()):
        (asked,) = one.values()
        break
    for requests in asked.get("RequestItems", {}).values():
        (asked,) = requests[0].values()
        break
    found = asked.get("Key") or asked.get("Item")
    if found is None:
        values = asked.get("ExpressionAttributeValues", {})
        found = {"pk": values.get(":pk", {}), "sk": values.get(":first", {})}
    return found["pk"].get("S", ""), found["sk"].get("S", "")


def s3_call(request: Message) -> Call:
    method = request.first[0]
    return Call(method, PUT_MS if method == "PUT" else GET_MS)


def metered(request: Message) -> bytes:
    """The request, which also asks what it consumes. DynamoDB Local checks no signature."""
    operation = request.headers["x-amz-target"].rpartition(".")[2]
    if operation not in READS + WRITES:
        return request.head + request.body
    body = METERED + request.body[1:]
    lines = request.head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(b"content-length:")]
    return b"\r\n".join([*kept, b"content-length: %d" % len(body), b"", body])


def units(answer: Message) -> float:
    if not answer.content.startswith(b"{"):
        return 0.0
    used = json.loads(answer.content).get("ConsumedCapacity", [])
    return sum(each["CapacityUnits"] for each in (used if isinstance(used, list) else [used]))


class Proxy:
    def __init__(self, store: str, folder: Path, read_call: Callable[[Message], Call]) -> None:
        self._store = urlsplit(store)
        self._hold = folder / "hold"
        self._calls = (folder / "calls").open("a")
        self._read_call = read_call
        self._is_ledger = read_call is dynamodb_call

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        store: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            while True:
                request = await read_message(reader)
                began = time.monotonic()
                if store is None or store[0].at_eof():
                    store = await self._connect()
                call = self._read_call(request)
                await asyncio.sleep(call.wait_ms / 1000)
                answer = await self._ask(store, request)
                self._note(call, began, units(answer) if self._is_ledger else 0.0)
                if call.what == "PUT":
                    await self._held()
                writer.write(answer.head + answer.body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # either side has left: so does the other
        finally:
            for one in (writer, store and store[1]):
                if one:
                    one.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        where = self._store.hostname, self._store.port
        return await asyncio.open_connection(*where, limit=LONGEST_HEAD)

    async def _ask(
        self, store: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: Message
    ) -> Message:
        reader, writer = store
        writer.write(metered(request) if self._is_ledger else request.head + request.body)
        return await read_message(reader, bodiless=request.first[0] == "HEAD")

    async def _held(self) -> None:
        while self._hold.exists():  # noqa: ASYNC110  (another process makes it)
            await asyncio.sleep(LOOK_EVERY_S)

    def _note(self, call: Call, began: float, consumed: float) -> None:
        line = {**call._asdict(), "began": began, "ended": time.monotonic(), "units": consumed}
        print(json.dumps(line), file=self._calls, flush=True)


async def main(dynamodb: str, s3: str, folder: str) -> None:
    for name, store, read_call in (
        ("dynamodb", dynamodb, dynamodb_call),
        ("s3", s3, s3_call),
    ):
        proxy = Proxy(store, Path(folder), read_call)
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=LONGEST_HEAD)
        print(f"{name} http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
