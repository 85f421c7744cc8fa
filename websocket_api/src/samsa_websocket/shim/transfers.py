"""PUTs and ranged GETs on presigned URLs, in a few threads that keep their connections.

The URL is the permission: nothing is signed here, and only what was signed is sent. So a range is
asked for as the gather list names it, in one GET.
"""

import asyncio
import http.client
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from urllib.parse import urlsplit

from samsa.aws.presign import byte_range
from samsa.bounded import Bounded
from samsa_websocket.envelope import UrlRange

T = TypeVar("T")
TIMEOUT_S = 20.0
KEPT_PER_THREAD = 4
OK, PARTIAL = 200, 206
TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class TransferFailed(Exception):
    """A store did not take or return the bytes. `again`: a further try may succeed."""

    def __init__(self, why: str, again: bool) -> None:
        super().__init__(why)
        self.again = again


class Transfers:
    def __init__(self, at_once: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="samsa-transfer")
        self._here = threading.local()
        self._opened: set[http.client.HTTPConnection] = set()
        self._tls: ssl.SSLContext | None = None

    async def put(self, url: str, headers: Iterable[tuple[str, str]], data: list[bytes]) -> None:
        """Raises TransferFailed."""
        length = ("content-length", str(sum(map(len, data))))
        await self._run(lambda: self._put(url, dict([*headers, length]), data))

    async def get(self, piece: UrlRange) -> bytes:
        """Raises TransferFailed."""
        return await self._run(lambda: self._get(piece))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for connection in self._opened:
            connection.close()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _put(self, url: str, headers: Mapping[str, str], data: list[bytes]) -> None:
        status, body = self._exchange("PUT", url, headers, data)
        if not 200 <= status < 300:
            raise TransferFailed(f"PUT answers {status}: {_words(body)}", status in TRANSIENT)

    def _get(self, piece: UrlRange) -> bytes:
        if piece.length == 0:
            return b""
        asked = {"Range": byte_range(piece.start, piece.length)}
        status, body = self._exchange("GET", piece.url, asked, None)
        if status == OK and piece.start == 0:
            status = PARTIAL  # the whole object: right if it has the expected length
        if status != PARTIAL:
            raise TransferFailed(f"GET answers {status}: {_words(body)}", status in TRANSIENT)
        if len(body) != piece.length:
            raise TransferFailed(f"{len(body)} bytes came instead of {piece.length}", True)
        return body

    def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], data: list[bytes] | None
    ) -> tuple[int, bytes]:
        parts = urlsplit(url)
        target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        where = f"{parts.scheme}://{parts.netloc}"
        used = self._connection(where)
        try:
            try:
                return _asked(used, method, target, headers, data)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # A kept connection that the server has closed meanwhile: http.client reopens it.
                used.close()
                return _asked(used, method, target, headers, data)
        except (OSError, http.client.HTTPException) as error:
            used.close()
            raise TransferFailed(
                f"{method} {where}: {error or type(error).__name__}", True
            ) from error

    def _connection(self, where: str) -> http.client.HTTPConnection:
        kept: Bounded[str, http.client.HTTPConnection]
        kept = self._here.__dict__.setdefault("kept", Bounded(KEPT_PER_THREAD))
        found = kept.use(where)
        if found is None:
            found = self._open(where)
            self._opened.add(found)
            if oldest := kept.keep(where, found):
                oldest.close()
                self._opened.discard(oldest)
        return found

    def _open(self, where: str) -> http.client.HTTPConnection:
        parts = urlsplit(where)
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT_S)
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return http.client.HTTPSConnection(parts.netloc, timeout=TIMEOUT_S, context=self._tls)


def _asked(
    used: http.client.HTTPConnection,
    method: str,
    target: str,
    headers: Mapping[str, str],
    data: list[bytes] | None,
) -> tuple[int, bytes]:
    used.request(method, target, body=data, headers=dict(headers))
    answer = used.getresponse()
    return answer.status, answer.read()


def _words(body: bytes) -> str:
    return body[:200].decode("utf-8", "replace")
