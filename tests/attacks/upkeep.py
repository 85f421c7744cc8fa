"""Attacks on upkeep: records that cannot be compacted, and topics that ask for too much of it."""

from functools import cache
from random import Random

from fuzz.batches import lying
from server.peer import Peer
from server.process import Samsa
from server.talk import append, create, describe

from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_topics

EAGER = {"cleanup.policy": "compact", "max.compaction.lag.ms": "1"}
BATCHES, TOPICS, PARTITIONS, AT_ONCE = 300, 200, 5, 20


@cache
def _batches() -> list[bytes]:
    rng = Random(19)
    return [lying(rng) for _ in range(BATCHES)]


def batches_that_lie_in_a_compacted_topic(samsa: Samsa) -> None:
    """Each is stored or refused; what is stored is compacted meanwhile."""
    with samsa.peer() as peer:
        if describe(peer, "lies").topics[0].error_code:
            create(peer, "lies", cleanup_policy="compact", max_compaction_lag_ms="1")
        for batch in _batches():
            append(peer, "lies", batch)


def topics_that_ask_for_upkeep_every_second(samsa: Samsa) -> None:
    """A thousand partitions whose configs say that they are due at once, always."""
    with samsa.peer() as peer:
        for first in range(0, TOPICS, AT_ONCE):
            _create(peer, [f"eager-{number}" for number in range(first, first + AT_ONCE)])


def _create(peer: Peer, names: list[str]) -> None:
    configs = [create_topics.CONFIG(name=name, value=value) for name, value in EAGER.items()]
    topics = [
        create_topics.TOPIC(
            name=name, num_partitions=PARTITIONS, replication_factor=-1, configs=configs
        )
        for name in names
    ]
    peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=topics, timeout_ms=30_000))
