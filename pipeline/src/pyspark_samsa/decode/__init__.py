"""RecordBatch v2 to Arrow columns: in machine code where it pays, in plain Python elsewhere."""

import gc
import importlib.util
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Protocol

from samsa.ports import Aborted, Buffer

from . import plain
from .rows import Rows

__all__ = ["Decode", "DecoderChoice", "Rows", "decoder"]


class Decode(Protocol):
    def __call__(
        self,
        data: Buffer,
        first: int,
        end: int,
        wanted: Collection[str],
        aborted: Sequence[Aborted] = (),
    ) -> Iterator[Rows]:
        """The wanted columns of the records at [first, end), without those of aborted
        transactions."""
        ...


WORTH_IT = 4 * 1024 * 1024
"""Bytes of small records that take plain Python about as long as numba takes to load."""


class DecoderChoice:
    """Decodes in plain Python for as long as numba takes to load, and with numba from then on. So
    it takes at most twice as long as the better of the two."""

    def __init__(self) -> None:
        self._seen = 0

    def decoder(self, size: int) -> Decode:
        """The decoder for the next `size` bytes."""
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


decoder = DecoderChoice().decoder
"""Of this process, which Spark uses for many tasks."""
