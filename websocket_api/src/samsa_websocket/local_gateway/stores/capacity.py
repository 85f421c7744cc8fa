"""Capacity units of DynamoDB: what a request is billed for."""

from math import ceil

from .attributes import item_bytes
from .refusals import Item

READ_BYTES, WRITE_BYTES = 4096, 1024
OF_A_TRANSACTION = 2


def write_units(before: Item | None, after: Item | None) -> float:
    """By the larger one; a write that is refused costs what the item is."""
    size = max(item_bytes(before) if before else 0, item_bytes(after) if after else 0)
    return max(1, ceil(size / WRITE_BYTES))


def read_units(size: int, *, consistent: bool) -> float:
    units = max(1, ceil(size / READ_BYTES))
    return units if consistent else units / 2
