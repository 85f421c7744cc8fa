"""How large a group may become, and the answer to a request that would make it larger.

A group is one item of the ledger, and a DynamoDB item has at most 400 KB. So the new state is
measured before each write, on every ledger. If it is too large, the request is refused: the group
stays as it is, and its other members are not affected. New members may fill 240 KiB, which leaves
room for assignments, and for members that join again and report what they own. The leader's
assignments may fill 360 KiB. Other requests in a full group (heartbeats, leaving) add a few bytes
at most, and use the rest.
"""

from collections.abc import Sequence

from .errors import GroupError
from .replies import ConsumerHeartbeatAnswer, HeartbeatAnswer, Joined, Left, Synced
from .requests import ConsumerHeartbeat, Heartbeat, Join, Leave, Protocols, Sync
from .step import Answer, Group, Request

KIB = 1024
MOST_STORED = 390 * KIB
MOST_WITH_ASSIGNMENTS = 360 * KIB
MOST_WITH_NEWCOMERS = 240 * KIB
LONGEST_TEXT = 32_767
"""Characters of an id: the limit of Kafka's older versions."""
MOST_METADATA = 512 * KIB
"""Bytes of one member's subscription, checked before it is read."""
MOST_TOPICS = 10_000
"""Names that one member of the consumer protocol subscribes to: each is looked up and stored."""

_FULL = GroupError.GROUP_MAX_SIZE_REACHED


def fits(stored_bytes: int, group: Group | None, requests: Sequence[Request]) -> bool:
    """Whether these requests may make the group grow to this size."""
    if stored_bytes <= MOST_WITH_NEWCOMERS:
        return True
    return stored_bytes <= min((_most(group, each) for each in requests), default=MOST_STORED)


def _most(group: Group | None, request: Request) -> int:
    if isinstance(request, Join | ConsumerHeartbeat) and not _is_member(group, request):
        return MOST_WITH_NEWCOMERS
    if isinstance(request, Sync) or (isinstance(request, ConsumerHeartbeat) and request.topics):
        return MOST_WITH_ASSIGNMENTS
    return MOST_STORED


def _is_member(group: Group | None, request: Join | ConsumerHeartbeat) -> bool:
    """An instance that comes back counts as a member: it replaces its old member id."""
    if group is None:
        return False
    instance_id = request.instance_id
    return request.member_id in group.members or (
        instance_id is not None
        and any(member.instance_id == instance_id for member in group.members.values())
    )


def why_unfit(request: Request) -> GroupError | None:
    """Why a request is refused for its own size, whatever the group is."""
    if isinstance(request, Join):
        return _why_unfit_join(request)
    if isinstance(request, ConsumerHeartbeat):
        texts = (request.member_id, request.instance_id or "", request.rack_id or "")
        if any(len(text) > LONGEST_TEXT for text in texts):
            return GroupError.INVALID_REQUEST
        topics = request.topics or ()
        if len(topics) > MOST_TOPICS:
            return _FULL
        size = sum(map(len, topics)) + len(request.pattern or "")
        return _FULL if size > MOST_METADATA else None
    return None


def _why_unfit_join(request: Join) -> GroupError | None:
    names = (name for name, _ in request.protocols)
    texts = (request.member_id, request.instance_id or "", request.protocol_type, *names)
    if any(len(text) > LONGEST_TEXT for text in texts):
        return GroupError.INVALID_REQUEST
    return _FULL if _size(request.protocols) > MOST_METADATA else None


def _size(protocols: Protocols) -> int:
    return sum(len(name) + len(metadata) for name, metadata in protocols)


def refusal(request: Request, error: GroupError = _FULL) -> Answer:
    if isinstance(request, Join):
        return Joined(error, request.member_id)
    if isinstance(request, Sync):
        return Synced(error)
    if isinstance(request, Heartbeat):
        return HeartbeatAnswer(error)
    return Left(error) if isinstance(request, Leave) else ConsumerHeartbeatAnswer(error)
