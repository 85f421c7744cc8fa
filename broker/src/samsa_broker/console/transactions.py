"""Transactions: which are open, since when, and where. One that hangs can be aborted."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from samsa.http_api.kafka_client import Asked, KafkaClient, check
from samsa.http_api.problems import RequestFailed
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_transactions, init_producer_id, list_transactions

from .state import API, OnConsole, answer

router = APIRouter(prefix=f"{API}/transactions", include_in_schema=False)
ONGOING = "Ongoing"
NOT_ENDED = (ONGOING, "PrepareCommit", "PrepareAbort", "PrepareEpochFence")
MOST = 1_000
"""That are shown: those that have not ended first."""
TIMEOUT_MS = 60_000
"""Of the transactional id from an abort on, until its next producer asks for another."""

TransactionalId = Annotated[str, Path(min_length=1)]


@router.get("")
async def list_all(kafka: Asked, console: OnConsole) -> Response:
    listed = await kafka.ask(ApiKey.LIST_TRANSACTIONS, list_transactions.REQUEST())
    check(listed.error_code, None, "transactions")
    found = await kafka.work.in_thread(_chosen, listed.transaction_states)
    row = describe_transactions.REQUEST(transactional_ids=found)
    described = (await kafka.ask(ApiKey.DESCRIBE_TRANSACTIONS, row)).transaction_states
    rows = [_row(each) for each in described if not each.error_code]
    return await answer(console, {"total": len(listed.transaction_states), "transactions": rows})


def _chosen(states: list[Any]) -> list[str]:
    def key(one: Any) -> tuple[bool, str]:
        return one.transaction_state not in NOT_ENDED, one.transactional_id

    return [one.transactional_id for one in sorted(states, key=key)[:MOST]]


def _row(one: Any) -> dict[str, Any]:
    is_open = one.transaction_state in NOT_ENDED
    return {
        "transactional_id": one.transactional_id,
        "producer_id": one.producer_id,
        "epoch": one.producer_epoch,
        "state": one.transaction_state,
        "timeout_ms": one.transaction_timeout_ms,
        "started_ms": one.transaction_start_time_ms if is_open else None,
        "partitions": [
            {"topic": topic.topic, "partition": number}
            for topic in one.topics
            for number in topic.partitions
        ],
    }


@router.post("/{transactional_id:path}/abort")
async def abort(transactional_id: TransactionalId, kafka: Asked, console: OnConsole) -> Response:
    """A new producer fences the one before it, and what that one has open is aborted."""
    await _check_ongoing(transactional_id, kafka)
    row = init_producer_id.REQUEST(
        transactional_id=transactional_id, transaction_timeout_ms=TIMEOUT_MS
    )
    found = await kafka.ask(ApiKey.INIT_PRODUCER_ID, row)
    check(found.error_code, None, f"transactional id {transactional_id!r}")
    return await answer(console, {"transactional_id": transactional_id, "aborted": True})


async def _check_ongoing(transactional_id: str, kafka: KafkaClient) -> None:
    """Raises Refused, RequestFailed."""
    row = describe_transactions.REQUEST(transactional_ids=[transactional_id])
    one = (await kafka.ask(ApiKey.DESCRIBE_TRANSACTIONS, row)).transaction_states[0]
    check(one.error_code, None, f"transactional id {transactional_id!r}")
    if one.transaction_state != ONGOING:
        raise RequestFailed(
            409,
            "No ongoing transaction",
            f"transactional id {transactional_id!r} has no ongoing transaction "
            f"({one.transaction_state})",
            "Look again: it may have ended by itself.",
        )
