"""Topics, producer ids and the cluster's id."""

import pytest
from functional.given import DAY_MS, a_topic, an_extent, append

from samsa.ports import Claim, Ledger, Partition, PendingDeletion, UnknownPartition


async def test_a_topic_comes_back_whole(ledger: Ledger):
    topic = a_topic("letters", 3, **{"retention.ms": "-1", "cleanup.policy": ""})
    assert await ledger.create_topic(topic)
    assert await ledger.topic("letters") == topic
    assert await ledger.topic_by_id(topic.id) == topic
    assert await ledger.topics() == [topic]


async def test_what_was_not_created_is_not_there(ledger: Ledger):
    assert await ledger.topic("letters") is None
    assert await ledger.topic_by_id(a_topic().id) is None
    assert await ledger.topics() == []
    assert await ledger.doomed_topics() == []


async def test_every_partition_has_a_head_and_no_more(ledger: Ledger):
    topic = a_topic(partitions=130)
    await ledger.create_topic(topic)
    for number in (0, 99, 100, 129):
        assert (await ledger.head(Partition(topic.id, number))).next_offset == 0
    with pytest.raises(UnknownPartition):
        await ledger.head(Partition(topic.id, 130))


async def test_a_name_is_given_once(ledger: Ledger):
    first, second = a_topic("letters"), a_topic("letters", 5)
    assert await ledger.create_topic(first)
    assert not await ledger.create_topic(second)
    assert await ledger.topic("letters") == first
    assert await ledger.topic_by_id(second.id) is None


async def test_creating_a_topic_again_does_not_set_its_counters_back(ledger: Ledger):
    topic = a_topic()
    await ledger.create_topic(topic)
    await append(ledger, Partition(topic.id, 0), an_extent(0, 10))
    await ledger.create_topic(topic)
    assert (await ledger.head(Partition(topic.id, 0))).next_offset == 10
    assert await ledger.topics() == [topic]


async def test_names_that_begin_alike_are_different_topics(ledger: Ledger):
    topics = [a_topic(name) for name in ("a", "a.b", "a-b", "A", "aa", "ä")]
    for topic in topics:
        assert await ledger.create_topic(topic)
    found = await ledger.topics()
    assert sorted(found, key=str) == sorted(topics, key=str)


async def test_a_deleted_topic_is_doomed_and_has_no_name(ledger: Ledger):
    topic = a_topic("letters", 2, **{"retention.ms": "5"})
    await ledger.create_topic(topic)
    assert await ledger.delete_topic(topic)
    assert await ledger.topic("letters") is None
    assert await ledger.topic_by_id(topic.id) is None
    assert await ledger.topics() == []
    assert await ledger.doomed_topics() == [topic]


async def test_a_topic_is_deleted_once(ledger: Ledger):
    topic = a_topic()
    await ledger.create_topic(topic)
    assert await ledger.delete_topic(topic)
    assert not await ledger.delete_topic(topic)
    assert await ledger.doomed_topics() == [topic]


async def test_a_topic_that_never_was_is_not_deleted(ledger: Ledger):
    assert not await ledger.delete_topic(a_topic())
    assert await ledger.doomed_topics() == []


async def test_deleting_the_old_topic_spares_the_new_one_of_the_same_name(ledger: Ledger):
    old, new = a_topic("letters"), a_topic("letters")
    await ledger.create_topic(old)
    await ledger.delete_topic(old)
    assert await ledger.create_topic(new)
    assert not await ledger.delete_topic(old)
    assert await ledger.topic("letters") == new


async def test_a_doomed_topic_keeps_its_partitions_until_it_is_forgotten(ledger: Ledger):
    topic = a_topic()
    partition = Partition(topic.id, 0)
    await ledger.create_topic(topic)
    await append(ledger, partition, an_extent(0, 10))
    await ledger.delete_topic(topic)
    assert (await ledger.head(partition)).next_offset == 10
    assert await ledger.extents(partition, 0, 9) == [an_extent(0, 10)]


async def test_of_a_forgotten_topic_nothing_is_left(ledger: Ledger):
    topic = a_topic(partitions=20)
    partitions = [Partition(topic.id, number) for number in range(topic.partitions)]
    await ledger.create_topic(topic)
    for partition in partitions:
        await append(ledger, partition, an_extent(0, 10), [Claim(1, b"state", 0, DAY_MS)])
        await ledger.move_cursor(partition, "compacting to 10", 5)
        await ledger.announce(partition, PendingDeletion("log/1", 0, 10, ("log/1",)))
    await ledger.delete_topic(topic)
    await ledger.forget_topic(topic)
    assert await ledger.doomed_topics() == []
    for partition in partitions:
        assert await ledger.extents(partition, 0, 9) == []
        assert await ledger.cursor(partition, "compacting to 10") == 0
        assert await ledger.pending_deletions(partition, 9) == []
        with pytest.raises(UnknownPartition):
            await append(ledger, partition, an_extent(0))


async def test_forgetting_one_topic_spares_the_others(ledger: Ledger):
    kept, gone = a_topic("kept"), a_topic("gone")
    for topic in (kept, gone):
        await ledger.create_topic(topic)
        await append(ledger, Partition(topic.id, 0), an_extent(0, 10))
    await ledger.delete_topic(gone)
    await ledger.forget_topic(gone)
    assert await ledger.topics() == [kept]
    assert await ledger.extents(Partition(kept.id, 0), 0, 9) == [an_extent(0, 10)]


async def test_forgetting_may_be_repeated(ledger: Ledger):
    topic = a_topic()
    await ledger.create_topic(topic)
    await ledger.delete_topic(topic)
    await ledger.forget_topic(topic)
    await ledger.forget_topic(topic)
    assert await ledger.doomed_topics() == []


async def test_producer_ids_are_handed_out_once(ledger: Ledger):
    first = await ledger.next_producer_ids(1000)
    second = await ledger.next_producer_ids(1)
    assert first >= 0
    assert second >= first + 1000
    assert await ledger.next_producer_ids(1) > second


async def test_the_first_cluster_id_stays(ledger: Ledger):
    assert await ledger.cluster_id("first") == "first"
    assert await ledger.cluster_id("second") == "first"
