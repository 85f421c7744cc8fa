"""Committed offsets: what is still there, and when it is forgotten.

Offsets of a group that has members stay. Once it is empty they stay for `offsets.retention`,
counted from when it became empty or from the commit, whichever is later; offsets of somebody who is
no member, from the commit. What has expired is not returned, and upkeep forgets it.
"""

from samsa.groups import Group
from samsa.ports import Committed, Offsets, Topic

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


async def forget_expired(broker: Broker, group_id: str) -> bool:
    """For upkeep: expired offsets of a group, and the group if it is empty and has none left.
    Whether it is gone."""
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


async def forget_offsets(broker: Broker, topic: Topic) -> None:
    """Of a topic that was deleted. What was committed since there is another of its name stays."""
    if broker.groups is None:
        return
    namesake = await broker.stores.ledger.topic(topic.name)
    before = namesake.created_at if namesake else broker.stores.clock.now_ms() + 1
    await broker.stores.insist(broker.groups.forget_topic, topic.name, before)
