"""TLS handshakes that are under way.

A handshake costs a signature, a millisecond with a large RSA key. All are made in one thread, step
by step, so that a thousand clients that connect at once delay each other and not the requests of
those that are connected. Between its steps a handshake holds only its socket, and not longer than
`PATIENCE_S`.

The last step of TLS 1.3 costs the server no signature. It is made in the event loop if no other
handshake is under way: the way to a thread and back would take longer than a whole request.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto

from samsa.runtime.logs import Repeated

log = logging.getLogger("samsa.server")
PATIENCE_S = 10.0
FAILED = "TLS handshake failed"
_CHANGE_CIPHER_SPEC = bytes.fromhex("140303000101")
_ENCRYPTED = 0x17
_LONGEST_FINISHED = 128
_RECORD_HEADER_BYTES = 5


class HandshakeStep(Enum):
    DONE = auto()
    TO_READ = auto()
    TO_WRITE = auto()


class Handshakes:
    def __init__(self) -> None:
        self.failed = 0
        self._pool = ThreadPoolExecutor(1, "samsa-tls")
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = Repeated(log, logging.WARNING, FAILED)

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        peer: str,
        ended: Callable[[ssl.SSLSocket | None], None],
    ) -> "asyncio.Task[None]":
        """`ended` gets the socket with TLS; None if there is none, and `sock` is closed. The task
        may be cancelled."""
        task = asyncio.get_running_loop().create_task(self._run(sock, context, peer, ended))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        peer: str,
        ended: Callable[[ssl.SSLSocket | None], None],
    ) -> None:
        tls: ssl.SSLSocket | None = None
        is_done = False
        try:
            tls = context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            async with asyncio.timeout(PATIENCE_S):
                await self._shake_hands(tls)
            is_done = True
        except (OSError, ValueError) as error:  # TimeoutError among them
            self._fail(peer, error)
        finally:
            if not is_done:
                (tls or sock).close()
            ended(tls if is_done else None)

    def _fail(self, peer: str, error: Exception) -> None:
        self.failed += 1
        why = f"not done in {PATIENCE_S:.0f} s" if isinstance(error, TimeoutError) else _why(error)
        self._failures.happened(peer=peer, why=why)

    async def _shake_hands(self, tls: ssl.SSLSocket) -> None:
        await _ready(tls, HandshakeStep.TO_READ)
        step = await self._advanced(tls)
        while step is not HandshakeStep.DONE:
            await _ready(tls, step)
            is_short = len(self) == 1 and _is_finished_next(tls)
            step = _advance(tls) if is_short else await self._advanced(tls)

    async def _advanced(self, tls: ssl.SSLSocket) -> HandshakeStep:
        work = self._pool.submit(_advance, tls)
        step = asyncio.wrap_future(work)
        try:
            return await asyncio.shield(step)
        except asyncio.CancelledError:
            if not work.cancel():  # the thread uses the socket: do not close it meanwhile
                await asyncio.wait([step])
                step.exception()
            raise

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._pool.shutdown(wait=False)


def _advance(tls: ssl.SSLSocket) -> HandshakeStep:
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return HandshakeStep.TO_READ
    except ssl.SSLWantWriteError:
        return HandshakeStep.TO_WRITE
    return HandshakeStep.DONE


def _is_finished_next(tls: ssl.SSLSocket) -> bool:
    """Whether a client of TLS 1.3 has sent its Finished and no certificate.

    Anything else that a server answers with a signature comes in a record that is not encrypted.
    """
    if tls.context.verify_mode is not ssl.CERT_NONE:
        return False
    try:
        # Not by SSLSocket.recv, which decrypts.
        sent = socket.socket.recv(tls, 2 * _LONGEST_FINISHED, socket.MSG_PEEK)
    except OSError:
        return False
    record = sent.removeprefix(_CHANGE_CIPHER_SPEC)
    if len(record) <= _RECORD_HEADER_BYTES or record[0] != _ENCRYPTED:
        return False
    size = int.from_bytes(record[3:_RECORD_HEADER_BYTES])
    after = record[_RECORD_HEADER_BYTES + size :]
    return size <= _LONGEST_FINISHED and (not after or after[0] == _ENCRYPTED)


async def _ready(tls: ssl.SSLSocket, step: HandshakeStep) -> None:
    loop = asyncio.get_running_loop()
    fd = tls.fileno()
    ready = loop.create_future()
    if step is HandshakeStep.TO_READ:
        watch, unwatch = loop.add_reader, loop.remove_reader
    else:
        watch, unwatch = loop.add_writer, loop.remove_writer
    watch(fd, _set, ready)
    try:
        await ready
    finally:
        unwatch(fd)


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return str(error)
