"""The same produces without the shim: prepared envelopes, straight to API Gateway."""

import time

from websockets.asyncio.client import connect

from samsa_websocket.envelope import Greeting, Reply, Request, decode, encode, greeting_query
from samsa_websocket.shim.handshake import with_query

from .crowd import check, frame

SIZE = 4


async def latencies(url: str, topic: str, count: int) -> list[float]:
    """Milliseconds of each of so many produces, one after the other."""
    request = frame(topic)[SIZE:]
    texts = [encode(Request(seq, request)) for seq in range(1, count + 1)]
    where = with_query(url, greeting_query(Greeting(("127.0.0.1", 0))))
    found = []
    async with connect(where, compression=None, ping_interval=None) as socket:
        for text in texts:
            began = time.perf_counter()
            await socket.send(text)
            heard = await socket.recv()
            found.append(1000 * (time.perf_counter() - began))
            answer = decode(str(heard))
            assert isinstance(answer, Reply), answer
            check(bytes(answer.frame))
    return found
