"""CreatePartitions (key 37).

Behaviour: a topic gets more partitions, never fewer; they exist, and can be used, when the answer
comes. Other processes see them when they next look up the topic, which is within a second. An
assignment may only name existing nodes, and changes nothing. Needs ALTER on each topic.

Versions: 3 is refused partitions over the quota of mutations, also if it only validates.
"""

from __future__ import annotations

from dataclasses import replace

from samsa.broker.broker import Broker, Context, handles
from samsa.broker.nodes import Nodes
from samsa.ports import Topic
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.assignments import check_assignment
from samsa.topics.catalog import check_count
from samsa.topics.configs import Refused
from samsa.topics.mutations import Mutations
from samsa.topics.per_topic import each_topic
from samsa.topics.permitted import raise_unless_may
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_partitions as wire

KNOWS_THROTTLING = 3


@handles(ApiKey.CREATE_PARTITIONS)
async def create_partitions(
    request: wire.CreatePartitionsRequest, context: Context, broker: Broker
) -> wire.CreatePartitionsResponse:
    mutations = Mutations(context, KNOWS_THROTTLING)

    async def widen(asked: wire.CreatePartitionsTopic) -> wire.CreatePartitionsTopicResult:
        raise_unless_may(context.access, Operation.ALTER, ResourceType.TOPIC, asked.name)
        dry_run = request.validate_only
        added = 0

        def wider(topic: Topic) -> Topic:
            nonlocal added
            added = asked.count - topic.partitions
            return _wider(topic, asked, broker.nodes)

        mutations.check()
        await broker.catalog.change(asked.name, wider, dry_run)
        mutations.count(added)
        return wire.TOPIC_RESPONSE(name=asked.name)

    results = await each_topic(request.topics, wire.TOPIC_RESPONSE, widen, broker)
    return wire.RESPONSE(results=results, throttle_time_ms=mutations.throttle_ms)


def _wider(topic: Topic, asked: wire.CreatePartitionsTopic, nodes: Nodes) -> Topic:
    if asked.count == topic.partitions:
        raise Refused(
            ErrorCode.INVALID_PARTITIONS, f"Topic already has {topic.partitions} partition(s)."
        )
    if asked.count < topic.partitions:
        raise Refused(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {topic.partitions} partition(s); "
            f"{asked.count} would not be an increase.",
        )
    check_count(asked.count)
    if asked.assignments is not None:
        _check_assignments(asked.assignments, asked.count - topic.partitions, nodes)
    return replace(topic, partitions=asked.count)


def _check_assignments(
    assignments: list[wire.CreatePartitionsAssignment], added: int, nodes: Nodes
) -> None:
    if len(assignments) != added:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} "
            "assignment(s) were specified.",
        )
    for assignment in assignments:
        check_assignment(assignment.broker_ids, nodes)
