"""Faults on demand: requests of clients that are delayed, refused, or end their connection.

A fault meets requests of one API, of all clients or of one client id, and ends after a number of
them, or when it is cleared. Several faults meet a request in the order in which they were made.
Without faults a request takes its usual way.
"""

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from samsa.broker.answer_rows import row_of
from samsa.broker.broker import Answer, Later
from samsa.client_requests import ClientRequests
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import KafkaRequest
from samsa.wire.rows import Row

from .error_answers import NoPlace, error_answer
from .errors import SamsaError


@dataclass(slots=True)
class FaultRule:
    key: ApiKey
    delay_s: float = 0.0
    code: ErrorCode | None = None
    """The error that answers have; None: none."""
    disconnects: bool = False
    after: bool = False
    """Whether the request is handled first, so that only its answer is late or lost."""
    times: int | None = None
    """How many requests it meets; None: all, until it is cleared."""
    client_id: str | None = None
    hits: int = 0
    """How many requests it has met."""
    cleared: asyncio.Event = field(default_factory=asyncio.Event)

    async def delay(self) -> None:
        """Requests that wait go on when the fault is cleared."""
        if not self.delay_s:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.delay_s):
                await self.cleared.wait()

    @property
    def is_over(self) -> bool:
        return self.times is not None and self.hits >= self.times

    def meets(self, request: KafkaRequest) -> bool:
        if self.is_over or request.api_key != self.key:
            return False
        return self.client_id is None or request.client_id == self.client_id


@dataclass(slots=True)
class FaultRules:
    rules: dict[int, FaultRule] = field(default_factory=dict)
    hits: dict[int, int] = field(default_factory=dict)
    """Of those that were cleared."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, rule: FaultRule) -> int:
        number = next(self._numbers)
        self.rules[number] = rule
        return number

    def clear(self, number: int | None = None) -> None:
        for each in list(self.rules) if number is None else [number]:
            rule = self.rules.pop(each, None)
            if rule is not None:
                self.hits[each] = rule.hits
                rule.cleared.set()

    def hits_of(self, number: int) -> int:
        rule = self.rules.get(number)
        return rule.hits if rule is not None else self.hits.get(number, 0)

    def concern(self, key: ApiKey) -> bool:
        return any(rule.key == key and not rule.is_over for rule in self.rules.values())

    def meeting(self, request: KafkaRequest) -> list[FaultRule]:
        """Those that meet this request, which count it."""
        found = [rule for rule in self.rules.values() if rule.meets(request)]
        for rule in found:
            rule.hits += 1
        return found


class FaultyRequests(ClientRequests):
    """The requests of one connection of a client."""

    def __init__(self, rules: FaultRules, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._rules = rules

    def begin_alike(self, frame: memoryview) -> tuple[KafkaRequest, Later] | None:
        if self._rules.concern(ApiKey.PRODUCE):
            return None
        return super().begin_alike(frame)

    def answer(self, request: KafkaRequest) -> Coroutine[Any, Any, Answer]:
        usual = super().answer
        met = self._rules.meeting(request)
        return _faulty(request, met, usual) if met else usual(request)


async def _faulty(request: KafkaRequest, met: list[FaultRule], usual: Any) -> Answer:
    for rule in met:
        if rule.after:
            continue
        await rule.delay()
        if rule.disconnects:
            raise _disconnected(request)
        if rule.code is not None:
            return _refused(request, rule.code)
    answer: Answer = await usual(request)
    for rule in met:
        if rule.after:
            answer = await _after(rule, request, answer)
    return answer


async def _after(rule: FaultRule, request: KafkaRequest, answer: Answer) -> Answer:
    """The request has been handled."""
    if not rule.disconnects:
        await rule.delay()
        return answer
    async with row_of(answer):
        raise _disconnected(request)


def _disconnected(request: KafkaRequest) -> ConnectionError:
    """The connection takes it for a client that has gone."""
    return ConnectionAbortedError(f"a fault ended the connection at {APIS[request.api_key].name}")


def _refused(request: KafkaRequest, code: ErrorCode) -> Answer:
    api = APIS[request.api_key]
    if request.api_version not in api.versions:
        raise _disconnected(request)
    asked = api.request.decode(request.api_version, request.body, exact=False)
    try:
        row: Row = error_answer(api, request.api_version, asked, code)
    except NoPlace:
        raise _disconnected(request) from None
    if request.api_key != ApiKey.PRODUCE:
        return row
    return RefusedProduce(row if asked.acks else None)


class RefusedProduce(Later):
    """Sent in its turn, after the answers to earlier produces."""

    def __init__(self, row: Any) -> None:
        super().__init__((), None)
        self._row = row

    def build(self) -> Any:
        return self._row


# What a test names


def api_named(name: str | int) -> ApiKey:
    """By Kafka's name, in any case, with or without underscores; or by its number. Raises
    SamsaError, with the names that there are."""
    for key, api in APIS.items():
        if name in (key, api.name) or _plain(name) == _plain(api.name):
            return ApiKey(key)
    names = ", ".join(sorted(api.name for api in APIS.values()))
    raise SamsaError(f"there is no API {name!r}; there are: {names}")


def error_named(error: str | int) -> ErrorCode:
    """Raises SamsaError."""
    try:
        return ErrorCode[error.upper()] if isinstance(error, str) else ErrorCode(error)
    except (KeyError, ValueError):
        names = ", ".join(each.name for each in ErrorCode if each > 0)
        raise SamsaError(f"there is no error {error!r}; there are: {names}") from None


def _plain(name: str | int) -> str:
    return str(name).replace("_", "").lower()
