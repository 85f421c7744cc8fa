"""Clusters in a thread of the test's process."""

import asyncio
import os
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from .cluster import Clusters
from .cluster_settings import ClusterSettings
from .errors import SamsaError
from .hosts import CLOSED, END_S
from .loops import new_loop

T = TypeVar("T")


class ThreadHost:
    def __init__(self) -> None:
        self._loop = new_loop()
        self._clusters = Clusters()
        self._owner = os.getpid()
        self._thread = threading.Thread(target=self._run, name="samsa", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise SamsaError(CLOSED)
        if os.getpid() != self._owner:
            work.close()
            raise SamsaError("a fork has no thread of the broker; set samsa_mode = process")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def open(self, settings: ClusterSettings) -> tuple[int, int]:
        return self._do(self._clusters.open(settings))

    def call(self, number: int, name: str, arguments: Sequence[Any], how: dict[str, Any]) -> Any:
        return self._do(self._clusters.call(number, name, arguments, how))

    def close_cluster(self, number: int) -> None:
        self._do(self._clusters.close(number))

    def close(self) -> None:
        if self._loop.is_closed() or os.getpid() != self._owner:
            return
        try:
            self._do(self._clusters.close_all())
            self._do(_end_tasks())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(END_S)
            self._loop.close()


async def _end_tasks() -> None:
    loop = asyncio.get_running_loop()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
