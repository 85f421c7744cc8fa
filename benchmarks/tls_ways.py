"""What TLS costs a server, by three ways: ours, uvloop's, and that of the standard library.

    .venv/bin/python benchmarks/tls_ways.py

Ours lets OpenSSL work on the socket, as `server/tls_socket.py` does. The other two are asyncio's
transports, which hand the bytes between socket and OpenSSL through memory. The figures are the CPU
seconds of the server's thread for 1 GB in and for 1 GB out, each in chunks of 1 MB, the best of
several turns, taken in turns. The client is another process.
"""

import argparse
import asyncio
import multiprocessing
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import uvloop

from samsa_broker.cli.certificates import Authority

HOST = "127.0.0.1"
CHUNK = 1_000_000
ROOM = 1024 * 1024
ENCRYPTED_AT_ONCE = 256 * 1024
OUT, IN = b"out", b"in!"
BUSY = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


def client(port: int, ca: str, direction: bytes, size: int) -> None:
    context = ssl.create_default_context(cafile=ca)
    with socket.create_connection((HOST, port)) as raw:
        tls = context.wrap_socket(raw, server_hostname=HOST)
        tls.sendall(direction)
        if direction == IN:
            chunk = bytes(CHUNK)
            for _ in range(size // CHUNK):
                tls.sendall(chunk)
            tls.recv(1)
            return
        left, room = size, memoryview(bytearray(ROOM))
        while left:
            left -= tls.recv_into(room)
        tls.sendall(b"!")


# Ours


async def on_the_socket(listening: socket.socket, context: ssl.SSLContext, size: int) -> float:
    loop = asyncio.get_running_loop()
    raw, _ = await loop.sock_accept(listening)
    raw.setblocking(False)
    tls = context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
    await _until_done(tls, tls.do_handshake)
    direction = await _until_done(tls, lambda: tls.recv(len(IN)))
    began = time.thread_time()
    left, room, chunk = size, memoryview(bytearray(ROOM)), memoryview(bytes(ENCRYPTED_AT_ONCE))

    def receive() -> None:
        nonlocal left
        while left:
            left -= tls.recv_into(room)

    def send() -> None:
        nonlocal left
        while left:
            left -= tls.send(chunk[: min(left, len(chunk))])

    await _until_done(tls, receive if direction == IN else send)
    spent = time.thread_time() - began
    if direction == IN:
        tls.send(b"!")
    else:
        await _until_done(tls, lambda: tls.recv(1))
    tls.close()
    return spent


async def _until_done(tls: ssl.SSLSocket, step: Callable[[], Any]) -> Any:
    loop, fd = asyncio.get_running_loop(), tls.fileno()
    done: asyncio.Future[Any] = loop.create_future()

    def go_on() -> None:
        try:
            result = step()
        except ssl.SSLWantReadError:
            loop.remove_writer(fd)
            loop.add_reader(fd, go_on)
        except ssl.SSLWantWriteError:
            loop.remove_reader(fd)
            loop.add_writer(fd, go_on)
        else:
            loop.remove_reader(fd)
            loop.remove_writer(fd)
            done.set_result(result)

    go_on()
    return await done


# asyncio's transports


class Served(asyncio.BufferedProtocol):
    def __init__(self, size: int, done: "asyncio.Future[float]") -> None:
        self._left, self._done = size, done
        self._room = bytearray(ROOM)
        self._direction = b""
        self._chunk = bytes(CHUNK)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, _: int) -> bytearray:
        return self._room

    def buffer_updated(self, count: int) -> None:
        if not self._direction:
            self._direction = bytes(self._room[: len(IN)])
            count -= len(IN)
            self._began = time.thread_time()
            if self._direction == OUT:
                self.resume_writing()
                return
        if self._direction == OUT:  # the client has everything
            self._end()
            return
        self._left -= count
        if not self._left:
            self._spent = time.thread_time() - self._began
            self._transport.write(b"!")
            self._end()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        while self._left and not self._paused:
            self._left -= CHUNK
            self._transport.write(self._chunk)
        self._spent = time.thread_time() - self._began

    def _end(self) -> None:
        if not self._done.done():
            self._done.set_result(self._spent)
        self._transport.close()


async def by_a_transport(listening: socket.socket, context: ssl.SSLContext, size: int) -> float:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[float] = loop.create_future()
    server = await loop.create_server(lambda: Served(size, done), sock=listening, ssl=context)
    spent = await done
    await asyncio.sleep(0.1)
    server.close()
    return spent


WAYS = {
    "OpenSSL on the socket, uvloop": (uvloop.run, on_the_socket),
    "uvloop's TLS": (uvloop.run, by_a_transport),
    "asyncio's TLS": (asyncio.run, by_a_transport),
}


def seconds(
    run: Callable[[Coroutine[Any, Any, float]], float],
    serve: Callable[[socket.socket, ssl.SSLContext, int], Coroutine[Any, Any, float]],
    context: ssl.SSLContext,
    ca: str,
    direction: bytes,
    size: int,
) -> tuple[float, float]:
    """Of the server's thread, and until the client had it."""
    listening = socket.create_server((HOST, 0))
    listening.setblocking(False)
    arguments = (listening.getsockname()[1], ca, direction, size)
    process = multiprocessing.get_context("spawn").Process(target=client, args=arguments)
    process.start()
    began = time.perf_counter()
    spent = run(serve(listening, context, size))
    process.join()
    listening.close()
    return spent, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--mb", type=int, default=1_000)
    given = parser.parse_args()
    size = given.mb * CHUNK
    with tempfile.TemporaryDirectory(prefix="samsa-tls-") as folder:
        authority, place = Authority("Benchmark"), Path(folder)
        ca = place / "ca.pem"
        ca.write_bytes(authority.certificate)
        authority.server([HOST]).write(place / "server.pem", place / "server.key")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(place / "server.pem", place / "server.key")
        best: dict[tuple[str, bytes], float] = {}
        for _ in range(given.turns):
            for name, (run, serve) in WAYS.items():
                for direction in (IN, OUT):
                    spent, _ = seconds(run, serve, context, str(ca), direction, size)
                    of = best.get((name, direction), spent)
                    best[name, direction] = min(of, spent)
    print("| way | CPU per GB in | CPU per GB out |\n| :--- | ---: | ---: |")
    for name in WAYS:
        figures = (best[name, direction] / size * 1e9 for direction in (IN, OUT))
        print(f"| {name} | {' | '.join(f'{each:.2f} s' for each in figures)} |")


if __name__ == "__main__":
    main()
