"""Segments (merged or compacted objects): their keys, and how many offsets one may span."""

from samsa.ports import Partition

from .stores import partition_prefix

LONGEST = 2**31
"""Offsets that one extent may span: marks count from its base in 32 bits."""


def segment_key(partition: Partition, base: int, end: int, nonce: str) -> str:
    """A key that no other object has."""
    return f"{partition_prefix(partition)}{base:020d}-{end:020d}-{nonce}"
