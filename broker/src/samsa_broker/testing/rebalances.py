"""Makes a group rebalance, or fences a producer, as another client would.

A group of the classic protocol gets a member that leaves again before the others have joined: they
all join again. The consumer protocol has no such moment, so its members are removed: each loses its
partitions with its next heartbeat, and joins again.
"""

import asyncio
from typing import Any

from samsa.groups import ClassicGroup, ConsumerGroup, ConsumerHeartbeat, Join, Leave, Leaving
from samsa.groups.classic_state import ClassicState
from samsa.groups.consumer_state import LEAVE_EPOCH
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    describe_transactions,
    init_producer_id,
    list_groups,
    list_transactions,
)

from .asking import Asking, check
from .errors import SamsaError

CLIENT_ID = "samsa-rebalance"
LOOK_EVERY_S = 0.002
FENCE_S = 10.0
AGAIN = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
)


async def rebalance(asking: Asking, group_id: str) -> None:
    """Raises SamsaError: the group has no members."""
    group, _ = await asking.broker.coordinator.look(group_id)
    if group is None or not group.members:
        states = await group_states(asking)
        there = ", ".join(f"{name} ({state})" for name, state in states.items()) or "none"
        raise SamsaError(
            f"group {group_id!r} has no members to rebalance. Wait until a consumer has joined. "
            f"There are: {there}"
        )
    if isinstance(group, ConsumerGroup):
        await _remove_members(asking, group_id, group)
    else:
        await _join_and_leave(asking, group_id, group)


async def _remove_members(asking: Asking, group_id: str, group: ConsumerGroup) -> None:
    for member_id in group.members:
        leave = ConsumerHeartbeat(member_id, LEAVE_EPOCH)
        await asking.broker.coordinator.ask(group_id, leave)


async def _join_and_leave(asking: Asking, group_id: str, group: ClassicGroup) -> None:
    """A join that is given up takes its member out of the group again."""
    coordinator = asking.broker.coordinator
    like = next(iter(group.members.values()))
    join = Join(
        member_id="",
        instance_id=None,
        protocol_type=group.protocol_type or "consumer",
        protocols=like.protocols,
        session_timeout_ms=like.session_timeout_ms,
        rebalance_timeout_ms=like.rebalance_timeout_ms,
        client_id=CLIENT_ID,
        client_host="/127.0.0.1",
        ticket=coordinator.ticket(group_id),
        requires_id=False,
    )
    joining = asyncio.create_task(coordinator.ask(group_id, join))
    while not joining.done():
        now, _ = await coordinator.look(group_id)
        if isinstance(now, ClassicGroup) and now.state is ClassicState.PREPARING_REBALANCE:
            break
        await asyncio.sleep(LOOK_EVERY_S)
    joining.cancel()
    await asyncio.wait([joining])
    if not joining.cancelled():
        await _leave(asking, group_id, joining.result())


async def _leave(asking: Asking, group_id: str, joined: Any) -> None:
    """The others were quicker: the join was answered. Raises SamsaError: it was refused."""
    if joined.error is not None:
        raise SamsaError(f"group {group_id!r} takes no more members: {joined.error.name}")
    await asking.broker.coordinator.ask(group_id, Leave((Leaving(joined.member_id),)))


async def group_states(asking: Asking) -> dict[str, str]:
    """Kafka's name of the state of each group, such as Stable."""
    answer = await asking.ask(ApiKey.LIST_GROUPS, list_groups.REQUEST())
    check(answer.error_code, None, "the groups")
    return {each.group_id: each.group_state for each in answer.groups}


async def fence(asking: Asking, transactional_id: str) -> None:
    """What the next producer with this id does when it starts. Raises SamsaError."""
    state = await _transaction(asking, transactional_id)
    row = init_producer_id.REQUEST(
        transactional_id=transactional_id,
        transaction_timeout_ms=state.transaction_timeout_ms,
        producer_id=-1,
        producer_epoch=-1,
    )
    until = asyncio.get_running_loop().time() + FENCE_S
    answer = await asking.ask(ApiKey.INIT_PRODUCER_ID, row)
    while answer.error_code in AGAIN and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(LOOK_EVERY_S)
        answer = await asking.ask(ApiKey.INIT_PRODUCER_ID, row)
    check(answer.error_code, None, f"transactional id {transactional_id!r}")


async def _transaction(asking: Asking, transactional_id: str) -> Any:
    row = describe_transactions.REQUEST(transactional_ids=[transactional_id])
    (state,) = (await asking.ask(ApiKey.DESCRIBE_TRANSACTIONS, row)).transaction_states
    if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        known = await asking.ask(ApiKey.LIST_TRANSACTIONS, list_transactions.REQUEST())
        ids = ", ".join(each.transactional_id for each in known.transaction_states) or "none"
        raise SamsaError(
            f"no producer has initialised transactional id {transactional_id!r}. There are: {ids}"
        )
    check(state.error_code, None, f"transactional id {transactional_id!r}")
    return state
