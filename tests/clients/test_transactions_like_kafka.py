"""Transactions over the raw wire, on Apache Kafka 4.3.1 and on Samsa: the same answers.

Each story is told to both, in every version of the request that it is about.
"""

from collections.abc import Callable
from functools import cache
from operator import ne
from typing import Any

import pytest
from clients.probe import is_ready
from clients.transaction_stories import STORIES, records_are_read, rules_are_broken
from clients.transaction_talk import TOPIC, Side
from server.peer import Peer
from support.broker import Broker
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics, find_coordinator

Story = Callable[[Side, int], None]
Told = Callable[[Story, int], list[Any]]

ASKED = [
    pytest.param(story, version, id=f"{story.__name__} v{version}")
    for story, versions in STORIES.items()
    for version in versions
]
ON_PURPOSE = {11: 2 * len(ASKED), 12: 2 * len(ASKED) + 2}
"""The first partition of a story whose answers differ, by version."""
PARTITIONS = 2 * len(ASKED) + 4
FIRST_PARTITION = {
    **{param.id: 2 * number for number, param in enumerate(ASKED)},
    **{f"{rules_are_broken.__name__} v{version}": first for version, first in ON_PURPOSE.items()},
}
PATIENCE_S = 30

UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
LONG_METADATA = ErrorCode.OFFSET_METADATA_TOO_LARGE
INVALID_REQUEST = ErrorCode.INVALID_REQUEST
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
OLD_EPOCH = ErrorCode.INVALID_PRODUCER_EPOCH
WRONG_STATE = ErrorCode.INVALID_TXN_STATE
STRANGER = ErrorCode.INVALID_PRODUCER_ID_MAPPING
INVALID_TIMEOUT = ErrorCode.INVALID_TRANSACTION_TIMEOUT
NO_ID = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
FENCED = ErrorCode.PRODUCER_FENCED
ABORTABLE = ErrorCode.TRANSACTION_ABORTABLE


def prepare(broker: Broker, peer: Peer) -> None:
    topic = create_topics.TOPIC(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)
    row = create_topics.REQUEST(topics=[topic], timeout_ms=20_000)
    assert peer.ask(ApiKey.CREATE_TOPICS, 7, row).topics[0].error_code == 0
    assert eventually(lambda: is_ready(broker, TOPIC, PARTITIONS), PATIENCE_S)
    for kind in (0, 1):
        look = find_coordinator.REQUEST(key_type=kind, coordinator_keys=["any"])

        def found(look: Any = look) -> bool:
            told = peer.ask(ApiKey.FIND_COORDINATOR, 4, look)
            return told.coordinators[0].error_code == 0

        assert eventually(found, PATIENCE_S)


def teller(broker: Broker) -> Told:
    """Tells a story to a broker once, and remembers what it answered."""
    with Peer(broker.address) as peer:
        prepare(broker, peer)

    @cache
    def tell(story: Story, version: int) -> list[Any]:
        name = f"{story.__name__} v{version}"
        with Peer(broker.address) as peer:
            side = Side(peer, name, FIRST_PARTITION[name])
            story(side, version)
        return side.told

    return tell


@pytest.fixture(scope="session")
def kafka(apache_kafka: Broker) -> Told:
    """As long as its broker: a worker may come back to this module."""
    return teller(apache_kafka)


@pytest.fixture(scope="session")
def samsa(broker: Broker) -> Told:
    return teller(broker)


@pytest.mark.parametrize(("story", "version"), ASKED)
def test_samsa_answers_as_apache_kafka_does(
    story: Story, version: int, samsa: Told, kafka: Told
) -> None:
    ours, theirs = samsa(story, version), kafka(story, version)
    differ = [
        (step, *both) for step, both in enumerate(zip(ours, theirs, strict=True)) if ne(*both)
    ]
    assert differ == []


def test_the_stories_are_not_about_nothing(samsa: Told) -> None:
    """If all were refused alike, every story would pass."""
    codes: dict[str, set[int]] = {}
    for story, versions in STORIES.items():
        for kind, code, *_ in samsa(story, max(versions)):
            codes.setdefault(kind, set()).add(code)
    assert codes["init"] >= {0, INVALID_REQUEST, INVALID_TIMEOUT, FENCED}
    assert codes["produce"] >= {0, OUT_OF_ORDER, OLD_EPOCH, STRANGER, NO_ID}
    assert codes["end"] >= {0, INVALID_REQUEST, OLD_EPOCH, WRONG_STATE, STRANGER, FENCED}
    assert codes["commit offsets"] >= {0, UNKNOWN_TOPIC, LONG_METADATA, OLD_EPOCH, STRANGER}
    assert codes["add offsets"] >= {0, INVALID_REQUEST, STRANGER, FENCED}


def test_the_fetches_of_the_stories_find_aborted_transactions(samsa: Told) -> None:
    told = samsa(records_are_read, max(STORIES[records_are_read]))
    aborted = [len(found or ()) for kind, *more in told if kind == "fetch" for found in [more[1]]]
    assert set(aborted) == {0, 1, 2}


@pytest.mark.parametrize("version", ON_PURPOSE)
def test_what_no_client_does_is_answered_differently_on_purpose(
    version: int, samsa: Told, kafka: Told
) -> None:
    ours, theirs = (
        {
            "produced": [one[1] for one in told(rules_are_broken, version) if one[0] == "produce"],
            "verified": [code for *_, code in told(rules_are_broken, version)[-1][2]],
        }
        for told in (samsa, kafka)
    )
    # A gap counts as the broker's own fault for a minute: the client sends all again. So the batch
    # outside of the transaction repeats none. Partitions are verified together.
    assert ours == {"produced": [TIMED_OUT, 0, WRONG_STATE], "verified": [ABORTABLE, ABORTABLE]}
    first = [OUT_OF_ORDER, 0] if version >= 12 else [0, OUT_OF_ORDER]
    last = [WRONG_STATE] if version >= 12 else [0]
    assert theirs == {"produced": [*first, *last], "verified": [0, ABORTABLE]}
