"""The features of Kafka 4.3 that exist here, at levels that never change.

`metadata.version` tells clients which Kafka this corresponds to; nothing here depends on it.
`group.version=1` is the consumer protocol (KIP-848). `transaction.version=2` lets clients use one
epoch for each transaction (KIP-890); older clients use version 1. There are no share groups,
streams groups or voters: their features are not listed, which means level 0.
"""

from typing import NamedTuple


class Feature(NamedTuple):
    name: str
    lowest: int
    level: int
    """The level in use, which is also the highest supported."""


FEATURES = (
    Feature("group.version", 0, 1),
    Feature("metadata.version", 7, 30),
    Feature("transaction.version", 0, 2),
)
