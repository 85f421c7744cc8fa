"""Topics that belong to the broker and not to its clients.

`__consumer_offsets` is created, as in Kafka, when a client first looks for a group's coordinator.
It stays empty: groups and their offsets are items in the ledger (decision 0014). The others are
known by name only.
"""

from samsa.ports import Topic
from samsa.wire.errors import ErrorCode

from .configs import Refused

OFFSETS = "__consumer_offsets"
INTERNAL = frozenset({OFFSETS, "__transaction_state", "__share_group_state"})
OFFSETS_PARTITIONS = 50
OFFSETS_CONFIGS: dict[str, str] = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": "104857600",
}


def refuse_internal(topic: Topic) -> None:
    """Called before each change of a topic's records. Raises Refused for an internal topic."""
    if topic.name in INTERNAL:
        raise Refused(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic.name} is the broker's own, and read-only"
        )
