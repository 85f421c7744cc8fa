"""Rules of windows to take out, one at a time."""

from dataclasses import replace as changed
from typing import Any

from samsa.log.core import Log
from samsa.ports import Partition
from samsa.ports.windows import WindowRow

from .broken_log import far
from .rules import instead, replace
from .setting import Setting


def wide(setting: Setting) -> Setting:
    """All that is appended goes into windows, which are swept at once."""
    limits = changed(setting.limits, window_ms=30, leave_window_ms=0, merge_after_ms=500)
    return changed(
        far(setting),
        processes=2,
        partitions=3,
        grouped=4,
        idempotent=1,
        mergers=3,
        haste=0.2,
        limits=limits,
        bounds=changed(setting.bounds, inline_bytes=0, few_entries=1),
    )


@instead("sweep windows without counting that", wide)
def sweep_uncounted(log: Log) -> None:
    async def sweep(_: Any) -> int:
        windows = log.janitor.windows
        old = [key async for key in windows._old()]
        dead = await windows._unnamed(await windows._directories(old))
        await log.sweeper.delete(list(dead))
        return len(dead)

    replace(log.janitor.windows, "sweep", sweep)


@instead("ask only one partition about a window", wide)
def ask_one(log: Log) -> None:
    async def rows(original: Any, key: str) -> list[WindowRow]:
        found: list[WindowRow] = await original(key)
        return found[:1]

    replace(log.janitor.windows, "_rows", rows)


@instead("delete a window with the first extent that leaves it", wide)
def delete_with_the_first(log: Log) -> None:
    async def discard(_: Any, partition: Partition, key: str) -> bool:
        await log._stores.objects.delete([key])
        return True

    replace(log._stores.journal, "discard", discard)
