"""Committed offsets: which of them are valid, and when they expire.

Offsets of a group with members do not expire. After the group is empty they stay for
`offsets_retention_ms`, counted from when it became empty or from the commit, whichever is later. If
there is no group (offsets of non-members), it is counted from the commit. Expired offsets are not
returned, and upkeep deletes them.
"""

from samsa.broker.broker import Broker
from samsa.groups import Group
from samsa.ports import Committed, Offsets, Topic


async def kept_offsets(broker: Broker, group_id: str) -> Offsets:
    """The group's committed offsets that have not expired."""
    groups, now = broker.coordinator.groups, broker.stores.clock.now_ms()
    offsets = await broker.stores.retry(groups.offsets, group_id, now)
    oldest = min((each.committed_at for each in offsets.values()), default=now)
    if now - oldest < broker.rules.offsets_retention_ms:
        return offsets  # none can have expired, whatever state the group is in
    group, _ = await broker.coordinator.look(group_id)
    return {w: each for w, each in offsets.items() if not expired(each, group, now, broker)}


def expired(committed: Committed, group: Group | None, now_ms: int, broker: Broker) -> bool:
    if group is not None and not group.is_empty:
        return False
    since = max(committed.committed_at, group.changed_at_ms if group else 0)
    return since + broker.rules.offsets_retention_ms <= now_ms


async def forget_expired(broker: Broker, group_id: str) -> bool:
    """For upkeep: delete expired offsets of a group, and the group if it is empty and has none
    left. Returns whether the group was deleted."""
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
    # A group with offsets is kept for its generation. If its version has changed, the group is in
    # use again.
    return await groups.delete_group(group_id, version)


async def forget_offsets(broker: Broker, topic: Topic) -> None:
    """Delete the offsets of a deleted topic. If there is a new topic of the same name, offsets that
    were committed since its creation stay."""
    if broker.groups is None:
        return
    namesake = await broker.stores.ledger.topic(topic.name)
    before = namesake.created_at if namesake else broker.stores.clock.now_ms() + 1
    await broker.stores.retry(broker.groups.forget_topic, topic.name, before)
