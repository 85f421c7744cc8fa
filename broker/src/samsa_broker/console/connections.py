"""Connections to the nodes of a cluster: blocking ones, each used by one thread at a time.

A request takes a connection that is free, or opens another one; so there are as many as requests
that run at the same time. One that was free for a minute is closed: the node may have done so. If
one that was free is broken, what only reads is asked once more by a new one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Protocol

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa_websocket.shim.repeat import READS

MOST_AT_ONCE = 48
"""More than all live tails and searches together: a tail waits most of the time."""
FREE_S = 60.0


class Node(Protocol):
    """A connection. Whatever a call raises, it is not used again then."""

    def ask(self, key: ApiKey, row: Any, at_most: int) -> Any:
        """Raises Refused: this node does not serve it; Unavailable."""

    def close(self) -> None: ...

    def interrupt(self) -> None:
        """End a call that another thread has under way. It raises Unavailable there."""


Connect = Callable[[str], Node]
"""To HOST:PORT. Raises Unavailable; Refused: the login is wrong."""


class Connections:
    def __init__(self, connect: Connect, now_s: Callable[[], float]) -> None:
        self._connect = connect
        self._now_s = now_s
        self._free: dict[str, list[tuple[float, Node]]] = defaultdict(list)
        self._busy: set[Node] = set()
        self._closed = False
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "console")

    async def ask(self, address: str, key: ApiKey, row: Any, at_most: int) -> Any:
        """A caller that is cancelled does not wait for the answer. Raises Refused, Unavailable."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._ask, address, key, row, at_most)

    def _ask(self, address: str, key: ApiKey, row: Any, at_most: int) -> Any:
        node = self._taken(address)
        if node is not None:
            try:
                return self._ask_node(node, address, key, row, at_most)
            except Unavailable:
                if key not in READS:
                    raise
                self._drop(address)  # the node may have been started anew since
        return self._ask_node(self._connect(address), address, key, row, at_most)

    def _ask_node(self, node: Node, address: str, key: ApiKey, row: Any, at_most: int) -> Any:
        self._begin(node)
        try:
            answer = node.ask(key, row, at_most)
        except BaseException:
            self._end(node)
            raise
        self._end(node, address)
        return answer

    def _drop(self, address: str) -> None:
        with self._lock:
            free = self._free.pop(address, [])
        for _, node in free:
            node.close()

    def _begin(self, node: Node) -> None:
        """Raises Unavailable."""
        with self._lock:
            if not self._closed:
                self._busy.add(node)
                return
        node.close()
        raise Unavailable("the console is closing")

    def _end(self, node: Node, address: str | None = None) -> None:
        """It is free from now on, if an address is given."""
        with self._lock:
            self._busy.discard(node)
            if address is not None and not self._closed:
                self._free[address].append((self._now_s(), node))
                return
        node.close()

    def _taken(self, address: str) -> Node | None:
        with self._lock:
            free, now = self._free[address], self._now_s()
            old = [node for since, node in free if now - since >= FREE_S]
            free[:] = [each for each in free if now - each[0] < FREE_S]
            taken = free.pop()[1] if free else None
        for node in old:
            node.close()
        return taken

    def close(self) -> None:
        """Requests that are under way end with Unavailable."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            free = [node for each in self._free.values() for _, node in each]
            self._free.clear()
            for node in self._busy:
                node.interrupt()
        for node in free:
            node.close()
