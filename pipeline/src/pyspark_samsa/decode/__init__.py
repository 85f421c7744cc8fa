"""RecordBatch v2 to Arrow columns: in machine code where it pays, in plain Python elsewhere."""

import gc
import importlib.util
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import TypeAlias

from samsa.ports import Buffer

from . import plain
from .rows import Rows

__all__ = ["Choice", "Decode", "Rows", "decoder"]

Decode: TypeAlias = Callable[[Buffer, int, int, Collection[str]], Iterator[Rows]]

WORTH_IT = 4 * 1024 * 1024
"""Bytes of small records that take plain Python about as long as numba takes to load."""


class Choice:
    """Plain Python until it has worked for as long as numba takes to load, and numba from then on:
    in any case this takes at most twice as long as the better of the two."""

    def __init__(self) -> None:
        self._seen = 0

    def decoder(self, size: int) -> Decode:
        """For the next so many bytes."""
        self._seen += size
        if self._seen < WORTH_IT or not importlib.util.find_spec("numba"):
            return plain.decode
        return _compiled()


@cache
def _compiled() -> Decode:
    from . import compiled

    compiled.load()
    # Spark's workers look for cycles after every task. With numba there are a hundred thousand
    # objects that stay, and looking at them took longer than decoding what a task reads.
    gc.freeze()
    return compiled.decode


decoder = Choice().decoder
"""Of this process, which Spark uses for many tasks."""
