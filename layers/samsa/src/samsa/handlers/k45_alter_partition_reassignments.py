"""AlterPartitionReassignments (key 45).

Behaviour: every partition is on every node, so that there is nothing to move: nodes that there are
are granted, and nothing changes. Null replicas stand for giving up a reassignment, of which there
never is one.

Versions: 1 can forbid that the number of replicas changes, which it cannot.
"""

from typing import Any

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.alter_partition_reassignments import (
    PARTITION_RESPONSE,
    RESPONSE,
    TOPIC_RESPONSE,
)

from .assignments import check_assignment
from .broker import Broker, Context, handles
from .catalog import partition_of
from .configs import Refused
from .nodes import Nodes


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(request: Any, context: Context, broker: Broker) -> Any:
    async def answer(asked: Any) -> Any:
        topic = await _topic(asked.name, broker)
        partitions = [
            _answer(asked.name, topic, entry, broker.nodes)
            async for entry in broker.work.pace(asked.partitions)
        ]
        return TOPIC_RESPONSE(name=asked.name, partitions=partitions)

    return RESPONSE(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=await broker.work.each(request.topics, answer),
    )


async def _topic(name: str, broker: Broker) -> Topic | Refused | None:
    try:
        return await broker.catalog.named(name)
    except Unavailable as error:
        return Refused(ErrorCode.REQUEST_TIMED_OUT, str(error))


def _answer(name: str, topic: Topic | Refused | None, entry: Any, nodes: Nodes) -> Any:
    code, message = ErrorCode.NONE, None
    try:
        _check(name, topic, entry.partition_index)
        if entry.replicas is None:
            code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        else:
            check_assignment(entry.replicas, nodes)
    except Refused as refused:
        code, message = refused.code, refused.message
    return PARTITION_RESPONSE(
        partition_index=entry.partition_index, error_code=code, error_message=message
    )


def _check(name: str, topic: Topic | Refused | None, number: int) -> None:
    if isinstance(topic, Refused):
        raise topic.with_traceback(None)
    if topic is None:
        problem = f"Unable to find a topic named {name}."
    elif partition_of(topic, number) is None:
        problem = f"Unable to find partition {name}:{number}."
    else:
        return
    raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, problem)
