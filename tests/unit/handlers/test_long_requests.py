"""A long request lets the others run while it is worked on, whichever of its arrays is long."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path as Folder
from typing import Any

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from support.arrays import Path, arrays, row_with

from samsa.broker.broker import Broker
from samsa.broker.work import FEW, SHORT, Work, WorkLimits
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode, TooManyElements
from samsa.wire.messages import describe_configs, metadata, produce

LENGTH = 200
SHORT_ANYWAY = {
    "JoinGroup protocols": "at most a hundred",
    "SyncGroup assignments": "one step of a dictionary each",
    "ConsumerGroupHeartbeat subscribed_topic_names": "one step of a tuple each",
    "ConsumerGroupHeartbeat topic_partitions": "one step of a set each",
    "ConsumerGroupHeartbeat topic_partitions.partitions": "one step of a set each",
    "ListGroups states_filter": "one step of a set each",
    "ListGroups types_filter": "one step of a set each",
    "UpdateFeatures feature_updates": "refused when the first that is unknown is seen",
    "CreateTopics topics.assignments": "at most as many as a topic has partitions",
    "CreateTopics topics.assignments.broker_ids": "refused when the second is seen",
    "CreateTopics topics.configs": "one step of a dictionary each",
    "CreatePartitions topics.assignments": "counted before they are looked at",
    "CreatePartitions topics.assignments.broker_ids": "refused when the second is seen",
    "DescribeConfigs resources.configuration_keys": "one step of a set each",
    "AlterConfigs resources.configs": "one step of a dictionary each",
    "IncrementalAlterConfigs resources.configs": "one step of a dictionary each",
    "AlterPartitionReassignments topics.partitions.replicas": "refused when the second is seen",
    "ListPartitionReassignments topics": "not looked at",
    "ListPartitionReassignments topics.partition_indexes": "not looked at",
    "ListConfigResources resource_types": "one step of a set each",
    "DescribeLogDirs topics.partitions": "only of topics that there are",
    "CreateAcls creations": "only counted",
    "DeleteAcls filters": "only counted",
    "DescribeClientQuotas components": "refused when the fourth is seen",
    "AlterClientQuotas entries.entity": "sixteen are looked at",
    "AlterClientQuotas entries.ops": "one step of a dictionary each",
    "ListTransactions state_filters": "one look into a set each",
    "ListTransactions producer_id_filters": "not looked at",
    "Fetch forgotten_topics_data": "not looked at",
    "Fetch forgotten_topics_data.partitions": "not looked at",
}
"""Arrays whose elements cost next to nothing, or are not looked at."""


class PatientWork(Work):
    """Counts how often it lets others run; its slices are over as soon as they begin."""

    def __init__(self) -> None:
        super().__init__(WorkLimits(slice_s=0.0))
        self.turns = 0

    async def give_way(self) -> None:
        self.turns += 1
        await super().give_way()


class Site:
    def __init__(self, folder: Folder) -> None:
        path = str(folder / "ledger.db")
        self.ledger = SqliteLedger(path)
        self.groups = SqliteGroups(path, alone=lambda: True)
        self.broker = a_broker(self.ledger, MemoryObjects(), TurnedClock(), self.groups)
        self.work = self.broker.work = PatientWork()

    async def turns_for(self, key: ApiKey, row: Any) -> int:
        before = self.work.turns
        await ask(self.broker, key, APIS[key].versions[-1], row)
        return self.work.turns - before


@pytest.fixture
async def site(tmp_path: Folder) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    await site.broker.background_done()
    await site.groups.close()
    await site.ledger.close()


ALL = [
    pytest.param(key, path, id=f"{APIS[key].name} {'.'.join(path)}")
    for key in APIS
    for path in arrays(APIS[key].request, APIS[key].versions[-1])
]


@pytest.mark.parametrize(("key", "path"), ALL)
async def test_a_long_array_gives_way_to_others_again_and_again(site: Site, key: int, path: Path):
    name = f"{APIS[key].name} {'.'.join(path)}"
    row = row_with(APIS[key].request, APIS[key].versions[-1], path, LENGTH)
    for attribute in ("group_id", "group"):
        if hasattr(row, attribute):
            setattr(row, attribute, "family")
    turns = await site.turns_for(ApiKey(key), row)
    if name in SHORT_ANYWAY:
        assert turns < LENGTH, "it is paced: take it from the list"
    else:
        assert turns >= LENGTH - FEW - 1


async def test_more_elements_than_allowed_are_refused_and_counted(site: Site):
    site.broker.work.limits = WorkLimits(max_elements=2 * SHORT)
    names = [metadata.TOPIC(name=f"n{number}") for number in range(2 * SHORT + 1)]
    with pytest.raises(TooManyElements):
        await ask(site.broker, ApiKey.METADATA, 9, metadata.REQUEST(topics=names))
    assert site.broker.work.refused == {"elements": 1}


async def test_a_name_that_is_asked_for_a_thousand_times_is_answered_once(site: Site):
    await site.broker.catalog.create("once", 1, {})
    calls = site.ledger.calls["topic"]
    names = [metadata.TOPIC(name="once") for _ in range(1_000)]
    answer = await ask(site.broker, ApiKey.METADATA, 9, metadata.REQUEST(topics=names))
    assert [topic.name for topic in answer.topics] == ["once"]
    assert site.ledger.calls["topic"] - calls <= 1


async def test_a_thousand_unknown_names_are_looked_up_with_one_listing(site: Site):
    row = row_with(metadata.REQUEST, 9, ("topics",), 1_000)
    row.allow_auto_topic_creation = False
    calls = sum(site.ledger.calls.values())
    answer = await ask(site.broker, ApiKey.METADATA, 9, row)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert {topic.error_code for topic in answer.topics} == {unknown}
    assert sum(site.ledger.calls.values()) - calls == 1


async def test_partitions_of_an_unknown_topic_are_one_look_up(site: Site):
    for key in (ApiKey.LIST_OFFSETS, ApiKey.DELETE_RECORDS, ApiKey.OFFSET_FOR_LEADER_EPOCH):
        row = row_with(APIS[key].request, APIS[key].versions[-1], ("topics", "partitions"), 500)
        calls = site.ledger.calls["topic"]
        await ask(site.broker, key, APIS[key].versions[-1], row)
        assert site.ledger.calls["topic"] - calls == 1, key


async def test_configs_of_a_topic_asked_for_a_thousand_times_are_given_once(site: Site):
    await site.broker.catalog.create("once", 1, {})
    resources = [describe_configs.RESOURCE(resource_type=2, resource_name="once")] * 1_000
    row = describe_configs.REQUEST(resources=resources)
    answer = await ask(site.broker, ApiKey.DESCRIBE_CONFIGS, 4, row)
    assert len(answer.results) == 1


async def test_topics_share_the_rows_of_what_they_do_not_set(site: Site):
    resources = []
    for number in range(3):
        await site.broker.catalog.create(f"n{number}", 1, {"retention.ms": "1000"})
        name = f"n{number}"
        resources.append(describe_configs.RESOURCE(resource_type=2, resource_name=name))
    row = describe_configs.REQUEST(resources=resources)
    answer = await ask(site.broker, ApiKey.DESCRIBE_CONFIGS, 4, row)
    different = {id(config) for result in answer.results for config in result.configs}
    assert len(different) == len(answer.results[0].configs) + 2
    for result in answer.results:
        (own,) = [config for config in result.configs if config.name == "retention.ms"]
        assert own.value == "1000"


async def test_a_produce_to_thousands_of_partitions_answers_for_each_in_order(site: Site):
    count = SHORT + 500
    await site.broker.catalog.create("wide", count, {})
    entries = [produce.PARTITION(index=n, records=batch(b"value")) for n in range(count)]
    row = produce_row("wide", None)
    row.topic_data[0].partition_data = entries
    answer = await ask(site.broker, ApiKey.PRODUCE, PRODUCE, row)
    (topic,) = answer.responses
    assert [one.index for one in topic.partition_responses] == list(range(count))
    assert {one.error_code for one in topic.partition_responses} == {ErrorCode.NONE}


async def test_a_fetch_of_thousands_of_partitions_waits_a_second_at_most(site: Site):
    count = SHORT + 500
    await site.broker.catalog.create("wide", count, {})
    row = fetch_row("wide", 0, range(count), wait_ms=3_600_000)
    waiting = asyncio.create_task(ask(site.broker, ApiKey.FETCH, FETCH, row))
    while site.broker.stores.wakeups.waiting == {}:  # type: ignore[attr-defined] # noqa: ASYNC110
        await asyncio.sleep(0)
    site.broker.stores.clock.turn(1_000)  # type: ignore[attr-defined]
    (topic,) = (await waiting).responses
    assert [one.partition_index for one in topic.partitions] == list(range(count))


async def test_four_long_requests_are_in_memory_at_a_time(tmp_path: Folder):
    site = Site(tmp_path)
    row = row_with(metadata.REQUEST, 9, ("topics",), SHORT + 1)
    row.allow_auto_topic_creation = False
    most = 0

    async def count_them(broker: Broker) -> None:
        nonlocal most
        while True:
            most = max(most, broker.long_requests.total - broker.long_requests.left)
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_them(site.broker))
    await asyncio.gather(*(ask(site.broker, ApiKey.METADATA, 9, row) for _ in range(9)))
    counting.cancel()
    assert most == 4
    assert site.broker.long_requests.left == site.broker.long_requests.total
    await site.groups.close()
    await site.ledger.close()
