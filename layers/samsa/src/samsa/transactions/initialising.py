"""InitProducerId: who may have the transactional id, and with which producer id and epoch.

A producer that knows nothing gets the next epoch, and fences all before it. One that recovers names
the id and the epoch that it has (KIP-360). It gets the next epoch too, or, if it already got that
and the answer was lost, the current one.
"""

from .changes import bumped, changed
from .errors import TransactionError
from .replies import NeedsId, Step, Unfinished, granted, refused
from .requests import Init
from .settings import Settings
from .state import State, Transaction

_EMPTY = {"state": State.EMPTY, "started_at": -1}


def why_invalid(request: Init, settings: Settings) -> TransactionError | None:
    if (request.producer_id == -1) != (request.epoch == -1):
        return TransactionError.INVALID_REQUEST
    if not 0 < request.timeout_ms <= settings.max_timeout_ms:
        return TransactionError.INVALID_TRANSACTION_TIMEOUT
    return None


def create(request: Init, now_ms: int) -> Step:
    """For every id and epoch that the producer names: its transaction was forgotten."""
    if request.fresh_id < 0:
        return Step(None, NeedsId())
    first = Transaction(request.fresh_id, 0, State.EMPTY, 1, request.timeout_ms, changed_at=now_ms)
    return granted(first)


def init(found: Transaction, request: Init, now_ms: int, _: Settings) -> Step:
    recovers = request.producer_id != -1
    if recovers and not _may_recover(found, request):
        return refused(found, TransactionError.PRODUCER_FENCED)
    if found.state is State.ONGOING:
        return _fence(found, request, now_ms)
    if recovers and request.epoch != found.epoch:
        return _again(found, request, now_ms)
    return _next(found, request, now_ms, found.epoch if recovers else -1)


def _may_recover(found: Transaction, request: Init) -> bool:
    named = (request.producer_id, request.epoch)
    if named == (found.producer_id, found.epoch):
        return True
    return named == found.before and found.state is not State.ONGOING


def _fence(found: Transaction, request: Init, now_ms: int) -> Step:
    """Abort what is ongoing. Asked again, this request then finds an unused epoch."""
    aborted = bumped(found, State.PREPARE_ABORT, now_ms, request.fresh_id)
    if aborted is None:
        return Step(found, NeedsId())
    return Step(aborted, Unfinished(aborted.serial))


def _again(found: Transaction, request: Init, now_ms: int) -> Step:
    if found.state is State.EMPTY and found.timeout_ms == request.timeout_ms:
        return granted(found)
    return granted(changed(found, now_ms, timeout_ms=request.timeout_ms, **_EMPTY))


def _next(found: Transaction, request: Init, now_ms: int, last_epoch: int) -> Step:
    producer_id, epoch = found.producer_id, found.epoch + 1
    if found.is_exhausted:
        if request.fresh_id < 0:
            return Step(found, NeedsId())
        producer_id, epoch = request.fresh_id, 0
    return granted(
        changed(
            found,
            now_ms,
            producer_id=producer_id,
            epoch=epoch,
            last_epoch=last_epoch,
            timeout_ms=request.timeout_ms,
            **_EMPTY,
        )
    )
