"""Committed offsets: which of them are valid, and when they expire.

Offsets of a group with members do not expire. After the group is empty they stay for
`offsets_retention_ms`, counted from when it became empty or from the commit, whichever is later. If
there is no group (offsets of non-members), it is counted from the commit. Expired offsets are not
returned, and upkeep deletes them.
"""

from typing import Protocol

from samsa.broker.broker import Broker
from samsa.groups import Group
from samsa.ports import Committed, Offsets, Topic
from samsa.topics.catalog import partition_of
from samsa.wire.errors import ErrorCode

FOR_EVER = -1
LONGEST = 2**62
"""The longest time in milliseconds that offsets are kept for: a client may send any number."""


class CommittedRow(Protocol):
    """One partition of an OffsetCommit or a TxnOffsetCommit."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


def refusal(topic: Topic, row: CommittedRow, broker: Broker) -> ErrorCode:
    """Why this offset cannot be committed, whatever the group says."""
    if partition_of(topic, row.partition_index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    # Kafka's limit is named after bytes, but counts UTF-16 characters. With such metadata, one item
    # has room for 32 partitions.
    most, metadata = broker.rules.offset_metadata_max_bytes, row.committed_metadata
    if metadata is not None and len(metadata.encode("utf-16-le")) > 2 * most:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def committed(row: CommittedRow, broker: Broker, kept_for: int = FOR_EVER) -> Committed:
    """The offset as it is stored. `kept_for`: milliseconds."""
    now = broker.stores.clock.now_ms()
    return Committed(
        offset=row.committed_offset,
        leader_epoch=row.committed_leader_epoch,
        metadata=row.committed_metadata or "",
        committed_at=now,
        expires_at=0 if kept_for == FOR_EVER else now + min(max(kept_for, 1), LONGEST),
    )


async def unstable_offsets(broker: Broker, group_id: str) -> set[tuple[str, int]]:
    """Topic names and partitions for which a transaction that has not ended committed offsets.
    Those that are decided, or timed out, are ended first."""
    groups, retry = broker.coordinator.groups, broker.stores.retry
    pending = await retry(groups.pending, group_id)
    if pending:
        await broker.transactions.settle(one.producer_id for one in pending)
        pending = await retry(groups.pending, group_id)
    return {where for one in pending for where in one.offsets}


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
    # A group with offsets is kept for its generation, and one with pending offsets for the end of
    # their transactions. If its version has changed, the group is in use again.
    return await groups.forget_group(group_id, version, now)


async def forget_offsets(broker: Broker, topic: Topic) -> None:
    """Delete the offsets of a deleted topic. If there is a new topic of the same name, offsets that
    were committed since its creation stay."""
    if broker.groups is None:
        return
    namesake = await broker.stores.ledger.topic(topic.name)
    before = namesake.created_at if namesake else broker.stores.clock.now_ms() + 1
    await broker.stores.retry(broker.groups.forget_topic, topic.name, before)
