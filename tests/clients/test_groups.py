"""Consumer groups by each client, on its defaults and in each of its ways to share partitions.

Through the chain the groups of all kinds are told their story at once: most of it is waiting, and a
cluster that scales to thousands should not mind eighteen groups.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from clients.group_stories import (
    PARTITIONS,
    Group,
    a_killed_member_is_replaced,
    members_share_and_take_over,
    one_reads_everything_and_the_next_goes_on,
)
from clients.members import KINDS
from clients.samples import SAMPLES
from support.broker import Broker

CLASSIC = [name for name, kind in KINDS.items() if not kind.next_generation]
AT_ONCE = 6
PATIENCE = 4.0
STORIES = {
    one_reads_everything_and_the_next_goes_on: list(KINDS),
    members_share_and_take_over: list(KINDS),
    a_killed_member_is_replaced: CLASSIC,
}
samsa_up = pytest.mark.parametrize("broker", ["samsa-up"], indirect=True)
chain = pytest.mark.parametrize("broker", ["chain"], indirect=True)


@pytest.fixture
def group(
    broker: Broker, new_topic: Callable[..., str], name: str, tmp_path: Path
) -> Iterator[Group]:
    group = Group(broker, new_topic(PARTITIONS), KINDS[name], tmp_path / "members.log")
    with closing(group):
        yield group


@pytest.mark.waits
@samsa_up
@pytest.mark.parametrize("name", KINDS)
def test_a_member_reads_everything_and_the_next_goes_on_from_there(group: Group):
    one_reads_everything_and_the_next_goes_on(group)


@pytest.mark.waits
@samsa_up
@pytest.mark.parametrize("name", KINDS)
def test_members_share_the_partitions_and_take_over_from_who_leaves(group: Group):
    members_share_and_take_over(group)


@pytest.mark.waits
@samsa_up
@pytest.mark.parametrize("name", CLASSIC)
def test_a_killed_members_partitions_are_read_by_the_others(group: Group):
    a_killed_member_is_replaced(group)


@chain
@pytest.mark.timeout(600)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_groups_of_every_kind_at_once(
    broker: Broker, new_topic: Callable[..., str], tmp_path: Path, story: Callable[[Group], None]
):
    def live(name: str, topic: str) -> None:
        group = Group(broker, topic, KINDS[name], tmp_path / f"{name}.log", PATIENCE)
        with closing(group):
            story(group)

    topics = {name: new_topic(PARTITIONS) for name in STORIES[story]}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lives = {name: pool.submit(live, name, topic) for name, topic in topics.items()}
    failed = {name: life.exception() for name, life in lives.items() if life.exception()}
    assert not failed


@pytest.mark.waits
@pytest.mark.parametrize(
    ("name", "next_name"),
    [("confluent-cooperative", "confluent-next"), ("java-cooperative", "java-next")],
)
def test_a_group_moves_between_the_protocols_while_it_reads(group: Group, next_name: str):
    (old,) = group.join()
    assert group.is_shared(1)
    group.kind = KINDS[next_name]
    (new,) = group.join()
    assert group.is_shared(2)
    assert group.has_seen(group.write(2))
    old.leave()
    assert group.is_shared(1)
    assert group.has_seen(group.write(2))
    group.kind = KINDS[name_of_old(next_name)]
    group.join()
    assert group.is_shared(2)
    new.leave()
    assert group.is_shared(1)
    assert group.has_seen(group.write(2))


def name_of_old(next_name: str) -> str:
    return next_name.replace("next", "cooperative")


def test_the_consumer_of_kafkajs_reads_in_a_group(clients, new_topic, new_name):
    topic = new_topic()
    clients["kafkajs"].produce(topic, SAMPLES, partition=0)
    found = clients["kafkajs"].consume_in_group(topic, new_name(), len(SAMPLES))
    assert [record.content for record in found] == [record.content for record in SAMPLES]
