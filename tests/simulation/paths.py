"""Which ways through the log a schedule took: a simulation that takes only the broad road is none.

Results of the log's own methods are looked at as they pass, and never changed.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from samsa.log.admit import Outcome, Refusal
from samsa.log.core import Log
from samsa.ports import Unavailable

EVERY_PATH = (
    "a slot was fenced with filler",
    "a fence found data",
    "412: ours",
    "412: fenced",
    "token gone: stored",
    "token gone: aged out",
    "a bind lost its race",
    "duplicate: stored",
    "duplicate: still open",
    "duplicate: bound again",
    "duplicate: after another in its fenced slot",
    "duplicate: aged out",
    "the batch before is not stored",
    "an unindexed slot was repaired",
    "objects were swept",
    "a merge by copying",
    "a merge without a copy",
    "a merge came second",
    "a grave was stamped",
    "what a merge left over was swept",
    "orphans were found",
    "records were deleted",
    "the log starts inside a slot",
    "a reader found its offset gone",
    "a reader found its objects gone",
    "a producer took a new epoch",
    "two appends shared a slot",
    "an append was stored at once",
    "an append came second",
)


def watch_paths(log: Log, paths: "Counter[str]") -> None:
    appender, fencer, reader = log._appender, log.fencer, log.reader
    producers = appender._producers

    def after(owner: Any, name: str, name_of: Callable[[Any], str | None]) -> None:
        method = getattr(owner, name)

        async def watched(*args: Any) -> Any:
            try:
                result = await method(*args)
            except Unavailable as error:
                result = error
            label = name_of(result)
            if label:
                paths[label] += 1
            if isinstance(result, Unavailable):
                raise result
            return result

        setattr(owner, name, watched)

    after(fencer, "_fill", _fenced)
    after(appender, "_is_ours", _refused_put)
    after(appender, "_ask", _asked)
    after(appender, "append", _shared)
    after(producers, "_duplicate", _duplicate)
    after(producers, "_may_follow", _follows)
    after(producers, "_bind", lambda bound: None if bound else "a bind lost its race")
    if appender._at_once is not None:
        after(appender._at_once, "append", _at_once)
    after(reader, "_repair", _always("an unindexed slot was repaired"))
    after(log.sweeper, "_below", _always("objects were swept"))
    after(log.sweeper, "_delete", _always("what a merge left over was swept"))
    after(log.sweeper, "find_orphans", lambda n: "orphans were found" if _counts(n) else None)
    after(log.merger, "join", _merged("a merge without a copy"))
    after(log.merger, "copy", _merged("a merge by copying"))
    went_on = "a round went on where one left off"
    after(log.compactor.progress, "at", lambda n: went_on if _counts(n) else None)
    after(log._stores.ledger, "condemn", lambda done: "a grave was stamped" if done else None)


def _counts(number: Any) -> bool:
    return isinstance(number, int) and number > 0


def _merged(label: str) -> Callable[[Any], str | None]:
    def name_of(new: Any) -> str | None:
        if isinstance(new, Exception):
            return None
        return "a merge came second" if new is None else label

    return name_of


def _always(label: str) -> Callable[[Any], str | None]:
    return lambda result: None if isinstance(result, Exception) else label


def _fenced(extent: Any) -> str | None:
    if extent is None or isinstance(extent, Exception):
        return None
    return "a fence found data" if extent.records else "a slot was fenced with filler"


def _refused_put(ours: Any) -> str | None:
    if isinstance(ours, Exception):
        return None
    return "412: ours" if ours else "412: fenced"


def _asked(answer: Any) -> str:
    if isinstance(answer, Exception):
        return "token gone: aged out" if "aged out" in str(answer) else "token gone: unavailable"
    return "token gone: fenced" if answer is None else "token gone: stored"


def _shared(outcomes: Any) -> str | None:
    stored = isinstance(outcomes, list) and [o for o in outcomes if o.refusal is None]
    return "two appends shared a slot" if stored and len(stored) > 1 else None


def _at_once(again: Any) -> str | None:
    if isinstance(again, Exception):
        return None
    return "an append came second" if again else "an append was stored at once"


_REFUSED = {
    Refusal.TRY_AGAIN: "duplicate: still open",
    Refusal.UNKNOWN_PRODUCER: "duplicate: aged out",
    Refusal.OUT_OF_ORDER: "duplicate: after another in its fenced slot",
}


def _duplicate(answer: Any) -> str | None:
    if isinstance(answer, Outcome):
        return _REFUSED[answer.refusal] if answer.refusal else "duplicate: stored"
    return "duplicate: bound again" if answer is None else None


def _follows(refusal: Any) -> str | None:
    return "the batch before is not stored" if refusal is Refusal.OUT_OF_ORDER else None
