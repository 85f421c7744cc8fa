"""Committed offsets: who may commit, what is still there, and when it is forgotten.

Offsets of a group that has members stay. Once it is empty they stay for `offsets.retention`,
counted from when it became empty or from the commit, whichever is later; offsets of somebody who is
no member, from the commit. What has expired is not returned, and upkeep forgets it.
"""

from samsa.groups import Group, GroupError
from samsa.groups.classic_state import State
from samsa.ports import Committed, Offsets, Unavailable

from .broker import Broker


async def kept_offsets(broker: Broker, group_id: str) -> Offsets:
    """What the group has committed and has not expired."""
    groups, now = broker.coordinator.groups, broker.stores.clock.now_ms()
    offsets = await broker.stores.insist(groups.offsets, group_id, now)
    oldest = min((each.committed_at for each in offsets.values()), default=now)
    if now - oldest < broker.rules.offsets_retention_ms:
        return offsets  # too young to expire, whatever the group is
    group, _ = await broker.coordinator.look(group_id)
    return {w: each for w, each in offsets.items() if not expired(each, group, now, broker)}


def expired(committed: Committed, group: Group | None, now_ms: int, broker: Broker) -> bool:
    if group is not None and not group.is_empty:
        return False
    since = max(committed.committed_at, group.changed_at_ms if group else 0)
    return since + broker.rules.offsets_retention_ms <= now_ms


async def forget_expired(broker: Broker) -> int:
    """For upkeep: expired offsets, and empty groups that have none left. How many groups."""
    gone = 0
    for group_id in await broker.coordinator.groups.group_ids():
        try:
            gone += await _forget_expired_of(broker, group_id)
        except Unavailable:
            continue  # the next round comes by
    return gone


async def _forget_expired_of(broker: Broker, group_id: str) -> bool:
    groups, now = broker.coordinator.groups, broker.stores.clock.now_ms()
    everything = await groups.offsets(group_id, 0)
    group, version = await broker.coordinator.tidy(group_id)
    if group is not None and not group.is_empty:
        return False
    if everything:
        old = [
            where
            for where, each in everything.items()
            if expired(each, group, now, broker) or 0 < each.expires_at <= now
        ]
        await groups.delete_offsets(group_id, old, before=now)
        return False
    # Its generation counts for as long as it has offsets. A version that has moved is a group that
    # somebody uses again.
    return await groups.delete_group(group_id, version)


def may_commit(
    group: Group | None,
    member_id: str,
    instance_id: str | None,
    generation: int,
    now_ms: int,
) -> GroupError | None:
    if generation < 0 and (group is None or group.is_empty):
        return None
    if group is None:
        return GroupError.ILLEGAL_GENERATION
    if generation < 0 and not member_id and instance_id is None:
        return GroupError.UNKNOWN_MEMBER_ID
    member = group.members.get(member_id)
    if member is None or (instance_id is not None and member.instance_id != instance_id):
        return GroupError.UNKNOWN_MEMBER_ID
    if generation != group.generation:
        return GroupError.ILLEGAL_GENERATION
    if group.state is State.COMPLETING_REBALANCE:
        return GroupError.REBALANCE_IN_PROGRESS
    return None


def may_fetch(
    group: Group | None, member_id: str | None, epoch: int, now_ms: int
) -> GroupError | None:
    return None
