"""CreatePartitions (key 37).

Behaviour: a topic gets more partitions, never fewer; they are there, and usable, when the answer
comes. Other processes see them once they look at the topic again, which is within a second. An
assignment may name any nodes that there are, and changes nothing.
"""

from dataclasses import replace
from typing import Any

from samsa.ports import Topic
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_partitions import RESPONSE, TOPIC_RESPONSE

from .assignments import check_assignment
from .broker import Broker, Context, handles
from .catalog import check_count
from .configs import Refused
from .nodes import Nodes
from .per_topic import each_topic


@handles(ApiKey.CREATE_PARTITIONS)
async def create_partitions(request: Any, context: Context, broker: Broker) -> Any:
    async def widen(asked: Any) -> Any:
        dry_run = request.validate_only
        await broker.catalog.change(
            asked.name, lambda topic: _wider(topic, asked, broker.nodes), dry_run
        )
        return TOPIC_RESPONSE(name=asked.name)

    return RESPONSE(results=await each_topic(request.topics, TOPIC_RESPONSE, widen, broker))


def _wider(topic: Topic, asked: Any, nodes: Nodes) -> Topic:
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


def _check_assignments(assignments: list[Any], added: int, nodes: Nodes) -> None:
    if len(assignments) != added:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} "
            "assignment(s) were specified.",
        )
    for assignment in assignments:
        check_assignment(assignment.broker_ids, nodes)
