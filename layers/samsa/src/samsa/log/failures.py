"""Runs upkeep in steps that fail separately: one bad partition, topic or group stops no other.

A step that fails is counted, logged in one line (its traceback at DEBUG), and not tried again for a
while: longer after each further failure. A step that finds a store unavailable, or takes too long,
is put off; any other exception is a failure. Two exceptions reach the caller: the cancellation of
the upkeep itself, and UnknownPartition.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from samsa.bounded import Bounded
from samsa.ports import Missing, Unavailable, UnknownPartition

log = logging.getLogger("samsa.upkeep")
T = TypeVar("T")
TRANSIENT = (Unavailable, Missing, TimeoutError)
FIRST_REST_S, FIRST_TRANSIENT_REST_S = 60.0, 1.0
LONGEST_REST_S = 3_600.0
MOST_RESTING = 100_000


class UpkeepStep(NamedTuple):
    """What is done, and to what. For log lines, and as the key of the step's back-off."""

    kind: str
    name: str
    partition: int | None = None

    @property
    def fields(self) -> dict[str, object]:
        where = {} if self.partition is None else {"partition": self.partition}
        return {"step": self.kind, "name": self.name, **where}


class Pause(NamedTuple):
    failures: int
    until: float


class Failures:
    def __init__(self) -> None:
        self.failed: Counter[str] = Counter()
        """By kind of step, since the process started."""
        self.put_off: Counter[str] = Counter()
        self.put_off_in_a_row = 0
        """More than a few mean that a store is down."""
        self._resting = Bounded[UpkeepStep, Pause](MOST_RESTING)

    async def attempt(
        self, step: UpkeepStep, work: Callable[[], Awaitable[T]], otherwise: T, limit_s: float
    ) -> T:
        """What the work returns; `otherwise` if it rests, fails, or takes longer than `limit_s`.
        Raises UnknownPartition."""
        now = asyncio.get_running_loop().time
        if step in self._resting and now() < self._resting[step].until:
            return otherwise
        try:
            async with asyncio.timeout(limit_s):
                found = await work()
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            self._note(step, error)  # something that it waited for was cancelled
        except UnknownPartition:
            raise
        except Exception as error:
            self._note(step, error)
        else:
            self._resting.pop(step, None)
            self.put_off_in_a_row = 0
            return found
        return otherwise

    def _note(self, step: UpkeepStep, error: BaseException) -> None:
        is_transient = isinstance(error, TRANSIENT)
        self.put_off_in_a_row = self.put_off_in_a_row + 1 if is_transient else 0
        (self.put_off if is_transient else self.failed)[step.kind] += 1
        failures = self._resting[step].failures + 1 if step in self._resting else 1
        first = FIRST_TRANSIENT_REST_S if is_transient else FIRST_REST_S
        rest_s = min(LONGEST_REST_S, first * 2 ** min(failures - 1, 20))
        self._rest(step, Pause(failures, asyncio.get_running_loop().time() + rest_s))
        fields = {
            **step.fields,
            "why": f"{type(error).__name__}: {error}",
            "at": _place(error),
            "times": failures,
            "again_in_s": rest_s,
        }
        level = logging.INFO if is_transient else logging.ERROR
        message = "upkeep put off" if is_transient else "upkeep failed"
        log.log(level, message, extra={"fields": fields})
        log.debug("upkeep failed there", exc_info=error)

    def _rest(self, step: UpkeepStep, rest: Pause) -> None:
        self._resting.keep(step, rest)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _place(error: BaseException) -> str:
    """The line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
