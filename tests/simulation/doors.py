"""The stores as one process reaches them: on each call anything may happen."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from samsa.ports import Buffer, Partition

if TYPE_CHECKING:
    from .process import Process

HEADS = {
    *("head", "advance_start", "watch"),
    *("head_state", "update_head", "take_out", "count_sweep", "evict"),
}
INDEX = {"extents"}


class Door:
    """A store as one process reaches it: the same methods, each an interrupted call."""

    def __init__(self, process: "Process", store: Any) -> None:
        self._process = process
        self._store = store
        self.calls = store.calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)
        process = self._process

        async def call(*args: Any) -> Any:
            return await process.call(name, method, args)

        setattr(self, name, call)
        return call


class LedgerDoor(Door):
    """Remembers `settled_to` of the head that was read last, as on DynamoDB: what is read from the
    index is judged by that, and not by what is true meanwhile."""

    def __init__(self, process: "Process", store: Any) -> None:
        super().__init__(process, store)
        self._settled_to: dict[Partition, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in HEADS:
            call = self._head_call(name)
        elif name in INDEX:
            call = self._index_call(name)
        else:
            return super().__getattr__(name)
        setattr(self, name, call)
        return call

    def _head_call(self, name: str) -> Callable[..., Any]:
        method, item = getattr(self._store, name), self._store.item

        def effect(*args: Any) -> Any:
            return method(*args), item(args[0]).settled_to

        async def call(*args: Any) -> Any:
            answer, self._settled_to[args[0]] = await self._process.call(name, effect, args)
            return answer

        return call

    def _index_call(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        async def call(*args: Any) -> Any:
            known = self._settled_to.get(args[0])

            def effect(*args: Any) -> Any:
                return method(*args, known)

            return await self._process.call(name, effect, args)

        return call


class TransactionsDoor(Door):
    def is_current_transaction(self, transactional_id: str, version: int) -> bool:
        """A process that is alone knows this; here any process may, as long as it is true."""
        item = self._store.items.get(transactional_id)
        is_known = self._process.world.rng.random() < 0.3
        return is_known and item is not None and item.version == version


class ObjectsDoor(Door):
    remote = True

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        data = b"".join([bytes(part) async for part in parts])
        await self._process.call("put_stream", self._store.put_stream, (key, data))

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        method = self._store.put_if_absent
        done: bool = await self._process.call("put_if_absent", method, (key, b"".join(parts)))
        return done

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        for key in await self._process.call("list", self._store.keys, (prefix, below)):
            yield key
