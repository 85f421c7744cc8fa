"""Settings for operators. The default timeout is Kafka's. Kafka has no limit for the size; here a
transaction is one item of the ledger."""

from typing import NamedTuple


class Settings(NamedTuple):
    max_timeout_ms: int = 900_000
    """transaction.max.timeout.ms"""
    most_bytes: int = 96 * 1024
    """Of a packed transaction. About 5,000 partitions of as many topics, or 80,000 of a few. With
    its transactional id and its version the item stays below 100 KiB."""


DEFAULTS = Settings()
