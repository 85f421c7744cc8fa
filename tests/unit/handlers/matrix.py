"""A broker whose handlers are asked with limited rights, and the questions with their names."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from faults.inside import ADDRESS, SIZE, TurnedClock, a_broker, nonce
from support.permissions import (
    QUESTIONS,
    Case,
    Given,
    Question,
    cases,
    codes,
    set_up,
)

from samsa.access.rules import SecurityRules
from samsa.access.view import SecurityView
from samsa.broker.answer_rows import row_of
from samsa.broker.broker import Broker
from samsa.dispatch import answer
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.security.access import UNLIMITED, Access, Limited
from samsa.security.authorizer import Authorizer
from samsa.security.principals import Principal
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_request, request_frame

T = TypeVar("T")
ALICE = Principal("User", "alice")
NOTHING: Given = Given("fresh", "doomed")


class Site:
    """A broker, and the loop in which it runs."""

    def __init__(self, folder: Path, loop: asyncio.Runner) -> None:
        path = str(folder / "ledger.db")
        self.ledger = SqliteLedger(path)
        self.groups = SqliteGroups(path, alone=lambda: True)
        self.broker: Broker = a_broker(self.ledger, MemoryObjects(), TurnedClock(), self.groups)
        clock = self.broker.stores.clock
        self.broker.access = SecurityView(self.groups, clock, nonce, SecurityRules(has_acls=True))
        self._loop = loop

    def ask(self, key: ApiKey, version: int, row: Any, access: Access = UNLIMITED) -> Any:
        """From the bytes of a request to the row of its answer, as a client reads it."""
        return self._loop.run(self._ask(key, version, row, access))

    async def _ask(self, key: ApiKey, version: int, row: Any, access: Access) -> Any:
        frame = memoryview(bytearray(request_frame(APIS[key], version, 1, "inside", row)))
        request = read_request(frame[SIZE:])
        given = await answer(request, ADDRESS, self.broker, "/127.0.0.1", access)
        async with row_of(given) as told:
            data = APIS[key].response.encode_bytes(version, told)
        return APIS[key].response.decode(version, memoryview(data))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def topic_id(self, name: str) -> UUID:
        topic = self.run(self.ledger.topic(name))
        assert topic is not None
        return topic.id

    def set_up(self, doomed: list[str]) -> Given:
        steps = set_up(doomed, NOTHING)
        try:
            step = next(steps)
            while True:
                row = self.ask(*step)
                assert not any(codes(row)), (step[0], codes(row))
                step = steps.send(row)
        except StopIteration as done:
            given: Given = done.value
            return given

    def close(self) -> None:
        self._loop.run(self._close())

    async def _close(self) -> None:
        await self.broker.background_done()
        await self.groups.close()
        await self.ledger.close()


class Asked(NamedTuple):
    question: Question
    given: Given
    case: Case
    name: str


def every_case(principal: Principal) -> list[Asked]:
    found = []
    for question in QUESTIONS:
        for number, case in enumerate(cases(question, str(principal), NOTHING)):
            given = _given(question, number)
            acls = list(cases(question, str(principal), given))[number].acls
            found.append(
                Asked(question, given, case._replace(acls=acls), f"{question.name}: {case.name}")
            )
    return found


def _given(question: Question, number: int) -> Given:
    """With names of its own for what it makes and deletes."""
    word = "".join(c for c in question.name if c.isalpha())
    return NOTHING._replace(fresh=f"fresh-{word}-{number}", doomed=f"doomed-{word}-{number}")


CASES = every_case(ALICE)
DOOMED = [one.given.doomed for one in CASES if one.question.key is ApiKey.DELETE_TOPICS]


def authorizer_of(case: Case, principal: Principal) -> Authorizer:
    super_users = frozenset({str(principal)} if case.is_super else ())
    return Authorizer(case.acls, super_users, allow_if_no_acl=False)


def access_of(case: Case) -> Limited:
    authorizer = authorizer_of(case, ALICE)
    return Limited(ALICE, "127.0.0.1", lambda: authorizer)


def with_ids(given: Given, topic_id: Any, site: Site) -> Given:
    doomed = site.run(site.ledger.topic(given.doomed))
    found = given._replace(topic_id=topic_id)
    return found if doomed is None else found._replace(doomed_id=doomed.id)
