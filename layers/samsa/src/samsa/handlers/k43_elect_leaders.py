"""ElectLeaders (key 43).

Behaviour: leaders are chosen by hashing (`nodes.py`), so an election is never needed: that is the
answer for each partition of the request. Null means all topics; then the answer lists only
partitions that needed an election: none. Needs ALTER on the cluster.

Versions: 1+ have two kinds of election, and an error for the whole request.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.ports import Topic, Unavailable
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.catalog import partition_of
from samsa.topics.permitted import may_cluster, refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import elect_leaders as wire

KINDS = (0, 1)
"""Elect the preferred leader (0), or any live replica (1, unclean)."""


@handles(ApiKey.ELECT_LEADERS)
async def elect_leaders(
    request: wire.ElectLeadersRequest, context: Context, broker: Broker
) -> wire.ElectLeadersResponse:
    if not may_cluster(context.access, Operation.ALTER):
        why = refusal(ResourceType.CLUSTER)
        rows = await _all(request, why.code, why.message, broker)
        return wire.RESPONSE(error_code=why.code, replica_election_results=rows)
    if request.election_type not in KINDS:
        code, message = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
        return wire.RESPONSE(
            error_code=code, replica_election_results=await _all(request, code, message, broker)
        )
    try:
        return wire.RESPONSE(replica_election_results=await _results(request, broker))
    except Unavailable as error:
        code = ErrorCode.REQUEST_TIMED_OUT
        return wire.RESPONSE(
            error_code=code, replica_election_results=await _all(request, code, str(error), broker)
        )


async def _all(
    request: wire.ElectLeadersRequest, code: ErrorCode, message: str, broker: Broker
) -> list[wire.ReplicaElectionResult]:
    """The same result for every partition of the request."""
    pace = broker.work.pace
    return [
        wire.TOPIC_RESPONSE(
            topic=asked.topic,
            partition_result=[_result(n, code, message) async for n in pace(asked.partitions)],
        )
        async for asked in pace(request.topic_partitions or ())
    ]


def _result(number: int, code: ErrorCode, message: str) -> wire.PartitionResult:
    return wire.PARTITION_RESPONSE(partition_id=number, error_code=code, error_message=message)


async def _results(
    request: wire.ElectLeadersRequest, broker: Broker
) -> list[wire.ReplicaElectionResult]:
    if request.topic_partitions is None:
        return [wire.TOPIC_RESPONSE(topic=topic.name) for topic in await broker.catalog.all()]

    async def elect(asked: wire.TopicPartitions) -> wire.ReplicaElectionResult:
        topic = await broker.catalog.named(asked.topic)
        results = [_elect(asked.topic, n, topic) async for n in broker.work.pace(asked.partitions)]
        return wire.TOPIC_RESPONSE(topic=asked.topic, partition_result=results)

    return await broker.work.each(request.topic_partitions, elect)


def _elect(name: str, number: int, topic: Topic | None) -> wire.PartitionResult:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        return _result(number, unknown, f"No such topic as {name}")
    if partition_of(topic, number) is None:
        return _result(number, unknown, f"No such partition as {name}-{number}")
    message = "Leader election not needed for topic partition."
    return _result(number, ErrorCode.ELECTION_NOT_NEEDED, message)
