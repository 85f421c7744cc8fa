"""RecordBatch v2 to Arrow columns: in machine code where it pays, in plain Python elsewhere."""

import importlib.util
import sys
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from samsa.ports import Buffer

from . import plain
from .rows import Rows

__all__ = ["Decode", "Rows", "decoder"]

Decode: TypeAlias = Callable[[Buffer, int, int, Collection[str]], Iterator[Rows]]

WORTH_IT = 8 * 1024 * 1024
"""Bytes that take plain Python about as long as numba takes to load."""


def decoder(size: int) -> Decode:
    """The one that is done first with so many bytes, in this process."""
    if "numba" in sys.modules or (size >= WORTH_IT and importlib.util.find_spec("numba")):
        from . import compiled

        return compiled.decode
    return plain.decode
