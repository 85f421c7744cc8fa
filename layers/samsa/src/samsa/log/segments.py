"""Segments: keys of what is merged or compacted, and how long one may be."""

from samsa.ports import Partition

from .stores import partition_prefix

LONGEST = 2**31
"""Offsets that one extent may span: marks count from its base in 32 bits."""


def segment_key(partition: Partition, base: int, end: int, nonce: str) -> str:
    """A key that is nobody else's. It sorts behind the slot that begins there."""
    return f"{partition_prefix(partition)}{base:020d}-{end:020d}-{nonce}"


def key_base(key: str) -> int:
    """The first offset of a slot or a segment."""
    return int(key.rpartition("/")[2][:20])


def is_segment_key(key: str) -> bool:
    return "-" in key.rpartition("/")[2]
