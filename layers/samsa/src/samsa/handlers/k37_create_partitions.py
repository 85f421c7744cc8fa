"""CreatePartitions (key 37).

Behaviour: a topic gets more partitions, never fewer; they are there, and usable, when the answer
comes. Other processes see them once they look at the topic again, which is within a second. An
assignment may name node 0 only.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.create_partitions import RESPONSE, TOPIC_RESPONSE

from .assignments import check_assignment
from .broker import Broker, Context, handles
from .catalog import check_count
from .configs import Refused


@handles(ApiKey.CREATE_PARTITIONS)
async def create_partitions(request: Any, context: Context, broker: Broker) -> Any:
    names = Counter(topic.name for topic in request.topics)
    asked = {topic.name: topic for topic in request.topics}
    return RESPONSE(
        results=[
            await _widen(topic, names, request.validate_only, broker) for topic in asked.values()
        ]
    )


async def _widen(asked: Any, names: Counter[str], dry_run: bool, broker: Broker) -> Any:
    try:
        if names[asked.name] > 1:
            raise Refused(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        await broker.catalog.change(asked.name, lambda topic: _wider(topic, asked), dry_run)
    except Refused as refused:
        return TOPIC_RESPONSE(
            name=asked.name, error_code=refused.code, error_message=refused.message
        )
    except Unavailable as error:
        return TOPIC_RESPONSE(
            name=asked.name, error_code=ErrorCode.REQUEST_TIMED_OUT, error_message=str(error)
        )
    return TOPIC_RESPONSE(name=asked.name)


def _wider(topic: Topic, asked: Any) -> Topic:
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
        _check_assignments(asked.assignments, asked.count - topic.partitions)
    return replace(topic, partitions=asked.count)


def _check_assignments(assignments: list[Any], added: int) -> None:
    if len(assignments) != added:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} "
            "assignment(s) were specified.",
        )
    for assignment in assignments:
        check_assignment(assignment.broker_ids)
