"""Which ways through the log a schedule took: a simulation that takes only the broad road is none.

Results of the log's own methods are looked at as they pass, and never changed.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from samsa.aws.journal import HeadJournal
from samsa.coordinator.transactions import TransactionCoordinator
from samsa.log.admit import Refusal
from samsa.log.core import Log
from samsa.ports import Extent, Unavailable
from samsa.ports.windows import WINDOWS

EVERY_PATH = (
    "an append was kept in the head",
    "an append was put into an object",
    "an append was put into a window",
    "a window was swept",
    "a window was left",
    "an offset was guessed wrong",
    "two appends shared a commit",
    "a claim was lost",
    "no answer: found in the head or in the index",
    "no answer: found in the index",
    "no answer: sent again",
    "no answer: nobody can tell any more",
    "a late update arrived",
    "a late update was refused",
    "a sweep came between put and commit",
    "a commit took entries out",
    "entries were taken out by themselves",
    "a commit waited for room",
    "a producer was evicted",
    "a producer came back to the head",
    "a duplicate was answered",
    "the batch before is not stored",
    "packs were swept",
    "a merge by copying",
    "a merge without a copy",
    "a merge came second",
    "a pending deletion was dated",
    "what a merge left over was swept",
    "orphans were found",
    "records were deleted",
    "the log starts inside an entry",
    "a reader found its offset gone",
    "a reader found its objects gone",
    "a producer took a new epoch",
    "a transaction was committed",
    "a transaction was aborted",
    "a transactional producer was fenced",
    "a transactional producer started again",
    "offsets were added to a transaction",
    "a batch came after its transaction",
    "a marker was written",
    "a marker was there already",
    "a transaction was ended because its time was up",
    "a process crashed before a transaction was finished",
    "a process crashed after it had answered an end",
    "an aborted transaction left the head",
    "a reader of committed data was held back",
    "a reader was told what was aborted",
)

Names = Callable[[Any, tuple[Any, ...]], str | None]
"""Of the path that a result, or an error, shows; and what was asked."""


def watch_paths(log: Log, paths: "Counter[str]") -> None:
    def after(owner: Any, name: str, *names: Names) -> None:
        method = getattr(owner, name)

        async def watched(*args: Any) -> Any:
            try:
                result = await method(*args)
            except Unavailable as error:
                result = error
            for name_of in names:
                path = name_of(result, args)
                if path is not None:
                    paths[path] += 1
            if isinstance(result, Unavailable):
                raise result
            return result

        setattr(owner, name, watched)

    ledger, journal = log._stores.ledger, log._stores.journal
    after(log.appender, "append", _shared, _duplicate, _too_early, _too_late)
    after(journal, "commit", lambda r, _: "a claim was lost" if _is(r) and r.lost else None)
    if isinstance(journal, HeadJournal):
        after(ledger, "update_head", _where, _guessed_wrong, _took_out, _came_back)
        after(ledger, "take_out", _told("entries were taken out by themselves"))
        after(ledger, "evict", _told("a producer was evicted"))
        _watch_room(journal._tidier, paths)
    else:
        after(ledger, "commit", _guessed)
    after(journal, "sweep", _told("packs were swept"))
    after(log.sweeper, "_delete", _told("what a merge left over was swept"))
    after(log.sweeper, "find_orphans", _counts("orphans were found"))
    after(log.janitor.windows, "sweep", _counts("a window was swept"))
    after(log.merger, "copy", _left_window)
    after(log.merger, "join", _merged("a merge without a copy"))
    after(log.merger, "copy", _merged("a merge by copying"))
    after(log.compactor.progress, "at", _counts("a round went on where one left off"))
    after(log, "mark", _marked)
    after(ledger, "forget_aborted", _told("an aborted transaction was forgotten"))
    after(ledger, "store_aborted", _told("an aborted transaction left the head"))
    after(
        ledger, "condemn", lambda done, _: "a pending deletion was dated" if done is True else None
    )


def watch_expiry(coordinator: TransactionCoordinator, paths: "Counter[str]") -> None:
    expire = coordinator._expire

    async def watched(transactional_id: str) -> Any:
        before = coordinator.aborted
        found = await expire(transactional_id)
        paths["a transaction was ended because its time was up"] += coordinator.aborted != before
        return found

    coordinator._expire = watched  # type: ignore[method-assign]


def is_ending(coordinator: TransactionCoordinator) -> bool:
    """Whether it knows of a transaction that is decided and not finished."""
    found = (known.transaction for known in coordinator._known.values())
    return any(one is not None and one.is_decided for one in found)


def _watch_room(tidier: Any, paths: "Counter[str]") -> None:
    make_room = tidier.make_room

    async def waits(partition: Any, known: Any) -> None:
        before = known.unsettled()
        await make_room(partition, known)
        paths["a commit waited for room"] += known.unsettled() != before

    tidier.make_room = waits


def _is(result: Any) -> bool:
    return not isinstance(result, Exception)


def _told(path: str) -> Names:
    return lambda result, _: path if _is(result) else None


def _counts(path: str) -> Names:
    return lambda number, _: path if isinstance(number, int) and number > 0 else None


def _marked(done: Any, _: Any) -> str | None:
    if isinstance(done, Exception):
        return None
    return "a marker was written" if done else "a marker was there already"


def _merged(path: str) -> Names:
    def name_of(new: Any, _: Any) -> str | None:
        if isinstance(new, Exception):
            return None
        return "a merge came second" if new is None else path

    return name_of


def _left_window(new: Any, args: tuple[Any, ...]) -> str | None:
    alone = isinstance(new, Extent) and len(args[1]) == 1
    return "a window was left" if alone else None


def _done(result: Any) -> bool:
    """Of an update of a head."""
    return _is(result) and result[1]


def _where(result: Any, args: tuple[Any, ...]) -> str | None:
    if not _done(result):
        return None
    key = args[1].entry.key
    if key.startswith(WINDOWS):
        return "an append was put into a window"
    return f"an append was {'put into an object' if key else 'kept in the head'}"


def _guessed_wrong(result: Any, args: tuple[Any, ...]) -> str | None:
    entry = args[1].entry
    wrong = _done(result) and result[0].head.next_offset != entry.end
    return "an offset was guessed wrong" if wrong else None


def _took_out(result: Any, args: tuple[Any, ...]) -> str | None:
    return "a commit took entries out" if _done(result) and args[1].settled else None


def _came_back(result: Any, args: tuple[Any, ...]) -> str | None:
    back = [one for one in args[1].claims if one.evictions is not None and one.claim.after]
    return "a producer came back to the head" if _done(result) and back else None


def _guessed(result: Any, args: tuple[Any, ...]) -> str | None:
    wrong = _is(result) and result.base is not None and result.base != args[1].base
    return "an offset was guessed wrong" if wrong else None


def _shared(outcomes: Any, _: Any) -> str | None:
    stored = isinstance(outcomes, list) and [o for o in outcomes if o.refusal is None]
    return "two appends shared a commit" if stored and len(stored) > 1 else None


def _duplicate(outcomes: Any, _: Any) -> str | None:
    """Only those are answered without the log's start."""
    again = isinstance(outcomes, list) and any(
        o.refusal is None and o.log_start < 0 for o in outcomes
    )
    return "a duplicate was answered" if again else None


def _too_late(outcomes: Any, _: Any) -> str | None:
    late = isinstance(outcomes, list) and any(o.refusal is Refusal.ENDED for o in outcomes)
    return "a batch came after its transaction" if late else None


def _too_early(outcomes: Any, _: Any) -> str | None:
    early = isinstance(outcomes, list) and any(o.refusal is Refusal.TRY_AGAIN for o in outcomes)
    return "the batch before is not stored" if early else None
