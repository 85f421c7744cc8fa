"""One step of a transactional id: state, request and time in; state and answer out.

A decided transaction is finished before any request is judged: by then the answer would be the same
in Kafka too, which until then tells the client to retry (CONCURRENT_TRANSACTIONS).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from .changes import completed, ongoing
from .ending import abort, end, expire
from .errors import TransactionError
from .initialising import create, init, why_invalid
from .packing import fits
from .replies import Answer, Step, Unfinished, granted, refused
from .requests import (
    Abort,
    AddGroup,
    AddPartitions,
    Complete,
    EndTransaction,
    Expire,
    Init,
    Request,
    Verify,
    VerifyGroup,
)
from .settings import DEFAULTS, Settings
from .state import State, Transaction


def step(
    transaction: Transaction | None,
    request: Request,
    now_ms: int,
    settings: Settings = DEFAULTS,
) -> Step:
    error = why_invalid(request, settings) if isinstance(request, Init) else None
    if error is not None:
        return refused(transaction, error)
    if transaction is None:
        return _without(request, now_ms)
    if transaction.is_decided and not isinstance(request, Complete):
        return Step(transaction, Unfinished(transaction.serial))
    return _SERVE[type(request)](transaction, request, now_ms, settings)


def _without(request: Request, now_ms: int) -> Step:
    """The transactional id is unknown."""
    if isinstance(request, Init):
        return create(request, now_ms)
    if isinstance(request, Expire | Complete):
        return Step(None, Answer(None))
    is_admin = isinstance(request, Abort)
    unknown = TransactionError.TRANSACTIONAL_ID_NOT_FOUND
    return refused(None, unknown if is_admin else TransactionError.INVALID_PRODUCER_ID_MAPPING)


Named: TypeAlias = AddPartitions | AddGroup | Verify | VerifyGroup


def _why_not_this_producer(found: Transaction, request: Named) -> TransactionError | None:
    if request.producer_id != found.producer_id:
        return TransactionError.INVALID_PRODUCER_ID_MAPPING
    if request.epoch != found.epoch:
        return TransactionError.PRODUCER_FENCED
    return None


def _holds(found: Transaction, request: Named) -> bool:
    if found.state is not State.ONGOING:
        return False
    if isinstance(request, AddGroup | VerifyGroup):
        return request.group_id in found.groups
    return request.partitions <= found.partitions


def _add(
    found: Transaction, request: AddPartitions | AddGroup, now_ms: int, settings: Settings
) -> Step:
    error = _why_not_this_producer(found, request)
    if error is not None:
        return refused(found, error)
    if _holds(found, request):
        return granted(found)
    if isinstance(request, AddGroup):
        after = ongoing(found, now_ms, groups=found.groups | {request.group_id})
    else:
        after = ongoing(found, now_ms, partitions=found.partitions | request.partitions)
    parts = len(after.partitions) + len(after.groups)
    if parts > settings.most_parts or not fits(after, settings.most_bytes):
        return refused(found, TransactionError.INVALID_REQUEST)
    return granted(after)


def _verify(found: Transaction, request: Verify | VerifyGroup, _: int, __: Settings) -> Step:
    error = _why_not_this_producer(found, request)
    if error is None and not _holds(found, request):
        error = TransactionError.TRANSACTION_ABORTABLE
    return granted(found) if error is None else refused(found, error)


def _complete(found: Transaction, request: Complete, now_ms: int, _: Settings) -> Step:
    if not found.is_decided or request.serial != found.serial:
        return granted(found)
    return granted(completed(found, now_ms), found.serial)


_SERVE: dict[type[Request], Callable[[Transaction, Any, int, Settings], Step]] = {
    Init: init,
    AddPartitions: _add,
    AddGroup: _add,
    Verify: _verify,
    VerifyGroup: _verify,
    EndTransaction: end,
    Expire: expire,
    Abort: abort,
    Complete: _complete,
}
