"""Settings for operators. The default timeout is Kafka's. Kafka has no limit for the size; here a
transaction is one item of the ledger."""

from typing import NamedTuple


class Settings(NamedTuple):
    max_timeout_ms: int = 900_000
    """transaction.max.timeout.ms"""
    most_bytes: int = 96 * 1024
    """Of a packed transaction. With its transactional id and its version the item stays below
    100 KiB."""
    most_parts: int = 4_000
    """Partitions and groups of a transaction. They would fit into the item by tens of thousands if
    their topics are few, and the process serves no other client while it sorts and packs them."""


DEFAULTS = Settings()
