"""AlterPartitionReassignments (key 45).

Behaviour: every node serves every partition, so there is nothing to move: existing nodes are
accepted, and nothing changes. Null replicas mean to cancel a reassignment; there never is one.
Needs ALTER on the cluster.

Versions: 1 can forbid a change of the number of replicas, which never happens.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.broker.nodes import Nodes
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.assignments import check_assignment
from samsa.topics.catalog import partition_of
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_cluster, refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_partition_reassignments as wire


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(
    request: wire.AlterPartitionReassignmentsRequest, context: Context, broker: Broker
) -> wire.AlterPartitionReassignmentsResponse:
    may = may_cluster(context.access, Operation.ALTER)
    refused = None if may else refusal(ResourceType.CLUSTER)

    async def answer(asked: wire.ReassignableTopic) -> wire.ReassignableTopicResponse:
        topic = refused or await _topic(asked.name, broker)
        partitions = [
            _answer(asked.name, topic, entry, broker.nodes)
            async for entry in broker.work.pace(asked.partitions)
        ]
        return wire.TOPIC_RESPONSE(name=asked.name, partitions=partitions)

    return wire.RESPONSE(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=refused.code if refused else ErrorCode.NONE,
        error_message=refused.message if refused else None,
        responses=await broker.work.each(request.topics, answer),
    )


async def _topic(name: str, broker: Broker) -> Topic | Refused | None:
    try:
        return await broker.catalog.named(name)
    except Unavailable as error:
        return Refused(ErrorCode.REQUEST_TIMED_OUT, str(error))


def _answer(
    name: str, topic: Topic | Refused | None, entry: wire.ReassignablePartition, nodes: Nodes
) -> wire.ReassignablePartitionResponse:
    code, message = ErrorCode.NONE, None
    try:
        _check(name, topic, entry.partition_index)
        if entry.replicas is None:
            code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        else:
            check_assignment(entry.replicas, nodes)
    except Refused as refused:
        code, message = refused.code, refused.message
    return wire.PARTITION_RESPONSE(
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
